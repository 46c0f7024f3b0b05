// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines: building, printing, parsing, running in parts.

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Driver/ModuleImpl.h"
#include "latewood/compiler/Driver/Passes.h"
#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Driver/Registration.h"
#include "latewood/compiler/Driver/Report.h"
#include "latewood/compiler/Driver/WriteFile.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>
#include <mutex>

using namespace mlir;

namespace latewood::driver {

static std::string toText(OpPassManager &passes, bool pretty) {
  std::string text;
  llvm::raw_string_ostream os(text);
  passes.printAsTextualPipeline(os, pretty);
  return text;
}

static std::string toText(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream os(text);
  pass.printAsTextualPipeline(os);
  return text;
}

// Names of passes in a pipeline's text, with the names of the options that each shows (passes show all of them).
static llvm::StringMap<std::vector<std::string>> getNames(StringRef text) {
  llvm::StringMap<std::vector<std::string>> names;
  auto isName = [](char c) { return llvm::isAlnum(c) || c == '-' || c == '_' || c == '.'; };
  while (!text.empty()) {
    StringRef name = text.take_while(isName);
    text = text.drop_front(name.size());
    if (!name.empty() && text.consume_front("{")) {
      auto [options, rest] = text.split('}');
      for (StringRef option : llvm::split(options, ' '))
        if (option.contains('='))
          names[name].push_back(option.split('=').first.str());
      text = rest;
    } else if (!name.empty() && !text.starts_with("(")) {
      names[name];
    }
    text = text.drop_until(isName);
  }
  return names;
}

// MLIR's message for an unknown name, with close names of passes, phases and options added.
static std::string explain(StringRef message) {
  auto pipeline = Pipeline::stableHLOToExecutable({});
  auto phases = Pipeline::phasesText({});
  if (!pipeline || !phases) {
    llvm::consumeError(pipeline.takeError());
    llvm::consumeError(phases.takeError());
    return message.str();
  }
  llvm::StringMap<std::vector<std::string>> names = getNames(pipeline->str());
  for (auto &entry : getNames(*phases))
    names[entry.first()] = entry.second;
  std::vector<std::string> close;
  StringRef unknown = message.split('\'').second.split('\'').first;
  if (message.contains("does not refer to a registered pass")) {
    close = findCloseMatches(unknown, llvm::to_vector(names.keys()));
  } else if (message.contains("no such option")) {
    StringRef option = message.split("no such option ").second.take_until([](char c) { return c == '\n' || c == ' '; });
    StringRef pass = message.split("failed to add `").second.split('`').first;
    SmallVector<StringRef> options(names[pass].begin(), names[pass].end());
    close = findCloseMatches(option, options);
    if (close.empty())
      close.assign(options.begin(), options.end());
  }
  return close.empty() ? message.str() : (message + "; close to it: " + llvm::join(close, ", ")).str();
}

static llvm::Expected<OpPassManager> parsePasses(StringRef text) {
  registerPasses();
  std::string errors;
  llvm::raw_string_ostream os(errors);
  FailureOr<OpPassManager> passes = parsePassPipeline(text, os);
  if (failed(passes))
    return llvm::createStringError("cannot read the pipeline: " + explain(StringRef(errors).trim()));
  if (passes->getOpAnchorName() != ModuleOp::getOperationName())
    return llvm::createStringError("cannot read the pipeline: it must begin with builtin.module(…)");
  return std::move(*passes);
}

llvm::Expected<Pipeline> Pipeline::stableHLOToExecutable(const StableHLOToExecutableOptions &options) {
  if (StringRef(options.target).contains(','))
    return llvm::createStringError("a pipeline is for one target, and '" + options.target + "' are several");
  if (auto canonical = options.canonical(); !canonical)
    return canonical.takeError();
  registerPasses();
  OpPassManager passes(ModuleOp::getOperationName());
  for (const Phase &phase : getPhases()) {
    phase.build(passes, options);
    passes.addPass(createFinishPhasePass({phase.name.str()}));
  }
  return Pipeline(toText(passes, /*pretty=*/false));
}

llvm::Expected<std::string> Pipeline::phasesText(const StableHLOToExecutableOptions &options) {
  if (auto canonical = options.canonical(); !canonical)
    return canonical.takeError();
  return getPhasesText(options);
}

llvm::Expected<Pipeline> Pipeline::parse(StringRef text) {
  auto passes = parsePasses(text);
  if (!passes)
    return passes.takeError();
  return Pipeline(toText(*passes, /*pretty=*/false));
}

std::string Pipeline::pretty() const {
  OpPassManager passes = llvm::cantFail(parsePasses(text));
  return toText(passes, /*pretty=*/true);
}

std::vector<std::string> Pipeline::passes() const {
  OpPassManager passes = llvm::cantFail(parsePasses(text));
  std::vector<std::string> result;
  for (Pass &pass : passes.getPasses())
    result.push_back(toText(pass));
  return result;
}

namespace {

// The files of a run that show what its passes changed: how many, and why one could not be written.
struct Dumps {
  unsigned number = 0;
  std::string problem;
};

// Times the passes, tells the collector which one is running, and writes what they change.
class RunInstrumentation : public PassInstrumentation {
public:
  RunInstrumentation(ModuleOp root, DiagnosticCollector &collector, std::vector<PassStatistics> &statistics,
                     StringRef phase, StringRef dumpDirectory, Dumps &dumps, Report *report)
      : root(root), collector(collector), statistics(statistics), phase(phase), dumpDirectory(dumpDirectory),
        dumps(dumps), report(report) {
    if (!dumpDirectory.empty())
      fingerprint.emplace(root);
  }

  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty())
      return; // an adaptor that only runs others
    if (report)
      report->beforePass(pass->getArgument(), op);
    collector.setCurrentPass(toText(*pass));
    started.push_back(std::chrono::steady_clock::now());
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    finish(pass);
    if (report && !pass->getArgument().empty())
      report->afterPass(pass->getArgument(), op, root, statistics.back());
  }
  void runAfterPassFailed(Pass *pass, Operation *) override {
    finish(pass);
    if (report && !pass->getArgument().empty())
      report->addTime(phase, (pass->getArgument() + " (failed)").str(), statistics.back().milliseconds);
  }

private:
  void finish(Pass *pass) {
    if (pass->getArgument().empty())
      return;
    std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - started.back();
    started.pop_back();
    statistics.push_back({pass->getArgument().str(), phase.str(), time.count()});
    collector.setCurrentPass("");
    if (!dumpDirectory.empty())
      dump(pass->getArgument());
  }

