// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs as text. Bytes changed at random make texts that no parser gets far with, so mutation works on tokens: a
// token is dropped, doubled, exchanged for another one of the program, or for one of a list of numbers, types and names
// that are at the edge of what is allowed; lines are dropped, doubled and moved.

#include "CompileUpToClusters.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace {

constexpr llvm::StringLiteral words[] = {"0",
                                         "-1",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "7",
                                         "1000000",
                                         "2147483648",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "0x7FF0000000000000",
                                         "1.0",
                                         "-0.0",
                                         "nan",
                                         "true",
                                         "false",
                                         "none",
                                         "unit",
                                         "dense",
                                         "array<i64>",
                                         "array<i64: 0>",
                                         "array<i64: -1, 5>",
                                         "f32",
                                         "f64",
                                         "bf16",
                                         "f8E4M3FN",
                                         "i1",
                                         "i4",
                                         "i8",
                                         "ui8",
                                         "i32",
                                         "i64",
                                         "ui64",
                                         "index",
                                         "complex<f32>",
                                         "tensor<f32>",
                                         "tensor<4xf32>",
                                         "tensor<0xf32>",
                                         "tensor<?xf32>",
                                         "tensor<*xf32>",
                                         "tensor<1x1x1x1xf32>",
                                         "tensor<2x3xi32>",
                                         "tensor<i1>",
                                         "tensor<4xi1>",
                                         "tensor<2xcomplex<f32>>",
                                         "tensor<9223372036854775807xi8>",
                                         "tensor<4294967296x4294967296xi8>",
                                         "!stablehlo.token",
                                         "tuple<>",
                                         "tuple<tensor<f32>>",
                                         "memref<4xf32>",
                                         "vector<4xf32>",
                                         "(",
                                         ")",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         "<",
                                         ">",
                                         ",",
                                         ":",
                                         "->",
                                         "=",
                                         "x",
                                         "%0",
                                         "%1",
                                         "%arg0",
                                         "%arg1",
                                         "@main",
                                         "^bb0",
                                         "stablehlo.add",
                                         "stablehlo.reduce",
                                         "stablehlo.while",
                                         "stablehlo.return",
                                         "func.func",
                                         "func.call",
                                         "return"};

std::vector<llvm::StringRef> split(llvm::StringRef text) {
  std::vector<llvm::StringRef> tokens;
  while (!text.empty()) {
    size_t length = 1;
    auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '%' || c == '@'; };
    if (isWord(text[0]))
      length = text.take_while(isWord).size();
    else if (text[0] == ' ')
      length = text.take_while([](char c) { return c == ' '; }).size();
    tokens.push_back(text.take_front(length));
    text = text.drop_front(length);
  }
  return tokens;
}

template <typename Pieces>
void mutate(Pieces &pieces, std::minstd_rand &random, bool useWords) {
  if (pieces.empty())
    return;
  size_t i = random() % pieces.size(), j = random() % pieces.size();
  switch (random() % (useWords ? 7 : 4)) {
  case 0:
    pieces.erase(pieces.begin() + i);
    break;
  case 1:
    pieces.insert(pieces.begin() + i, llvm::StringRef(pieces[j]));
    break;
  case 2:
    std::swap(pieces[i], pieces[j]);
    break;
  case 3:
    pieces[i] = pieces[j];
    break;
  default:
    pieces[i] = words[random() % std::size(words)];
    break;
  }
}

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text(reinterpret_cast<const char *>(data), size);
  std::string result;
  if (random() % 8 == 0) {
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::SplitString(text, lines, "\n");
    mutate(lines, random, /*useWords=*/false);
    result = llvm::join(lines, "\n");
  } else {
    std::vector<llvm::StringRef> tokens = split(text);
    for (unsigned count = 1 + random() % 3; count > 0; --count)
      mutate(tokens, random, /*useWords=*/true);
    result = llvm::join(tokens, "");
  }
  size_t length = std::min(result.size(), maxSize);
  std::copy_n(result.begin(), length, data);
  return length;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef program(reinterpret_cast<const char *>(data), size);
  if (program.starts_with("ML\xefR"))
    return -1;
  compileUpToClusters(program);
  return 0;
}
