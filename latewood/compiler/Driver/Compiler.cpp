// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a compilation behind the passes, and their composition.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/ModuleImpl.h"
#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Driver/Report.h"
#include "latewood/compiler/Translate/Translate.h"
#include <chrono>

using namespace mlir;

namespace latewood::driver {

llvm::Error Module::checkLowered() const {
  StringRef last = getPhases().back().name;
  auto stamp = impl->module->getOperation()->getAttrOfType<StringAttr>(phaseAttrName);
  if (!stamp || stamp.getValue() != last)
    return llvm::createStringError("only a module that has finished phase '" + last +
                                   "' can be translated; this one has finished " +
                                   (stamp ? "phase '" + stamp.getValue().str() + "'" : "none"));
  return llvm::Error::success();
}

llvm::Expected<Bytes> translate(Module &module, Report *report) { return translate(ArrayRef(&module), report); }

llvm::Expected<Bytes> translate(ArrayRef<Module *> variants, Report *report) {
  SmallVector<ModuleOp> modules;
  for (Module *variant : variants) {
    if (llvm::Error error = variant->checkLowered())
      return std::move(error);
    if (variant->impl->context != variants.front()->impl->context)
      return llvm::createStringError("only clones of one module can be variants of one program");
    modules.push_back(*variant->impl->module);
  }
  if (modules.empty())
    return llvm::createStringError("there is nothing to translate");
  Module::Impl &impl = *variants.front()->impl;
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  auto start = std::chrono::steady_clock::now();
  auto bytes = translate::translateToExecutable(modules);
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  std::vector<Diagnostic> diagnostics = collector.take();
  if (report) {
    report->addTime("translate", "machine code, linking, file", time.count());
    report->addDiagnostics(diagnostics);
    if (succeeded(bytes))
      report->addExecutable(*bytes);
  }
  if (failed(bytes))
    return makeCompilationError("translation failed", std::move(diagnostics));
  impl.keep(std::move(diagnostics));
  return std::move(*bytes);
}

llvm::Expected<std::string> translateToText(Module &module, CodeForm form) {
  if (llvm::Error error = module.checkLowered())
    return std::move(error);
  Module::Impl &impl = *module.impl;
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  auto text =
      form == CodeForm::Lua ? translate::translateToLua(*impl.module) : translate::translateToLLVMIRText(*impl.module);
  if (failed(text))
    return makeCompilationError("translation failed", collector.take());
  impl.keep(collector.take());
  return std::move(*text);
}

std::vector<StableHLOToExecutableOptions> optionsPerTarget(const StableHLOToExecutableOptions &options) {
  std::vector<StableHLOToExecutableOptions> result;
  SmallVector<StringRef> targets;
  StringRef(options.target).split(targets, ',');
  for (StringRef target : targets)
    if (llvm::none_of(result, [&](auto &other) { return other.target == target; })) {
      result.push_back(options);
      result.back().target = target.str();
    }
  return result;
}

llvm::Expected<Bytes> compile(StringRef textOrBytecode, const StableHLOToExecutableOptions &options, StringRef name,
                              Report *report) {
  // Wrong options are found before the program is read.
  std::vector<Pipeline> pipelines;
  for (const StableHLOToExecutableOptions &each : optionsPerTarget(options)) {
    auto pipeline = Pipeline::stableHLOToExecutable(each);
    if (!pipeline)
      return pipeline.takeError();
    pipelines.push_back(std::move(*pipeline));
  }
  auto module = Module::parse(textOrBytecode, name);
  if (!module)
    return module.takeError();
  std::vector<Module> variants;
  for (size_t i = 1; i < pipelines.size(); ++i)
    variants.push_back(module->clone());
  variants.push_back(std::move(*module));
  Pipeline::RunOptions run;
  run.report = report;
  SmallVector<Module *> pointers;
  for (auto [pipeline, variant] : llvm::zip_equal(pipelines, variants)) {
    if (llvm::Error error = pipeline.run(variant, run))
      return std::move(error);
    pointers.push_back(&variant);
  }
  return translate(pointers, report);
}

} // namespace latewood::driver