  void dump(StringRef pass) {
    OperationFingerPrint current(root);
    if (current == *fingerprint)
      return;
    fingerprint.emplace(current);
    SmallString<128> path(dumpDirectory);
    llvm::sys::path::append(path, llvm::formatv("{0,0+4}-{1}.mlir", ++dumps.number, pass).str());
    std::string text;
    llvm::raw_string_ostream os(text);
    root->print(os, OpPrintingFlags().elideLargeElementsAttrs(64));
    // One error says enough: what fails once fails again.
    if (dumps.problem.empty())
      dumps.problem = llvm::toString(writeFile(path, text));
  }

  ModuleOp root;
  DiagnosticCollector &collector;
  std::vector<PassStatistics> &statistics;
  StringRef phase;
  StringRef dumpDirectory;
  Dumps &dumps;
  Report *report;
  std::optional<OperationFingerPrint> fingerprint;
  std::vector<std::chrono::steady_clock::time_point> started;
};

// One phase of a pipeline: the texts of its passes, and its name (empty behind the last finish-phase).
struct Section {
  std::string phase;
  std::string passes;
};

/// While it exists, builds of TensorRT's engines, which take minutes, are shown within their phase.
class BuildProgressShown {
public:
  BuildProgressShown(MLIRContext &context, const Section &section,
                     const std::function<void(llvm::StringRef phase)> &show) {
    if (!show || !StringRef(section.passes).contains("latewood-build-tensorrt-engines"))
      return;
    dialect = context.getOrLoadDialect<tensorrt::TensorRTDialect>();
    dialect->onBuildProgress = [this, &section, &show](StringRef network, StringRef, int percent) {
      std::lock_guard lock(mutex);
      // One line for each step forward of one of them.
      if (std::exchange(last[network], percent) != percent)
        show(llvm::formatv("{0}: {1} {2} %", section.phase, network, percent).str());
    };
  }
  ~BuildProgressShown() {
    if (dialect)
      dialect->onBuildProgress = nullptr;
  }

private:
  tensorrt::TensorRTDialect *dialect = nullptr;
  std::mutex mutex;
  llvm::StringMap<int> last;
};

