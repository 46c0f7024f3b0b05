// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds TensorRT's library, and which of the two it is.

#include "latewood/compiler/Engines/TensorRT/BuilderLibrary.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdlib>
#include <dlfcn.h>
#include <mutex>

using namespace mlir;

namespace latewood::tensorrt {

/// Null: `missing` says why. Never closed.
static const BuilderLibrary *openLibrary(std::string &missing) {
  static std::mutex mutex;
  static BuilderLibrary library;
  static bool isOpen = false;
  std::lock_guard lock(mutex);
  if (isOpen)
    return &library;
  const char *given = std::getenv("LATEWOOD_TENSORRT_LIBRARY");
  SmallVector<const char *> names = {"libtensorrt_rtx.so.1", "libnvinfer.so.11"};
  if (given && *given)
    names = {given};
  void *handle = nullptr;
  std::string problem;
  for (const char *name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle)
      break;
    if (problem.empty())
      problem = dlerror();
  }
  if (!handle) {
    missing = "TensorRT cannot be opened: " + problem +
              "; install TensorRT, or TensorRT-RTX (pip install tensorrt-rtx-cu13-libs), and let "
              "LATEWOOD_TENSORRT_LIBRARY name its library";
    return nullptr;
  }
  auto *getVersion = reinterpret_cast<int32_t (*)()>(dlsym(handle, "getInferLibVersion"));
  library.createBuilder =
      reinterpret_cast<decltype(library.createBuilder)>(dlsym(handle, "createInferBuilder_INTERNAL"));
  if (!library.createBuilder || !getVersion) {
    missing = "the library of TensorRT has no builder";
    return nullptr;
  }
  int32_t version = getVersion();
  // TensorRT's own numbers begin at 8.
  library.isRTX = version < 80000;
  library.version = llvm::formatv("TensorRT{0} {1}.{2}.{3}", library.isRTX ? "-RTX" : "", version / 10000,
                                  version / 100 % 100, version % 100)
                        .str();
  isOpen = true;
  return &library;
}

FailureOr<std::string> getBuilderVersion(std::string &missing) {
  const BuilderLibrary *library = openLibrary(missing);
  if (!library)
    return failure();
  return library->version;
}

FailureOr<SerializedEngine> buildEngine(func::FuncOp function, const EngineBuildOptions &options) {
  std::string missing;
  const BuilderLibrary *library = openLibrary(missing);
  if (!library)
    return function.emitError() << missing;
  return (library->isRTX ? rtx::buildEngine : enterprise::buildEngine)(function, options, *library);
}

} // namespace latewood::tensorrt
