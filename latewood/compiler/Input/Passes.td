// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Input: a program as a framework exported it becomes public functions on plain StableHLO, in the form that fuses best.

#ifndef LATEWOOD_COMPILER_INPUT_PASSES
#define LATEWOOD_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

def ConvertTensorRTToStableHLOPass : Pass<"latewood-convert-tensorrt-to-stablehlo", "::mlir::ModuleOp"> {
  let summary = "Layers of TensorRT to StableHLO and CHLO";
  let description = [{
    What is written in the `tensorrt` dialect, by hand or by the conversion for TensorRT, runs on the CPU then. Broadcasting becomes
    explicit; layers that StableHLO has no operation for are written out. A module of TensorRT's clusters is given to the CPU engine.

    ```mlir
    %0 = tensorrt.softmax %x {axis = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    // becomes a maximum, a difference, an exponential, a sum and a quotient
    ```
    Postcondition: no layer is left in a function. Refuses, with a message at the layer, what cannot be computed on the CPU: plugins,
    suppression of boxes, and layers that need known extents, on unknown ones.
  }];
  let dependentDialects = ["::latewood::chlo::CHLODialect", "::latewood::stablehlo::StableHLODialect"];
}

def DropPartitioningPass : Pass<"latewood-drop-partitioning", "::mlir::ModuleOp"> {
  let summary = "Removes what distributes a program over devices, for a program on one device";
  let description = [{
    Frameworks annotate values with shardings even when there is one device. The annotations (custom calls `@Sharding` and the
    like, ops and attributes of the dialect `sdy`) are identities then.

    ```mlir
    // before
    sdy.mesh @mesh = <["x"=1]>
    %1 = stablehlo.custom_call @Sharding(%0) {…} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, …> : tensor<8xf32>
    // after: uses of %1 and %2 are uses of %0
    ```

    Postcondition: no such custom call, no op or attribute of `sdy`, no attribute `mhlo.sharding`.
    Refuses a module for several partitions or replicas, and an annotation that changes the type of a value.
  }];
}

