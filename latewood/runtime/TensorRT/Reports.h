// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What TensorRT says, made part of our errors. It reports in two ways: to a logger, which is one for the process, and
// to an error recorder, which each engine and context has. Both may be called by any thread.
#ifndef LATEWOOD_RUNTIME_TENSORRT_REPORTS_H
#define LATEWOOD_RUNTIME_TENSORRT_REPORTS_H

#include <NvInferRuntime.h>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace latewood::tensorrt {

/// Keeps the last errors. With LATEWOOD_TENSORRT_LOG=info|warning|verbose in the environment, prints to standard error.
class Logger final : public nvinfer1::ILogger {
public:
  Logger();
  void log(Severity severity, const char *text) noexcept override;
  /// The errors since the last call, joined.
  std::string takeErrors();

private:
  std::mutex mutex;
  std::string errors;
  Severity printed;
};

class ErrorRecorder final : public nvinfer1::IErrorRecorder {
public:
  int32_t getNbErrors() const noexcept override;
  nvinfer1::ErrorCode getErrorCode(int32_t index) const noexcept override;
  ErrorDesc getErrorDesc(int32_t index) const noexcept override;
  bool hasOverflowed() const noexcept override;
  void clear() noexcept override;
  bool reportError(nvinfer1::ErrorCode code, ErrorDesc text) noexcept override;
  // Owned by an engine or a context of ours, which live longer than TensorRT's use of it.
  RefCount incRefCount() noexcept override { return ++references; }
  RefCount decRefCount() noexcept override { return --references; }

  /// All messages, joined.
  std::string text() const;

private:
  struct Error {
    nvinfer1::ErrorCode code;
    std::string text;
  };
  static constexpr size_t most = 16;
  mutable std::mutex mutex;
  std::vector<Error> errors;
  bool overflowed = false;
  std::atomic<RefCount> references{0};
};

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_REPORTS_H
