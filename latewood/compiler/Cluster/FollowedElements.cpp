// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes are computed by tensors of a few integers. They are followed here element by element, as scalars of the host,
// by the meaning that each operation has at its width: arithmetic wraps, comparisons have a sign or none. Where nothing
// is known of an operation, its result is read by the host once it has been computed.

#include "latewood/compiler/Cluster/ShapeMaterializer.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace latewood::cluster {

using Elements = SmallVector<Value>;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }
static bool isUnsigned(Value tensor) {
  Type element = typeOf(tensor).getElementType();
  return element.isUnsignedInteger() || element.isInteger(1);
}
// What a scalar of the host can be.
static bool isFollowed(RankedTensorType type) {
  Type element = type.getElementType();
  return type.hasStaticShape() && type.getNumElements() <= maxFollowedElements &&
         (element.isIndex() ||
          (element.isInteger() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, element.getIntOrFloatBitWidth())));
}
static Type getScalarType(Value tensor) {
  Type element = typeOf(tensor).getElementType();
  return element.isIndex() ? element : IntegerType::get(tensor.getContext(), element.getIntOrFloatBitWidth());
}

Elements ShapeMaterializer::getElements(Value tensor) {
  if (auto found = followed.find(tensor); found != followed.end())
    return found->second;
  Elements elements;
  if (!follow(tensor, elements)) {
    elements.clear();
    readElements(tensor, elements);
  }
  followed[tensor] = elements;
  return elements;
}

Extents ShapeMaterializer::getElementsAsIndices(Value tensor) {
  return llvm::map_to_vector(getElements(tensor), [&](Value number) {
    // Arithmetic of few bits is done with all that an extent has: so it is seen to be equal to what other rules say.
    // The host asserts that nothing was lost.
    Value exact = isUnsigned(tensor) ? Value() : computeExactly(number);
    Value given = scalars.toIndex(number, isUnsigned(tensor));
    if (!exact || exact == given)
      return given;
    unify(exact, given, "a shape is {0}, but computed as {1} with too few bits");
    return exact;
  });
}

// What arithmetic on signed integers gives as long as it does not wrap; null for anything else.
Value ShapeMaterializer::computeExactly(Value number) {
  Operation *op = number.getDefiningOp();
  if (number.getType().isIndex() || !op)
    return {};
  if (std::optional<int64_t> constant = HostScalars::getConstant(number))
    return scalars.index(*constant);
  if (auto extension = dyn_cast<arith::ExtSIOp>(op))
    return computeExactly(extension.getIn());
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return {};
  auto operand = [&](unsigned index) {
    Value exact = computeExactly(op->getOperand(index));
    return exact ? exact : scalars.toIndex(op->getOperand(index), /*isUnsigned=*/false);
  };
  Value lhs = operand(0), rhs = operand(1);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::AddIOp) { return scalars.add(lhs, rhs); })
      .Case([&](arith::SubIOp) { return scalars.sub(lhs, rhs); })
      .Case([&](arith::MulIOp) { return scalars.mul(lhs, rhs); })
      .Case([&](arith::MinSIOp) { return scalars.get<arith::MinSIOp>(lhs, rhs); })
      .Case([&](arith::MaxSIOp) { return scalars.get<arith::MaxSIOp>(lhs, rhs); })
      .Default(
          [&](Operation *) { return HostScalars::getConstant(rhs).value_or(0) > 0 ? scalars.div(lhs, rhs) : Value(); });
}

// A read of a tensor of unsigned integers goes by their bits.
void ShapeMaterializer::readElements(Value tensor, SmallVectorImpl<Value> &elements) {
  RankedTensorType type = typeOf(tensor);
  OpBuilder builder(tensor.getContext());
  builder.setInsertionPointAfterValue(tensor);
  if (type.getElementType().isUnsignedInteger())
    tensor = stablehlo::BitcastConvertOp::create(builder, tensor.getLoc(), type.clone(getScalarType(tensor)), tensor);
  SmallVector<int64_t> place(type.getRank(), 0);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    SmallVector<Value> indices = llvm::map_to_vector(place, [&](int64_t at) { return scalars.index(at); });
    elements.push_back(scalars.get<tensor::ExtractOp>(tensor, indices));
    for (int64_t dim = type.getRank() - 1; dim >= 0 && ++place[dim] == type.getDimSize(dim); --dim)
      place[dim] = 0;
  }
}

