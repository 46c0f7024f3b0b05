// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes from definitions: see SymbolicShapes.h. Static extents come from the type, dynamic ones from the operation.

#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace latewood::cpu {

/// Above this, a sum or product is a symbol of its own: polynomials stay small whatever the program computes.
static constexpr size_t mostTerms = 12;

using Shape = SmallVector<SymbolicSize>;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// What a cpu.group's region argument stands for; other values stand for themselves.
static Value outsideOfGroup(Value value) {
  while (auto argument = dyn_cast<BlockArgument>(value)) {
    auto group = dyn_cast_or_null<GroupOp>(argument.getOwner()->getParentOp());
    if (!group)
      break;
    value = group->getOperand(argument.getArgNumber());
  }
  return value;
}

static std::optional<SymbolicSize> evaluate(AffineExpr expr, ValueRange dims, ValueRange symbols) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getSymbolicSize(dims[dim.getPosition()]);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return getSymbolicSize(symbols[symbol.getPosition()]);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return SymbolicSize(constant.getValue());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<SymbolicSize> lhs = evaluate(binary.getLHS(), dims, symbols);
  std::optional<SymbolicSize> rhs = evaluate(binary.getRHS(), dims, symbols);
  if (!lhs || !rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add)
    return *lhs + *rhs;
  if (expr.getKind() == AffineExprKind::Mul)
    return *lhs * *rhs;
  return std::nullopt;
}

SymbolicSize getSymbolicSize(Value value) {
  value = outsideOfGroup(value);
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)) && constant.getSignificantBits() <= 64)
    return constant.getSExtValue();
  Operation *op = value.getDefiningOp();
  SymbolicSize symbol = SymbolicSize::ofSymbol(value);
  if (!op || (!value.getType().isIndex() && !value.getType().isInteger(64)))
    return symbol;
  auto bounded = [&](const SymbolicSize &size) { return size.getNumTerms() <= mostTerms ? size : symbol; };
  if (isa<arith::AddIOp>(op))
    return bounded(getSymbolicSize(op->getOperand(0)) + getSymbolicSize(op->getOperand(1)));
  if (isa<arith::SubIOp>(op))
    return bounded(getSymbolicSize(op->getOperand(0)) - getSymbolicSize(op->getOperand(1)));
  if (isa<arith::MulIOp>(op))
    return bounded(getSymbolicSize(op->getOperand(0)) * getSymbolicSize(op->getOperand(1)));
  if (auto cast = dyn_cast<arith::IndexCastOp>(op)) {
    Type from = cast.getIn().getType();
    if (from.isIndex() || from.isInteger(64))
      return getSymbolicSize(cast.getIn());
  } else if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    ValueRange operands = apply.getMapOperands();
    std::optional<SymbolicSize> size =
        evaluate(map.getResult(0), operands.take_front(map.getNumDims()), operands.drop_front(map.getNumDims()));
    if (size)
      return bounded(*size);
  } else if (isa<tensor::DimOp, memref::DimOp>(op)) {
    if (matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && isa<ShapedType>(op->getOperand(0).getType()))
      if (std::optional<Shape> shape = getSymbolicShape(op->getOperand(0));
          shape && constant.getSExtValue() >= 0 && constant.getSExtValue() < int64_t(shape->size()))
        return (*shape)[constant.getSExtValue()];
  }
  return symbol;
}

SymbolicSize getSymbolicSize(OpFoldResult value) {
  if (auto attribute = dyn_cast<Attribute>(value))
    return cast<IntegerAttr>(attribute).getInt();
  return getSymbolicSize(cast<Value>(value));
}

static Shape toSizes(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [](OpFoldResult value) { return getSymbolicSize(value); });
}

/// The extents of `type`, the dynamic ones from `values`, in order.
static Shape toShape(ShapedType type, ValueRange values) {
  Shape shape;
  auto next = values.begin();
  for (int64_t extent : type.getShape())
    shape.push_back(ShapedType::isDynamic(extent) ? getSymbolicSize(*next++) : SymbolicSize(extent));
  return shape;
}

