// RUN: latewood-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(latewood-materialize-shapes))' | FileCheck %s

// Tests that a shape that is computed in tensors becomes a scalar, that what follows has it, too, and that nothing computes
// the shape in tensors any more.
// CHECK-LABEL: func.func @broadcast(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[B:.*]]: tensor<64xf32>)
func.func @broadcast(%x: tensor<?x64xf32>, %b: tensor<64xf32>) -> tensor<?x64xf32> {
  // CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
  // CHECK: %[[N:.*]] = tensor.dim %[[X]], %{{.*}} : tensor<?x64xf32>
  // CHECK: %[[XS:.*]] = plan.with_shape %[[X]](%[[N]]) : tensor<?x64xf32>
  // CHECK: plan.assert %{{.*}}, "dimension 0 has {0} elements, but 'stablehlo.get_dimension_size' counts with 32 bits"(%[[N]]) : i1, index
  // CHECK-NOT: stablehlo.get_dimension_size
  // CHECK-NOT: stablehlo.concatenate
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x64xf32>) -> tensor<i32>
  %c = stablehlo.constant dense<64> : tensor<1xi32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %n1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: %[[E:.*]] = tensor.empty() : tensor<2xindex>
  // CHECK: %[[S:.*]] = plan.with_values %[[E]](%[[N]], %[[C64]]) : tensor<2xindex>, index, index
  // CHECK: %[[BB:.*]] = stablehlo.dynamic_broadcast_in_dim %[[B]], %[[S]], dims = [1]
  // CHECK: %[[BS:.*]] = plan.with_shape %[[BB]](%[[N]])
  %bb = stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (tensor<64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  // CHECK: %[[Y:.*]] = stablehlo.add %[[XS]], %[[BS]]
  // CHECK: %[[YS:.*]] = plan.with_shape %[[Y]](%[[N]])
  %y = stablehlo.add %x, %bb : tensor<?x64xf32>
  // CHECK: return %[[YS]]
  return %y : tensor<?x64xf32>
}

// -----

// Tests that extents that an operation wants to be equal are one, and that the host checks it.
// CHECK-LABEL: func.func @unify(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[Z:.*]]: tensor<4xf32>)
func.func @unify(%x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK-DAG: %[[M:.*]] = tensor.dim %[[Y]]
  // CHECK-DAG: %[[XS:.*]] = plan.with_shape %[[X]](%[[C4]])
  // CHECK-DAG: %[[YS:.*]] = plan.with_shape %[[Y]](%[[C4]])
  // CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]] : index
  // CHECK: plan.assert %[[SAME]], "'stablehlo.add' needs equal extents in dimension 0 of its operands, got {0} and {1}"(%[[N]], %[[M]]) : i1, index, index
  // CHECK: stablehlo.add %[[XS]], %[[YS]]
  %0 = stablehlo.add %x, %y : tensor<?xf32>
  // CHECK: %[[FOUR:.*]] = arith.cmpi eq, %[[N]], %[[C4]] : index
  // CHECK: plan.assert %[[FOUR]]
  %1 = "stablehlo.add"(%x, %z) : (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// Tests the arithmetic of extents: joined, padded, windows, and of integers at their width.
// CHECK-LABEL: func.func @arithmetic(
// CHECK-SAME: %[[X:.*]]: tensor<?x8xf32>, %[[P:.*]]: tensor<f32>)
func.func @arithmetic(%x: tensor<?x8xf32>, %p: tensor<f32>) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>) {
  // CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
  // CHECK-DAG: %[[C8:.*]] = arith.constant 8 : i32
  // CHECK: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK: %[[NN:.*]] = arith.addi %[[N]], %[[N]] : index
  // CHECK: %[[J:.*]] = stablehlo.concatenate
  // CHECK: plan.with_shape %[[J]](%[[NN]])
  %0 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK: %[[N2:.*]] = arith.addi %[[N]], %[[C2]] : index
  // CHECK: stablehlo.pad
  // CHECK: plan.with_shape %{{.*}}(%[[N2]])
  %1 = stablehlo.pad %x, %p, low = [1, 0], high = [1, 0], interior = [0, 0] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  // CHECK: %[[NI:.*]] = arith.index_cast %[[N]] : index to i32
  // CHECK: %[[PI:.*]] = arith.muli %[[NI]], %[[C8]] : i32
  // CHECK: %[[PX:.*]] = arith.muli %[[N]], %{{.*}} : index
  // CHECK: %[[PG:.*]] = arith.index_cast %[[PI]] : i32 to index
  // CHECK: plan.assert %{{.*}}, "a shape is {0}, but computed as {1} with too few bits"(%[[PX]], %[[PG]]) : i1, index, index
  // CHECK: stablehlo.dynamic_reshape
  // CHECK: plan.with_shape %{{.*}}(%[[PX]])
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x8xf32>) -> tensor<i32>
  %c8 = stablehlo.constant dense<8> : tensor<i32>
  %m = stablehlo.multiply %n, %c8 : tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_reshape %x, %s : (tensor<?x8xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>
}

// -----

// Tests that an extent that is computed from data is read by the host, and that limits are asserted.
// CHECK-LABEL: func.func @data(
// CHECK-SAME: %[[X:.*]]: tensor<10xf32>)
func.func @data(%x: tensor<10xf32>) -> tensor<?xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[R:.*]] = stablehlo.reduce
  %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<10xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: %[[I:.*]] = stablehlo.convert %[[R]] : (tensor<f32>) -> tensor<i32>
  %i = stablehlo.convert %r : (tensor<f32>) -> tensor<i32>
  // CHECK: %[[N:.*]] = tensor.extract %[[I]][] : tensor<i32>
  // CHECK: %[[NX:.*]] = arith.index_cast %[[N]] : i32 to index
  // CHECK: plan.assert %{{.*}}, "'stablehlo.real_dynamic_slice' from {0} to {1} by {2} along dimension 0, which has {3} elements"
  %s = stablehlo.constant dense<0> : tensor<1xi32>
  %l = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %t = stablehlo.constant dense<1> : tensor<1xi32>
  // CHECK: %[[C:.*]] = stablehlo.real_dynamic_slice
  // CHECK: plan.with_shape %[[C]](%[[NX]])
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<10xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Tests that loops carry extents that do not change, and that scalars stand outside of them.
// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[K:.*]]: tensor<i32>)
func.func @loop(%x: tensor<?xf32>, %k: tensor<i32>) -> tensor<?xf32> {
  // CHECK: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK: %[[W:.*]]:2 = stablehlo.while
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %a = %x) : tensor<i32>, tensor<?xf32>
   cond {
    %1 = stablehlo.compare LT, %i, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: %[[AS:.*]] = plan.with_shape %{{.*}}(%[[N]])
    // CHECK: %[[S:.*]] = stablehlo.sine %[[AS]]
    // CHECK: %[[SS:.*]] = plan.with_shape %[[S]](%[[N]])
    // CHECK: stablehlo.return %{{.*}}, %[[SS]]
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = stablehlo.sine %a : tensor<?xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<?xf32>
  }
  // CHECK: %[[WS:.*]] = plan.with_shape %[[W]]#1(%[[N]])
  // CHECK: return %[[WS]]
  return %0#1 : tensor<?xf32>
}