bool ShapeMaterializer::follow(Value tensor, SmallVectorImpl<Value> &elements) {
  RankedTensorType type = typeOf(tensor);
  if (!isFollowed(type))
    return false;
  if (auto argument = dyn_cast<BlockArgument>(tensor)) {
    // What a loop carries without changing it is what it begins with.
    auto loop = dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
    unsigned number = argument.getArgNumber();
    if (!loop)
      return false;
    Block &body = loop.getBody().front();
    if (body.getTerminator()->getOperand(number) != body.getArgument(number)) {
      if (plan.isHosted(loop) && type.getNumElements() <= maxCarriedElements)
        plan.carryElements(loop, number);
      return false;
    }
    elements = getElements(loop.getOperand()[number]);
    return true;
  }
  DenseIntElementsAttr constant;
  if (matchPattern(tensor, m_Constant(&constant))) {
    for (const APInt &number : constant.getValues<APInt>())
      elements.push_back(scalars.constant(getScalarType(tensor), number));
    return true;
  }
  Operation *op = tensor.getDefiningOp();
  if (auto loop = dyn_cast<stablehlo::WhileOp>(op)) {
    unsigned number = cast<OpResult>(tensor).getResultNumber();
    Block &body = loop.getBody().front();
    if (body.getTerminator()->getOperand(number) != body.getArgument(number))
      return false;
    elements = getElements(loop.getOperand()[number]);
    return true;
  }
  return op->getNumResults() == 1 && followOperation(op, elements);
}

// Element numbers, row-major.
static int64_t linearize(ArrayRef<int64_t> place, ArrayRef<int64_t> shape) {
  int64_t number = 0;
  for (auto [at, extent] : llvm::zip_equal(place, shape))
    number = number * extent + at;
  return number;
}

// Calls `at` with each place of `shape`, in order.
static void forEachPlace(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<int64_t>)> at) {
  SmallVector<int64_t> place(shape.size(), 0);
  for (int64_t count = ShapedType::getNumElements(shape); count > 0; --count) {
    at(place);
    for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0 && ++place[dim] == shape[dim]; --dim)
      place[dim] = 0;
  }
}