static Shape withoutDropped(const Shape &sizes, const llvm::SmallBitVector &dropped) {
  Shape shape;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!dropped.test(i))
      shape.push_back(size);
  return shape;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::optional<Shape> shapeOfArgument(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto function = dyn_cast_or_null<FunctionOpInterface>(parent)) {
    auto extents = function.getArgAttrOfType<DenseI64ArrayAttr>(number, plan::PlanDialect::getExtentsAttrName());
    auto type = cast<ShapedType>(argument.getType());
    if (!extents || extents.size() != int64_t(type.getNumDynamicDims()) || !argument.getOwner()->isEntryBlock())
      return std::nullopt;
    SmallVector<Value> values;
    for (int64_t extent : extents.asArrayRef()) {
      if (extent < 0 || extent >= int64_t(function.getNumArguments()) ||
          !function.getArgument(extent).getType().isIndex())
        return std::nullopt;
      values.push_back(function.getArgument(extent));
    }
    return toShape(type, values);
  }
  // What a loop carries keeps its shape.
  if (auto loop = dyn_cast_or_null<scf::ForOp>(parent); loop && number > 0)
    return getSymbolicShape(loop.getInitArgs()[number - 1]);
  if (auto loop = dyn_cast_or_null<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getBeforeBody())
      return getSymbolicShape(loop.getInits()[number]);
    return getSymbolicShape(loop.getConditionOp().getArgs()[number]);
  }
  return std::nullopt;
}

static std::optional<Shape> shapeOfResult(OpResult result) {
  Operation *op = result.getOwner();
  auto type = cast<ShapedType>(result.getType());
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return getSymbolicShape(destination.getTiedOpOperand(result)->get());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return getSymbolicShape(loop.getInitArgs()[result.getResultNumber()]);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return getSymbolicShape(loop.getConditionOp().getArgs()[result.getResultNumber()]);
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    std::optional<Shape> common;
    for (Region &region : op->getRegions()) {
      std::optional<Shape> given =
          getSymbolicShape(region.front().getTerminator()->getOperand(result.getResultNumber()));
      if (!given || (common && *common != *given))
        return std::nullopt;
      common = std::move(given);
    }
    return common;
  }
  if (auto shaped = dyn_cast<plan::WithShapeOp>(op))
    return toShape(type, shaped.getExtents());
  if (isa<tensor::EmptyOp, tensor::SplatOp, tensor::GenerateOp, memref::AllocOp, memref::AllocaOp, memref::ViewOp>(
          op)) {
    // Of the operands, those after the source and the offset of a view, the element of a splat.
    return toShape(type, op->getOperands().take_back(type.getNumDynamicDims()));
  }
  if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op))
    return alloc.getCopy() ? getSymbolicShape(alloc.getCopy()) : toShape(type, alloc.getDynamicSizes());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return withoutDropped(toSizes(slice.getMixedSizes()), slice.getDroppedDims());
  if (auto slice = dyn_cast<memref::SubViewOp>(op))
    return withoutDropped(toSizes(slice.getMixedSizes()), slice.getDroppedDims());
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
    return toSizes(cast.getMixedSizes());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return toSizes(expand.getMixedOutputShape());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
    return toSizes(expand.getMixedOutputShape());
  if (isa<tensor::CollapseShapeOp, memref::CollapseShapeOp>(op)) {
    std::optional<Shape> source = getSymbolicShape(op->getOperand(0));
    if (!source)
      return std::nullopt;
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
    Shape shape;
    for (const ReassociationIndices &group :
         collapse ? collapse.getReassociationIndices() : cast<memref::CollapseShapeOp>(op).getReassociationIndices()) {
      SymbolicSize extent(1);
      for (int64_t d : group)
        extent *= (*source)[d];
      shape.push_back(extent);
    }
    return shape;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    std::optional<Shape> source = getSymbolicShape(pad.getSource());
    if (!source)
      return std::nullopt;
    for (auto [size, low, high] : llvm::zip_equal(*source, pad.getMixedLowPad(), pad.getMixedHighPad()))
      size += getSymbolicSize(low) + getSymbolicSize(high);
    return source;
  }
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    std::optional<Shape> shape;
    for (Value input : concat.getInputs()) {
      std::optional<Shape> part = getSymbolicShape(input);
      if (!part)
        return std::nullopt;
      if (shape)
        (*shape)[concat.getDim()] += (*part)[concat.getDim()];
      else
        shape = part;
    }
    return shape;
  }
  if (auto transpose = dyn_cast<memref::TransposeOp>(op)) {
    std::optional<Shape> source = getSymbolicShape(transpose.getIn());
    if (!source)
      return std::nullopt;
    return applyPermutationMap(transpose.getPermutation(), ArrayRef(*source));
  }
  if (auto materialize = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    return getSymbolicShape(materialize.getDest());
  // One of two buffers: a branch decides.
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<Shape> then = getSymbolicShape(select.getTrueValue());
    return then == getSymbolicShape(select.getFalseValue()) ? then : std::nullopt;
  }
  // One shape for all.
  if (isa<tensor::CastOp, memref::CastOp, memref::MemorySpaceCastOp, bufferization::ToTensorOp,
          bufferization::ToBufferOp, bufferization::CloneOp>(op) ||
      OpTrait::hasElementwiseMappableTraits(op))
    for (Value operand : op->getOperands())
      if (auto operandType = dyn_cast<ShapedType>(operand.getType());
          operandType && operandType.hasRank() && operandType.getRank() == type.getRank())
        return getSymbolicShape(operand);
  return std::nullopt;
}

