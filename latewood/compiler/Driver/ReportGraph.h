// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function as a graph of its operations, for the report.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

namespace mlir {
class FunctionOpInterface;
} // namespace mlir

namespace latewood::driver {

/// Adds a graph for the body of `function`, and one for each body of control flow in it. `level` says what the nodes
/// are.
void addGraphs(mlir::FunctionOpInterface function, llvm::StringRef level, llvm::json::Array &graphs);

/// MLIR's text of a type or an attribute, or the place in a file that a location stands for, for JSON.
template <typename T>
std::string toText(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return llvm::json::fixUTF8(text);
}

} // namespace latewood::driver
