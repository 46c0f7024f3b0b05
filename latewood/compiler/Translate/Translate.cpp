// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the executable file: one image with the host code and the engines' code, the constants, and the signatures.

#include "latewood/compiler/Translate/Translate.h"
#include "latewood/compiler/Dialect/Executor/Executor.h"
#include "latewood/compiler/Dialect/Plan/Profiles.h"
#include "latewood/compiler/Target/Codegen.h"
#include "latewood/compiler/Target/Target.h"
#include "latewood/compiler/Translate/ConstantData.h"
#include "latewood/compiler/Translate/ExecutorToLLVM.h"
#include "latewood/compiler/Translate/ExecutorToLua.h"
#include "latewood/compiler/Translate/Variants.h"
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
  plan::BoundsAttr bounds = plan::joinProfiles(attribute);
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

// The functions of a variant: those of the first, and then what holds for all.
LogicalResult describeFunctions(ModuleOp variant, std::vector<std::unique_ptr<format::FunctionT>> &functions) {
  bool isFirst = functions.empty();
  for (auto [index, function] : llvm::enumerate(variant.getOps<func::FuncOp>())) {
    auto description = describeFunction(function);
    if (failed(description))
      return failure();
    if (isFirst) {
      functions.push_back(std::move(*description));
      continue;
    }
    format::FunctionT &common = *functions[index];
    common.workspace_bytes = std::max(common.workspace_bytes, (*description)->workspace_bytes);
    llvm::erase_if(common.aliases, [&](const std::unique_ptr<format::AliasT> &alias) {
      return llvm::none_of((*description)->aliases, [&](const std::unique_ptr<format::AliasT> &other) {
        return other->argument == alias->argument && other->result == alias->result && other->kind == alias->kind;
      });
    });
  }
  return success();
}

FailureOr<target::Target> targetOf(ModuleOp module) {
  plan::TargetAttr attribute = plan::getTarget(module);
  if (!attribute)
    return module.emitError() << "has no attribute '" << plan::PlanDialect::getTargetAttrName()
                              << "': it did not go through the pipeline";
  auto target = target::Target::resolve(attribute.getCpu());
  if (!target)
    return module.emitError() << llvm::toString(target.takeError());
  return std::move(*target);
}

// Names another target behind the first (and those that were added) in canonical options.
void addTarget(std::string &options, StringRef first, StringRef other) {
  constexpr StringLiteral option = "--target=";
  size_t begin = options.find((option + first).str());
  if (begin == std::string::npos)
    return;
  size_t end = options.find(' ', begin);
  options.insert(end == std::string::npos ? options.size() : end, "," + other.str());
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
  return translateToExecutable(ArrayRef(module));
}

FailureOr<std::vector<uint8_t>> translate::translateToExecutable(ArrayRef<ModuleOp> given) {
  ModuleOp module = given.front();
  SmallVector<target::Target> targets;
  for (ModuleOp variant : given) {
    auto target = targetOf(variant);
    if (failed(target))
      return failure();
    targets.push_back(std::move(*target));
  }
  // Constants are numbered anew where there is more than one variant; what was given stays as it is.
  SmallVector<ModuleOp> variants(given);
  SmallVector<OwningOpRef<ModuleOp>> copies;
  std::vector<int32_t> owners;
  if (variants.size() > 1) {
    if (failed(checkSameFunctions(variants)))
      return failure();
    for (ModuleOp &variant : variants) {
      copies.push_back(variant.clone());
      variant = *copies.back();
    }
    owners = shareConstants(variants);
    module = variants.front();
  }

  format::ExecutableT metadata;
  metadata.name = module.getSymName().value_or("").str();
  metadata.producer = "latewood " LATEWOOD_VERSION ", LLVM " LLVM_VERSION_STRING;
  metadata.abi_version = LATEWOOD_ABI_VERSION;
  if (auto options = module->getAttrOfType<StringAttr>("latewood.options"))
    metadata.options = options.getValue().str();
  for (const target::Target &other : llvm::drop_begin(targets))
    addTarget(metadata.options, targets.front().str(), other.str());

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
    if (!owners.empty())
      entry->image = owners[metadata.constants.size()];
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

  for (ModuleOp variant : variants)
    if (failed(describeFunctions(variant, metadata.functions)))
      return failure();
  std::vector<Code> codes;
  for (auto [variant, target] : llvm::zip_equal(variants, targets)) {
    auto made = makeCode(variant, target);
    if (failed(made))
      return failure();
    codes.push_back(std::move(*made));
    for (auto [function, entry] : llvm::zip_equal(metadata.functions, codes.back().entries))
      if (codes.size() > 1 && function->symbol != entry.symbol)
        return variant.emitError("functions have other symbols in the code of another target");
      else
        function->symbol = entry.symbol;
    if (codes.back().luaSource != codes.front().luaSource)
      return variant.emitError("the host program in Lua is not the same for all targets: compile for one of them");
  }

  const Code *code = &codes.front();
  if (!code->luaSource.empty()) {
    metadata.host = format::HostBackend::lua;
    metadata.host_source = static_cast<int32_t>(segments.size());
    segments.push_back(
        {format::SegmentKind::host_source, "host.lua",
         format::Bytes(reinterpret_cast<const uint8_t *>(code->luaSource.data()), code->luaSource.size()), 0});
  }
  for (const auto &[variant, target] : llvm::zip_equal(codes, targets)) {
    if (variant.image.empty())
      continue;
    auto image = std::make_unique<format::ImageT>();
    image->target = describeTarget(target);
    image->segment = static_cast<uint32_t>(segments.size());
    metadata.images.push_back(std::move(image));
    segments.push_back({format::SegmentKind::image, target.str(),
                        format::Bytes(reinterpret_cast<const uint8_t *>(variant.image.data()), variant.image.size()),
                        0});
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
