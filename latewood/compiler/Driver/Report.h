// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one compilation did, as a page for people: its passes and their times, the program as graphs of what runs, the
// memory plan, the remarks, and the parts of the executable.
//
// A report is filled by a run of a pipeline (RunOptions::report) and by translation; what it shows is read from the
// program at the moments where each thing is decided, and from the finished file. It holds no reference to the module.
// The page is one file without references to others: JSON data in a fixed page of HTML, CSS and JavaScript
// (Report.html). A compilation that fails leaves a report of what was done until then, and of the errors.
#pragma once
#include "latewood/compiler/Driver/Diagnostics.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <string>

namespace mlir {
class ModuleOp;
class Operation;
} // namespace mlir

namespace latewood::driver {

struct PassStatistics;

class Report {
public:
  /// The page.
  std::string html() const;
  /// What the page shows, as JSON.
  std::string json() const;

  // --- For whoever compiles ---

  void setProgram(llvm::StringRef name, llvm::StringRef source, mlir::ModuleOp module);
  /// Called around every pass with the operation that it runs on, and the whole program.
  void beforePass(llvm::StringRef pass, mlir::Operation *op);
  void afterPass(llvm::StringRef pass, mlir::Operation *op, mlir::ModuleOp root, const PassStatistics &statistics);
  void addTime(llvm::StringRef phase, llvm::StringRef what, double milliseconds);
  void addDiagnostics(const std::vector<Diagnostic> &diagnostics);
  void addExecutable(const std::vector<uint8_t> &bytes);

private:
  void addHostGraphs(mlir::ModuleOp root);
  void addMemory(mlir::ModuleOp module);
  llvm::json::Object toObject() const;

  /// Behind the names of a variant, where there are several: its target.
  std::string suffixOf(mlir::Operation *op) const;

  unsigned variants = 0;
  llvm::json::Object program;
  llvm::json::Array passes, graphs, memory, remarks;
  llvm::json::Value executable = nullptr;
};

} // namespace latewood::driver
