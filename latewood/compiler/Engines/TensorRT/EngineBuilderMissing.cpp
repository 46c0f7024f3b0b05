// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In builds that were not given TensorRT's headers.

#include "latewood/compiler/Engines/TensorRT/EngineBuilder.h"

using namespace mlir;

namespace latewood::tensorrt {

constexpr llvm::StringLiteral reason = "this build of Latewood cannot make TensorRT engines: it was configured without "
                                       "TensorRT's headers (CMake option TENSORRT_ROOT)";

FailureOr<std::string> getBuilderVersion(std::string &missing) {
  missing = reason;
  return failure();
}

FailureOr<SerializedEngine> buildEngine(func::FuncOp function, const EngineBuildOptions &) {
  return function.emitError() << reason;
}

} // namespace latewood::tensorrt
