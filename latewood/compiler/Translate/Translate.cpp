// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the executable file: one image with the host code and the engines' code, the constants, and the signatures.

#include "latewood/compiler/Translate/Translate.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Target/Codegen.h"
#include "latewood/compiler/Target/Target.h"
#include "latewood/compiler/Translate/ConstantData.h"
#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "latewood/compiler/Translate/ExecutorToLua.h"
#include "latewood/format/Container.h"
#include "latewood/format/ElementTypes.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace latewood;

namespace {

// StableHLO's and MLIR's spelling of element types agree.
FailureOr<format::ElementType> getElementType(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  format::ElementType result = format::parseElementType(name);
  if (result == format::ElementType::invalid)
    return failure();
  return result;
}

FailureOr<std::unique_ptr<format::ValueT>> describeValue(Operation *op, MemRefType type, StringRef name) {
  auto value = std::make_unique<format::ValueT>();
  auto element = getElementType(type.getElementType());
  if (failed(element))
    return op->emitError() << "the executable format has no element type " << type.getElementType();
  value->name = name.str();
  value->element_type = *element;
  for (int64_t extent : type.getShape())
    value->shape.push_back(ShapedType::isDynamic(extent) ? format::dynamicExtent : extent);
  return value;
}

// The name of an argument is that of its location, when a framework gave it one: loc("x").
StringRef getName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  return "";
}

std::unique_ptr<format::BoundsT> describeBounds(Attribute attribute) {
  auto bounds = dyn_cast_or_null<plan::BoundsAttr>(attribute);
  if (!bounds)
    return nullptr;
  auto result = std::make_unique<format::BoundsT>();
  llvm::append_range(result->min, bounds.getMin().asArrayRef());
  llvm::append_range(result->opt, bounds.getOpt().asArrayRef());
  llvm::append_range(result->max, bounds.getMax().asArrayRef());
  return result;
}

FailureOr<std::unique_ptr<format::FunctionT>> describeFunction(func::FuncOp function) {
  auto result = std::make_unique<format::FunctionT>();
  result->name = function.getName().str();
  for (BlockArgument argument : function.getArguments()) {
    auto value = describeValue(function, cast<MemRefType>(argument.getType()), getName(argument.getLoc()));
    if (failed(value))
      return failure();
    unsigned number = argument.getArgNumber();
    (*value)->bounds = describeBounds(function.getArgAttr(number, plan::PlanDialect::getBoundsAttrName()));
    (*value)->value_bounds = describeBounds(function.getArgAttr(number, plan::PlanDialect::getValueBoundsAttrName()));
    result->arguments.push_back(std::move(*value));
  }
  for (auto [name, kind] : {std::pair(executor::ExecutorDialect::getDonatedAttrName(), format::AliasKind::donated),
                            {executor::ExecutorDialect::getSameAddressAttrName(), format::AliasKind::same_address}}) {
    auto pairs = function->getAttrOfType<DenseI64ArrayAttr>(name);
    for (int64_t i = 0; pairs && i < pairs.size(); i += 2) {
      auto entry = std::make_unique<format::AliasT>();
      entry->argument = static_cast<uint32_t>(pairs[i]);
      entry->result = static_cast<uint32_t>(pairs[i + 1]);
      entry->kind = kind;
      result->aliases.push_back(std::move(entry));
    }
  }
  auto types = function->getAttrOfType<ArrayAttr>(executor::ExecutorDialect::getResultsAttrName());
  auto attributes = function->getAttrOfType<ArrayAttr>(executor::ExecutorDialect::getResultAttrsAttrName());
  if (!types)
    return function.emitError() << "has no attribute '" << executor::ExecutorDialect::getResultsAttrName()
                                << "': the module has not finished phase bufferize";
  for (auto [index, type] : llvm::enumerate(types.getAsValueRange<TypeAttr>())) {
    StringRef name;
    if (attributes && index < attributes.size())
      if (auto info = cast<DictionaryAttr>(attributes[index]).getAs<StringAttr>("jax.result_info"))
        name = info.getValue();
    auto value = describeValue(function, cast<MemRefType>(type), name);
    if (failed(value))
      return failure();
    if (attributes && index < attributes.size()) {
      auto dictionary = cast<DictionaryAttr>(attributes[index]);
      (*value)->bounds = describeBounds(dictionary.get(plan::PlanDialect::getBoundsAttrName()));
      (*value)->data_dependent = dictionary.contains(plan::PlanDialect::getDataDependentAttrName());
    }
    result->results.push_back(std::move(*value));
  }
  if (auto shapes = function->getAttrOfType<FlatSymbolRefAttr>(plan::PlanDialect::getShapeFunctionAttrName()))
    result->shape_function = shapes.getValue().str();
  if (auto bytes = function->getAttrOfType<IntegerAttr>(executor::ExecutorDialect::getWorkspaceBytesAttrName()))
    result->workspace_bytes = bytes.getInt();
  return result;
}

std::unique_ptr<format::TargetT> describeTarget(const target::Target &target) {
  auto result = std::make_unique<format::TargetT>();
  result->triple = target::Target::getTriple().str();
  result->cpu = target.str();
  for (StringRef feature : target.features())
    result->features.push_back(feature.str());
  return result;
}

// The code of a module and what it is called by.
struct Code {
  std::vector<translate::Entry> entries;
  /// Empty if the host program is native.
  std::string luaSource;
  /// Empty if there is nothing to run natively.
  target::Bytes image;
};

