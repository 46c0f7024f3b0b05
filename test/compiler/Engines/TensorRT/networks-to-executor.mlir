// Tests networks that a program calls itself, in both conventions, up to the Executor dialect: a result whose shape depends on
// data, an engine that feeds another one (on the device), and results that are returned directly.

// RUN: rm -rf %t && mkdir %t
// RUN: not env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --input=tensorrt --engines=tensorrt,cpu --tensorrt=engines=%t,export=%t --until=lower -o %t/none.txt
// RUN: sh -c 'cd %t && for f in *.mlir; do printf "LATEWOOD TENSORRT ENGINE 1\nTensorRT 11.1.0\nengine" > $(basename $f .mlir).engine; done'
// RUN: env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --input=tensorrt --engines=tensorrt,cpu --tensorrt=engines=%t --until=lower -o - | FileCheck %s
// RUN: env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --input=tensorrt --engines=tensorrt,cpu --tensorrt=engines=%t --target=x86-64-v3 --host=lua --emit=lua -o - | FileCheck %s --check-prefix=LUA
// RUN: env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --input=tensorrt --engines=tensorrt,cpu --tensorrt=engines=%t --target=x86-64-v3 -o %t/program.lwx

tensorrt.module @networks {
  func.func @found(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
    %0 = tensorrt.non_zero %x : (tensor<4x6xi1>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
  func.func @negated(%x: tensor<2x?xi32> {plan.bounds = #plan.bounds<min = [2, 0], opt = [2, 4], max = [2, 24]>}) -> tensor<2x?xi32> {
    %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kNEG>} : (tensor<2x?xi32>) -> tensor<2x?xi32>
    return %0 : tensor<2x?xi32>
  }
  func.func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = tensorrt.unary %x {unaryOperation = #tensorrt<unary_operation kEXP>} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// Returned directly: the engine asks the output slot when it knows the size.
// CHECK-LABEL: func.func @direct(
// CHECK-NOT: executor.request
// CHECK: executor.enqueue_alloc @found(%{{.*}}) slots [0] : (memref<4x6xi1>) -> (memref<2x?xi32>), (index)
// LUA-LABEL: -- direct(
// LUA: engine.enqueue_alloc({{.*}}, {0, 2})
func.func @direct(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
  %0 = tensorrt.call_alloc @networks::@found(%x) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  return %0 : tensor<2x?xi32>
}

// What the first engine allocates stays on the device.
// CHECK-LABEL: func.func @feeding(
// CHECK: %[[A:.*]], %{{.*}} = executor.enqueue_alloc @found(%{{.*}}) slots [-1] : (memref<4x6xi1>) -> (memref<2x?xi32, #plan.memory_space<device>>), (index)
// CHECK: executor.enqueue_alloc @negated(%[[A]]) slots [0] : (memref<2x?xi32, #plan.memory_space<device>>) -> (memref<2x?xi32>), (index)
// CHECK: executor.free %[[A]]
// LUA-LABEL: -- feeding(
// LUA: engine.enqueue_alloc({{.*}}, {-2, 2})
func.func @feeding(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
  %0 = tensorrt.call_alloc @networks::@found(%x) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  %1 = tensorrt.call_alloc @networks::@negated(%0) : (tensor<2x?xi32>) -> tensor<2x?xi32>
  return %1 : tensor<2x?xi32>
}

// In destination style, too.
// CHECK-LABEL: func.func @given(
// CHECK: %[[R:.*]] = executor.request 0 : memref<4xf32>
// CHECK: %[[A:.*]] = executor.alloc : memref<4xf32, #plan.memory_space<device>>
// CHECK: executor.enqueue @exp(%{{.*}}) outs(%[[A]]) : memref<4xf32>, memref<4xf32, #plan.memory_space<device>>
// CHECK: executor.enqueue @exp(%[[A]]) outs(%[[R]]) : memref<4xf32, #plan.memory_space<device>>, memref<4xf32>
// CHECK: executor.free %[[A]]
// LUA-LABEL: -- given(
// LUA: engine.alloc(16)
func.func @given(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = tensorrt.call @networks::@exp(%x) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = tensorrt.call @networks::@exp(%0) outs(%e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Around the calls is the CPU, which gets the result on the host, with its extent.
// CHECK-LABEL: func.func @mixed(
// CHECK: %[[A:.*]], %{{.*}} = executor.enqueue_alloc @found(%{{.*}}) slots [-1] : (memref<4x6xi1>) -> (memref<2x?xi32>), (index)
// CHECK: %[[N:.*]] = executor.dim %[[A]], 1
// CHECK: %[[R:.*]] = executor.request 0[%[[N]]] : memref<2x?xi32>
// CHECK: executor.launch @cpu::@mixed_cluster_0(%[[A]], %[[N]], %[[R]])
// CHECK: executor.free %[[A]]
func.func @mixed(%x: tensor<4x6xi1>) -> tensor<2x?xi32> {
  %0 = tensorrt.call_alloc @networks::@found(%x) : (tensor<4x6xi1>) -> tensor<2x?xi32>
  %1 = stablehlo.popcnt %0 : tensor<2x?xi32>
  return %1 : tensor<2x?xi32>
}
