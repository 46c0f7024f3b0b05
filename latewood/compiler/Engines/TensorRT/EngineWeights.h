// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The weights of a network, apart from its engine: an engine that was built without them gets them when it is loaded.
// So one engine serves every program that differs in its weights only, and a model that was trained further needs no
// builder.
//
// Weights are the constants of floats, by name: `w` and the number of the operation among such. TensorRT holds them
// once for each layer that they went into; further ones are named `w3.1`, `w3.2`…
#pragma once

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <vector>

namespace latewood::tensorrt {

/// In order: number i is named `w` + i.
llvm::SmallVector<ConstantOp> getWeights(mlir::func::FuncOp function);

/// The elements of a constant, in whatever form they are; null if they are not there.
mlir::DenseElementsAttr getElements(ConstantOp op);

/// What a file holds for an engine without weights: the engine and the weights of `function`
/// (latewood/format/EngineWeights.h).
std::vector<char> joinEngineAndWeights(llvm::ArrayRef<char> engine, mlir::func::FuncOp function);

/// The text of `function` with nothing of its weights but their types.
std::string printWithoutWeights(mlir::func::FuncOp function);

} // namespace latewood::tensorrt
