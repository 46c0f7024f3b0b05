// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes of the CPU engine, in the order in which Pipeline.cpp runs them. They run on the nested module of the cluster
// functions; what a cluster function looks like on the way in and out is told in Pipeline.h.

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PASSES
#define LATEWOOD_COMPILER_ENGINES_CPU_PASSES

include "mlir/Pass/PassBase.td"

def ConvertStableHLOToLinalgPass : Pass<"latewood-convert-stablehlo-to-linalg", "mlir::func::FuncOp"> {
  let summary = "StableHLO and CHLO to linalg on tensors, scalar code and scf";
  let description = [{
    The meaning of every operation is spelled out as loops (linalg.generic), views (extract_slice, collapse_shape) and scalar
    code (arith, math), in forms that fuse: elementwise operations have identity maps, broadcasts and transposes are maps, a
    uniform operand is a scalar in the body.

    Before:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %out: tensor<4xi1> {plan.out}) -> tensor<4xi1> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : …
      %r = stablehlo.is_finite %sum : (tensor<4xf32>) -> tensor<4xi1>
      return %r : tensor<4xi1>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<4x8xf32>, %out: tensor<4xi8> {plan.out}) -> tensor<4xi8> {
      %init = linalg.fill ins(%cst : f32) outs(%empty : tensor<4xf32>)
      %sum = linalg.generic {["parallel", "reduction"]} ins(%x) outs(%init) { arith.addf fastmath<reassoc> }
      %finite = linalg.generic {["parallel"]} ins(%sum) { math.absf, arith.cmpf olt, arith.extui to i8 }
      %r = bufferization.materialize_in_destination %finite in %out
      return %r : tensor<4xi8>
    }
    ```
    Precondition: tensors of static shape. Postcondition: no StableHLO, no CHLO; integers are signless and not narrower than a
    byte, booleans are i8 with the values 0 and 1; each result is written into its argument with `plan.out`.
    Refuses, with a message at the operation: complex numbers but for taking them apart and putting them together, quantized types, tokens, dynamic shapes, custom
    calls, and operations that the engine does not have.
  }];
  let dependentDialects = [
    "mlir::arith::ArithDialect", "mlir::bufferization::BufferizationDialect", "mlir::linalg::LinalgDialect",
    "mlir::math::MathDialect", "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"
  ];
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def FormContractionsPass : Pass<"latewood-form-contractions", "::mlir::func::FuncOp"> {
  let summary = "Finds matrix products and fuses what surrounds them";
  let description = [{
    A linalg.generic that multiplies and adds becomes `cpu.contract`. Copies that only permute, repeat or widen a factor become
    its indexing map; elementwise operations that are the only user of the product become its epilogue.

    ```mlir
    %z = linalg.fill ins(%zero) outs(%e)
    %p = linalg.generic … ins(%x, %w) outs(%z) { out + x * w }
    %y = linalg.generic … ins(%p, %bias) outs(%e2) { max(p + bias, 0) }
    // becomes
    %y = cpu.contract ins(%x, %w) extras(%bias) outs(%e2) { ^bb0(%acc, %b): max(acc + b, 0) }
    ```

    In: linalg on tensors. A consumer that should become an epilogue must not have been fused with other users of its operands
    before. Out: every product whose element types have kernels (f32, bf16 and f16 summed in f32; f64; i8,
    i16 and i32 summed in i32; i64) is a `cpu.contract`. Refused, with a remark: other element types. Dot
    products of two vectors stay reductions.
  }];
  let dependentDialects = ["::latewood::cpu::CPUDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def LowerContractionsPass : Pass<"latewood-lower-contractions", "::mlir::func::FuncOp"> {
  let summary = "Matrix products on buffers become loops around the library's kernels";
  let description = [{
    The target of the enclosing module gives the size of a register tile. Dimensions that are contiguous in all operands are merged;
    one row, column and reduced dimension make a product, others are loops around it. Large products are cut into tasks
    (scf.forall) by their shape alone, so that results do not depend on the number of threads.

    ```mlir
    cpu.contract ins(%x, %w : memref<256x512xf32>, memref<512x1024xf32>) outs(%y : memref<256x1024xf32>) …
    // becomes
    scf.forall (%group) in (32) {
      %sums = memref.alloc() : memref<384xf32>
      %panel = memref.alloc() : memref<16384xf32>
      cpu.library_call "lw_packB_f32"(%panel, %c0, %w, %column, …)
      scf.for %tile = … {
        … zeros into %sums …
        cpu.library_call "lw_mk_f32"(%sums, %c0, %x, %row, …, %panel, …)
        scf.for %r = … { … load a row of %sums, epilogue on vectors, store into %y … }
      }
      … the rows that are left …
    }
    ```

    In: `cpu.contract` on buffers. Out: none is left. Buffers that it allocates are scratch: nothing frees them, the
    memory planner places them. Refuses products on tensors and a function without a target; layouts that are dynamic run in
    plain loops, and a remark says so.
  }];
  let dependentDialects = ["::latewood::cpu::CPUDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def LowerLibraryCallsPass : Pass<"latewood-lower-library-calls", "::mlir::ModuleOp"> {
  let summary = "Calls of the library on buffers become calls on pointers";
  let description = [{
    ```mlir
    cpu.library_call "lw_packB_f32"(%panel, %c0, %w, %i, …) : memref<16384xf32>, index, memref<512x1024xf32>, index, …
    // becomes
    %p = llvm.getelementptr %panelPointer[%c0], %q = llvm.getelementptr %wPointer[%i]
    llvm.call @lw_packB_f32(%p, %q, …) : (!llvm.ptr, !llvm.ptr, i64, i64, i64, i64) -> ()
    ```
    A tile kernel is called through a private function that is made once for each kernel and set of constant arguments, because
    kernels are inlined and large:
    ```mlir
    llvm.call @lw_mk_f32.768.1.32.768(%sums, %a, %b)
    ```

    In: buffers have their final memory (no analysis sees through the calls afterwards). Out: no `cpu.library_call`; the functions are
    declared as `llvm.func`. Refuses a callee whose name is taken by something else in the module.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

def FuseElementwisePass : Pass<"latewood-fuse-elementwise", "::mlir::func::FuncOp"> {
  let summary = "Chains of elementwise operations become single operations";
  let description = [{
    ```mlir
    %1 = linalg.generic … ins(%0) { math.exp }
    %2 = linalg.generic … ins(%1) outs(%init) { arith.addf }      // the only user of %1
    // becomes
    %2 = linalg.generic … ins(%0) outs(%init) { math.exp, arith.addf }
    ```
    Precondition: linalg on tensors of static shape. Postcondition: all linalg operations are `linalg.generic`; constants of equal
    elements are scalars or fills; padding and concatenation are slices inserted into an empty tensor.
    Not fused: what has several users (unless it is cheaper to compute than to read: broadcasts, iotas, masks), a costly operation
    into one that would repeat it, anything but copies into a matrix product.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def SplitReductionsPass : Pass<"latewood-split-reductions", "::mlir::func::FuncOp"> {
  let summary = "Large reductions to few values become parallel partial ones and their combination";
  let description = [{
    ```mlir
    %s = linalg.generic ["reduction"] ins(%x : tensor<16777216xf32>) outs(%init : tensor<f32>)
    // becomes
    %p = linalg.generic ["reduction", "parallel"] ins(%x …) outs(%zeros : tensor<256xf32>)   // x[part * 65536 + i]
    %s = linalg.generic ["reduction"] ins(%p : tensor<256xf32>) outs(%init : tensor<f32>)
    ```
    Precondition: linalg.generic on tensors of static shape. The number of parts depends on the shape alone.
    Not split: reductions whose order is fixed, or whose body is more than one commutative operation; extents without a divisor.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def FormGroupsPass : Pass<"latewood-form-groups", "::mlir::func::FuncOp"> {
  let summary = "Operations over the same rows become one cpu.group";
  let description = [{
    ```mlir
    %max = linalg.generic … ["parallel", "reduction"] ins(%x)
    %exp = linalg.generic … ["parallel", "parallel"] ins(%x, %max)
    %sum = linalg.generic … ["parallel", "reduction"] ins(%exp)
    %y = linalg.generic … ["parallel", "parallel"] ins(%exp, %sum)
    // becomes
    %y = cpu.group ins(%x) outs(%empty) { the four, each with cpu.rows = array<i64: 0>; cpu.group_yield } -> …
    ```
    Precondition: linalg.generic on tensors of static shape. Postcondition: each is in a group, alone if need be.
  }];
  let dependentDialects = ["::latewood::cpu::CPUDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

def PlaceResultsPass : Pass<"latewood-place-results", "::mlir::func::FuncOp"> {
  let summary = "Results and carried values get the places that they must end up in";
  let description = [{
    ```mlir
    %r = scf.for %i = … iter_args(%x = %init) { %y = cpu.group ins(%x) … ; scf.yield %y }
    %m = bufferization.materialize_in_destination %r in %out
    // becomes
    %start = bufferization.materialize_in_destination %init in %out
    %r = scf.for %i = … iter_args(%x = %start) {
      %y = cpu.group ins(%x) …
      %next = bufferization.materialize_in_destination %y in %x
      scf.yield %next
    }
    ```
    Postcondition: bufferization knows for each carried value and each result which buffer to prefer. Values are what they were.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def BufferizeClustersPass : Pass<"latewood-bufferize-clusters", "::mlir::ModuleOp"> {
  let summary = "Tensors become buffers, results are computed in their destinations";
  let description = [{
    ```mlir
    func.func @f(%x: tensor<8xf32>, %out: tensor<8xf32> {plan.out}) -> tensor<8xf32> {
      %0 = cpu.group ins(%x …) outs(%empty …) …
      %1 = bufferization.materialize_in_destination %0 in %out
      return %1
    // becomes
    func.func @f(%x: memref<8xf32>, %out: memref<8xf32> {plan.out}) {
      cpu.group ins(%x …) outs(%out …) …
      return
    ```
    Precondition: every result is written into its `plan.out` argument. Postcondition: no tensors but in the regions of groups, no
    results; inputs are not written. A result that has to be copied into its destination gets a remark.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

def OutlineKernelsPass : Pass<"latewood-outline-kernels", "::mlir::ModuleOp"> {
  let summary = "In functions of many parts, each group, product and copy becomes a function, and equal ones become one";
  let description = [{
    ```mlir
    cpu.contract ins(%a, %w …) outs(%b …) …
    cpu.contract ins(%b, %w …) outs(%c …) …
    // becomes
    func.call @f_kernel_0(%a, %w, %b)
    func.call @f_kernel_0(%b, %w, %c)
    func.func private @f_kernel_0(%0: memref<…> {llvm.noalias}, …) attributes {cpu.kernel} { cpu.contract ins(%0, %1 …) outs(%2 …) … }
    ```
    Precondition: functions on buffers. Postcondition: a function with at least `fewest` such parts has calls in their place.
    A buffer of dynamic shape is passed as its base; its extents are arguments, too.
  }];
  let options = [Option<"fewest", "fewest", "unsigned", "32", "Functions of fewer parts stay whole">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect"];
}

def LowerGroupsPass : Pass<"latewood-lower-groups", "::mlir::func::FuncOp"> {
  let summary = "Groups, single linalg operations and copies on buffers become loops over vectors";
  let description = [{
    ```mlir
    cpu.group ins(%x : memref<4096x1024xf32>) outs(%y : memref<4096x1024xf32>) { … }
    // becomes
    scf.forall (%task) in (…) {
      %scratch = memref.alloc() : memref<1024xf32>
      scf.for %row … {
        scf.for %i … { vector.load, arith.maximumf }      // several vectors of partial results
        …
      }
    }
    ```
    Precondition: buffers of static shape. Postcondition: no linalg, no cpu.group, no memref.copy; vectors are one-dimensional and
    at most a register long; a parallel loop (scf.forall) only where the work is worth it. What runs one element at a time gets a
    remark with the reason.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::vector::VectorDialect"];
}

def OutlineParallelLoopsPass : Pass<"latewood-outline-parallel-loops", "::mlir::ModuleOp"> {
  let summary = "Bodies of parallel loops become functions for the thread pool";
  let description = [{
    ```mlir
    scf.forall (%i) in (%n) { … %a … }
    // becomes
    func.func private @f_body_0(%begin: index, %end: index, %a: memref<64xf32> {llvm.noalias}) { scf.for %t = %begin to %end … }
    cpu.parallel_for @f_body_0 tasks(%n) args(%a : memref<64xf32>)
    ```
    Precondition: buffers; parallel loops have no results and are not nested. Postcondition: no scf.forall; every other function
    has a new first argument, the call (`!llvm.ptr`). A captured buffer of dynamic shape is its base, and its extents are captured.
  }];
  let dependentDialects = ["::latewood::cpu::CPUDialect", "::mlir::LLVM::LLVMDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect"];
}

def PlanMemoryPass : Pass<"latewood-plan-memory", "::mlir::ModuleOp"> {
  let summary = "All allocations of a function become one block of known size, and one that is asked for";
  let description = [{
    ```mlir
    func.func @f(%call: !llvm.ptr, %x: memref<8xf32>) { %a = memref.alloc() : memref<64xf32> … }
    // becomes
    func.func @f(%call: !llvm.ptr, %x: memref<8xf32>, %memory: memref<256xi8>) attributes {cpu.workspace_bytes = 256 : i64} {
      %a = memref.view %memory[%c0][] : memref<256xi8> to memref<64xf32> … }
    ```
    Buffers of dynamic shape share a second block, whose size is computed when the function begins:
    ```mlir
    %bytes = …                                   // of %n
    %block = cpu.allocate %bytes : memref<?xi8>
    %b = memref.view %block[%c0][%n] : memref<?xi8> to memref<?xf32>
    ```
    Postcondition: no memref.alloc; buffers that live at the same time are disjoint (checked). Refuses sizes that are not known when
    the function begins.
  }];
  let dependentDialects = ["::latewood::cpu::CPUDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect"];
}

def LowerMathPass : Pass<"latewood-lower-math", "::mlir::ModuleOp"> {
  let summary = "Elementary functions become library calls, bf16 conversions integer code";
  let description = [{
    ```mlir
    %y = math.exp %x : vector<16xf32>
    // becomes
    %y = func.call @lw_exp_f32x16(%x) : (vector<16xf32>) -> vector<16xf32>
    ```
    Postcondition: nothing that LLVM would turn into a call of the C library.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::math::MathDialect",
                           "::mlir::vector::VectorDialect"];
}

def ConvertCPUToLLVMPass : Pass<"latewood-convert-cpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Functions on buffers become functions on pointers in the LLVM dialect";
  let description = [{
    ```mlir
    func.func @f(%call: !llvm.ptr, %x: memref<8xf32>, …, %memory: memref<256xi8>) attributes {cpu.workspace_bytes = 256 : i64}
    // becomes
    llvm.func @f(%call: !llvm.ptr, %x: !llvm.ptr, …, %memory: !llvm.ptr) attributes {cpu.workspace_bytes = 256 : i64}
    ```
    cpu.parallel_for becomes a call of the runtime's parallel_for with a frame of the captured values.
    A buffer of dynamic shape is a pointer, too: `plan.extents` says which arguments hold its extents.
    Precondition: memory planned. Postcondition: the LLVM dialect only (`latewood-check-cpu-code` says what is not).
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
                           "::mlir::cf::ControlFlowDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def CheckCPUCodePass : Pass<"latewood-check-cpu-code", "::mlir::ModuleOp"> {
  let summary = "Checks that only self-contained LLVM functions are left";
  let description = [{
    Refuses, with a message at the operation: operations that are not of the LLVM dialect, conversions that are left over,
    calls and intrinsics that need the C library, cluster functions without a planned workspace. Changes nothing.
  }];
}

def SettleCarriedBuffersPass : Pass<"latewood-settle-carried-buffers", "mlir::func::FuncOp"> {
  let summary = "Gives each buffer that a loop carries one place for all iterations";
  let description = [{
    Static planning gives an allocation in a loop the same place in every iteration, so an iteration must not hand its allocation
    to the next one. Each carried buffer gets a place outside of the loop, and what an iteration hands over is copied there at its
    end; swapped buffers go through a third place.

    Before:
    ```mlir
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %init) -> (memref<4xf32>) {
      %new = memref.alloc() : memref<4xf32>
      …                                      // computes %new from %a
      scf.yield %new : memref<4xf32>
    }
    ```
    After:
    ```mlir
    %a = memref.alloc() : memref<4xf32>
    memref.copy %init, %a : memref<4xf32> to memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %new = memref.alloc() : memref<4xf32>
      …
      memref.copy %new, %a : memref<4xf32> to memref<4xf32>
    }
    ```
    Precondition: functions on buffers. Postcondition: no loop carries a buffer.
    Refuses a carried buffer whose shape is not known before the loop.
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PASSES
