// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a function in the `tensorrt` dialect to a serialized engine, by TensorRT's builder, which is a library that is
// opened at run time. Builds without TensorRT's headers have EngineBuilderMissing.cpp in place of EngineBuilder.cpp.
#ifndef LATEWOOD_COMPILER_ENGINES_TENSORRT_ENGINEBUILDER_H
#define LATEWOOD_COMPILER_ENGINES_TENSORRT_ENGINEBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace latewood::tensorrt {

/// The arguments that are inputs of the network, in its order: no destinations, and no scalars that it does without,
/// since it finds the extents of its inputs itself.
llvm::SmallVector<unsigned> getNetworkInputs(mlir::func::FuncOp function);

struct EngineBuildOptions {
  /// TensorRT's optimization level, 0 to 5; -1: the library's choice.
  int level = -1;
  /// Compute capability of the GPUs that the engine is for, 86 for 8.6; 0: all that the library supports, or the one
  /// here.
  int capability = 0;
  /// Bytes of scratch memory that an engine may use; 0: all there is.
  int64_t workspaceBytes = 0;
  /// File of the timings of earlier builds, read and written; empty: none.
  std::string timingCache;
  /// Engines without the weights that getWeights lists, which are given when they are loaded.
  bool stripWeights = false;
  /// Engines whose weights can be replaced.
  bool refit = false;
};

struct SerializedEngine {
  std::vector<char> bytes;
  /// Of the library that made it.
  std::string version;
};

/// "TensorRT 11.1.0", or why there is no builder: what is missing, and how to install it.
mlir::FailureOr<std::string> getBuilderVersion(std::string &missing);

/// Builds an engine. Fails with diagnostics: TensorRT's messages, at the operations that they are about. Thread-safe.
/// Arguments with dynamic dimensions need `plan.bounds`; those that shapes are computed of may have
/// `plan.value_bounds`. One each, or an array with one for each optimization profile.
mlir::FailureOr<SerializedEngine> buildEngine(mlir::func::FuncOp function, const EngineBuildOptions &options);

} // namespace latewood::tensorrt

#endif // LATEWOOD_COMPILER_ENGINES_TENSORRT_ENGINEBUILDER_H
