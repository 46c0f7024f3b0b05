// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorRT's library with its builder, opened at run time. There are two, TensorRT and TensorRT-RTX, whose interfaces
// have the same names, but not the same tables of virtual functions: what calls them is compiled once for each, in a
// namespace of its own (LATEWOOD_TENSORRT_ABI is its name; RTX's headers are made of TensorRT's by
// cmake/LatewoodTensorRT.cmake).
#ifndef LATEWOOD_COMPILER_ENGINES_TENSORRT_BUILDERLIBRARY_H
#define LATEWOOD_COMPILER_ENGINES_TENSORRT_BUILDERLIBRARY_H

#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"

namespace latewood::tensorrt {

struct BuilderLibrary {
  void *(*createBuilder)(void *logger, int32_t version);
  bool isRTX;
  /// "TensorRT 11.1.0", "TensorRT-RTX 1.7.1".
  std::string version;
};

namespace enterprise {
mlir::FailureOr<SerializedEngine> buildEngine(mlir::func::FuncOp function, const EngineBuildOptions &options,
                                              const BuilderLibrary &library);
} // namespace enterprise

namespace rtx {
mlir::FailureOr<SerializedEngine> buildEngine(mlir::func::FuncOp function, const EngineBuildOptions &options,
                                              const BuilderLibrary &library);
} // namespace rtx

} // namespace latewood::tensorrt

#endif // LATEWOOD_COMPILER_ENGINES_TENSORRT_BUILDERLIBRARY_H
