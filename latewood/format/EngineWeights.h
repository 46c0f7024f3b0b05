// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine of TensorRT that was built without weights, and its weights: what an executable holds in place of an engine
// alone. All numbers are 64 bits wide, little endian.
//
//     mark                      the 16 bytes below
//     bytes of the engine       number
//     number of the weights     number
//     for each: bytes of the name, element type (as TensorRT numbers them), elements, bytes: four numbers
//     the names, one after the other
//     zeros up to a multiple of 64
//     the engine, then the elements of each weights; in front of each zeros up to a multiple of 64
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace latewood::format {

inline constexpr std::string_view kEngineWeightsMark = "LATEWOOD WEIGHTS";

struct EngineWeights {
  struct Weights {
    std::string_view name;
    int64_t elementType;
    int64_t count;
    std::string_view bytes;
  };
  std::string_view engine;
  std::vector<Weights> weights;
};

inline uint64_t alignEngineWeights(uint64_t offset) { return (offset + 63) / 64 * 64; }

/// Whether `text` begins as an engine with weights apart.
inline bool hasEngineWeights(std::string_view text) {
  return text.substr(0, kEngineWeightsMark.size()) == kEngineWeightsMark;
}

/// Views into `text`, which must begin with the mark. False: it is damaged.
inline bool readEngineWeights(std::string_view text, EngineWeights &result) {
  uint64_t at = kEngineWeightsMark.size();
  bool isWhole = hasEngineWeights(text);
  auto number = [&]() -> uint64_t {
    if (!isWhole || text.size() - at < 8) {
      isWhole = false;
      return 0;
    }
    uint64_t value;
    std::memcpy(&value, text.data() + at, 8);
    at += 8;
    return value;
  };
  auto take = [&](uint64_t size) -> std::string_view {
    if (!isWhole || at > text.size() || text.size() - at < size) {
      isWhole = false;
      return {};
    }
    std::string_view part = text.substr(at, size);
    at += size;
    return part;
  };
  auto takeAligned = [&](uint64_t size) {
    at = alignEngineWeights(at);
    return take(size);
  };
  uint64_t engineBytes = number(), count = number();
  // Each has a header of 32 bytes: no more of them than fit are believed.
  if (!isWhole || count > text.size() / 32)
    return false;
  std::vector<uint64_t> nameBytes(count), elementBytes(count);
  result.weights.assign(count, {});
  for (uint64_t i = 0; i < count; ++i) {
    nameBytes[i] = number();
    result.weights[i].elementType = static_cast<int64_t>(number());
    result.weights[i].count = static_cast<int64_t>(number());
    elementBytes[i] = number();
  }
  for (uint64_t i = 0; i < count; ++i)
    result.weights[i].name = take(nameBytes[i]);
  result.engine = takeAligned(engineBytes);
  for (uint64_t i = 0; i < count; ++i)
    result.weights[i].bytes = takeAligned(elementBytes[i]);
  return isWhole;
}

} // namespace latewood::format
