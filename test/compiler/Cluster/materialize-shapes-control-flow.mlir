// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes))' | FileCheck %s

// Tests that a loop that carries a growing tensor is the host's: beside the tensor it carries the extent and the counter, of which the
// tensor is not needed, and nothing else; what does not change is not carried.
// CHECK-LABEL: func.func @grow(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[ROW:.*]]: tensor<2xf32>, %[[N:.*]]: tensor<i32>)
// CHECK: %[[DIM:.*]] = tensor.dim %[[X]]
// CHECK: %[[XS:.*]] = plan.with_shape %[[X]](%[[DIM]])
// CHECK: %[[LIMIT:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK: %[[R:.*]]:3 = scf.while (%[[Y:.*]] = %[[XS]], %[[M:.*]] = %[[DIM]], %[[I:.*]] = %{{.*}}) : (tensor<?xf32>, index, i32)
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[I]], %[[LIMIT]] : i32
// CHECK: scf.condition(%[[LESS]]) %[[Y]], %[[M]], %[[I]]
// CHECK: ^bb0(%[[Y:.*]]: tensor<?xf32>, %[[M:.*]]: index, %[[I:.*]]: i32):
// CHECK: %[[YS:.*]] = plan.with_shape %[[Y]](%[[M]])
// CHECK: %[[NEXT:.*]] = arith.addi %[[M]], %{{.*}} : index
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[YS]], %[[ROW]]
// CHECK: %[[CS:.*]] = plan.with_shape %[[C]](%[[NEXT]])
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : i32
// CHECK: scf.yield %[[CS]], %[[NEXT]], %[[J]]
// CHECK: %[[RS:.*]] = plan.with_shape %[[R]]#0(%[[R]]#1)
// CHECK: return %[[RS]]
func.func @grow(%x: tensor<?xf32>, %row: tensor<2xf32>, %n: tensor<i32>) -> tensor<?xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %zero, %y = %x, %w = %row) : tensor<i32>, tensor<?xf32>, tensor<2xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.concatenate %y, %w, dim = 0 : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %0, %w : tensor<i32>, tensor<?xf32>, tensor<2xf32>
  }
  return %r#1 : tensor<?xf32>
}

// -----

// Tests that a loop whose extents are known before it begins is left to an engine.
// CHECK-LABEL: func.func @keep(
// CHECK-NOT: scf.while
// CHECK: stablehlo.while
func.func @keep(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %r = stablehlo.while(%y = %x) : tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.add %y, %y : tensor<?xf32>
    stablehlo.return %0 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Tests that branches give the extents that they compute. What is asserted in one of them says nothing of what is outside: the extent of
// the product is that of its operand.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]]
// CHECK: %[[M:.*]] = tensor.dim %[[Y]]
// CHECK: %[[YS:.*]] = plan.with_shape %[[Y]](%[[M]])
// CHECK: %[[C:.*]] = tensor.extract %[[P]][] : tensor<i1>
// CHECK: %[[EQUAL:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK: scf.if %[[C]] -> (tensor<?xi32>, {{.*}}index)
// CHECK: plan.assert %[[EQUAL]], "'stablehlo.add' needs equal extents in dimension 0 of its operands, got {0} and {1}"
// CHECK: %[[COUNT:.*]] = tensor.extract
// CHECK: %[[HITS:.*]] = arith.index_cast %[[COUNT]]
// CHECK: %[[Z:.*]] = stablehlo.custom_call @latewood.nonzero
// CHECK: %[[ZS:.*]] = plan.with_shape %[[Z]](%[[HITS]])
// CHECK: scf.yield %[[ZS]], {{.*}}%[[HITS]]
// CHECK: else
// CHECK: scf.yield {{.*}}%[[N]]
// CHECK: stablehlo.multiply %[[YS]], %[[YS]]
// CHECK: plan.with_shape %{{.*}}(%[[M]])
func.func @branches(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xi32>, tensor<?xf32>) {
  %r:2 = "stablehlo.if"(%p) ({
    %s = stablehlo.add %x, %y : tensor<?xf32>
    %0 = stablehlo.custom_call @latewood.nonzero(%s) : (tensor<?xf32>) -> tensor<?xi32>
    stablehlo.return %0, %s : tensor<?xi32>, tensor<?xf32>
  }, {
    %0 = stablehlo.convert %x : (tensor<?xf32>) -> tensor<?xi32>
    stablehlo.return %0, %x : tensor<?xi32>, tensor<?xf32>
  }) : (tensor<i1>) -> (tensor<?xi32>, tensor<?xf32>)
  %z = stablehlo.multiply %y, %y : tensor<?xf32>
  return %r#0, %z : tensor<?xi32>, tensor<?xf32>
}

// -----

// Tests that a case becomes a switch, whose last branch is for all other numbers, and that an assertion about a scalar of outside stays
// in the branch that needs it.
// CHECK-LABEL: func.func @switch(
// CHECK-SAME: %[[K:.*]]: tensor<i32>,
// CHECK: %[[KEY:.*]] = tensor.extract %[[K]][] : tensor<i32>
// CHECK: %[[NUMBER:.*]] = arith.index_cast %[[KEY]] : i32 to index
// CHECK: %[[R:.*]]:2 = scf.index_switch %[[NUMBER]] -> tensor<?xi64>, index
// CHECK: case 0 {
// CHECK-NEXT: plan.assert
// CHECK: case 1 {
// CHECK: latewood.nonzero
// CHECK: default {
// CHECK-NEXT: scf.yield
// CHECK: plan.with_shape %[[R]]#0(%[[R]]#1)
func.func @switch(%k: tensor<i32>, %n: tensor<1xi64>, %x: tensor<?xi64>) -> tensor<?xi64> {
  %r = "stablehlo.case"(%k) ({
    %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
    stablehlo.return %0 : tensor<?xi64>
  }, {
    %0 = stablehlo.custom_call @latewood.nonzero(%x) : (tensor<?xi64>) -> tensor<?xi64>
    stablehlo.return %0 : tensor<?xi64>
  }, {
    stablehlo.return %x : tensor<?xi64>
  }) : (tensor<i32>) -> tensor<?xi64>
  return %r : tensor<?xi64>
}

// -----

// Tests that what is carried for nothing is gone with what computes it, branches and loops included.
// CHECK-LABEL: func.func @in_vain(
// CHECK: scf.while (%{{.*}}, %{{.*}}) : (tensor<?xf32>, index) -> (tensor<?xf32>, index)
// CHECK-NOT: scf.if
// CHECK: return
func.func @in_vain(%x: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  %r:2 = stablehlo.while(%y = %x, %z = %x) : tensor<?xf32>, tensor<?xf32>
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %0 = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %1:2 = "stablehlo.if"(%p) ({
      %2 = stablehlo.concatenate %z, %y, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      stablehlo.return %2, %y : tensor<?xf32>, tensor<?xf32>
    }, {
      stablehlo.return %z, %z : tensor<?xf32>, tensor<?xf32>
    }) : (tensor<i1>) -> (tensor<?xf32>, tensor<?xf32>)
    stablehlo.return %0, %y : tensor<?xf32>, tensor<?xf32>
  }
  return %r#0 : tensor<?xf32>
}