std::vector<Section> divide(OpPassManager &passes) {
  std::vector<Section> sections(1);
  for (Pass &pass : passes.getPasses()) {
    std::string text = toText(pass);
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
  return llvm::createStringError(
      "the pipeline has no phase '" + phase + "'; " +
      (close.empty() ? "its phases are " + llvm::join(names, ", ") : "did you mean " + llvm::join(close, ", ") + "?"));
}

// A file that latewood-opt runs as it is: the command in a comment, and the module.
llvm::Error writeReproducer(StringRef path, StringRef passes, ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "// latewood-opt --pass-pipeline='builtin.module(" << passes << ")' " << path << "\n";
  module->print(os, OpPrintingFlags().enableDebugInfo(true));
  return writeFile(path, text);
}

} // namespace

std::vector<std::string> Pipeline::phases() const {
  OpPassManager passes = llvm::cantFail(parsePasses(text));
  std::vector<std::string> result;
  for (const Section &section : divide(passes))
    if (!section.phase.empty())
      result.push_back(section.phase);
  return result;
}

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

  if (!options.dumpDirectory.empty()) {
    std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory);
    if (!error && !llvm::sys::fs::is_directory(options.dumpDirectory))
      error = std::make_error_code(std::errc::not_a_directory);
    if (error)
      return llvm::createStringError("cannot make the directory '" + options.dumpDirectory + "': " + error.message());
  }

  statistics.clear();
  Dumps dumps;
  Module::Impl &impl = *module.impl;
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  OwningOpRef<ModuleOp> work = impl.module->clone();
  if (options.report)
    options.report->setProgram(impl.name, *impl.source, *work);
  for (const Section &section : ArrayRef(sections).slice(begin, end < begin ? 0 : end - begin)) {
    if (options.onPhase)
      options.onPhase(section.phase);
    PassManager manager(impl.context.get(), ModuleOp::getOperationName());
    if (failed(parsePassPipeline(section.passes, manager, llvm::nulls())))
      return llvm::createStringError("internal error: a printed phase does not parse: " + section.passes);
    manager.addInstrumentation(std::make_unique<RunInstrumentation>(*work, collector, statistics, section.phase,
                                                                    options.dumpDirectory, dumps, options.report));
    BuildProgressShown shown(*impl.context, section, options.onPhase);
    OwningOpRef<ModuleOp> before = options.reproducer.empty() ? OwningOpRef<ModuleOp>() : work->clone();
    if (failed(manager.run(*work))) {
      llvm::Error unwritten =
          before ? writeReproducer(options.reproducer, section.passes, *before) : llvm::Error::success();
      std::string where = section.phase.empty() ? "" : " in phase " + section.phase;
      std::vector<Diagnostic> diagnostics = collector.take();
      if (options.report)
        options.report->addDiagnostics(diagnostics);
      return llvm::joinErrors(makeCompilationError("compilation failed" + where, std::move(diagnostics)),
                              std::move(unwritten));
    }
    if (!dumps.problem.empty())
      return llvm::createStringError(dumps.problem);
  }
  std::vector<Diagnostic> diagnostics = collector.take();
  if (options.report)
    options.report->addDiagnostics(diagnostics);
  impl.keep(std::move(diagnostics));
  impl.module = std::move(work);
  return llvm::Error::success();
}

} // namespace latewood::driver
