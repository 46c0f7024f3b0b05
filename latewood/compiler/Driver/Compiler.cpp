// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler as a library.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Driver/Registration.h"
#include "latewood/compiler/Translate/Translate.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/Threading.h"
#include <chrono>

using namespace mlir;

namespace latewood::driver {

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

namespace {

// A context with everything that a program may use. Clones share it.
std::shared_ptr<MLIRContext> makeContext() {
  static const DialectRegistry registry = [] {
    DialectRegistry registry;
    registerDialects(registry);
    return registry;
  }();
  registerPasses();
  // Threads pay off for many functions; a program has one. The parallel parts (code generation) bring their own.
  auto context = std::make_shared<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->printOpOnDiagnostic(false);
  return context;
}

Error fail(std::string summary, std::vector<Diagnostic> diagnostics) {
  return llvm::make_error<CompilationError>(std::move(summary), std::move(diagnostics));
}

} // namespace

struct Module::Impl {
  std::shared_ptr<MLIRContext> context;
  std::shared_ptr<const std::string> source;
  std::string name;
  OwningOpRef<ModuleOp> module;
  std::vector<Diagnostic> diagnostics;

  void keep(std::vector<Diagnostic> more) {
    diagnostics.insert(diagnostics.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
};

Module::Module(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;
Module::~Module() = default;

llvm::Expected<Module> Module::parse(StringRef textOrBytecode, StringRef name) {
  auto impl = std::make_unique<Impl>();
  impl->context = makeContext();
  impl->source = std::make_shared<std::string>(textOrBytecode);
  impl->name = name.str();
  bool isText = !textOrBytecode.starts_with("ML\xefR");
  DiagnosticCollector collector(impl->context.get(), isText ? StringRef(*impl->source) : "", impl->name);
  ParserConfig config(impl->context.get());
  impl->module = parseSourceString<ModuleOp>(*impl->source, config, impl->name);
  if (!impl->module)
    return fail((Twine("cannot read the program '") + name + "'").str(), collector.take());
  impl->keep(collector.take());
  return Module(std::move(impl));
}

ModuleOp Module::get() const { return *impl->module; }
MLIRContext *Module::getContext() const { return impl->context.get(); }
const std::vector<Diagnostic> &Module::getDiagnostics() const { return impl->diagnostics; }

std::string Module::str(const PrintOptions &options) const {
  OpPrintingFlags flags;
  flags.enableDebugInfo(options.locations, /*prettyForm=*/false);
  if (options.elideLargerThan)
    flags.elideLargeElementsAttrs(*options.elideLargerThan).elideLargeResourceString(*options.elideLargerThan);
  std::string text;
  llvm::raw_string_ostream os(text);
  impl->module->print(os, flags);
  return text;
}

Module Module::clone() const {
  auto copy = std::make_unique<Impl>();
  copy->context = impl->context;
  copy->source = impl->source;
  copy->name = impl->name;
  copy->module = impl->module->clone();
  copy->diagnostics = impl->diagnostics;
  return Module(std::move(copy));
}

//===----------------------------------------------------------------------===//
// Pipeline
//===----------------------------------------------------------------------===//

static std::string toText(OpPassManager &passes, bool pretty) {
  std::string text;
  llvm::raw_string_ostream os(text);
  passes.printAsTextualPipeline(os, pretty);
  return text;
}

static llvm::Expected<OpPassManager> parsePasses(StringRef text) {
  registerPasses();
  std::string errors;
  llvm::raw_string_ostream os(errors);
  FailureOr<OpPassManager> passes = parsePassPipeline(text, os);
  if (failed(passes))
    return llvm::createStringError("cannot read the pipeline: " + StringRef(errors).trim());
  if (passes->getOpAnchorName() != ModuleOp::getOperationName())
    return llvm::createStringError("cannot read the pipeline: it must begin with builtin.module(…)");
  return std::move(*passes);
}

llvm::Expected<Pipeline> Pipeline::stableHLOToExecutable(const StableHLOToExecutableOptions &options) {
  if (auto canonical = options.canonical(); !canonical)
    return canonical.takeError();
  OpPassManager passes(ModuleOp::getOperationName());
  for (const Phase &phase : getPhases()) {
    phase.build(passes, options);
    passes.addPass(createFinishPhasePass({phase.name.str()}));
  }
  return Pipeline(toText(passes, /*pretty=*/false));
}

llvm::Expected<Pipeline> Pipeline::parse(StringRef text) {
  auto passes = parsePasses(text);
  if (!passes)
    return passes.takeError();
  return Pipeline(toText(*passes, /*pretty=*/false));
}

std::string Pipeline::pretty() const { return toText(*llvm::cantFail(parsePasses(text)), /*pretty=*/true); }

namespace {

// Times the passes and tells the collector which one is running.
class RunInstrumentation : public PassInstrumentation {
public:
  RunInstrumentation(DiagnosticCollector &collector, std::vector<PassStatistics> &statistics, StringRef phase)
      : collector(collector), statistics(statistics), phase(phase) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (pass->getArgument().empty())
      return; // an adaptor that only runs others
    collector.setCurrentPass(pass->getArgument().str());
    started.push_back(std::chrono::steady_clock::now());
  }
  void runAfterPass(Pass *pass, Operation *) override { finish(pass); }
  void runAfterPassFailed(Pass *pass, Operation *) override { finish(pass); }

private:
  void finish(Pass *pass) {
    if (pass->getArgument().empty())
      return;
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - started.back();
    started.pop_back();
    statistics.push_back({pass->getArgument().str(), phase.str(), time.count()});
    collector.setCurrentPass("");
  }

  DiagnosticCollector &collector;
  std::vector<PassStatistics> &statistics;
  StringRef phase;
  std::vector<std::chrono::steady_clock::time_point> started;
};

// One phase of a pipeline: the texts of its passes, and its name (empty behind the last finish-phase).
struct Section {
  std::string phase;
  std::string passes;
};

std::vector<Section> divide(OpPassManager &passes) {
  std::vector<Section> sections(1);
  for (Pass &pass : passes.getPasses()) {
    std::string text;
    llvm::raw_string_ostream os(text);
    pass.printAsTextualPipeline(os);
    Section &section = sections.back();
    section.passes += (section.passes.empty() ? "" : ",") + text;
    StringRef name = text;
    if (name.consume_front("latewood-finish-phase{name=") && name.consume_back("}")) {
      section.phase = name.trim().str();
      sections.emplace_back();
    }
  }
  if (sections.back().passes.empty())
    sections.pop_back();
  return sections;
}

llvm::Expected<size_t> findSection(ArrayRef<Section> sections, StringRef phase) {
  std::vector<StringRef> names;
  for (auto [index, section] : llvm::enumerate(sections)) {
    if (section.phase == phase)
      return index;
    if (!section.phase.empty())
      names.push_back(section.phase);
  }
  std::vector<std::string> close = findCloseMatches(phase, names);
  return llvm::createStringError("the pipeline has no phase '" + phase + "'; " +
                                 (close.empty() ? "its phases are " + llvm::join(names, ", ")
                                                : "did you mean " + llvm::join(close, ", ") + "?"));
}

} // namespace

llvm::Error Pipeline::run(Module &module, const RunOptions &options) const {
  auto passes = parsePasses(text);
  if (!passes)
    return passes.takeError();
  std::vector<Section> sections = divide(*passes);
  size_t begin = 0, end = sections.size();
  if (!options.since.empty()) {
    auto index = findSection(sections, options.since);
    if (!index)
      return index.takeError();
    auto stamp = module.get()->getAttrOfType<StringAttr>(phaseAttrName);
    if (!stamp || stamp.getValue() != options.since)
      return llvm::createStringError("the module cannot continue after phase '" + options.since + "': it has " +
                                     (stamp ? "finished phase '" + stamp.getValue().str() + "'" : "finished no phase"));
    begin = *index + 1;
  }
  if (!options.until.empty()) {
    auto index = findSection(sections, options.until);
    if (!index)
      return index.takeError();
    end = *index + 1;
  }

  statistics.clear();
  Module::Impl &impl = *module.impl;
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  OwningOpRef<ModuleOp> work = impl.module->clone();
  for (const Section &section : ArrayRef(sections).slice(begin, end < begin ? 0 : end - begin)) {
    if (options.onPhase)
      options.onPhase(section.phase);
    PassManager manager(impl.context.get(), ModuleOp::getOperationName());
    if (failed(parsePassPipeline(section.passes, manager, llvm::nulls())))
      return llvm::createStringError("internal error: a printed phase does not parse: " + section.passes);
    manager.addInstrumentation(std::make_unique<RunInstrumentation>(collector, statistics, section.phase));
    if (failed(manager.run(*work))) {
      std::string where = section.phase.empty() ? "" : " in phase " + section.phase;
      return fail("compilation failed" + where, collector.take());
    }
  }
  impl.keep(collector.take());
  impl.module = std::move(work);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Translation
//===----------------------------------------------------------------------===//

llvm::Expected<Bytes> translate(Module &module) {
  Module::Impl &impl = *module.impl;
  StringRef last = getPhases().back().name;
  auto stamp = impl.module->getOperation()->getAttrOfType<StringAttr>(phaseAttrName);
  if (!stamp || stamp.getValue() != last)
    return llvm::createStringError("only a module that has finished phase '" + last + "' can be translated; this one has finished " +
                                   (stamp ? "phase '" + stamp.getValue().str() + "'" : "none"));
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  auto bytes = translate::translateToExecutable(*impl.module);
  if (failed(bytes))
    return fail("translation failed", collector.take());
  impl.keep(collector.take());
  return std::move(*bytes);
}

llvm::Expected<Bytes> compile(StringRef textOrBytecode, const StableHLOToExecutableOptions &options, StringRef name) {
  auto pipeline = Pipeline::stableHLOToExecutable(options);
  if (!pipeline)
    return pipeline.takeError();
  auto module = Module::parse(textOrBytecode, name);
  if (!module)
    return module.takeError();
  if (Error error = pipeline->run(*module))
    return std::move(error);
  return translate(*module);
}

} // namespace latewood::driver
