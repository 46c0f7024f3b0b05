// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Input: a program as a framework exported it becomes public functions on plain StableHLO, in the form that fuses best.

#ifndef LATEWOOD_COMPILER_INPUT_PASSES
#define LATEWOOD_COMPILER_INPUT_PASSES

include "mlir/Pass/PassBase.td"

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

def ExpandChecksPass : Pass<"latewood-expand-checks", "::mlir::ModuleOp"> {
  let summary = "Turns checks into a count of wrong elements and an assertion";
  let description = [{
    Takes the operations of the `check` dialect and the custom calls `@check.expect_eq`, `@check.expect_almost_eq` and
    `@check.expect_close` of exported programs.

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

#endif // LATEWOOD_COMPILER_INPUT_PASSES
