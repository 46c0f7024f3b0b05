// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes as views: tensor.collapse_shape to the coarsest shape that both shapes refine, then tensor.expand_shape.
//
// Dimensions are grouped wherever the products of the extents before them (or behind them) are known to be equal. With
// extents that are values, a product is a number times a multiset of values; what is not known to be equal is one
// group, which is right since the numbers of elements are equal:
//
//   (n, s, 768) -> (m, 12, 64)      768 = 12 * 64 from behind, so (n, s) -> (m)
//   (n, 768)    -> (n, 12, 64)      n = n from the front

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace latewood;
using cpu::Extents;

namespace {

/// A number times values.
struct Product {
  int64_t number = 1;
  SmallVector<const void *> values; // sorted

  void multiply(OpFoldResult extent) {
    if (auto known = getConstantIntValue(extent))
      number *= *known;
    else
      multiply(cast<Value>(extent));
  }

  bool operator==(const Product &) const = default;

private:
  void multiply(Value value) {
    if (auto product = value.getDefiningOp<arith::MulIOp>()) {
      multiply(OpFoldResult(product.getLhs()));
      multiply(OpFoldResult(product.getRhs()));
      return;
    }
    const void *key = value.getAsOpaquePointer();
    values.insert(llvm::upper_bound(values, key), key);
  }
};

/// The products of the first 0, 1, 2... extents.
SmallVector<Product> getPrefixProducts(ArrayRef<OpFoldResult> extents) {
  SmallVector<Product> products(1);
  for (OpFoldResult extent : extents) {
    products.push_back(products.back());
    products.back().multiply(extent);
  }
  return products;
}

SmallVector<Product> getSuffixProducts(ArrayRef<OpFoldResult> extents) {
  SmallVector<OpFoldResult> reversed = llvm::to_vector(llvm::reverse(extents));
  SmallVector<Product> products = getPrefixProducts(reversed);
  std::reverse(products.begin(), products.end());
  return products;
}

/// Groups of dimensions of both shapes that have equally many elements.
struct Grouping {
  SmallVector<ReassociationIndices> from, to;

  Grouping(ArrayRef<OpFoldResult> fromExtents, ArrayRef<OpFoldResult> toExtents) {
    SmallVector<Product> fromPrefixes = getPrefixProducts(fromExtents), toPrefixes = getPrefixProducts(toExtents);
    SmallVector<Product> fromSuffixes = getSuffixProducts(fromExtents), toSuffixes = getSuffixProducts(toExtents);
    size_t fromRank = fromExtents.size(), toRank = toExtents.size(), i = 0, j = 0;
    auto close = [&](size_t fromEnd, size_t toEnd) {
      from.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(i, fromEnd)));
      to.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(j, toEnd)));
      i = fromEnd;
      j = toEnd;
    };
    auto findMeeting = [&]() -> std::optional<std::pair<size_t, size_t>> {
      for (size_t fromEnd = i + 1; fromEnd < fromRank; ++fromEnd)
        for (size_t toEnd = j + 1; toEnd < toRank; ++toEnd)
          if (fromPrefixes[fromEnd] == toPrefixes[toEnd] || fromSuffixes[fromEnd] == toSuffixes[toEnd])
            return std::pair(fromEnd, toEnd);
      return std::nullopt;
    };
    while (auto meeting = findMeeting())
      close(meeting->first, meeting->second);
    close(fromRank, toRank);
  }
};

} // namespace

/// Row-major reshape between static shapes.
static Value reshapeStatic(ImplicitLocOpBuilder &b, RankedTensorType type, Value value) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  if (from.getRank() > type.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, type))
      return tensor::CollapseShapeOp::create(b, type, value, *groups);
  if (from.getRank() < type.getRank())
    if (auto groups = getReassociationIndicesForReshape(from, type))
      return tensor::ExpandShapeOp::create(b, type, value, *groups);

  // Through the coarsest shape that both refine: dimensions are grouped wherever the running products meet.
  SmallVector<ReassociationIndices> fromGroups, toGroups;
  SmallVector<int64_t> common;
  int64_t i = 0, j = 0, fromRank = from.getRank(), toRank = type.getRank();
  bool isEmpty = from.getNumElements() == 0;
  while (!isEmpty && i < fromRank && j < toRank) {
    ReassociationIndices fromGroup{i}, toGroup{j};
    int64_t fromSize = from.getDimSize(i++), toSize = type.getDimSize(j++);
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        fromGroup.push_back(i);
        fromSize *= from.getDimSize(i++);
      } else {
        toGroup.push_back(j);
        toSize *= type.getDimSize(j++);
      }
    }
    fromGroups.push_back(fromGroup);
    toGroups.push_back(toGroup);
    common.push_back(fromSize);
  }
  if (isEmpty || common.empty())
    return cpu::makeEmpty(b, type);
  // What is left has extent 1.
  while (i < fromRank)
    fromGroups.back().push_back(i++);
  while (j < toRank)
    toGroups.back().push_back(j++);
  auto commonType = RankedTensorType::get(common, type.getElementType());
  if (commonType != from)
    value = tensor::CollapseShapeOp::create(b, commonType, value, fromGroups);
  if (commonType != type)
    value = tensor::ExpandShapeOp::create(b, type, value, toGroups);
  return value;
}

Value cpu::makeReshape(ImplicitLocOpBuilder &b, RankedTensorType type, Value value, ArrayRef<OpFoldResult> from,
                       ArrayRef<OpFoldResult> extents) {
  auto fromType = cast<RankedTensorType>(value.getType());
  if (fromType.hasStaticShape() && type.hasStaticShape())
    return reshapeStatic(b, type, value);
  if (from == extents)
    return value;
  if (isKnownEmpty(from) || isKnownEmpty(extents))
    return makeEmpty(b, type, extents);
  Grouping groups(from, extents);
  // The shape between: a collapse gives what is known of the operand, an expansion starts from what is known of the
  // result.
  auto sizeOf = [](ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
    int64_t size = 1;
    for (int64_t dim : dims) {
      if (ShapedType::isDynamic(shape[dim]))
        return ShapedType::kDynamic;
      size *= shape[dim];
    }
    return size;
  };
  SmallVector<int64_t> collapsed, expanded;
  for (auto [fromGroup, toGroup] : llvm::zip_equal(groups.from, groups.to)) {
    collapsed.push_back(sizeOf(fromType.getShape(), fromGroup));
    expanded.push_back(sizeOf(type.getShape(), toGroup));
  }
  Type element = type.getElementType();
  if (collapsed.size() != from.size())
    value = tensor::CollapseShapeOp::create(b, RankedTensorType::get(collapsed, element), value, groups.from);
  RankedTensorType middle = RankedTensorType::get(expanded, element);
  if (value.getType() != middle)
    value = tensor::CastOp::create(b, middle, value);
  if (expanded.size() != extents.size())
    value = tensor::ExpandShapeOp::create(b, type, value, groups.to, SmallVector<OpFoldResult>(extents));
  return value;
}
