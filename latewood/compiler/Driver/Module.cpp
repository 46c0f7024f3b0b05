// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs: reading, printing, copying.

#include "latewood/compiler/Driver/ModuleImpl.h"
#include "latewood/compiler/Driver/Registration.h"
#include "latewood/compiler/Import/PredicateBlobs.h"
#include "latewood/compiler/Import/ReadProgram.h"

using namespace mlir;

namespace latewood::driver {

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

} // namespace

Module::Module(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Module::Module(Module &&) noexcept = default;
Module &Module::operator=(Module &&) noexcept = default;
Module::~Module() = default;

llvm::Expected<Module> Module::parse(StringRef textOrBytecode, StringRef name) {
  auto impl = std::make_unique<Impl>();
  impl->context = makeContext();
  impl->source = std::make_shared<std::string>(textOrBytecode);
  impl->name = name.str();
  bool isText = !import::isBytecode(textOrBytecode);
  if (isText)
    if (std::optional<std::string> packed = import::packPredicateBlobs(textOrBytecode))
      impl->source = std::make_shared<const std::string>(std::move(*packed));
  DiagnosticCollector collector(impl->context.get(), isText ? StringRef(*impl->source) : "", impl->name);
  impl->module = import::readProgram(*impl->source, impl->name, impl->context.get());
  if (!impl->module)
    return makeCompilationError((Twine("cannot read the program '") + name + "'").str(), collector.take());
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

} // namespace latewood::driver
