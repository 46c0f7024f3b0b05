// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the TensorRT engine, in the order in which they run.

#ifndef LATEWOOD_COMPILER_ENGINES_TENSORRT_PASSES
#define LATEWOOD_COMPILER_ENGINES_TENSORRT_PASSES

include "mlir/Pass/PassBase.td"

def ConvertStableHLOToTensorRTPass : Pass<"latewood-convert-stablehlo-to-tensorrt", "::mlir::func::FuncOp"> {
  let summary = "StableHLO and CHLO to layers of TensorRT";
  let description = [{
    Each operation becomes the layers that compute it. Extents that are operands become shape tensors; regions are converted with
    their operations.

    ```mlir
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
    // becomes
    %0 = tensorrt.matrix_multiply %x, %w {op0 = #tensorrt<matrix_operation kNONE>, op1 = #tensorrt<matrix_operation kNONE>} : …
    ```
    Functions in the module of another engine stay. Precondition: inlined functions. Postcondition: no StableHLO and no CHLO, unless
    `partial`; the signature and its attributes stay.
    Refuses, with a message at the operation, what TensorRT has no layer or no element type for; with `partial` leaves it as it is.
  }];
  let options = [Option<"partial", "partial", "bool", "false", "Leave what TensorRT cannot take">];
  let dependentDialects = ["::latewood::tensorrt::TensorRTDialect"];
}

def RaiseTensorRTPatternsPass : Pass<"latewood-raise-tensorrt-patterns", "::mlir::func::FuncOp"> {
  let summary = "Layers for what programs write out: softmax, normalization, GELU, attention, quantization";
  let description = [{
    ```mlir
    // 0.5 * x * (1 + erf(x * 0.7071))
    // becomes
    %r = tensorrt.activation %x {activationType = #tensorrt<activation_type kGELU_ERF>} : …
    ```
    Functions in the module of another engine stay. Precondition: layers as the conversion writes them, equal constants one value.
    Postcondition: the same results, up to rounding.
  }];
  let options = [Option<"attention", "attention", "bool", "true", "Form attention layers">];
  let dependentDialects = ["::latewood::tensorrt::TensorRTDialect"];
}

def SimplifyTensorRTPass : Pass<"latewood-simplify-tensorrt", "::mlir::func::FuncOp"> {
  let summary = "Fewer transposes, reshapes and broadcasts";
  let description = [{
    Transposes are merged, and taken into matrix products; reshapes of reshapes are one; transposes and reshapes that are left next to
    each other become one shuffle. Elementwise layers take operands that are not repeated, and compute before they repeat. A
    constant that is added to a convolution is its bias.

    ```mlir
    %t = tensorrt.transpose %w {permutation = array<i64: 1, 0>} : (tensor<4x16xf32>) -> tensor<16x4xf32>
    %p = tensorrt.matrix_multiply %x, %t {op0 = kNONE, op1 = kNONE} : …
    %b = tensorrt.broadcast %bias {broadcastDims = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
    %s = tensorrt.element_wise %p, %b {elementwiseOperation = kSUM} : …
    // becomes
    %p = tensorrt.matrix_multiply %x, %w {op0 = kNONE, op1 = kTRANSPOSE} : …
    %b = tensorrt.unsqueeze %bias {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1x4xf32>
    %s = tensorrt.element_wise %p, %b {elementwiseOperation = kSUM} : …
    ```
    Functions in the module of another engine stay. Postcondition: equal results; nothing was moved across quantize and dequantize.
  }];
  let dependentDialects = ["::latewood::tensorrt::TensorRTDialect"];
}

def OutlineTensorRTNetworksPass : Pass<"latewood-outline-tensorrt-networks", "::mlir::ModuleOp"> {
  let summary = "Programs in the tensorrt dialect whose shapes only the engine knows become networks as they are";
  let description = [{
    Where a program of layers has tensors of dynamic shape, the host does not compute their extents: TensorRT does. Such a public
    function becomes a network of its own, and calls it.

    ```mlir
    func.func @main(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
      %r = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
      return %r : tensor<2x?xi32>
    }
    // becomes
    tensorrt.module @networks {
      func.func @main_network(%x: tensor<4x6xi1>) -> tensor<2x?xi32> { … }
    }
    func.func @main(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
      %r = tensorrt.call_alloc @networks::@main_network(%x) : (tensor<4x6xi1>) -> tensor<2x?xi32>
      return %r : tensor<2x?xi32>
    }
    ```
    Functions with operations of other dialects, and those of static shape, stay: they are divided into clusters. Postcondition: the
    same results.
  }];
  let dependentDialects = ["::latewood::tensorrt::TensorRTDialect"];
}

