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

llvm::Expected<Bytes> translate(Module &module, Report *report) {
  if (llvm::Error error = module.checkLowered())
    return std::move(error);
  Module::Impl &impl = *module.impl;
  DiagnosticCollector collector(impl.context.get(), *impl.source, impl.name);
  auto start = std::chrono::steady_clock::now();
  auto bytes = translate::translateToExecutable(*impl.module);
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

llvm::Expected<Bytes> compile(StringRef textOrBytecode, const StableHLOToExecutableOptions &options, StringRef name,
                              Report *report) {
  auto pipeline = Pipeline::stableHLOToExecutable(options);
  if (!pipeline)
    return pipeline.takeError();
  auto module = Module::parse(textOrBytecode, name);
  if (!module)
    return module.takeError();
  Pipeline::RunOptions run;
  run.report = report;
  if (llvm::Error error = pipeline->run(*module, run))
    return std::move(error);
  return translate(*module, report);
}

} // namespace latewood::driver
