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
    Refuses, with a message at the operation: complex, 4-, 6- and 8-bit floats, quantized types, tokens, dynamic shapes, custom
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
    before. Out: every product of static shape whose element types have kernels (f32, bf16 and f16 summed in f32; f64; i8,
    i16 and i32 summed in i32; i64) is a `cpu.contract`. Refused, with a remark: other element types, dynamic shapes. Dot
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

    In: buffers have their final memory (no analysis sees through the calls afterwards). Out: no `cpu.library_call`; the functions are
    declared as `llvm.func`. Refuses a callee whose name is taken by something else in the module.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::memref::MemRefDialect"];
}

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PASSES
