// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The logger and the error recorder. Neither throws: what cannot be kept, for want of memory, is lost.

#include "latewood/runtime/TensorRT/Reports.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace latewood::tensorrt {

namespace {
void append(std::string &text, std::string_view more) {
  if (!text.empty())
    text += "; ";
  text += more;
}
} // namespace

Logger::Logger() {
  const char *given = std::getenv("LATEWOOD_TENSORRT_LOG");
  std::string_view level = given ? given : "";
  // Below every severity there is: nothing.
  printed = level == "verbose"   ? Severity::kVERBOSE
            : level == "info"    ? Severity::kINFO
            : level == "warning" ? Severity::kWARNING
                                 : static_cast<Severity>(-1);
}

void Logger::log(Severity severity, const char *text) noexcept {
  try {
    std::lock_guard lock(mutex);
    if (severity <= Severity::kERROR && errors.size() < 4096)
      append(errors, text);
    if (severity <= printed)
      std::fprintf(stderr, "TensorRT: %s\n", text);
  } catch (...) {
  }
}

std::string Logger::takeErrors() {
  std::lock_guard lock(mutex);
  return std::exchange(errors, {});
}

int32_t ErrorRecorder::getNbErrors() const noexcept {
  std::lock_guard lock(mutex);
  return static_cast<int32_t>(errors.size());
}

nvinfer1::ErrorCode ErrorRecorder::getErrorCode(int32_t index) const noexcept {
  std::lock_guard lock(mutex);
  bool isKnown = index >= 0 && static_cast<size_t>(index) < errors.size();
  return isKnown ? errors[static_cast<size_t>(index)].code : nvinfer1::ErrorCode::kSUCCESS;
}

nvinfer1::IErrorRecorder::ErrorDesc ErrorRecorder::getErrorDesc(int32_t index) const noexcept {
  std::lock_guard lock(mutex);
  bool isKnown = index >= 0 && static_cast<size_t>(index) < errors.size();
  return isKnown ? errors[static_cast<size_t>(index)].text.c_str() : "";
}

bool ErrorRecorder::hasOverflowed() const noexcept {
  std::lock_guard lock(mutex);
  return overflowed;
}

void ErrorRecorder::clear() noexcept {
  std::lock_guard lock(mutex);
  errors.clear();
  overflowed = false;
}

bool ErrorRecorder::reportError(nvinfer1::ErrorCode code, ErrorDesc text) noexcept {
  try {
    std::lock_guard lock(mutex);
    overflowed = errors.size() >= most;
    if (!overflowed)
      errors.push_back({code, text ? text : ""});
  } catch (...) {
  }
  return false; // whether to go on is for TensorRT to say: it fails the call
}

std::string ErrorRecorder::text() const {
  std::lock_guard lock(mutex);
  std::string text;
  for (const Error &error : errors)
    append(text, error.text);
  return text;
}

} // namespace latewood::tensorrt
