// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape rules of Shapes.h.

#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace latewood::stablehlo {

bool haveCompatibleShapes(TypeRange lhs, TypeRange rhs) {
  return lhs.size() == rhs.size() && llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           auto [l, r] = pair;
           return l == r || (isa<ShapedType>(l) && isa<ShapedType>(r) && succeeded(verifyCompatibleShape(l, r)));
         });
}

bool areCompatible(TypeRange lhs, TypeRange rhs) {
  return haveCompatibleShapes(lhs, rhs) && llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return getElementTypeOrSelf(std::get<0>(pair)) == getElementTypeOrSelf(std::get<1>(pair));
         });
}

bool haveCompatibleBaselines(TypeRange lhs, TypeRange rhs) {
  return haveCompatibleShapes(lhs, rhs) && llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           return haveSameBaseline(getElementTypeOrSelf(std::get<0>(pair)), getElementTypeOrSelf(std::get<1>(pair)));
         });
}

LogicalResult mergeShape(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> other) {
  if (shape.size() != other.size())
    return failure();
  for (auto [extent, more] : llvm::zip(shape, other)) {
    if (!extentsAgree(extent, more))
      return failure();
    if (ShapedType::isDynamic(extent))
      extent = more;
  }
  return success();
}

LogicalResult emitWrongResultTypes(Operation *op, TypeRange expected) {
  InFlightDiagnostic diagnostic = op->emitOpError("requires result type ");
  llvm::interleaveComma(expected, diagnostic, [&](Type type) { diagnostic << type; });
  diagnostic << " by its operands, but got ";
  llvm::interleaveComma(op->getResultTypes(), diagnostic, [&](Type type) { diagnostic << type; });
  return diagnostic;
}

LogicalResult inferElementwise(StringRef op, std::optional<Location> location, TypeRange operands,
                               SmallVectorImpl<Type> &types) {
  auto first = cast<RankedTensorType>(operands[0]);
  SmallVector<int64_t> shape(first.getShape());
  for (Type type : operands.drop_front()) {
    auto tensor = cast<RankedTensorType>(type);
    if (!haveSameBaseline(tensor.getElementType(), first.getElementType()) ||
        failed(mergeShape(shape, tensor.getShape())))
      return emitConstraint(location, op, "C1", "requires operands of one type, but got ", first, " and ", tensor);
  }
  types.push_back(RankedTensorType::get(shape, first.getElementType(), first.getEncoding()));
  return success();
}

bool areInRange(ArrayRef<int64_t> dimensions, int64_t limit) {
  return llvm::all_of(dimensions, [=](int64_t dimension) { return dimension >= 0 && dimension < limit; });
}

bool areUnique(ArrayRef<int64_t> dimensions, ArrayRef<int64_t> more) {
  llvm::SmallSet<int64_t, 8> seen;
  return llvm::all_of(llvm::concat<const int64_t>(dimensions, more),
                      [&](int64_t dimension) { return seen.insert(dimension).second; });
}

LogicalResult verifyBroadcast(Operation *op, RankedTensorType operand, RankedTensorType result,
                              ArrayRef<int64_t> dimensions) {
  if (static_cast<int64_t>(dimensions.size()) != operand.getRank()) // C2
    return op->emitOpError("(C2) requires one entry of dims for each of the operand's ")
           << operand.getRank() << " dimensions, but got " << dimensions.size();
  if (!areInRange(dimensions, result.getRank())) // C3
    return op->emitOpError("(C3) requires dimensions of the result, ") << result;
  if (!areUnique(dimensions)) // C4
    return op->emitOpError("(C4) requires dimensions that are all different");
  for (auto [index, dimension] : llvm::enumerate(dimensions)) {
    int64_t from = operand.getDimSize(index), to = result.getDimSize(dimension);
    if (from != 1 && !extentsAgree(from, to)) // C5
      return op->emitOpError("(C5) requires extent 1 or the result's in dimension ")
             << index << " of the operand, but got " << from << " and " << to;
  }
  return success();
}

