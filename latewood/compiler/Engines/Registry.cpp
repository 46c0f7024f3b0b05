// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engines that this compiler has.

#include "latewood/compiler/Engines/Registry.h"
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "latewood/compiler/Engines/CPU/Engine.h"
#include "latewood/compiler/Engines/TensorRT/Engine.h"

using namespace mlir;
using namespace latewood;

ArrayRef<StringRef> engines::getNames() {
  static constexpr StringRef names[] = {"cpu", "tensorrt"};
  return names;
}

plan::EngineAttrInterface engines::lookup(MLIRContext *context, StringRef name) {
  if (name == "cpu")
    return cast<plan::EngineAttrInterface>(plan::CPUEngineAttr::get(context));
  if (name == "tensorrt")
    return cast<plan::EngineAttrInterface>(plan::TensorRTEngineAttr::get(context));
  return nullptr;
}

void engines::insertDialects(DialectRegistry &registry) { registry.insert<tensorrt::TensorRTDialect>(); }

void engines::registerModels(DialectRegistry &registry) {
  cpu::registerEngineModel(registry);
  tensorrt::registerEngineModel(registry);
}