bool ShapeMaterializer::followOperation(Operation *op, SmallVectorImpl<Value> &elements) {
  ArrayRef<int64_t> shape = typeOf(op->getResult(0)).getShape();
  // Elements of the first operand, at places that follow from those of the result.
  auto moved = [&](function_ref<SmallVector<int64_t>(ArrayRef<int64_t>)> from) {
    RankedTensorType type = typeOf(op->getOperand(0));
    if (!isFollowed(type))
      return false;
    Elements source = getElements(op->getOperand(0));
    forEachPlace(shape,
                 [&](ArrayRef<int64_t> place) { elements.push_back(source[linearize(from(place), type.getShape())]); });
    return true;
  };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<stablehlo::ReshapeOp, stablehlo::DynamicReshapeOp, plan::WithShapeOp>([&](auto) {
        RankedTensorType type = typeOf(op->getOperand(0));
        if (!isFollowed(type))
          return false;
        elements = getElements(op->getOperand(0));
        return true;
      })
      .Case([&](plan::WithValuesOp values) {
        elements.assign(values.getElements().begin(), values.getElements().end());
        return true;
      })
      .Case([&](stablehlo::GetDimensionSizeOp size) {
        Value extent = getExtent(size.getOperand(), size.getDimension());
        Type i32 = IntegerType::get(op->getContext(), 32);
        int64_t most = std::numeric_limits<int32_t>::max();
        if (std::optional<int64_t> number = HostScalars::getConstant(extent)) {
          elements.push_back(scalars.constant(i32, APInt(32, *number, true, true)));
          return true;
        }
        check(scalars.compare(arith::CmpIPredicate::sle, extent, scalars.index(most)),
              "dimension " + Twine(size.getDimension()) +
                  " has {0} elements, but 'stablehlo.get_dimension_size' counts with 32 bits",
              extent);
        elements.push_back(scalars.get<arith::IndexCastOp>(i32, extent));
        return true;
      })
      .Case([&](stablehlo::BroadcastInDimOp broadcast) {
        ArrayRef<int64_t> from = typeOf(broadcast.getOperand()).getShape();
        return moved([&](ArrayRef<int64_t> place) {
          SmallVector<int64_t> source;
          for (auto [index, dimension] : llvm::enumerate(broadcast.getBroadcastDimensions()))
            source.push_back(from[index] == 1 ? 0 : place[dimension]);
          return source;
        });
      })
      .Case([&](stablehlo::TransposeOp transpose) {
        return moved([&](ArrayRef<int64_t> place) {
          SmallVector<int64_t> source(place.size());
          for (auto [index, dimension] : llvm::enumerate(transpose.getPermutation()))
            source[dimension] = place[index];
          return source;
        });
      })
      .Case([&](stablehlo::ReverseOp reverse) {
        return moved([&](ArrayRef<int64_t> place) {
          SmallVector<int64_t> source(place);
          for (int64_t dimension : reverse.getDimensions())
            source[dimension] = shape[dimension] - 1 - place[dimension];
          return source;
        });
      })
      .Case([&](stablehlo::SliceOp slice) {
        return moved([&](ArrayRef<int64_t> place) {
          SmallVector<int64_t> source;
          for (auto [at, start, stride] : llvm::zip_equal(place, slice.getStartIndices(), slice.getStrides()))
            source.push_back(start + at * stride);
          return source;
        });
      })
      .Case([&](stablehlo::ConcatenateOp concatenate) {
        elements.resize(ShapedType::getNumElements(shape));
        int64_t dimension = concatenate.getDimension(), begin = 0;
        for (Value input : concatenate.getInputs()) {
          RankedTensorType type = typeOf(input);
          if (!isFollowed(type))
            return false;
          Elements source = getElements(input);
          forEachPlace(type.getShape(), [&](ArrayRef<int64_t> place) {
            SmallVector<int64_t> target(place);
            target[dimension] += begin;
            elements[linearize(target, shape)] = source[linearize(place, type.getShape())];
          });
          begin += type.getDimSize(dimension);
        }
        return true;
      })
      .Case([&](stablehlo::IotaOp iota) {
        Type scalar = getScalarType(iota);
        forEachPlace(shape, [&](ArrayRef<int64_t> place) {
          unsigned width = scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth();
          elements.push_back(scalars.constant(
              scalar, APInt(width, place[iota.getIotaDimension()], /*isSigned=*/false, /*implicitTrunc=*/true)));
        });
        return true;
      })
      .Case([&](stablehlo::ConvertOp convert) {
        if (!isFollowed(typeOf(convert.getOperand())))
          return false;
        Type to = getScalarType(convert);
        bool fromUnsigned = isUnsigned(convert.getOperand());
        for (Value number : getElements(convert.getOperand())) {
          Type from = number.getType();
          auto width = [](Type type) { return type.isIndex() ? 64u : type.getIntOrFloatBitWidth(); };
          if (from == to)
            elements.push_back(number);
          else if (to.isInteger(1))
            elements.push_back(
                scalars.compare(arith::CmpIPredicate::ne, number, scalars.constant(from, APInt::getZero(width(from)))));
          else if (from.isIndex() || to.isIndex())
            elements.push_back(fromUnsigned ? scalars.get<arith::IndexCastUIOp>(to, number)
                                            : scalars.get<arith::IndexCastOp>(to, number));
          else if (width(from) > width(to))
            elements.push_back(scalars.get<arith::TruncIOp>(to, number));
          else
            elements.push_back(fromUnsigned ? scalars.get<arith::ExtUIOp>(to, number)
                                            : scalars.get<arith::ExtSIOp>(to, number));
        }
        return true;
      })
      .Default([&](Operation *other) {
        return other->hasTrait<stablehlo::ElementwiseTrait>() && followElementwise(other, elements);
      });
}

static arith::CmpIPredicate getPredicate(stablehlo::ComparisonDirection direction, bool isUnsigned) {
  using arith::CmpIPredicate;
  using stablehlo::ComparisonDirection;
  switch (direction) {
  case ComparisonDirection::EQ:
    return CmpIPredicate::eq;
  case ComparisonDirection::NE:
    return CmpIPredicate::ne;
  case ComparisonDirection::GE:
    return isUnsigned ? CmpIPredicate::uge : CmpIPredicate::sge;
  case ComparisonDirection::GT:
    return isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt;
  case ComparisonDirection::LE:
    return isUnsigned ? CmpIPredicate::ule : CmpIPredicate::sle;
  case ComparisonDirection::LT:
    return isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt;
  }
  llvm_unreachable("no such direction");
}

