// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collecting and rendering of diagnostics.

#include "latewood/compiler/Driver/Diagnostics.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace latewood::driver {

char CompilationError::ID = 0;

StringRef stringifySeverity(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  case Severity::Note:
    return "note";
  }
  llvm_unreachable("all severities are handled");
}

std::string Diagnostic::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!location.empty())
    os << location << ": ";
  os << stringifySeverity(severity) << ": " << message;
  if (!sourceLine.empty()) {
    os << "\n    " << sourceLine;
    if (column > 0 && column <= sourceLine.size() + 1)
      os << "\n    " << std::string(column - 1, ' ') << '^';
  }
  if (!pass.empty() && severity != Severity::Note)
    os << "\n    in pass " << pass;
  for (const Diagnostic &note : notes)
    os << "\n  " << note.str();
  return text;
}

void CompilationError::log(llvm::raw_ostream &os) const {
  os << summary;
  for (const Diagnostic &diagnostic : diagnostics)
    if (diagnostic.severity == Severity::Error)
      os << '\n' << diagnostic.str();
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, StringRef source, StringRef sourceName)
    : source(source), sourceName(sourceName), handler(context, [this](mlir::Diagnostic &diagnostic) {
        Diagnostic converted = convert(diagnostic);
        std::lock_guard lock(mutex);
        converted.pass = currentPass;
        diagnostics.push_back(std::move(converted));
        return success();
      }) {}

void DiagnosticCollector::setCurrentPass(std::string pass) {
  std::lock_guard lock(mutex);
  currentPass = std::move(pass);
}

std::vector<Diagnostic> DiagnosticCollector::take() {
  std::lock_guard lock(mutex);
  return std::exchange(diagnostics, {});
}

// The place in a file that stands for a location: of a call stack the innermost, of a fused location the first.
static FileLineColLoc findFile(Location loc) {
  return llvm::TypeSwitch<LocationAttr, FileLineColLoc>(loc)
      .Case([](FileLineColLoc file) { return file; })
      .Case([](NameLoc name) { return findFile(name.getChildLoc()); })
      .Case([](CallSiteLoc call) { return findFile(call.getCallee()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (FileLineColLoc file = findFile(part))
            return file;
        return FileLineColLoc();
      })
      .Default([](LocationAttr) { return FileLineColLoc(); });
}

std::string locationText(Location loc) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (FileLineColLoc file = findFile(loc))
    os << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
  else if (!isa<UnknownLoc>(loc))
    os << loc;
  return text;
}

static StringRef getLine(StringRef text, unsigned number) {
  for (unsigned line = 1; line < number; ++line) {
    size_t end = text.find('\n');
    if (end == StringRef::npos)
      return "";
    text = text.drop_front(end + 1);
  }
  return text.take_until([](char c) { return c == '\n'; });
}

Diagnostic DiagnosticCollector::convert(mlir::Diagnostic &diagnostic) const {
  Diagnostic result;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    result.severity = Severity::Error;
    break;
  case DiagnosticSeverity::Warning:
    result.severity = Severity::Warning;
    break;
  case DiagnosticSeverity::Remark:
    result.severity = Severity::Remark;
    break;
  case DiagnosticSeverity::Note:
    result.severity = Severity::Note;
    break;
  }
  result.message = diagnostic.str();
  result.location = locationText(diagnostic.getLocation());
  if (FileLineColLoc file = findFile(diagnostic.getLocation())) {
    if (file.getFilename().getValue() == sourceName) {
      result.sourceLine = getLine(source, file.getLine()).str();
      result.column = file.getColumn();
      // A line of a large constant says nothing more than its beginning.
      constexpr size_t longest = 160;
      if (result.sourceLine.size() > longest) {
        result.sourceLine.resize(longest);
        result.sourceLine += "…";
      }
    }
  }
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    result.notes.push_back(convert(note));
  return result;
}

} // namespace latewood::driver