def ConvertPlanToTensorRTPass : Pass<"latewood-convert-plan-to-tensorrt", "::mlir::ModuleOp"> {
  let summary = "Clusters of the engine tensorrt become networks, calls of them calls of networks";
  let description = [{
    A network has the inputs that TensorRT sees: no destinations, and no extents, which it finds itself.

    ```mlir
    module @tensorrt attributes {plan.engine = #plan.tensorrt_engine} {
      func.func @main_cluster_0(%x: tensor<?xf32> {plan.extents = array<i64: 1>}, %n: index,
                                %out: tensor<?xf32> {plan.extents = array<i64: 1>, plan.out}) -> tensor<?xf32> { … }
    }
    %1 = plan.call @tensorrt::@main_cluster_0(%x, %n) outs(%0) : …
    // becomes
    tensorrt.module @tensorrt {
      func.func @main_cluster_0(%x: tensor<?xf32>) -> tensor<?xf32> { … }
    }
    %1 = tensorrt.call @tensorrt::@main_cluster_0(%x) outs(%0) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    ```
    `plan.call_alloc` becomes `tensorrt.call_alloc`. Precondition: the functions hold nothing but the `tensorrt` dialect.
    Postcondition: no module of the engine `tensorrt`, and no `plan.call` of its functions.
  }];
  let dependentDialects = ["::latewood::tensorrt::TensorRTDialect"];
}

def BuildTensorRTEnginesPass : Pass<"latewood-build-tensorrt-engines", "mlir::ModuleOp"> {
  let summary = "Networks become serialized engines";
  let description = [{
    Every function of a `tensorrt.module`, or of a nested module of the engine `tensorrt`, is built by TensorRT's builder, several at
    a time. An engine that lies in `directory`, under a name made of everything that decides what it is, is taken from there, and new
    ones are put there.

    ```mlir
    tensorrt.module @tensorrt {
      func.func @main_cluster_0(%x: tensor<4xf32>) -> tensor<4xf32> { … tensorrt operations … }
    }
    // gets beside it
    tensorrt_runtime.engine @main_cluster_0 (tensor<4xf32>) -> tensor<4xf32> version "TensorRT 11.1.0" serialized dense<…>
    ```
    Precondition: the functions hold nothing but the `tensorrt` dialect, and no two have one name. Postcondition: each has its engine.
    Refuses, with TensorRT's own messages at the operations: networks that the builder refuses, dynamic arguments without bounds. Without
    TensorRT only engines in `directory` can be had; the error says what to install.
  }];
  let options = [
    Option<"directory", "directory", "std::string", "", "Folder of engines, by content; encoded (OptionText.h)">,
    Option<"exportTo", "export", "std::string", "",
           "Folder to write each network to, as a program in the tensorrt dialect, before it is built; encoded">,
    Option<"timingCache", "timing-cache", "std::string", "", "File of timings of earlier builds; encoded">,
    Option<"level", "level", "int", "-1", "TensorRT's optimization level, 0 to 5; -1: its choice">,
    Option<"capability", "capability", "int", "0",
           "Compute capability of the GPUs that engines are for: 86 is 8.6; 0: all that the library supports, or the one here">,
    Option<"workspace", "workspace", "int64_t", "0", "Bytes of scratch memory that an engine may use; 0: no limit">,
    Option<"stripWeights", "strip-weights", "bool", "false", "Leave weights out of engines">,
    Option<"refit", "refit", "bool", "false", "Make engines whose weights can be replaced">
  ];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::latewood::tensorrt_runtime::TensorRTRuntimeDialect"];
}

def ConvertTensorRTToRuntimePass : Pass<"latewood-convert-tensorrt-to-runtime", "::mlir::ModuleOp"> {
  let summary = "Calls of networks become runs of their engines";
  let description = [{
    ```mlir
    %1 = tensorrt.call @tensorrt::@main_cluster_0(%x) outs(%0) : …
    %2 = tensorrt.call_alloc @tensorrt::@main_cluster_1(%x) : …
    // become
    %1 = tensorrt_runtime.enqueue @main_cluster_0(%x) outs(%0) : …
    %2 = tensorrt_runtime.enqueue_alloc @main_cluster_1(%x) slots [-1] : …
    ```
    Postcondition: no `tensorrt.module` and no call of a network is left. Refuses a call of a network that has no engine.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::latewood::tensorrt_runtime::TensorRTRuntimeDialect"];
}

#endif // LATEWOOD_COMPILER_ENGINES_TENSORRT_PASSES
