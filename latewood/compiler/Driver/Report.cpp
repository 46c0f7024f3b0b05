// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collecting what a report shows, and writing the page.
//
// When what is read:
//   host program     when clusters are outlined: it is calls of clusters and what no engine takes
//   clusters         before they get buffers: groups and contractions are formed, and values are still values
//   memory           when it is planned: buffers are views of one block, and nothing was lowered to addresses yet
//   executable       from the bytes of the file, as a reader sees it

#include "latewood/compiler/Driver/Report.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/ReportGraph.h"
#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "latewood/format/Container.h"
#include "latewood/format/ElementTypes.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using llvm::json::Array;
using llvm::json::Object;

/// The page, whose one place for data is `pageHole`.
extern "C" const char latewoodReportPage[], latewoodReportPageEnd[];

namespace latewood::driver {

static constexpr StringLiteral pageHole = "/*REPORT*/null";
static constexpr StringLiteral lastPassOfOutlining = "latewood-outline-clusters";
static constexpr StringLiteral firstPassOnBuffers = "latewood-bufferize-clusters";
static constexpr StringLiteral passThatPlansMemory = "latewood-plan-memory";

static int64_t countOperations(Operation *root) {
  int64_t count = 0;
  root->walk([&](Operation *) { ++count; });
  return count;
}

void Report::setProgram(StringRef name, StringRef source, ModuleOp module) {
  ++variants;
  program["file"] = llvm::json::fixUTF8(name);
  program["name"] = llvm::json::fixUTF8(module.getSymName().value_or(""));
  program["sourceBytes"] = static_cast<int64_t>(source.size());
  program["operations"] = countOperations(module);
}

void Report::beforePass(StringRef pass, Operation *op) {
  if (pass != firstPassOnBuffers)
    return;
  for (auto function : cast<ModuleOp>(op).getOps<FunctionOpInterface>())
    addGraphs(function, "cluster" + suffixOf(op), graphs);
}

std::string Report::suffixOf(Operation *op) const {
  plan::TargetAttr target = plan::getTarget(op);
  return variants > 1 && target ? (" for " + target.getCpu()).str() : "";
}

void Report::afterPass(StringRef pass, Operation *op, ModuleOp root, const PassStatistics &statistics) {
  auto symbol = op == root.getOperation() ? StringAttr() : op->getAttrOfType<StringAttr>("sym_name");
  passes.push_back(Object{{"phase", statistics.phase},
                          {"pass", statistics.pass},
                          {"on", symbol ? llvm::json::fixUTF8(symbol.getValue()) : ""},
                          {"milliseconds", statistics.milliseconds},
                          {"operations", countOperations(root)}});
  if (pass == lastPassOfOutlining)
    addHostGraphs(root);
  if (pass == passThatPlansMemory)
    addMemory(cast<ModuleOp>(op));
}

void Report::addTime(StringRef phase, StringRef what, double milliseconds) {
  passes.push_back(Object{{"phase", phase.str()}, {"pass", what.str()}, {"on", ""}, {"milliseconds", milliseconds}});
}

void Report::addHostGraphs(ModuleOp root) {
  if (auto options = root->getAttrOfType<StringAttr>("latewood.options"))
    program["options"] = llvm::json::fixUTF8(options.getValue());
  if (plan::TargetAttr target = plan::getTarget(root))
    program["target"] = llvm::json::fixUTF8(target.getCpu());
  // It is the same for all targets.
  if (variants == 1)
    for (auto function : root.getOps<FunctionOpInterface>())
      addGraphs(function, "host", graphs);
}

void Report::addMemory(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto bytes = function->getAttrOfType<IntegerAttr>(cpu::ParallelForOp::getWorkspaceAttrName());
    if (!bytes || function.isExternal() || function.getNumArguments() == 0)
      continue;
    cpu::ProgramOrder order(function);
    BufferViewFlowAnalysis flow(function);
    Array buffers;
    for (Operation *user : function.getArguments().back().getUsers()) {
      auto view = dyn_cast<memref::ViewOp>(user);
      APInt offset;
      if (!view || !matchPattern(view.getByteShift(), m_ConstantInt(&offset)))
        continue;
      SmallVector<Operation *> deallocations;
      FailureOr<cpu::LiveRange> range = cpu::findLiveRange(view.getResult(), order, flow, deallocations);
      std::optional<int64_t> size = cpu::plannedBytes(view.getType());
      if (failed(range) || !size)
        continue;
      buffers.push_back(Object{{"type", toText(view.getType())},
                               {"bytes", *size},
                               {"offset", offset.getSExtValue()},
                               {"first", range->first},
                               {"last", range->last},
                               {"location", locationText(view.getLoc())}});
    }
    Array arguments;
    for (Type type : function.getArgumentTypes().drop_back())
      arguments.push_back(toText(type));
    memory.push_back(Object{{"function", llvm::json::fixUTF8(function.getName().str() + suffixOf(function))},
                            {"bytes", bytes.getInt()},
                            {"operations", order.size()},
                            {"arguments", std::move(arguments)},
                            {"buffers", std::move(buffers)}});
  }
}