int64_t saturate(__int128 extent) {
  return extent > INT64_MAX ? INT64_MAX : extent < INT64_MIN + 1 ? INT64_MIN + 1 : static_cast<int64_t>(extent);
}

int64_t countWindows(int64_t extent, const WindowDimension &window) {
  if (ShapedType::isDynamic(extent) || ShapedType::isDynamic(window.size))
    return ShapedType::kDynamic;
  auto dilate = [](__int128 size, __int128 dilation) { return size == 0 ? 0 : (size - 1) * dilation + 1; };
  __int128 padded = window.low + dilate(extent, window.baseDilation) + window.high;
  __int128 span = dilate(window.size, window.windowDilation);
  // A negative extent can only come from negative padding, and leaves no place for a window either.
  if (padded <= 0 || span > padded)
    return 0;
  return saturate((padded - span) / window.stride + 1);
}

Type getRealType(Type elementType) {
  auto complex = dyn_cast<ComplexType>(elementType);
  return complex ? complex.getElementType() : elementType;
}

bool isQuantized(Type type) {
  return isa<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>(getElementTypeOrSelf(type));
}

bool isPerAxisQuantized(RankedTensorType type) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(type.getElementType());
  return quantized && quantized.getQuantizedDimension() < type.getRank() &&
         extentsAgree(type.getDimSize(quantized.getQuantizedDimension()), quantized.getScales().size());
}

std::optional<int64_t> getQuantizedDimension(Type elementType) {
  if (auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType))
    return quantized.getQuantizedDimension();
  return std::nullopt;
}

Type withQuantizedDimension(Type elementType, int64_t dimension) {
  auto quantized = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType);
  if (!quantized)
    return elementType;
  return quant::UniformQuantizedPerAxisType::get(quantized.getFlags(), quantized.getStorageType(),
                                                 quantized.getExpressedType(), quantized.getScales(),
                                                 quantized.getZeroPoints(), static_cast<int32_t>(dimension),
                                                 quantized.getStorageTypeMin(), quantized.getStorageTypeMax());
}

Type getStorageType(Type elementType) {
  auto quantized = dyn_cast<quant::QuantizedType>(elementType);
  if (!quantized)
    return elementType;
  return IntegerType::get(elementType.getContext(), quantized.getStorageTypeIntegralWidth(),
                          quantized.isSigned() ? IntegerType::Signless : IntegerType::Unsigned);
}

Type getExpressedType(Type elementType) {
  auto quantized = dyn_cast<quant::QuantizedType>(elementType);
  return quantized ? quantized.getExpressedType() : elementType;
}

bool haveSameBaseline(Type lhs, Type rhs) {
  if (lhs == rhs)
    return true;
  auto l = dyn_cast<quant::QuantizedType>(lhs), r = dyn_cast<quant::QuantizedType>(rhs);
  return l && r && getStorageType(l) == getStorageType(r) && l.getExpressedType() == r.getExpressedType() &&
         l.getStorageTypeMin() == r.getStorageTypeMin() && l.getStorageTypeMax() == r.getStorageTypeMax() &&
         getQuantizedDimension(l) == getQuantizedDimension(r);
}

bool isPromotable(Type from, Type to) {
  if (from == to)
    return true;
  if (isQuantized(from) || isQuantized(to))
    return isQuantized(from) && isQuantized(to) && getExpressedType(from) == getExpressedType(to) &&
           isPromotable(getStorageType(from), getStorageType(to));
  if (auto fromInteger = dyn_cast<IntegerType>(from)) {
    auto toInteger = dyn_cast<IntegerType>(to);
    // Booleans are promotable to themselves only.
    return toInteger && fromInteger.getWidth() > 1 && fromInteger.getSignedness() == toInteger.getSignedness() &&
           fromInteger.getWidth() <= toInteger.getWidth();
  }
  if (isa<FloatType>(from) && isa<FloatType>(to))
    return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
  if (isa<ComplexType>(from) && isa<ComplexType>(to))
    return isPromotable(getRealType(from), getRealType(to));
  return false;
}

} // namespace latewood::stablehlo