bool ShapeMaterializer::followElementwise(Operation *op, SmallVectorImpl<Value> &elements) {
  SmallVector<Elements> operands;
  for (Value operand : op->getOperands()) {
    if (!isFollowed(typeOf(operand)))
      return false;
    operands.push_back(getElements(operand));
  }
  bool noSign = isUnsigned(op->getOperand(op->getNumOperands() - 1));
  Type scalar = getScalarType(op->getResult(0));
  bool isBool = scalar.isInteger(1);
  unsigned width = scalar.isIndex() ? 64 : scalar.getIntOrFloatBitWidth();
  auto number = [&](int64_t value) { return scalars.constant(scalar, APInt(width, value, true, true)); };
  // One element of the result from those of the operands; null: not followed.
  auto compute = [&](ArrayRef<Value> x) -> Value {
    return llvm::TypeSwitch<Operation *, Value>(op)
        .Case(
            [&](stablehlo::AddOp) { return isBool ? scalars.get<arith::OrIOp>(x[0], x[1]) : scalars.add(x[0], x[1]); })
        .Case([&](stablehlo::SubtractOp) { return isBool ? Value() : scalars.sub(x[0], x[1]); })
        .Case([&](stablehlo::MulOp) { return isBool ? scalars.logicalAnd(x[0], x[1]) : scalars.mul(x[0], x[1]); })
        .Case([&](stablehlo::DivOp) {
          return isBool ? Value() : noSign ? scalars.get<arith::DivUIOp>(x[0], x[1]) : scalars.div(x[0], x[1]);
        })
        .Case([&](stablehlo::RemOp) {
          return isBool   ? Value()
                 : noSign ? scalars.get<arith::RemUIOp>(x[0], x[1])
                          : scalars.get<arith::RemSIOp>(x[0], x[1]);
        })
        .Case([&](stablehlo::MaxOp) {
          return isBool   ? scalars.get<arith::OrIOp>(x[0], x[1])
                 : noSign ? scalars.get<arith::MaxUIOp>(x[0], x[1])
                          : scalars.get<arith::MaxSIOp>(x[0], x[1]);
        })
        .Case([&](stablehlo::MinOp) {
          return isBool   ? scalars.logicalAnd(x[0], x[1])
                 : noSign ? scalars.get<arith::MinUIOp>(x[0], x[1])
                          : scalars.get<arith::MinSIOp>(x[0], x[1]);
        })
        .Case([&](stablehlo::AndOp) { return scalars.logicalAnd(x[0], x[1]); })
        .Case([&](stablehlo::OrOp) { return scalars.get<arith::OrIOp>(x[0], x[1]); })
        .Case([&](stablehlo::XorOp) { return scalars.get<arith::XOrIOp>(x[0], x[1]); })
        .Case([&](stablehlo::NotOp) { return scalars.get<arith::XOrIOp>(x[0], number(-1)); })
        .Case([&](stablehlo::NegOp) { return scalars.sub(number(0), x[0]); })
        .Case([&](stablehlo::AbsOp) { return scalars.get<arith::MaxSIOp>(x[0], scalars.sub(number(0), x[0])); })
        .Case([&](stablehlo::SignOp) {
          Value isPositive = scalars.compare(arith::CmpIPredicate::sgt, x[0], number(0));
          Value isNegative = scalars.compare(arith::CmpIPredicate::slt, x[0], number(0));
          return scalars.select(isPositive, number(1), scalars.select(isNegative, number(-1), number(0)));
        })
        .Case([&](stablehlo::SelectOp) { return scalars.select(x[0], x[1], x[2]); })
        .Case([&](stablehlo::ClampOp) -> Value {
          if (isBool)
            return {};
          if (noSign)
            return scalars.get<arith::MinUIOp>(scalars.get<arith::MaxUIOp>(x[1], x[0]), x[2]);
          return scalars.get<arith::MinSIOp>(scalars.get<arith::MaxSIOp>(x[1], x[0]), x[2]);
        })
        .Case([&](stablehlo::CompareOp compare) -> Value {
          auto direction = compare.getComparisonDirection();
          if (x[0].getType().isInteger(1) && direction != stablehlo::ComparisonDirection::EQ &&
              direction != stablehlo::ComparisonDirection::NE)
            return {};
          return scalars.compare(getPredicate(direction, noSign), x[0], x[1]);
        })
        .Default(Value());
  };
  for (int64_t i = 0, end = typeOf(op->getResult(0)).getNumElements(); i < end; ++i) {
    // A predicate or a limit of rank 0 counts for all.
    SmallVector<Value> x = llvm::map_to_vector(
        operands, [&](const Elements &source) { return source.size() == 1 ? source.front() : source[i]; });
    Value element = compute(x);
    if (!element)
      return false;
    elements.push_back(element);
  }
  return true;
}

} // namespace latewood::cluster
