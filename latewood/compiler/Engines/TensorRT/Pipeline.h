// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The TensorRT engine's passes on the tensors of a cluster.
//
// In: the nested module of the engine's clusters, functions on StableHLO and CHLO. Out: the same functions on layers of
// the `tensorrt` dialect, in the form that TensorRT does best: what the engine builder makes networks of.
#pragma once

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace latewood::tensorrt {

void buildNetworkPipeline(mlir::OpPassManager &module);

} // namespace latewood::tensorrt
