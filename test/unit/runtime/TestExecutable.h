// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables for the tests: the functions of functions.c with their signatures, written by the real writer.

#ifndef LATEWOOD_TEST_UNIT_RUNTIME_TESTEXECUTABLE_H
#define LATEWOOD_TEST_UNIT_RUNTIME_TESTEXECUTABLE_H

#include "latewood/format/Container.h"
#include "latewood/runtime/Session.h"

#include <cstdint>
#include <string>
#include <vector>

namespace latewood::test {

/// The bytes of an image that the build made.
std::vector<uint8_t> readImage(const std::string &name);

/// Metadata for all functions of functions.c; segment 0 is constant 0, segment 1 the image.
format::ExecutableT describeFunctions();

/// The whole file. `edit` may change the metadata before they are written.
std::vector<uint8_t> writeFunctions(const format::ExecutableT &metadata = describeFunctions(),
                                    const std::string &image = "functions");

/// A client with `threads` threads and a session on the file; fails the process if that does not work.
runtime::Ref<runtime::Session> openFunctions(int threads = 1);

/// A new memref with these elements.
template <typename T>
runtime::Ref<runtime::MemRefValue> memref(runtime::Client &client, runtime::ElementType type,
                                          std::vector<int64_t> shape, const std::vector<T> &elements) {
  return *client.createMemRef(elements.data(), type, shape);
}

inline runtime::Ref<runtime::MemRefValue> floats(runtime::Client &client, const std::vector<float> &elements) {
  return memref(client, runtime::ElementType::f32, {static_cast<int64_t>(elements.size())}, elements);
}

/// The elements of a canonical memref.
template <typename T>
std::vector<T> elements(const runtime::Ref<runtime::Value> &value) {
  auto &memref = *runtime::asMemRef(value.get());
  auto *data = static_cast<const T *>(memref.data());
  return std::vector<T>(data, data + memref.elementCount());
}

} // namespace latewood::test

#endif // LATEWOOD_TEST_UNIT_RUNTIME_TESTEXECUTABLE_H