static Object toObject(const Diagnostic &diagnostic) {
  Array notes;
  for (const Diagnostic &note : diagnostic.notes)
    notes.push_back(toObject(note));
  return Object{{"severity", stringifySeverity(diagnostic.severity)},
                {"message", llvm::json::fixUTF8(diagnostic.message)},
                {"location", llvm::json::fixUTF8(diagnostic.location)},
                {"line", llvm::json::fixUTF8(diagnostic.sourceLine)},
                {"column", diagnostic.column},
                {"pass", StringRef(diagnostic.pass).split('{').first.str()},
                {"notes", std::move(notes)}};
}

void Report::addDiagnostics(const std::vector<Diagnostic> &diagnostics) {
  for (const Diagnostic &diagnostic : diagnostics)
    remarks.push_back(driver::toObject(diagnostic));
}

// --- The executable --------------------------------------------------------------------------------------------------

static std::string text(const flatbuffers::String *string) {
  return string ? llvm::json::fixUTF8(StringRef(string->data(), string->size())) : "";
}

// The type as a buffer has it, and its bytes where all extents are known.
template <typename T>
static Object describeType(const T &value) {
  const format::ElementTypeInfo *info = format::elementTypeInfo(value.element_type());
  std::string shape;
  int64_t bytes = info ? info->bytes : 0;
  bool isKnown = info != nullptr;
  if (value.shape())
    for (int64_t extent : *value.shape()) {
      shape += extent == format::dynamicExtent ? "?x" : std::to_string(extent) + "x";
      isKnown &= extent != format::dynamicExtent;
      bytes *= extent;
    }
  Object result{{"name", text(value.name())}, {"type", shape + (info ? std::string(info->name) : "?")}};
  if (isKnown)
    result["bytes"] = bytes;
  return result;
}

static Array describe(const flatbuffers::Vector<flatbuffers::Offset<format::Value>> *values) {
  Array result;
  if (values)
    for (const format::Value *value : *values)
      result.push_back(describeType(*value));
  return result;
}

void Report::addExecutable(const std::vector<uint8_t> &bytes) {
  // The reader wants the file where it would lie in memory.
  auto aligned =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(bytes.size(), "", llvm::Align(format::constantAlignment));
  if (!aligned)
    return;
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t *>(aligned->getBufferStart()));
  format::Container container;
  std::string message;
  format::Bytes file(reinterpret_cast<const uint8_t *>(aligned->getBufferStart()), bytes.size());
  if (format::Container::open(file, format::Verify::code, container, message) != format::ReadError::none)
    return;
  const format::Executable &metadata = container.metadata();
  Array functions, constants, images, segments;
  if (metadata.functions())
    for (const format::Function *function : *metadata.functions())
      functions.push_back(Object{{"name", text(function->name())},
                                 {"arguments", describe(function->arguments())},
                                 {"results", describe(function->results())},
                                 {"workspace", static_cast<int64_t>(function->workspace_bytes())}});
  if (metadata.constants())
    for (const format::Constant *constant : *metadata.constants())
      constants.push_back(describeType(*constant));
  if (metadata.images())
    for (const format::Image *image : *metadata.images()) {
      Array features;
      if (image->target()->features())
        for (const flatbuffers::String *feature : *image->target()->features())
          features.push_back(text(feature));
      images.push_back(Object{{"cpu", text(image->target()->cpu())},
                              {"features", std::move(features)},
                              {"bytes", static_cast<int64_t>(container.segment(image->segment()).size())}});
    }
  if (metadata.segments())
    for (const format::Segment *segment : *metadata.segments())
      segments.push_back(Object{{"kind", format::EnumNameSegmentKind(segment->kind())},
                                {"name", text(segment->name())},
                                {"offset", static_cast<int64_t>(segment->offset())},
                                {"bytes", static_cast<int64_t>(segment->size())}});
  executable = Object{{"bytes", static_cast<int64_t>(bytes.size())},
                      {"producer", text(metadata.producer())},
                      {"host", format::EnumNameHostBackend(metadata.host())},
                      {"functions", std::move(functions)},
                      {"constants", std::move(constants)},
                      {"images", std::move(images)},
                      {"segments", std::move(segments)}};
}

// --- The page --------------------------------------------------------------------------------------------------------

Object Report::toObject() const {
  return Object{{"program", Object(program)}, {"passes", Array(passes)},   {"graphs", Array(graphs)},
                {"memory", Array(memory)},    {"remarks", Array(remarks)}, {"executable", executable}};
}

std::string Report::json() const {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(toObject());
  return text;
}

std::string Report::html() const {
  StringRef page(latewoodReportPage, latewoodReportPageEnd - latewoodReportPage);
  auto [head, tail] = page.split(pageHole);
  std::string result = head.str();
  // Inside of a script element only its end, and comments, mean something; JSON can spell their first character.
  for (char c : json())
    if (c == '<')
      result += "\\u003c";
    else
      result += c;
  return result + tail.str();
}

} // namespace latewood::driver