def ExpandCompositesPass : Pass<"latewood-expand-composites", "::mlir::ModuleOp"> {
  let summary = "Replaces composites by the operation that they name, or by a call of their decomposition";
  let description = [{
    A composite `chlo.X` whose operation the `chlo` dialect has, with the same operands and result, becomes that operation: an
    engine may do it better than the decomposition does. Every other composite is its decomposition.

    ```mlir
    // before
    %0 = stablehlo.composite "chlo.erf" %x {decomposition = @chlo.erf.impl} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.composite "my.norm" %0 {decomposition = @my.norm.impl} : (tensor<4xf32>) -> tensor<4xf32>
    // after
    %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
    %1 = call @my.norm.impl(%0) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    Postcondition: no `stablehlo.composite`.
    Refuses a decomposition that is no function of the module.
  }];
  let dependentDialects = ["::latewood::chlo::CHLODialect", "::mlir::func::FuncDialect"];
}

def ExpandQuantizedPass : Pass<"latewood-expand-quantized", "::mlir::ModuleOp"> {
  let summary = "Quantized tensors become tensors of the integers that hold them";
  let description = [{
    What moves elements works on the integers; what computes does so on the numbers that they stand for, and rounds the result
    back, except that products of tensors with small integers sum integers. Signatures of functions get the integers too.

    ```mlir
    // before
    %0 = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>
    // after
    %1 = stablehlo.convert %a : (tensor<4xi8>) -> tensor<4xf32>
    %2 = stablehlo.multiply %1, %half : tensor<4xf32>
    %3 = …                                               // the same of %b
    %4 = stablehlo.add %2, %3 : tensor<4xf32>
    %5 = stablehlo.divide %4, %half : tensor<4xf32>
    %6 = stablehlo.clamp %least, %5, %most : tensor<4xf32>
    %7 = stablehlo.round_nearest_even %6 : tensor<4xf32>
    %0 = stablehlo.convert %7 : (tensor<4xf32>) -> tensor<4xi8>
    ```

    Postcondition: no type of the dialect `quant`.
    Refuses quantized types other than `!quant.uniform` for a tensor or along one axis.
  }];
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
}

def ExpandChecksPass : Pass<"latewood-expand-checks", "::mlir::ModuleOp"> {
  let summary = "Turns checks into a count of wrong elements and an assertion";
  let description = [{
    Takes the operations of the `check` dialect and the custom calls `@check.expect_eq`, `@check.expect_almost_eq`,
    `@check.expect_close` and `@check.eq` of exported programs.

    ```mlir
    // before
    check.expect_eq %0, %1 : tensor<2xi32>
    // after
    %2 = stablehlo.compare NE, %0, %1 …
    %3 = stablehlo.convert %2 : (tensor<2xi1>) -> tensor<2xi64>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] …
    %5 = stablehlo.compare EQ, %4, %zero …
    plan.assert %5, "check.expect_eq failed: {0} of 2 elements differ"(%4) : tensor<i1>, tensor<i64>
    ```

    Postcondition: no check is left.
    Refuses a check that does not exist, and distances in units in the last place of elements smaller than a byte.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::latewood::stablehlo::StableHLODialect"];
}

def InlineCallsPass : Pass<"latewood-inline-calls", "::mlir::ModuleOp"> {
  let summary = "Puts the bodies of functions in the place of their calls";
  let description = [{
    In public functions, and in those that something other than a call names. Takes time in proportion to the program that it makes,
    however deep functions are nested. Locations say where an operation was written, and where that was called.

    ```mlir
    // before
    %0 = call @half(%x) : (tensor<4xf32>) -> tensor<4xf32>
    // after
    %0 = stablehlo.multiply %x, %c : tensor<4xf32>
    ```

    Postcondition: what is called there has no body of one block. Functions that nobody names any more are still there.
    Refuses functions that call themselves.
  }];
}

def RefineShapesPass : Pass<"latewood-refine-shapes", "::mlir::func::FuncOp"> {
  let summary = "Makes the types of results as precise as operands and constant shapes say";
  let description = [{
    A program for all shapes says in its types what does not depend on them, and computes the rest; where the computation is
    constant, so is the type. Types propagate through operations, branches and loops, and to the results of the function.

    ```mlir
    // before
    %s = stablehlo.constant dense<[4, 8]> : tensor<2xi32>
    %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    // after
    %y = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<4x8xf32>
    ```

    Postcondition: operands of loops, and what their bodies and branches return, have exactly the types of the results.
    Refuses nothing.
  }];
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
}

def ExpandOperationsPass : Pass<"latewood-expand-operations", "::mlir::ModuleOp"> {
  let summary = "Replaces operations that simpler StableHLO computes exactly";
  let description = [{
    Engines implement a small language well; the rest of StableHLO and CHLO is written in it here, always, whatever the engines:
    - special functions (`chlo.lgamma`, `zeta`, `next_after`…), `chlo.top_k`;
    - batch normalization, random numbers, Fourier transforms;
    - Cholesky factors and triangular systems, and the calls of LAPACK for them, for LU, QR and tridiagonal systems;
    - operations of CHLO that broadcast, products of groups and scans, operations that the specification has left;
    - dynamic operations of static types, assertions about static shapes;
    - collectives of one process, which are identities.

    ```mlir
    // before
    %values, %indices = chlo.top_k(%x, k = 1) : tensor<8x100xf32> -> (tensor<8x1xf32>, tensor<8x1xi32>)
    // after: value and index in one integer, of which the largest is wanted
    %key = stablehlo.or %shiftedValue, %reversedIndex : tensor<8x100xi64>
    %best = stablehlo.reduce(%key init: %least) applies stablehlo.maximum across dimensions = [1] …
    ```

    Postcondition: none of these is left, except a dynamic operation whose bounds are not constant.
    Refuses decompositions into eigenvalues or singular values, collectives of several processes, and transfers (infeed, outfeed, send,
    recv).
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::latewood::stablehlo::StableHLODialect", "::latewood::chlo::CHLODialect"];
}

def FlattenValuesPass : Pass<"latewood-flatten-values", "::mlir::ModuleOp"> {
  let summary = "Replaces tuples by their elements, and drops tokens";
  let description = [{
    Through signatures of functions, `while`, `if`, `case`, `optimization_barrier` and returns. An attribute of an argument or result
    stays where one tensor takes its place.

    ```mlir
    // before
    %0 = stablehlo.tuple %x, %token : tuple<tensor<4xf32>, !stablehlo.token>
    %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, !stablehlo.token>) -> tensor<4xf32>
    // after: uses of %1 are uses of %x
    ```

    Postcondition: all values are tensors.
    Refuses any other operation on a tuple or token.
  }];
}

def SplitComplexPass : Pass<"latewood-split-complex", "::mlir::func::FuncOp"> {
  let summary = "Complex tensors become pairs of real ones";
  let description = [{
    Inside of a function there are real tensors only. Functions on complex numbers become formulas on their parts, accurate to a few
    units in the last place of each part; what moves elements moves both parts; regions take and give both.

    ```mlir
    // before
    func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
      %y = stablehlo.multiply %x, %x : tensor<4xcomplex<f32>>
      %z = stablehlo.reverse %y, dims = [0] : tensor<4xcomplex<f32>>
      return %z : tensor<4xcomplex<f32>>
    }
    // after
    func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
      %a = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
      %b = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
      %re = …                                  // %a * %a - %b * %b
      %im = …                                  // %a * %b + %b * %a
      %c = stablehlo.reverse %re, dims = [0] : tensor<4xf32>
      %d = stablehlo.reverse %im, dims = [0] : tensor<4xf32>
      %z = stablehlo.complex %c, %d : tensor<4xcomplex<f32>>
      return %z : tensor<4xcomplex<f32>>
    }
    ```

    Precondition: Fourier transforms, factorizations and composites are expanded. Postcondition: a complex value is an argument of a
    function or an operand of its return, and comes from `stablehlo.complex` or goes to `stablehlo.real` and `stablehlo.imag`.
    Refuses operations that have no meaning on complex numbers (remainder, select_and_scatter, bit casts to other kinds of elements), and dynamic shapes.
  }];
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect", "::latewood::chlo::CHLODialect"];
}

def FoldEmptyTensorsPass : Pass<"latewood-fold-empty-tensors", "::mlir::func::FuncOp"> {
  let summary = "Takes tensors without elements out of the program";
  let description = [{
    An operation whose results have no elements becomes a constant; one that reads such tensors reads its other operands only.

    ```mlir
    // before
    %0 = stablehlo.slice %a [4:4] : (tensor<4xf32>) -> tensor<0xf32>
    %1 = stablehlo.concatenate %a, %0, dim = 0 : (tensor<4xf32>, tensor<0xf32>) -> tensor<4xf32>
    // after: uses of %1 are uses of %a
    ```

    Postcondition: a tensor without elements is an argument or a constant, or belongs to an operation that also has other results.
  }];
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
}

def SimplifyStableHLOPass : Pass<"latewood-simplify-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Exact rewrites that let more operations fuse";
  let description = [{
    Dimensions of extent 1 are kept out of elementwise work, and layout changes are absorbed by their consumers:
    - a broadcast that only inserts dimensions of extent 1 is a reshape; so is a transpose that only moves such dimensions;
    - a reshape that inserts dimensions of extent 1 moves behind elementwise operations, and into broadcasts;
    - broadcasts of broadcasts and transposes of transposes are one;
    - a transpose in front of dot_general changes its dimension numbers instead, where the result stays the same.

    ```mlir
    // before: the mean of rows, kept as a column
    %0 = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<8xf32>) -> tensor<8x1xf32>
    %1 = stablehlo.divide %0, %count : tensor<8x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<8x1xf32>) -> tensor<8x64xf32>
    // after
    %1 = stablehlo.divide %sum, %count : tensor<8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<8xf32>) -> tensor<8x64xf32>
    ```

    Also runs the canonicalizations of the StableHLO dialect, which enable these and are enabled by them.
  }];
}

def TrimResultsPass : Pass<"latewood-trim-results", "::mlir::ModuleOp"> {
  let summary = "Cuts results to the length that data gives them";
  let description = [{
    The custom call `latewood.trim` (a tensor, its length along `dimension`) makes a public result's dimension dynamic and the result as
    long as it says; elsewhere it is its operand. Padded `latewood.nonzero` (indices for each dimension, and their number) whose
    indices are all cut to that number becomes one whose results have that length; any other is replaced by its decomposition.

    ```mlir
    // before
    %0:2 = stablehlo.custom_call @latewood.nonzero(%x) {…} : (tensor<10xf32>) -> (tensor<10xi32>, tensor<i32>)
    %1 = stablehlo.custom_call @latewood.trim(%0#0, %0#1) : (tensor<10xi32>, tensor<i32>) -> tensor<10xi32>
    return %1 : tensor<10xi32>
    // after
    %0 = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<10xf32>) -> tensor<?xi32>
    return %0 : tensor<?xi32>
    ```
  }];
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
}

#endif // LATEWOOD_COMPILER_INPUT_PASSES
