// RUN: latewood-opt %s --split-input-file --verify-diagnostics

// Tests that (C1) of plan.cluster is checked: the yielded types are the result types.
func.func @f(%a: tensor<4xf32>) {
  %0 = plan.cluster target(#plan.cpu_engine) -> tensor<5xf32> {
    // expected-error @below {{gives (tensor<4xf32>) where the cluster's results are (tensor<5xf32>)}}
    plan.yield %a : tensor<4xf32>
  }
  return
}

// -----

// Tests that (C2) of plan.dps_cluster is checked: the region's arguments are the operands.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{has region arguments (tensor<5xf32>, tensor<4xf32>) where its operands are (tensor<4xf32>, tensor<4xf32>)}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: tensor<5xf32>, %out: tensor<4xf32>):
    %1 = arith.negf %out : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C3) of plan.dps_cluster is checked: one destination per result.
func.func @f(%a: tensor<4xf32>) {
  // expected-error @below {{has destinations () where its results are (tensor<4xf32>)}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %1 = arith.negf %x : tensor<4xf32>
    plan.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of plan.dps_cluster is checked: no result is an argument.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{result 0 is an argument of the cluster}}
  %0 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>, %out: tensor<4xf32>):
    plan.yield %x : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// Tests that (C4) of plan.dps_cluster is checked: no result is given twice.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{result 1 is the same value as an earlier result}}
  %0:2 = plan.dps_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) outs(%o, %o : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>, %p: tensor<4xf32>, %q: tensor<4xf32>):
    %1 = arith.negf %x : tensor<4xf32>
    plan.yield %1, %1 : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  return
}

// -----

// Tests that (C1) of plan.call is checked: the callee exists.
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{calls @cpu::@missing, which is no function}}
  %0 = plan.call @cpu::@missing(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C1) of plan.call is checked: as many operands as the callee has arguments.
func.func private @g(tensor<4xf32>)
func.func @f(%a: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{has 2 operands where @g takes 1 arguments}}
  %0 = plan.call @g(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Tests that (C2) of plan.call is checked: on buffers there are no results.
func.func private @g(memref<4xf32>)
func.func @f(%o: memref<4xf32>) {
  // expected-error @below {{has 1 results; on buffers the destinations are the results}}
  %0 = plan.call @g() outs(%o) : (memref<4xf32>) -> memref<4xf32>
  return
}
