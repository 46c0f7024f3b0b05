// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a compilation behind the passes, and their composition.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/ModuleImpl.h"
#include "latewood/compiler/Driver/Phases.h"
#include "latewood/compiler/Translate/Translate.h"

using namespace mlir;

namespace latewood::driver {

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
    return makeCompilationError("translation failed", collector.take());
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
  if (llvm::Error error = pipeline->run(*module))
    return std::move(error);
  return translate(*module);
}

} // namespace latewood::driver
