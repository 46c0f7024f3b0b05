// RUN: latewood-opt %s --pass-pipeline='builtin.module(func.func(latewood-propagate-bounds))' | FileCheck %s

// Tests the arithmetic of bounds: sums, differences, products, quotients, and integers that arguments hold.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: -> (tensor<?x4xf32> {plan.bounds = #plan.bounds<min = [3, 4], opt = [9, 4], max = [65, 4]>}, tensor<?xf32>)
func.func public @main(%x: tensor<?xf32> {plan.bounds = #plan.bounds<min = [2], opt = [8], max = [64]>},
                       %k: tensor<2xi32> {plan.value_bounds = #plan.bounds<min = [1, 1], opt = [2, 3], max = [4, 9]>},
                       %y: tensor<?x4xf32>, %z: tensor<?xf32>) -> (tensor<?x4xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %big = arith.constant 9223372036854775000 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.extract %k[%c1] : tensor<2xi32>
  %i = arith.index_cast %e : i32 to index
  %sum = arith.addi %n, %c1 : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [3, 4], opt = [9, 4], max = [65, 4]>}
  %0 = plan.with_shape %y(%sum) : tensor<?x4xf32>
  %product = arith.muli %n, %i : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [2], opt = [24], max = [576]>}
  %1 = plan.with_shape %z(%product) : tensor<?xf32>
  %difference = arith.subi %n, %i : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [0], opt = [5], max = [63]>}
  %2 = plan.with_shape %z(%difference) : tensor<?xf32>
  %quotient = arith.divsi %n, %c3 : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [0], opt = [2], max = [21]>}
  %3 = plan.with_shape %z(%quotient) : tensor<?xf32>
  // What overflows has no bounds, nor has what depends on an extent without any.
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) : tensor<?xf32>
  %more = arith.muli %n, %big : index
  %4 = plan.with_shape %z(%more) : tensor<?xf32>
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) : tensor<?xf32>
  %free = tensor.dim %z, %c0 : tensor<?xf32>
  %5 = plan.with_shape %z(%free) : tensor<?xf32>
  return %0, %5 : tensor<?x4xf32>, tensor<?xf32>
}

// Tests that a choice which bounds decide is taken: the quotient that rounds down, as frameworks write it.
// CHECK-LABEL: func.func public @choices(
func.func public @choices(%x: tensor<?xf32> {plan.bounds = #plan.bounds<min = [4], opt = [8], max = [16]>},
                          %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c10 = arith.constant 10 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %quotient = arith.divsi %n, %c4 : index
  %less = arith.subi %quotient, %c1 : index
  %remainder = arith.remsi %n, %c4 : index
  %isNegative = arith.cmpi slt, %n, %c0 : index
  %isUneven = arith.cmpi ne, %remainder, %c0 : index
  %down = arith.andi %isNegative, %isUneven : i1
  %floor = arith.select %down, %less, %quotient : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [1], opt = [2], max = [4]>}
  %0 = plan.with_shape %z(%floor) : tensor<?xf32>
  // One that they do not decide may be either.
  %isLarge = arith.cmpi sgt, %n, %c10 : index
  %either = arith.select %isLarge, %n, %c1 : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = #plan.bounds<min = [1], opt = [1], max = [16]>}
  %1 = plan.with_shape %z(%either) : tensor<?xf32>
  return %1 : tensor<?xf32>
}

// Tests that bounds for several profiles are carried for each of them; the last entry of a shorter list holds for the others.
// CHECK-LABEL: func.func public @profiles(
func.func public @profiles(%x: tensor<?xf32> {plan.bounds = [#plan.bounds<min = [1], opt = [4], max = [8]>, #plan.bounds<min = [9], opt = [64], max = [128]>]},
                           %y: tensor<?xf32> {plan.bounds = #plan.bounds<min = [1], opt = [2], max = [3]>},
                           %z: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = tensor.dim %y, %c0 : tensor<?xf32>
  %sum = arith.addi %n, %m : index
  // CHECK: plan.with_shape %{{.*}}(%{{.*}}) {plan.bounds = [#plan.bounds<min = [2], opt = [6], max = [11]>, #plan.bounds<min = [10], opt = [66], max = [131]>]}
  %0 = plan.with_shape %z(%sum) : tensor<?xf32>
  return %0 : tensor<?xf32>
}
