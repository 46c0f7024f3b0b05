// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Phase Cluster: divides each public function among the engines.

#ifndef LATEWOOD_COMPILER_CLUSTER_PASSES
#define LATEWOOD_COMPILER_CLUSTER_PASSES

include "mlir/Pass/PassBase.td"

def MaterializeShapesPass : Pass<"latewood-materialize-shapes", "::mlir::func::FuncOp"> {
  let summary = "Makes the extents of dynamic shapes scalars of the host";
  let description = [{
    Each value of dynamic shape gets a scalar for each dynamic dimension; extents that must be equal are one scalar, and the host
    asserts what is not evident. Tensors of a few integers that compute shapes are followed element by element; what they cannot be followed
    through is read by the host (`tensor.extract`) after it has been computed.

    ```mlir
    // before
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
    %s = stablehlo.concatenate %n1, %c64, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %b = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
    %y = stablehlo.add %x, %b : tensor<?x64xf32>
    // after
    %n = tensor.dim %x, %c0 : tensor<?x64xf32>
    %xs = plan.with_shape %x(%n) : tensor<?x64xf32>
    %e = tensor.empty() : tensor<2xindex>
    %s = plan.with_values %e(%n, %c64) : tensor<2xindex>, index, index
    %b = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<64xf32>, tensor<2xindex>) -> tensor<?x64xf32>
    %bs = plan.with_shape %b(%n) : tensor<?x64xf32>
    %y = stablehlo.add %xs, %bs : tensor<?x64xf32>
    %ys = plan.with_shape %y(%n) : tensor<?x64xf32>
    ```

    Conditions of `plan.assert` that are made of shapes become scalars, too.

    Control flow in which an extent is computed, or that carries a tensor whose extents change, is the host's: engines could not know
    extents beforehand. Extents that change are carried as scalars beside their tensor, as are integers that shapes depend on.

    ```mlir
    // before
    %r = stablehlo.while(%x = %a) : tensor<?xf32> cond { … } do {
      %y = stablehlo.concatenate %x, %row, dim = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      stablehlo.return %y : tensor<?xf32>
    }
    // after
    %r:2 = scf.while (%x = %as, %m = %n) : (tensor<?xf32>, index) -> (tensor<?xf32>, index) { … } do {
    ^bb0(%x: tensor<?xf32>, %m: index):
      %xs = plan.with_shape %x(%m) : tensor<?xf32>
      %next = arith.addi %m, %c1 : index
      %y = stablehlo.concatenate %xs, %row, dim = 0 : (tensor<?xf32>, tensor<1xf32>) -> tensor<?xf32>
      %ys = plan.with_shape %y(%next) : tensor<?xf32>
      scf.yield %ys, %next : tensor<?xf32>, index
    }
    %rs = plan.with_shape %r#0(%r#1) : tensor<?xf32>
    ```

    Postcondition: a value of dynamic shape has one user, its `plan.with_shape` (and `tensor.dim`, if it is an argument). Refuses an
    operation of dynamic shape without a rule.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def PropagateBoundsPass : Pass<"latewood-propagate-bounds", "::mlir::func::FuncOp"> {
  let summary = "Carries bounds of arguments to everything whose extents are computed of them";
  let description = [{
    Arguments have bounds from the program or from the option `bounds`. What could overflow has none.

    ```mlir
    // before
    func.func @main(%x: tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [8], max = [64]>}) -> tensor<?xf32> {
      … %m = arith.addi %n, %n : index
      %ys = plan.with_shape %y(%m) : tensor<?xf32>
    // after
      %ys = plan.with_shape %y(%m) {plan.bounds = #plan.bounds<min = [2], opt = [16], max = [128]>} : tensor<?xf32>
    ```

    Results get them, too, and the arguments of cluster functions when these are outlined. Precondition: extents are scalars.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect"];
}

def CreateShapeFunctionsPass : Pass<"latewood-create-shape-functions", "::mlir::ModuleOp"> {
  let summary = "Makes functions that compute the shapes of results without the results";
  let description = [{
    For a public function whose dynamic results have extents that are made of arguments' extents and of small integers in arguments,
    a function `<name>.shapes` with the same arguments gives one vector of extents for each such result, and makes the same assertions. The
    attribute `plan.shape_function` names it. Results whose extents are read from what engines compute get `plan.data_dependent`.

    ```mlir
    // after
    func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> attributes {plan.shape_function = @main.shapes} { … }
    func.func @main.shapes(%x: tensor<?x64xf32>) -> tensor<2xi64> {
      %n = tensor.dim %x, %c0 : tensor<?x64xf32>
      %0 = arith.index_cast %n : index to i64
      %1 = tensor.empty() : tensor<2xi64>
      %2 = tensor.insert %0 into %1[%c0] : tensor<2xi64>
      %3 = tensor.insert %c64 into %2[%c1] : tensor<2xi64>
      return %3 : tensor<2xi64>
    }
    ```

    Precondition: extents are scalars (`latewood-materialize-shapes`).
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def FormClustersPass : Pass<"latewood-form-clusters", "::mlir::func::FuncOp"> {
  let summary = "Groups the operations of a function into open clusters, one engine each";
  let description = [{
    Asks the engines, best benefit first, which operations they take, and wraps the operations that one engine takes into a
    `plan.cluster`. Constants that only leave the function stay outside.

    ```mlir
    // before
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
    // after
    %0 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> {
      %1 = stablehlo.add %a, %b : tensor<4xf32>
      plan.yield %1 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```

    Scalars, reads of single elements and assertions stay with the host. What depends on a read of a computed value is in a later cluster.

    Postcondition: a public function holds scalars, assertions, clusters, constants and its return, nothing else.
    Refuses an operation that no engine takes; the error gives each engine's reason.
  }];
  let options = [ListOption<"engines", "engines", "std::string", "Engines to divide the program among, by name">];
  let dependentDialects = ["::latewood::plan::PlanDialect"];
}

def CreateClosedRegionsPass : Pass<"latewood-create-closed-regions", "::mlir::func::FuncOp"> {
  let summary = "Closes clusters: values come in by operands, results go into destinations";
  let description = [{
    An open cluster uses the host's values; a closed one has them as operands. Constants that are small, or splats, are copied
    inside; larger ones become operands, so that the file holds them once. When the engine prefers destinations and the
    extents of all results are known to the host, the cluster becomes a `plan.dps_cluster` whose destinations are `tensor.empty`; otherwise a
    `plan.alloc_cluster`, and a remark says why.

    Values that a cluster yields more than once, or that it only passes through, are taken from the host instead.

    ```mlir
    // before
    %0 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> { … uses %a … }
    // after
    %e = tensor.empty() : tensor<4xf32>
    %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>, %out: tensor<4xf32>): …
    } -> tensor<4xf32>
    ```

    Each distinct extent of a dynamic operand, destinations included, is an operand itself; the attribute `extents` says which.

    Clusters of the engines in `allocating` allocate their results in any case.

    Postcondition: no `plan.cluster` is left.
  }];
  let options = [ListOption<"allocating", "allocating", "std::string", "Engines whose clusters allocate their results">];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::mlir::tensor::TensorDialect"];
}

def OutlineClustersPass : Pass<"latewood-outline-clusters", "::mlir::ModuleOp"> {
  let summary = "Moves the bodies of closed clusters into functions of their engine's module";
  let description = [{
    Each engine gets one nested module, named after it, that carries the target. A cluster in destination style becomes a function whose
    last arguments are marked `plan.out`, and a `plan.call`; an allocating one a `plan.call_alloc`.

    ```mlir
    // after
    module @cpu attributes {plan.engine = #plan.cpu_engine} {
      func.func @main_cluster_0(%x: tensor<4xf32>, %out: tensor<4xf32> {plan.out}) -> tensor<4xf32> { … }
    }
    %0 = plan.call @cpu::@main_cluster_0(%a) outs(%e) : …
    ```

    An argument of dynamic shape says with `plan.extents` which arguments its extents are.

    Postcondition: no closed cluster is left; every cluster function is in a nested module.
  }];
  let dependentDialects = ["::latewood::plan::PlanDialect", "::mlir::func::FuncDialect"];
}

#endif // LATEWOOD_COMPILER_CLUSTER_PASSES