FailureOr<Code> makeCode(ModuleOp module, const target::Target &target) {
  Code code;
  std::vector<std::string> symbols;
  OwningOpRef<ModuleOp> flat = module.clone();
  auto host = module->getAttrOfType<StringAttr>(executor::ExecutorDialect::getHostAttrName());
  if (host && host.getValue() == "lua") {
    auto program = translate::convertExecutorToLua(module);
    if (failed(program))
      return failure();
    code.entries = std::move(program->entries);
    code.luaSource = std::move(program->source);
    if (program->kernels.empty())
      return code;
    if (failed(translate::createLaunchThunks(*flat, *program)))
      return failure();
    for (const translate::LuaProgram::Kernel &kernel : program->kernels)
      symbols.push_back(kernel.symbol);
  } else {
    auto converted = translate::convertExecutorToLLVM(*flat);
    if (failed(converted))
      return failure();
    code.entries = std::move(*converted);
    for (const translate::Entry &entry : code.entries)
      symbols.push_back(entry.symbol);
  }
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*flat, context);
  if (!llvmModule)
    return module.emitError("cannot be translated to LLVM IR");
  auto image = target::compileToImage(std::move(llvmModule), target, symbols);
  if (!image)
    return module.emitError() << "code generation failed: " << llvm::toString(image.takeError());
  code.image = std::move(*image);
  return code;
}

} // namespace

FailureOr<std::vector<uint8_t>> translate::translateToExecutable(ModuleOp module) {
  plan::TargetAttr targetAttr = plan::getTarget(module);
  if (!targetAttr)
    return module.emitError() << "has no attribute '" << plan::PlanDialect::getTargetAttrName()
                              << "': it did not go through the pipeline";
  auto target = target::Target::resolve(targetAttr.getCpu());
  if (!target)
    return module.emitError() << llvm::toString(target.takeError());

  format::ExecutableT metadata;
  metadata.name = module.getSymName().value_or("").str();
  metadata.producer = "latewood " LATEWOOD_VERSION ", LLVM " LLVM_VERSION_STRING;
  metadata.abi_version = LATEWOOD_ABI_VERSION;
  if (auto options = module->getAttrOfType<StringAttr>("latewood.options"))
    metadata.options = options.getValue().str();

  std::vector<std::vector<uint8_t>> data;
  std::vector<format::SegmentInput> segments;
  for (auto constant : module.getOps<executor::ConstantOp>()) {
    auto bytes = getConstantData(constant.getValue());
    if (failed(bytes))
      return constant.emitError() << "constant of type " << constant.getValue().getShapedType()
                                  << " has no bytes that the file could hold";
    ShapedType type = constant.getValue().getShapedType();
    auto element = getElementType(type.getElementType());
    if (failed(element))
      return constant.emitError() << "the executable format has no element type " << type.getElementType();
    auto entry = std::make_unique<format::ConstantT>();
    entry->name = constant.getSymName().str();
    entry->element_type = *element;
    entry->shape.assign(type.getShape().begin(), type.getShape().end());
    entry->segment = static_cast<uint32_t>(segments.size());
    metadata.constants.push_back(std::move(entry));
    data.push_back(std::move(*bytes));
    segments.push_back({format::SegmentKind::constant, constant.getSymName().str(), data.back(), 0});
  }

  for (auto engine : module.getOps<executor::EngineOp>()) {
    auto bytes = getConstantData(engine.getSerialized());
    if (failed(bytes))
      return engine.emitError("has no bytes that the file could hold");
    auto entry = std::make_unique<format::EngineT>();
    entry->name = engine.getSymName().str();
    entry->library = engine.getLibrary().str();
    entry->version = engine.getVersion().str();
    entry->segment = static_cast<uint32_t>(segments.size());
    metadata.engines.push_back(std::move(entry));
    data.push_back(std::move(*bytes));
    segments.push_back({format::SegmentKind::engine, engine.getSymName().str(), data.back(), 0});
  }

  for (auto function : module.getOps<func::FuncOp>()) {
    auto description = describeFunction(function);
    if (failed(description))
      return failure();
    metadata.functions.push_back(std::move(*description));
  }
  auto code = makeCode(module, *target);
  if (failed(code))
    return failure();
  for (auto [function, entry] : llvm::zip_equal(metadata.functions, code->entries))
    function->symbol = entry.symbol;

  if (!code->luaSource.empty()) {
    metadata.host = format::HostBackend::lua;
    metadata.host_source = static_cast<int32_t>(segments.size());
    segments.push_back(
        {format::SegmentKind::host_source, "host.lua",
         format::Bytes(reinterpret_cast<const uint8_t *>(code->luaSource.data()), code->luaSource.size()), 0});
  }
  if (!code->image.empty()) {
    auto image = std::make_unique<format::ImageT>();
    image->target = describeTarget(*target);
    image->segment = static_cast<uint32_t>(segments.size());
    metadata.images.push_back(std::move(image));
    segments.push_back({format::SegmentKind::image, target->str(),
                        format::Bytes(reinterpret_cast<const uint8_t *>(code->image.data()), code->image.size()), 0});
  }

  std::vector<uint8_t> bytes;
  if (std::string error = format::write(metadata, segments, bytes); !error.empty())
    return module.emitError() << "the executable cannot be written: " << error;
  return bytes;
}

FailureOr<std::string> translate::translateToLLVMIRText(ModuleOp module) {
  OwningOpRef<ModuleOp> flat = module.clone();
  if (failed(convertExecutorToLLVM(*flat)))
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> llvmModule = translateModuleToLLVMIR(*flat, context);
  if (!llvmModule)
    return module.emitError("cannot be translated to LLVM IR");
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvmModule->print(stream, nullptr);
  return text;
}

FailureOr<std::string> translate::translateToLua(ModuleOp module) {
  auto program = convertExecutorToLua(module);
  if (failed(program))
    return failure();
  return std::move(program->source);
}
