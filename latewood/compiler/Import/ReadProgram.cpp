// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading programs. MLIR does the work; what is here is for programs that it would not survive, or would take although
// what they say is not so:
//   bytecode   is read by a child process first, which says what is wrong with it, and only what it finds sound is read
//              here; constants must have as many bytes as their types say
//   text       must not have what the parser has no answer to: arrays of index

#include "latewood/compiler/Import/ReadProgram.h"
#include "latewood/compiler/Import/Rehearsal.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace latewood::import {

namespace {

// Whether position `at` of a line is in a string or a comment.
bool isQuoted(StringRef line, size_t at) {
  bool inString = false;
  for (size_t i = 0; i < at; ++i) {
    if (inString && line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      inString = !inString;
    else if (!inString && line.substr(i).starts_with("//"))
      return true;
  }
  return inString;
}

// The type of the elements of an array is an integer or a float of whole bytes; with index the parser asks for a width
// that there is none of.
LogicalResult checkText(StringRef text, StringRef name, MLIRContext *context) {
  constexpr StringLiteral opening = "array";
  for (size_t at = text.find(opening); at != StringRef::npos; at = text.find(opening, at + 1)) {
    StringRef rest = text.substr(at + opening.size()).ltrim();
    if (!rest.consume_front("<") || !rest.ltrim().starts_with("index"))
      continue;
    size_t begin = text.rfind('\n', at) + 1;
    StringRef line = text.substr(begin).take_until([](char c) { return c == '\n'; });
    if (isQuoted(line, at - begin))
      continue;
    auto place = FileLineColLoc::get(context, name, 1 + text.take_front(at).count('\n'), 1 + at - begin);
    return emitError(place, "arrays have elements of integers and floats, and index is neither");
  }
  return success();
}

// The bytes that the elements of a constant have in memory; none where that is more than there can be.
std::optional<uint64_t> bytesOf(DenseElementsAttr constant) {
  Type element = constant.getElementType();
  uint64_t parts = 1;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    parts = 2;
    element = complex.getElementType();
  }
  if (!element.isIntOrIndexOrFloat())
    return std::nullopt;
  uint64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  bool isPacked = bits == 1 && parts == 1;
  uint64_t count = 1;
  if (!constant.isSplat())
    for (int64_t extent : constant.getType().getShape()) {
      bool overflows = false;
      count = llvm::SaturatingMultiply<uint64_t>(count, uint64_t(extent), &overflows);
      if (extent < 0 || overflows)
        return std::nullopt;
    }
  if (isPacked)
    return constant.isSplat() ? 1 : llvm::divideCeil(count, 8);
  bool overflows = false;
  uint64_t bytes = llvm::SaturatingMultiply<uint64_t>(count, parts * llvm::divideCeil(bits, 8), &overflows);
  return overflows ? std::nullopt : std::optional(bytes);
}

// The reader takes the bytes of a constant as they come.
LogicalResult checkConstants(ModuleOp module) {
  AttrTypeWalker walker;
  bool isSound = true;
  walker.addWalk([&](DenseElementsAttr constant) {
    if (isa<DenseIntOrFPElementsAttr>(constant) && bytesOf(constant) != constant.getRawData().size())
      isSound = false;
  });
  walker.addWalk([&](DenseArrayAttr array) {
    Type element = array.getElementType();
    if (!element.isIntOrFloat() ||
        array.getRawData().size() != uint64_t(array.size()) * llvm::divideCeil(element.getIntOrFloatBitWidth(), 8))
      isSound = false;
  });
  module->walk([&](Operation *op) {
    walker.walk(op->getAttrDictionary());
    walker.walk<WalkOrder::PreOrder>(op->getLoc());
    return isSound ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (!isSound)
    return emitError(UnknownLoc::get(module.getContext()),
                     "the bytecode is damaged: a constant has another number of bytes than its type");
  return success();
}

OwningOpRef<ModuleOp> parse(StringRef program, StringRef name, MLIRContext *context) {
  return parseSourceString<ModuleOp>(program, ParserConfig(context), name);
}

// What rehearses, for this process.
std::optional<std::string> (*currentRehearsal)(StringRef, StringRef, MLIRContext *, std::string &) = rehearseReading;

// A diagnostic on its way from the child: the place and the text, each with a zero behind it.
void append(std::string &report, StringRef name, Diagnostic &diagnostic) {
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  report += (place ? place.getFilename().getValue() : name).str() + '\0';
  report += std::to_string(place ? place.getLine() : 0) + '\0' + std::to_string(place ? place.getColumn() : 0) + '\0';
  report += diagnostic.str() + '\0';
}

void emitReport(StringRef report, MLIRContext *context) {
  SmallVector<StringRef> parts;
  report.split(parts, '\0');
  for (size_t i = 0; i + 3 < parts.size(); i += 4) {
    unsigned line = 0, column = 0;
    parts[i + 1].getAsInteger(10, line);
    parts[i + 2].getAsInteger(10, column);
    emitError(FileLineColLoc::get(context, parts[i], line, column), parts[i + 3]);
  }
}

} // namespace

std::optional<std::string> rehearseReading(StringRef program, StringRef name, MLIRContext *context,
                                           std::string &report) {
  auto read = [&] {
    std::string errors;
    ScopedDiagnosticHandler collector(context, [&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        append(errors, name, diagnostic);
      return success();
    });
    OwningOpRef<ModuleOp> module = parse(program, name, context);
    if (module && succeeded(checkConstants(*module)))
      return std::string();
    // Of a program that is refused without a word, at least that is said.
    if (errors.empty())
      errors = name.str() + '\0' + "0" + '\0' + "0" + '\0' + "the bytecode cannot be read" + '\0';
    return errors;
  };
  return rehearse(program.size(), read, report);
}

void replaceRehearsal(std::optional<std::string> (*rehearsal)(StringRef, StringRef, MLIRContext *, std::string &)) {
  currentRehearsal = rehearsal;
}

// The writer of portable artifacts, StableHLO_vX.Y.Z, names itself behind the four bytes of the format and its version,
// of one byte. They are bytecode of another dialect, which comes in versions of its own.
static StringRef getPortableVersion(StringRef program) {
  StringRef producer = program.drop_front(std::min<size_t>(program.size(), 5));
  return producer.starts_with("StableHLO_v") ? producer.split('\0').first : StringRef();
}

// Bytecode that the child refuses is not read here at all: before it came to that, the reader may have written outside
// of its buffers.
static LogicalResult checkByRehearsal(StringRef program, StringRef name, MLIRContext *context) {
  if (StringRef version = getPortableVersion(program); !version.empty())
    return emitError(FileLineColLoc::get(context, name, 0, 0),
                     "this is a portable artifact (" + version.take_front(40) +
                         ", dialect vhlo); give the program as text or as bytecode of the stablehlo dialect, which JAX "
                         "has as lowered.as_text() and exported.mlir_module()");
  std::string report;
  if (std::optional<std::string> problem = currentRehearsal(program, name, context, report))
    return emitError(FileLineColLoc::get(context, name, 0, 0), "the bytecode is damaged: " + *problem);
  emitReport(report, context);
  return success(report.empty());
}

LogicalResult checkBytecode(StringRef program, StringRef name, MLIRContext *context) {
  return isBytecode(program) ? checkByRehearsal(program, name, context) : success();
}

OwningOpRef<ModuleOp> readProgram(StringRef program, StringRef name, MLIRContext *context) {
  if (!isBytecode(program)) {
    if (failed(checkText(program, name, context)))
      return nullptr;
    return parse(program, name, context);
  }
  if (failed(checkByRehearsal(program, name, context)))
    return nullptr;
  OwningOpRef<ModuleOp> module = parse(program, name, context);
  if (!module || failed(checkConstants(*module)))
    return nullptr;
  return module;
}

} // namespace latewood::import
