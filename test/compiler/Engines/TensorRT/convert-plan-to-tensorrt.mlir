// Tests that clusters of TensorRT become networks with the inputs that TensorRT sees, and calls of them calls of networks, in both
// conventions.
// RUN: latewood-opt %s --latewood-convert-plan-to-tensorrt | FileCheck %s

// CHECK-LABEL: module @program
module @program {

// Destinations and extents are no inputs; the order of the others stays.
// CHECK: tensorrt.module @tensorrt {
// CHECK-NEXT: func.func @given(%[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>) -> tensor<?xf32> {
// CHECK-NEXT: tensorrt.element_wise
// CHECK: func.func @found(%{{.*}}: tensor<4x6xi1>) -> tensor<2x?xi32> {
// CHECK: func.func @scalar(%{{.*}}: tensor<4xf32>, %[[N:.*]]: index) -> tensor<i64>
// CHECK-NOT: plan.extents
module @tensorrt attributes {plan.engine = #plan.tensorrt_engine} {
  func.func @given(%x: tensor<?xf32> {plan.extents = array<i64: 1>}, %n: index, %y: tensor<?xf32> {plan.extents = array<i64: 1>},
                   %out: tensor<?xf32> {plan.extents = array<i64: 1>, plan.out}) -> tensor<?xf32> {
    %0 = tensorrt.element_wise %x, %y {elementwiseOperation = #tensorrt<element_wise_operation kSUM>} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    return %0 : tensor<?xf32>
  }
  func.func @found(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
    %0 = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
  // A scalar that the network reads is an input.
  func.func @scalar(%x: tensor<4xf32>, %n: index, %out: tensor<i64> {plan.out}) -> tensor<i64> {
    %0 = builtin.unrealized_conversion_cast %n : index to tensor<i64>
    return %0 : tensor<i64>
  }
}

// Modules of other engines stay.
// CHECK: module @cpu attributes {plan.engine = #plan.cpu_engine}
module @cpu attributes {plan.engine = #plan.cpu_engine} {
  func.func @given(%x: tensor<4xf32>, %out: tensor<4xf32> {plan.out}) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<?xf32>, %m: tensor<4x6xi1>, %a: tensor<4xf32>) -> (tensor<?xf32>, tensor<2x?xi32>, tensor<i64>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  // CHECK: %[[E:.*]] = tensor.empty(%[[N:.*]]) : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  // CHECK: tensorrt.call @tensorrt::@given(%{{.*}}, %{{.*}}) outs(%[[E]]) : (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %0 = plan.call @tensorrt::@given(%x, %n, %x) outs(%e) : (tensor<?xf32>, index, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  // CHECK: tensorrt.call_alloc @tensorrt::@found(%{{.*}}) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  %1 = plan.call_alloc @tensorrt::@found(%m) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  %s = tensor.empty() : tensor<i64>
  // CHECK: tensorrt.call @tensorrt::@scalar(%{{.*}}, %[[N]]) outs(%{{.*}}) : (tensor<4xf32>, index, tensor<i64>) -> tensor<i64>
  %2 = plan.call @tensorrt::@scalar(%a, %n) outs(%s) : (tensor<4xf32>, index, tensor<i64>) -> tensor<i64>
  %f = tensor.empty() : tensor<4xf32>
  // CHECK: plan.call @cpu::@given
  %3 = plan.call @cpu::@given(%a) outs(%f) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<?xf32>, tensor<2x?xi32>, tensor<i64>, tensor<4xf32>
}
}