// -----

// Tests that a branch decides on an extent, and that an assertion about shapes is one about scalars.
// CHECK-LABEL: func.func @branches(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>, %[[P:.*]]: tensor<i1>)
func.func @branches(%x: tensor<?xf32>, %y: tensor<?xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]]
  // CHECK-DAG: %[[M:.*]] = tensor.dim %[[Y]]
  // CHECK: %[[OK:.*]] = arith.cmpi sge, %{{.*}}, %{{.*}} : i32
  // CHECK: plan.assert %[[OK]], "too short: {0}"(%{{.*}}) : i1, i32
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %ok = stablehlo.compare GE, %n, %one, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  plan.assert %ok, "too short: {0}"(%n) : tensor<i1>, tensor<i32>
  // CHECK: %[[Q:.*]] = tensor.extract %[[P]][] : tensor<i1>
  // CHECK: %[[E:.*]] = arith.select %[[Q]], %[[N]], %[[M]] : index
  // CHECK: %[[R:.*]] = scf.if %[[Q]] -> (tensor<?xf32>)
  // CHECK: plan.with_shape %[[R]](%[[E]])
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<?xf32>
  }, {
    stablehlo.return %y : tensor<?xf32>
  }) : (tensor<i1>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Tests that extents that the program demands to be equal are one behind the demand, although one of them might be 1 as
// far as the broadcast knows; and that what comes before has its own.
// CHECK-LABEL: func.func @demanded(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xf32>, %[[Y:.*]]: tensor<?xf32>)
func.func @demanded(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  // CHECK-DAG: %[[N:.*]] = tensor.dim %[[X]], %c0
  // CHECK-DAG: %[[M:.*]] = tensor.dim %[[X]], %c1
  // CHECK: plan.with_shape %[[Y]](%[[M]])
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %k = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %ok = stablehlo.compare EQ, %k, %m, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CHECK: plan.assert %{{.*}}, "lengths {0} and {1}"
  plan.assert %ok, "lengths {0} and {1}"(%k, %m) : tensor<i1>, tensor<i32>, tensor<i32>
  // CHECK-NOT: cannot make dimension
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %m1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %m1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  // CHECK: %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim
  // CHECK: plan.with_shape %[[B]](%[[N]], %[[M]])
  %b = stablehlo.dynamic_broadcast_in_dim %y, %shape, dims = [1] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  %0 = stablehlo.add %x, %b : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
