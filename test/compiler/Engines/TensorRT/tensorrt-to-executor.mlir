// Tests both conventions of engines from StableHLO to the Executor dialect: results in given memory, and allocated ones. What an
// engine is made of is written first (and has no builder here), and then lies where the compiler looks for engines.

// RUN: rm -rf %t && mkdir %t
// RUN: not env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --engines=tensorrt,cpu --tensorrt=engines=%t,export=%t --until=lower -o %t/given.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}
// RUN: sh -c 'cd %t && for f in *.mlir; do printf "LATEWOOD TENSORRT ENGINE 1\nTensorRT 11.1.0\nengine" > $(basename $f .mlir).engine; done'
// RUN: env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --engines=tensorrt,cpu --tensorrt=engines=%t --until=lower -o - | FileCheck %s --check-prefix=GIVEN
// RUN: rm -rf %t.alloc && mkdir %t.alloc
// RUN: not env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --engines=tensorrt,cpu --tensorrt=engines=%t.alloc,export=%t.alloc,allocate --until=lower -o %t.alloc/none.mlir
// RUN: sh -c 'cd %t.alloc && for f in *.mlir; do printf "LATEWOOD TENSORRT ENGINE 1\nTensorRT 11.1.0\nengine" > $(basename $f .mlir).engine; done'
// RUN: env LATEWOOD_TENSORRT_LIBRARY=/none latewood-compile %s --engines=tensorrt,cpu --tensorrt=engines=%t.alloc,allocate --until=lower -o - | FileCheck %s --check-prefix=ALLOC

// GIVEN-DAG: executor.engine @one_cluster_0 of "tensorrt" version "TensorRT 11.1.0"
// ALLOC-DAG: executor.engine @one_cluster_0 of "tensorrt" version "TensorRT 11.1.0"

// One result.
// GIVEN-LABEL: func.func @one(
// GIVEN: %[[R:.*]] = executor.request 0 : memref<4x3xf32>
// GIVEN: executor.enqueue @one_cluster_0(%{{.*}}, %{{.*}}) outs(%[[R]])
// ALLOC-LABEL: func.func @one(
// ALLOC-NOT: executor.request
// ALLOC: executor.enqueue_alloc @one_cluster_0(%{{.*}}, %{{.*}}) slots [0] : (memref<4x8xf32>, memref<8x3xf32>) -> (memref<4x3xf32>), ()
func.func @one(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// Several results, in another order than they are computed.
// GIVEN-LABEL: func.func @several(
// GIVEN: executor.enqueue @several_cluster_0(%{{.*}}) outs(%{{.*}}, %{{.*}}) : memref<4xf32>, memref<4xf32>, memref<4xf32>
// ALLOC-LABEL: func.func @several(
// ALLOC: executor.enqueue_alloc @several_cluster_0(%{{.*}}) slots [1, 0] : (memref<4xf32>) -> (memref<4xf32>, memref<4xf32>), ()
func.func @several(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %1 = stablehlo.exponential %0 : tensor<4xf32>
  return %1, %0 : tensor<4xf32>, tensor<4xf32>
}

// A scalar and a tensor.
// GIVEN-LABEL: func.func @scalar_and_tensor(
// GIVEN: executor.enqueue @scalar_and_tensor_cluster_0
// GIVEN-SAME: memref<4xf32>, memref<f32>, memref<4xf32>
// ALLOC-LABEL: func.func @scalar_and_tensor(
// ALLOC: executor.enqueue_alloc @scalar_and_tensor_cluster_0(%{{.*}}) slots [0, 1] : (memref<4xf32>) -> (memref<f32>, memref<4xf32>), ()
func.func @scalar_and_tensor(%x: tensor<4xf32>) -> (tensor<f32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.negate %x : tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}

// Mixed ranks, one of them of a dynamic extent: it is known before, so that memory can be given.
// GIVEN-LABEL: func.func @mixed_ranks(
// GIVEN: %[[N:.*]] = executor.dim %{{.*}}, 0 : memref<?x8xf32>
// GIVEN: executor.request 0[%[[N]]] : memref<?x8xf32>
// GIVEN: executor.enqueue @mixed_ranks_cluster_0
// ALLOC-LABEL: func.func @mixed_ranks(
// ALLOC: executor.enqueue_alloc @mixed_ranks_cluster_0(%{{.*}}) slots [0, 1, 2] : (memref<?x8xf32>) -> (memref<?x8xf32>, memref<8xf32>, memref<?xf32>), (index, index)
func.func @mixed_ranks(%x: tensor<?x8xf32> {plan.bounds = #plan.bounds<min = [1, 8], opt = [4, 8], max = [16, 8]>}) -> (tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<?x8xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?x8xf32>, tensor<f32>) -> tensor<8xf32>
  %2 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<8xf32>, tensor<?xf32>
}
