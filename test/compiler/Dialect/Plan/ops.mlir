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
}
