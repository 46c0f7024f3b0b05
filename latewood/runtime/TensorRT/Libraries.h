// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vendor's libraries, opened when the first engine is loaded: TensorRT (or TensorRT-RTX), and CUDA's runtime. Where
// to look can be said by LATEWOOD_TENSORRT_LIBRARY and LATEWOOD_CUDART_LIBRARY (paths or names of libraries); without
// them the loader searches the names that the vendor gives them. Neither is ever closed.
#ifndef LATEWOOD_RUNTIME_TENSORRT_LIBRARIES_H
#define LATEWOOD_RUNTIME_TENSORRT_LIBRARIES_H

#include "latewood/runtime/Status.h"

#include <NvInferRuntime.h>
#include <cstddef>
#include <cstdint>
#include <string>

namespace latewood::tensorrt {

/// CUDA's functions, by what they are used for here. A result of 0 is success.
struct CUDA {
  int (*deviceCount)(int *count);
  int (*device)(int *device);
  int (*deviceAttribute)(int *value, int attribute, int device);
  int (*allocate)(void **memory, size_t bytes, cudaStream_t stream);
  int (*release)(void *memory, cudaStream_t stream);
  /// The direction follows from the addresses.
  int (*copy)(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
  int (*createStream)(cudaStream_t *stream, unsigned flags);
  int (*destroyStream)(cudaStream_t stream);
  int (*synchronize)(cudaStream_t stream);
  int (*createEvent)(cudaEvent_t *event, unsigned flags);
  int (*destroyEvent)(cudaEvent_t event);
  int (*record)(cudaEvent_t event, cudaStream_t stream);
  int (*wait)(cudaStream_t stream, cudaEvent_t event, unsigned flags);
  const char *(*errorText)(int error);

  /// "cannot allocate 64 bytes on the device: out of memory"
  runtime::Status check(int error, const std::string &what) const;
  /// That there is a GPU and a driver for it; otherwise the error says what to do.
  runtime::Status checkDevice() const;
  /// "9.0", of the GPU that this thread uses.
  std::string computeCapability() const;
};

struct Libraries {
  CUDA cuda;
  void *(*createInferRuntime)(void *logger, int32_t version);
  /// Null where the library has none.
  void *(*createInferRefitter)(void *engine, void *logger, int32_t version);
  /// Version of TensorRT, as getInferLibVersion gives it.
  int32_t version;
  /// TensorRT-RTX: other engines, no plugins.
  bool isRTX;
  /// "TensorRT-RTX 1.7.1"
  std::string name;
};

/// Whether engines made by `version` ("TensorRT 11.1.0") are of the other of the two libraries.
bool isOfOtherLibrary(const std::string &version, const Libraries &libraries);

/// Fails with the name of the library that is missing, or too old, and how to install it. Thread-safe.
runtime::StatusOr<const Libraries *> openLibraries();

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_LIBRARIES_H
