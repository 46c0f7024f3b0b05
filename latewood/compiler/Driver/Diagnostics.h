// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagnostics as values: what a run of the compiler had to say, collected instead of printed.
#pragma once
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Error.h"
#include <mutex>
#include <string>
#include <vector>

namespace latewood::driver {

enum class Severity { Error, Warning, Remark, Note };

llvm::StringRef stringifySeverity(Severity severity);

struct Diagnostic {
  Severity severity = Severity::Error;
  std::string message;
  /// `file:line:column`, or MLIR's text of a location without one; empty when unknown.
  std::string location;
  /// The line of the program that the location points at, when its text is known.
  std::string sourceLine;
  /// 1-based column in `sourceLine`, or 0.
  unsigned column = 0;
  /// The pass that was running, as in a textual pipeline; empty outside of passes.
  std::string pass;
  std::vector<Diagnostic> notes;

  /// As a compiler prints it: location, severity, message, source line with a caret, pass, notes.
  std::string str() const;
};

/// The place in a file that a location stands for, as `file:line:column`; MLIR's text where it has none; empty when it
/// is unknown.
std::string locationText(mlir::Location loc);

/// A failed compilation. The message shows its errors.
class CompilationError : public llvm::ErrorInfo<CompilationError> {
public:
  static char ID;

  CompilationError(std::string summary, std::vector<Diagnostic> diagnostics)
      : summary(std::move(summary)), diagnostics(std::move(diagnostics)) {}

  const std::vector<Diagnostic> &getDiagnostics() const { return diagnostics; }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string summary;
  std::vector<Diagnostic> diagnostics;
};

/// Collects the diagnostics of a context for as long as it lives; nothing reaches standard error. Thread-safe: passes
/// on functions run in parallel.
class DiagnosticCollector {
public:
  /// `source`: the program's text, for showing lines; `sourceName`: the file name that its locations carry.
  DiagnosticCollector(mlir::MLIRContext *context, llvm::StringRef source, llvm::StringRef sourceName);

  /// Names the pass that diagnostics of the current thread belong to; empty for none.
  void setCurrentPass(std::string pass);

  /// What was said so far; the next call gives what is said after this one.
  std::vector<Diagnostic> take();

private:
  Diagnostic convert(mlir::Diagnostic &diagnostic) const;

  std::mutex mutex;
  llvm::StringRef source;
  llvm::StringRef sourceName;
  std::string currentPass;
  std::vector<Diagnostic> diagnostics;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace latewood::driver
