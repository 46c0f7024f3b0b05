// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect class, the rules that several families share, and the ops around the layers: networks, calls, plugins.
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

#include "latewood/compiler/Dialect/TensorRT/TensorRTDialect.cpp.inc"
#include "latewood/compiler/Dialect/TensorRT/TensorRTEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.cpp.inc"

void TensorRTDialect::initialize() {
  registerTensorRTDialectOperations(this);
  addAttributes<
#define GET_ATTRDEF_LIST
#include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.cpp.inc"
      >();
}

Operation *TensorRTDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

DenseElementsAttr tensorrt::getConstant(Value value) {
  DenseElementsAttr elements;
  if (value)
    matchPattern(value, m_Constant(&elements));
  return elements;
}

std::optional<SmallVector<int64_t>> tensorrt::getConstantInts(Value value) {
  DenseElementsAttr elements = getConstant(value);
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  return llvm::map_to_vector(elements.getValues<APInt>(), [](const APInt &element) { return element.getSExtValue(); });
}

uint32_t tensorrt::toAxisMask(ArrayRef<int64_t> axes) {
  uint32_t mask = 0;
  for (int64_t axis : axes)
    mask |= 1u << axis;
  return mask;
}

std::optional<SmallVector<int64_t>> tensorrt::broadcastShapes(ArrayRef<ArrayRef<int64_t>> shapes) {
  SmallVector<int64_t> result(shapes.front());
  for (ArrayRef<int64_t> shape : shapes.drop_front()) {
    if (shape.size() != result.size())
      return std::nullopt;
    for (auto [extent, more] : llvm::zip(result, shape)) {
      if (extent == more || more == 1)
        continue;
      if (extent == 1)
        extent = more;
      else if (ShapedType::isDynamic(extent))
        extent = more; // the other one is known and not 1
      else if (!ShapedType::isDynamic(more))
        return std::nullopt;
    }
  }
  return result;
}

bool tensorrt::broadcastsOnto(ArrayRef<int64_t> shape, ArrayRef<int64_t> onto) {
  return shape.size() == onto.size() && llvm::all_of(llvm::zip(shape, onto), [](auto pair) {
           return std::get<0>(pair) == 1 || stablehlo::extentsAgree(std::get<0>(pair), std::get<1>(pair));
         });
}

std::optional<SmallVector<int64_t>> tensorrt::resolveReshape(ArrayRef<int64_t> input, ArrayRef<int64_t> reshape,
                                                             bool zeroIsPlaceholder) {
  SmallVector<int64_t> result(reshape);
  std::optional<size_t> rest;
  for (auto [i, extent] : llvm::enumerate(result)) {
    if (extent < -1 || (extent == 0 && zeroIsPlaceholder && i >= input.size()) || (extent == -1 && rest))
      return std::nullopt;
    if (extent == 0 && zeroIsPlaceholder)
      extent = input[i];
    else if (extent == -1)
      rest = i;
  }
  auto count = [&](ArrayRef<int64_t> shape, std::optional<size_t> without) -> std::optional<int64_t> {
    int64_t product = 1;
    for (auto [i, extent] : llvm::enumerate(shape)) {
      if (without && *without == i)
        continue;
      if (ShapedType::isDynamic(extent))
        return std::nullopt;
      product *= extent;
    }
    return product;
  };
  // Unknown extents that stand on both sides, by placeholders, divide out.
  SmallVector<int64_t> before(input), after(result);
  if (rest)
    after[*rest] = 1;
  for (auto [i, extent] : llvm::enumerate(reshape))
    if (extent == 0 && zeroIsPlaceholder && ShapedType::isDynamic(input[i]))
      before[i] = after[i] = 1;
  std::optional<int64_t> all = count(before, std::nullopt), known = count(after, rest);
  if (rest) {
    if (all && known && *known == 0)
      return std::nullopt;
    if (all && known && *all % *known != 0)
      return std::nullopt;
    result[*rest] = all && known ? *all / *known : ShapedType::kDynamic;
  } else if (all && known && *all != *known) {
    return std::nullopt;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// module, call, call_alloc
//===----------------------------------------------------------------------===//

void tensorrt::ModuleOp::build(OpBuilder &builder, OperationState &state, StringRef name) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addRegion()->emplaceBlock();
}

/// The rules for calls. `results` are those of the engine: what the destinations hold afterwards.
static LogicalResult verifyCall(Operation *op, SymbolRefAttr callee, TypeRange inputs, TypeRange results,
                                SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
  if (!function || !isa_and_nonnull<tensorrt::ModuleOp>(function->getParentOp()))
    return op->emitOpError("(C1) requires a function in a tensorrt.module, but got ") << callee;
  auto check = [&](TypeRange given, ArrayRef<Type> wanted, StringRef what, StringRef constraint) -> LogicalResult {
    if (given.size() != wanted.size())
      return op->emitOpError("(") << constraint << ") requires " << wanted.size() << " " << what << ", as " << callee
                                  << " has, but got " << given.size();
    for (auto [i, pair] : llvm::enumerate(llvm::zip(given, wanted))) {
      auto [type, expected] = pair;
      if (!stablehlo::areCompatible(type, expected))
        return op->emitOpError("(") << constraint << ") requires type " << expected << " of " << what << " " << i
                                    << ", as " << callee << " has, but got " << type;
    }
    return success();
  };
  if (failed(check(inputs, function.getArgumentTypes(), "inputs", "C2")))
    return failure();
  return check(results, function.getResultTypes(), "results", "C3");
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (getOuts().getTypes() != getResultTypes()) // C4
    return emitOpError("(C4) requires one result a destination, of its type, but got destinations ")
           << getOuts().getTypes() << " and results " << getResultTypes();
  return verifyCall(*this, getCallee(), getInputs().getTypes(), getResultTypes(), symbols);
}

LogicalResult CallAllocOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCall(*this, getCallee(), getInputs().getTypes(), getResultTypes(), symbols);
}

//===----------------------------------------------------------------------===//
// opaque_plugin
//===----------------------------------------------------------------------===//

LogicalResult OpaquePluginOp::verify() {
  if (getPluginName().empty()) // C1
    return emitOpError("(C1) requires the name of a plugin");
  for (NamedAttribute field : getCreatorParams()) // C2
    if (!isa<IntegerAttr, FloatAttr, StringAttr, TypeAttr, DenseArrayAttr, DenseElementsAttr, BoolAttr>(
            field.getValue()))
      return emitOpError("(C2) requires fields of numbers, strings, types, dense arrays or elements, but '")
             << field.getName().getValue() << "' is " << field.getValue();
  auto count = static_cast<int64_t>(getNumShapeInputs());
  if (count < 0 || count > static_cast<int64_t>(getInputs().size())) // C3
    return emitOpError("(C3) requires at most as many shape inputs as inputs, but got ")
           << count << " of " << getInputs().size();
  for (Value input : getInputs().take_back(count)) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getRank() > 1 || !isa<IntegerType>(type.getElementType()))
      return emitOpError("(C3) requires shape inputs that are vectors or scalars of integers, but got ") << type;
  }
  return success();
}