std::optional<Shape> getSymbolicShape(Value value) {
  value = outsideOfGroup(value);
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank())
    return std::nullopt;
  if (type.hasStaticShape())
    return Shape(type.getShape());
  auto argument = dyn_cast<BlockArgument>(value);
  std::optional<Shape> shape = argument ? shapeOfArgument(argument) : shapeOfResult(cast<OpResult>(value));
  // A type may know more than what it came from.
  if (shape)
    for (auto [size, extent] : llvm::zip_equal(*shape, type.getShape()))
      if (!ShapedType::isDynamic(extent))
        size = extent;
  return shape;
}

std::optional<Shape> getLoopExtents(linalg::LinalgOp op) {
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  auto isMissing = [](const SymbolicSize &extent) { return extent == ShapedType::kDynamic; };
  Shape extents{ArrayRef(known)};
  // What some type says first, then what the first operand says.
  for (bool fromTypes : {true, false})
    for (OpOperand &operand : op->getOpOperands()) {
      if (llvm::none_of(extents, isMissing))
        return extents;
      auto type = dyn_cast<ShapedType>(operand.get().getType());
      std::optional<Shape> shape;
      for (auto [d, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        if (!dim || !type || !isMissing(extents[dim.getPosition()]))
          continue;
        if (fromTypes) {
          extents[dim.getPosition()] = type.getDimSize(d);
        } else if (shape || (shape = getSymbolicShape(operand.get()))) {
          extents[dim.getPosition()] = (*shape)[d];
        }
      }
    }
  if (llvm::any_of(extents, isMissing))
    return std::nullopt;
  return extents;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

Shape getCanonicalStrides(ArrayRef<SymbolicSize> shape) {
  Shape strides(shape.size());
  SymbolicSize stride(1);
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

/// The strides of a view of `source`.
static std::optional<Shape> stridesOfView(Operation *op, const SymbolicLayout &source) {
  if (isa<memref::CastOp, memref::MemorySpaceCastOp>(op))
    return source.strides;
  if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
    Shape strides;
    for (auto [stride, step] : llvm::zip_equal(source.strides, slice.getMixedStrides()))
      strides.push_back(stride * getSymbolicSize(step));
    return withoutDropped(strides, slice.getDroppedDims());
  }
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    Shape shape = toSizes(expand.getMixedOutputShape()), strides(shape.size());
    for (auto [d, group] : llvm::enumerate(expand.getReassociationIndices())) {
      SymbolicSize stride = source.strides[d];
      for (int64_t part : llvm::reverse(group)) {
        strides[part] = stride;
        stride *= shape[part];
      }
    }
    return strides;
  }
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    Shape strides;
    for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
      // Extents of 1 have any stride.
      SymbolicSize stride = group.empty() ? SymbolicSize(1) : source.strides[group.back()];
      for (int64_t part : llvm::reverse(group))
        if (source.shape[part] != 1) {
          stride = source.strides[part];
          break;
        }
      strides.push_back(stride);
    }
    return strides;
  }
  if (auto transpose = dyn_cast<memref::TransposeOp>(op))
    return applyPermutationMap(transpose.getPermutation(), ArrayRef(source.strides));
  return std::nullopt;
}

std::optional<SymbolicLayout> getSymbolicLayout(Value memref) {
  memref = outsideOfGroup(memref);
  auto type = dyn_cast<MemRefType>(memref.getType());
  std::optional<Shape> shape = getSymbolicShape(memref);
  if (!type || !shape)
    return std::nullopt;
  if (type.getLayout().isIdentity())
    return SymbolicLayout{*shape, getCanonicalStrides(*shape)};
  if (!type.isStrided())
    return std::nullopt;
  SmallVector<int64_t> known = type.getStridesAndOffset().first;
  Shape strides{ArrayRef(known)};
  if (llvm::is_contained(known, ShapedType::kDynamic)) {
    std::optional<Shape> told;
    Operation *op = memref.getDefiningOp();
    if (auto cast = dyn_cast_or_null<memref::ReinterpretCastOp>(op)) {
      told = toSizes(cast.getMixedStrides());
    } else if (auto view = dyn_cast_or_null<ViewLikeOpInterface>(op)) {
      if (std::optional<SymbolicLayout> source = getSymbolicLayout(view.getViewSource()))
        told = stridesOfView(op, *source);
    }
    if (!told)
      return std::nullopt;
    for (auto [stride, value] : llvm::zip_equal(strides, *told))
      if (stride == ShapedType::kDynamic)
        stride = value;
  }
  return SymbolicLayout{*shape, strides};
}

} // namespace latewood::cpu
