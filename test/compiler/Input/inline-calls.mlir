// RUN: latewood-opt %s --latewood-inline-calls --symbol-dce --mlir-print-local-scope | FileCheck %s
// RUN: latewood-opt %s --latewood-inline-calls --symbol-dce --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// Tests that calls in calls become what was written in the functions, each with its own operands and results in the order in which
// the function returns them.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-NEXT: %[[SUM:.*]] = stablehlo.add %[[Y]], %[[Y]]
// CHECK-NEXT: %[[PRODUCT:.*]] = stablehlo.multiply %[[SUM]], %[[X]]
// CHECK-NEXT: %[[SUM2:.*]] = stablehlo.add %[[PRODUCT]], %[[PRODUCT]]
// CHECK-NEXT: return %[[SUM2]], %[[PRODUCT]], %[[X]]
// LOC-LABEL: func.func public @main
// LOC: stablehlo.add {{.*}} loc(callsite("sum" at callsite("in swap" at "in main")))
func.func public @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0:2 = call @swap(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) loc("in main")
  %1 = call @double(%0#0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK-NOT: @swap
func.func private @swap(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = call @double(%y) : (tensor<4xf32>) -> tensor<4xf32> loc("in swap")
  %1 = stablehlo.multiply %0, %x : tensor<4xf32>
  return %1, %x : tensor<4xf32>, tensor<4xf32>
}
// CHECK-NOT: @double
func.func private @double(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32> loc("sum")
  return %0 : tensor<4xf32>
}

// Tests that calls are inlined in the regions of operations.
// CHECK-LABEL: func.func public @in_a_loop
// CHECK: stablehlo.while
// CHECK-NOT: call @
func.func public @in_a_loop(%x: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.while(%i = %x) : tensor<i32>
  cond {
    %1 = func.call @goes_on(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }
  return %0 : tensor<i32>
}
func.func private @goes_on(%i: tensor<i32>) -> tensor<i1> {
  %c = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.compare LT, %i, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.add %i, %i : tensor<i32>
  return %0 : tensor<i32>
}

// Tests that a public function is inlined as it was written, and is itself inlined into, whichever comes first.
// CHECK-LABEL: func.func public @first
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: return
func.func public @first(%i: tensor<i32>) -> tensor<i32> {
  %0 = call @second(%i) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
// CHECK-LABEL: func.func public @second
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: return
func.func public @second(%i: tensor<i32>) -> tensor<i32> {
  %0 = call @next(%i) : (tensor<i32>) -> tensor<i32>
  %1 = stablehlo.negate %0 : tensor<i32>
  return %1 : tensor<i32>
}
// CHECK-LABEL: func.func public @third
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: return
func.func public @third(%i: tensor<i32>) -> tensor<i32> {
  %0 = call @second(%i) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// Tests that a function that something other than a call names is an entry point too: its calls are inlined.
// CHECK-LABEL: func.func public @named
// CHECK: stablehlo.custom_call @somebody
func.func public @named(%i: tensor<i32>) -> tensor<i32> {
  %0 = stablehlo.custom_call @somebody(%i) {called_computations = [@twice]} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
// CHECK-LABEL: func.func private @twice
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
func.func private @twice(%i: tensor<i32>) -> tensor<i32> {
  %0 = call @next(%i) : (tensor<i32>) -> tensor<i32>
  %1 = call @next(%0) : (tensor<i32>) -> tensor<i32>
  return %1 : tensor<i32>
}

// Tests that what nobody calls may call itself.
// CHECK-NOT: @unused
func.func private @unused(%i: tensor<i32>) -> tensor<i32> {
  %0 = call @unused(%i) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
