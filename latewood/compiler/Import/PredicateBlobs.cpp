// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds boolean constants in the text by their type, and packs their digits; PredicateBlobs.h says why.

#include "latewood/compiler/Import/PredicateBlobs.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace latewood::import {

namespace {

/// Reads `"> : tensor<2x3xi1>` at the beginning of `rest`: the number of elements.
std::optional<uint64_t> readPredicateType(StringRef rest) {
  if (!rest.consume_front("\">"))
    return std::nullopt;
  rest = rest.ltrim(' ');
  if (!rest.consume_front(":"))
    return std::nullopt;
  rest = rest.ltrim(' ');
  if (!rest.consume_front("tensor<"))
    return std::nullopt;
  uint64_t count = 1, extent = 0;
  while (!rest.starts_with("i1>")) {
    if (rest.consumeInteger(10, extent) || !rest.consume_front("x") || __builtin_mul_overflow(count, extent, &count))
      return std::nullopt;
  }
  return count;
}

/// One bit for each of `digits`' bytes, the first one lowest; nothing if a byte is neither 0 nor 1.
std::optional<std::string> pack(StringRef digits) {
  size_t count = digits.size() / 2;
  std::string bits((count + 7) / 8, '\0');
  for (size_t i = 0; i < count; ++i) {
    StringRef byte = digits.substr(2 * i, 2);
    if (byte == "01")
      bits[i / 8] = static_cast<char>(bits[i / 8] | (1 << (i % 8)));
    else if (byte != "00")
      return std::nullopt;
  }
  return toHex(bits);
}

} // namespace

std::optional<std::string> packPredicateBlobs(StringRef text) {
  constexpr StringRef opening = "dense<\"0x";
  std::string result;
  size_t copied = 0;
  for (size_t at = text.find(opening); at != StringRef::npos; at = text.find(opening, at + 1)) {
    size_t begin = at + opening.size(), end = text.find('"', begin);
    if (end == StringRef::npos)
      break;
    StringRef digits = text.slice(begin, end);
    std::optional<uint64_t> count = readPredicateType(text.substr(end));
    if (!count || *count <= 1 || digits.size() % 2 != 0 || digits.size() / 2 != *count)
      continue;
    std::optional<std::string> packed = pack(digits);
    if (!packed)
      continue;
    result += text.slice(copied, begin);
    result += *packed;
    copied = end;
  }
  if (copied == 0)
    return std::nullopt;
  result += text.substr(copied);
  return result;
}

} // namespace latewood::import
