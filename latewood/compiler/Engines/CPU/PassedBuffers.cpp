// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Taking buffers apart and putting them together again. Invariant: what is rebuilt has the elements, the shape and the
// strides of the original, and its type but for an offset that was opened.

#include "latewood/compiler/Engines/CPU/PassedBuffers.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

namespace latewood::cpu {

SmallVector<Value> PassedBuffer::getScalars() const {
  SmallVector<Value> scalars;
  for (OpFoldResult scalar : llvm::concat<const OpFoldResult>(ArrayRef(offset), sizes, strides))
    if (auto value = dyn_cast_if_present<Value>(scalar); value && !getConstantIntValue(value))
      scalars.push_back(value);
  return scalars;
}

Value rootBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

PassedBuffer passBuffer(OpBuilder &builder, Location loc, Value buffer, bool opensOffset) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  PassedBuffer passed{buffer, buffer, builder.getIndexAttr(offset), {}, {}};
  bool hasOpenPlace = opensOffset ? offset != 0 : ShapedType::isDynamic(offset);
  bool isStatic = type.hasStaticShape() && llvm::none_of(strides, ShapedType::isDynamic);
  if (isStatic && !hasOpenPlace)
    return passed;
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
  passed.base = metadata.getBaseBuffer();
  if (hasOpenPlace)
    passed.offset = metadata.getOffset();
  std::optional<SmallVector<Value>> extents = getDynamicExtents(builder, buffer);
  unsigned next = 0;
  for (auto [i, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent))
      passed.sizes.push_back(builder.getIndexAttr(extent));
    else
      passed.sizes.push_back(extents ? (*extents)[next++] : Value(metadata.getSizes()[i]));
  }
  if (!type.getLayout().isIdentity() || isStatic)
    for (auto [i, stride] : llvm::enumerate(strides))
      passed.strides.push_back(ShapedType::isDynamic(stride) ? OpFoldResult(metadata.getStrides()[i])
                                                             : OpFoldResult(builder.getIndexAttr(stride)));
  return passed;
}

SmallVector<OpFoldResult> computeCanonicalStrides(OpBuilder &builder, Location loc, ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(sizes.size());
  int64_t constant = 1;
  Value product;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (!product)
      strides[i] = builder.getIndexAttr(constant);
    else if (constant == 1)
      strides[i] = product;
    else
      strides[i] = arith::MulIOp::create(builder, loc, product, arith::ConstantIndexOp::create(builder, loc, constant))
                       .getResult();
    if (std::optional<int64_t> known = getConstantIntValue(sizes[i]))
      constant *= *known;
    else
      product = product ? arith::MulIOp::create(builder, loc, product, cast<Value>(sizes[i])).getResult()
                        : cast<Value>(sizes[i]);
  }
  return strides;
}

Value rebuildBuffer(OpBuilder &inside, Location loc, const PassedBuffer &buffer, Value base,
                    function_ref<Value(Value)> lookup) {
  if (buffer.base == buffer.original)
    return base;
  auto map = [&](OpFoldResult scalar) {
    if (std::optional<int64_t> known = getConstantIntValue(scalar))
      return OpFoldResult(inside.getIndexAttr(*known));
    return OpFoldResult(lookup(cast<Value>(scalar)));
  };
  auto type = cast<MemRefType>(buffer.original.getType());
  SmallVector<OpFoldResult> sizes = llvm::map_to_vector(buffer.sizes, map);
  SmallVector<OpFoldResult> strides = llvm::map_to_vector(buffer.strides, map);
  OpFoldResult offset = map(buffer.offset);
  if (strides.size() != sizes.size())
    strides = computeCanonicalStrides(inside, loc, sizes);
  auto [typeStrides, typeOffset] = type.getStridesAndOffset();
  if (isa<Value>(offset) && !ShapedType::isDynamic(typeOffset))
    type = MemRefType::get(type.getShape(), type.getElementType(),
                           StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, typeStrides),
                           type.getMemorySpace());
  // The type says what is static; the verifier compares.
  auto agree = [&](MutableArrayRef<OpFoldResult> values, ArrayRef<int64_t> known) {
    for (auto [value, fixed] : llvm::zip_equal(values, known)) {
      if (!ShapedType::isDynamic(fixed))
        value = inside.getIndexAttr(fixed);
      else
        value = getValueOrCreateConstantIndexOp(inside, loc, value);
    }
  };
  agree(sizes, type.getShape());
  agree(strides, typeStrides);
  return memref::ReinterpretCastOp::create(inside, loc, type, base, offset, sizes, strides);
}

} // namespace latewood::cpu
