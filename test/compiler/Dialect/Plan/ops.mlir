// RUN: latewood-opt %s | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --mlir-print-op-generic | latewood-opt | FileCheck %s
// RUN: latewood-opt %s --emit-bytecode | latewood-opt | FileCheck %s

// Tests that every operation and attribute of the dialect prints as it was read, in pretty and generic form and through bytecode.

// CHECK: module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "avx2,fma">}
module attributes {plan.target = #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "avx2,fma">} {
  // CHECK: module @cpu attributes {plan.engine = #plan.cpu_engine}
  module @cpu attributes {plan.engine = #plan.cpu_engine} {
    func.func @f(%a: tensor<4xf32> {plan.constant}, %out: tensor<4xf32> {plan.out}) -> tensor<4xf32> {
      return %a : tensor<4xf32>
    }
    func.func @g(%a: tensor<4xf32>) -> tensor<?xf32> {
      %0 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
      return %0 : tensor<?xf32>
    }
  }

  // CHECK-LABEL: func.func @clusters(
  // CHECK-SAME: %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>)
  func.func @clusters(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    // CHECK: %{{.*}} = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> {
    // CHECK:   plan.yield %{{.*}} : tensor<4xf32>
    %0 = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> {
      %3 = arith.addf %a, %b : tensor<4xf32>
      plan.yield %3 : tensor<4xf32>
    }
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: plan.dps_cluster target(#plan.cpu_engine) ins(%[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>) {
    %1 = plan.dps_cluster target(#plan.cpu_engine) ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %out: tensor<4xf32>):
      %3 = arith.addf %x, %y : tensor<4xf32>
      plan.yield %3 : tensor<4xf32>
    // CHECK: } -> tensor<4xf32>
    } -> tensor<4xf32>
    // CHECK: plan.alloc_cluster target(#plan.cpu_engine) ins(%[[A]] : tensor<4xf32>) {
    %2 = plan.alloc_cluster target(#plan.cpu_engine) ins(%a : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>):
      %3 = arith.negf %x : tensor<4xf32>
      plan.yield %3 : tensor<4xf32>
    } -> tensor<4xf32>
    return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }

  // CHECK-LABEL: func.func @calls(
  func.func @calls(%a: tensor<4xf32>, %m: memref<4xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    // CHECK: plan.call @cpu::@f(%{{.*}}) outs(%{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %0 = plan.call @cpu::@f(%a) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // CHECK: plan.call @cpu::@f(%{{.*}}) outs(%{{.*}}) : (memref<4xf32>, memref<4xf32>) -> ()
    plan.call @cpu::@f(%m) outs(%m) : (memref<4xf32>, memref<4xf32>) -> ()
    // CHECK: plan.call_alloc @cpu::@g(%{{.*}}) : (tensor<4xf32>) -> tensor<?xf32>
    %1 = plan.call_alloc @cpu::@g(%a) : (tensor<4xf32>) -> tensor<?xf32>
    return %0, %1 : tensor<4xf32>, tensor<?xf32>
  }

  // CHECK-LABEL: func.func @shapes(
  // CHECK-SAME: %[[A:.*]]: tensor<?x64xf32> {plan.bounds = #plan.bounds<min = [1, 64], opt = [8, 64], max = [512, 64]>},
  // CHECK-SAME: %[[N:.*]]: index, %[[M:.*]]: i64, %[[S:.*]]: tensor<2xi64>, %[[B:.*]]: memref<?x64xf32>)
  func.func @shapes(%a: tensor<?x64xf32> {plan.bounds = #plan.bounds<min = [1, 64], opt = [8, 64], max = [512, 64]>},
                    %n: index, %m: i64, %s: tensor<2xi64>, %buffer: memref<?x64xf32>) {
    // CHECK: plan.with_shape %[[B]](%[[N]]) : memref<?x64xf32>
    %w = plan.with_shape %buffer(%n) : memref<?x64xf32>
    // CHECK: %[[X:.*]] = plan.with_shape %[[A]](%[[N]]) : tensor<?x64xf32>
    %x = plan.with_shape %a(%n) : tensor<?x64xf32>
    // CHECK: plan.with_values %[[S]](%[[M]], %[[M]]) : tensor<2xi64>, i64, i64
    %v = plan.with_values %s(%m, %m) : tensor<2xi64>, i64, i64
    // CHECK: plan.optimization_barrier %[[X]] : tensor<?x64xf32>
    %b = plan.optimization_barrier %x : tensor<?x64xf32>
    // CHECK: %[[D:.*]] = plan.transfer %{{.*}} : tensor<?x64xf32> to tensor<?x64xf32, #plan.memory_space<device>>
    %d = plan.transfer %b : tensor<?x64xf32> to tensor<?x64xf32, #plan.memory_space<device>>
    // CHECK: plan.alloc_cluster target(#plan.cpu_engine) ins(%[[X]], %[[N]] : tensor<?x64xf32>, index) {
    %r = plan.alloc_cluster target(#plan.cpu_engine) ins(%x, %n : tensor<?x64xf32>, index) {
    ^bb0(%y: tensor<?x64xf32>, %k: index):
      %z = arith.negf %y : tensor<?x64xf32>
      plan.yield %z : tensor<?x64xf32>
    // CHECK: } {extents = [array<i64: 1>, array<i64>]} -> tensor<?x64xf32>
    } {extents = [array<i64: 1>, array<i64>]} -> tensor<?x64xf32>
    return
  }

  // CHECK-LABEL: func.func @asserts(
  func.func @asserts(%ok: i1, %n: index, %met: tensor<i1>, %i: tensor<i64>) {
    // CHECK: plan.assert %{{.*}}, "expected {0} rows"(%{{.*}}) : i1, index
    plan.assert %ok, "expected {0} rows"(%n) : i1, index
    // CHECK: plan.assert %{{.*}}, "{0} iterations were not enough"(%{{.*}}) : tensor<i1>, tensor<i64>
    plan.assert %met, "{0} iterations were not enough"(%i) : tensor<i1>, tensor<i64>
    return
  }
}
