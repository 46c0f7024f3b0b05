// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of arguments become bounds of everything that is computed of them: intervals, with a typical value in them,
// are carried through the scalars that extents are made of. Arithmetic is exact or not done: what could overflow, or
// has no limit on one side, has no bounds, and nothing that allocates exactly needs any.
//
// In:  public functions whose extents are scalars, with `plan.bounds` and `plan.value_bounds` on arguments.
// Out: `plan.bounds` on each plan.with_shape all of whose extents are bounded, and on such results. Arguments may have
//      bounds for several profiles: then these have as many.

#include "latewood/compiler/Cluster/Passes.h"
#include "latewood/compiler/Dialect/Plan/Profiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace latewood::cluster {

#define GEN_PASS_DEF_PROPAGATEBOUNDSPASS
#include "latewood/compiler/Cluster/Passes.h.inc"

namespace {

struct Interval {
  int64_t min, opt, max;
};
using Bounds = std::optional<Interval>;

class PropagateBoundsPass : public impl::PropagateBoundsPassBase<PropagateBoundsPass> {
public:
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    StringRef name = plan::PlanDialect::getBoundsAttrName();
    size_t profiles = countProfiles(function);
    llvm::MapVector<Operation *, SmallVector<plan::BoundsAttr>> found;
    for (profile = 0; profile < profiles; ++profile) {
      known.clear();
      function.walk([&](plan::WithShapeOp shaped) {
        if (plan::BoundsAttr bounds = getBounds(shaped))
          found[shaped].push_back(bounds);
      });
    }
    for (auto &[shaped, bounds] : found)
      if (bounds.size() == profiles)
        shaped->setAttr(name, plan::makeProfiles(bounds));
    for (OpOperand &result : function.getBody().back().getTerminator()->getOpOperands())
      if (auto shaped = result.get().getDefiningOp<plan::WithShapeOp>(); shaped && shaped->hasAttr(name))
        function.setResultAttr(result.getOperandNumber(), name, shaped->getAttr(name));
  }

private:
  /// 0: nothing is bounded.
  static size_t countProfiles(func::FuncOp function) {
    size_t count = 0;
    for (unsigned index = 0; index < function.getNumArguments(); ++index)
      for (StringRef name : {plan::PlanDialect::getBoundsAttrName(), plan::PlanDialect::getValueBoundsAttrName()})
        count = std::max(count, plan::getProfiles(function.getArgAttr(index, name)).size());
    return count;
  }

  plan::BoundsAttr getBounds(plan::WithShapeOp shaped) {
    SmallVector<int64_t> min, opt, max;
    auto type = cast<RankedTensorType>(shaped.getType());
    for (auto [dimension, extent] : llvm::enumerate(shaped.getMixedExtents())) {
      Bounds bounds =
          isa<Value>(extent)
              ? find(cast<Value>(extent))
              : Bounds(Interval{type.getDimSize(dimension), type.getDimSize(dimension), type.getDimSize(dimension)});
      if (!bounds || bounds->max < 0 || bounds->max == std::numeric_limits<int64_t>::max())
        return nullptr;
      // A smaller extent than none is asserted not to be.
      min.push_back(std::max<int64_t>(bounds->min, 0));
      opt.push_back(std::max<int64_t>(bounds->opt, 0));
      max.push_back(bounds->max);
    }
    MLIRContext *context = &getContext();
    return plan::BoundsAttr::get(context, DenseI64ArrayAttr::get(context, min), DenseI64ArrayAttr::get(context, opt),
                                 DenseI64ArrayAttr::get(context, max));
  }

  Bounds find(Value value) {
    if (auto found = known.find(value); found != known.end())
      return found->second;
    Bounds bounds = compute(value);
    known[value] = bounds;
    return bounds;
  }

  // Entry `index` of the bounds `name` of an argument.
  Bounds ofArgument(Value argument, StringRef name, int64_t index) {
    auto block = dyn_cast<BlockArgument>(argument);
    if (!block || !isa<func::FuncOp>(block.getOwner()->getParentOp()))
      return std::nullopt;
    plan::BoundsAttr bounds = plan::getProfile(getOperation().getArgAttr(block.getArgNumber(), name), profile);
    if (!bounds || index >= bounds.getMin().size())
      return std::nullopt;
    return Interval{bounds.getMin()[index], bounds.getOpt()[index], bounds.getMax()[index]};
  }

  // Of an operation that grows with both operands. Nothing if a corner overflows.
  template <typename Function>
  static Bounds monotone(Bounds lhs, Bounds rhs, Function overflows) {
    Interval result;
    if (!lhs || !rhs || overflows(lhs->min, rhs->min, result.min) || overflows(lhs->opt, rhs->opt, result.opt) ||
        overflows(lhs->max, rhs->max, result.max))
      return std::nullopt;
    return result;
  }

  // Truths are 0 and 1, where they are decided by the bounds of what is compared.
  Bounds ofComparison(arith::CmpIOp compare) {
    Bounds lhs = find(compare.getLhs()), rhs = find(compare.getRhs());
    if (!lhs || !rhs)
      return std::nullopt;
    using Predicate = arith::CmpIPredicate;
    auto ofOrder = [](bool always, bool never, bool typical) { return Interval{always, typical, !never}; };
    switch (compare.getPredicate()) {
    case Predicate::slt:
      return ofOrder(lhs->max < rhs->min, lhs->min >= rhs->max, lhs->opt < rhs->opt);
    case Predicate::sle:
      return ofOrder(lhs->max <= rhs->min, lhs->min > rhs->max, lhs->opt <= rhs->opt);
    case Predicate::sgt:
      return ofOrder(lhs->min > rhs->max, lhs->max <= rhs->min, lhs->opt > rhs->opt);
    case Predicate::sge:
      return ofOrder(lhs->min >= rhs->max, lhs->max < rhs->min, lhs->opt >= rhs->opt);
    case Predicate::eq:
    case Predicate::ne: {
      bool areEqual = lhs->min == lhs->max && rhs->min == rhs->max && lhs->min == rhs->min;
      bool areApart = lhs->max < rhs->min || rhs->max < lhs->min;
      bool isTypical = lhs->opt == rhs->opt;
      return compare.getPredicate() == Predicate::eq ? ofOrder(areEqual, areApart, isTypical)
                                                     : ofOrder(areApart, areEqual, !isTypical);
    }
    default:
      return std::nullopt;
    }
  }

  // Of truths only.
  Bounds ofConnective(Operation *op) {
    if (!op->getResult(0).getType().isInteger(1))
      return std::nullopt;
    Bounds lhs = find(op->getOperand(0)), rhs = find(op->getOperand(1));
    bool isAnd = isa<arith::AndIOp>(op);
    // One side may decide alone.
    for (const Bounds &side : {lhs, rhs})
      if (side && side->min == side->max && static_cast<bool>(side->min) != isAnd)
        return side;
    if (!lhs || !rhs)
      return std::nullopt;
    if (isAnd)
      return Interval{lhs->min & rhs->min, lhs->opt & rhs->opt, lhs->max & rhs->max};
    return Interval{lhs->min | rhs->min, lhs->opt | rhs->opt, lhs->max | rhs->max};
  }

  static bool fits(const Interval &interval, Type type) {
    if (type.isInteger(1))
      return true;
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    return llvm::isIntN(width, interval.min) && llvm::isIntN(width, interval.max);
  }

  Bounds compute(Value value) {
    APInt number;
    if (matchPattern(value, m_ConstantInt(&number)))
      return Interval{number.getSExtValue(), number.getSExtValue(), number.getSExtValue()};
    Operation *op = value.getDefiningOp();
    if (!op)
      return std::nullopt;
    Bounds result =
        llvm::TypeSwitch<Operation *, Bounds>(op)
            .Case([&](tensor::DimOp dim) -> Bounds {
              std::optional<int64_t> index = dim.getConstantIndex();
              return index ? ofArgument(dim.getSource(), plan::PlanDialect::getBoundsAttrName(), *index) : std::nullopt;
            })
            .Case([&](tensor::ExtractOp read) { return ofElement(read); })
            .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::MinSIOp,
                  arith::MaxSIOp>([&](auto) { return ofArithmetic(op); })
            .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>([&](auto) { return find(op->getOperand(0)); })
            .Case([&](arith::CmpIOp compare) { return ofComparison(compare); })
            .Case<arith::AndIOp, arith::OrIOp>([&](auto) { return ofConnective(op); })
            .Case([&](arith::SelectOp select) -> Bounds {
              Bounds choice = find(select.getCondition());
              Bounds a = find(select.getTrueValue()), b = find(select.getFalseValue());
              if (choice && choice->min == choice->max)
                return choice->min ? a : b;
              if (!a || !b)
                return std::nullopt;
              int64_t typical = !choice || choice->opt ? a->opt : b->opt;
              return Interval{std::min(a->min, b->min), typical, std::max(a->max, b->max)};
            })
            .Default(Bounds());
    return result && fits(*result, value.getType()) ? result : Bounds();
  }

  Bounds ofElement(tensor::ExtractOp read) {
    int64_t position = 0;
    auto type = cast<RankedTensorType>(read.getTensor().getType());
    for (auto [index, extent] : llvm::zip_equal(read.getIndices(), type.getShape())) {
      APInt number;
      if (!matchPattern(index, m_ConstantInt(&number)))
        return std::nullopt;
      position = position * extent + number.getSExtValue();
    }
    return ofArgument(read.getTensor(), plan::PlanDialect::getValueBoundsAttrName(), position);
  }

  Bounds ofArithmetic(Operation *op) {
    Bounds lhs = find(op->getOperand(0)), rhs = find(op->getOperand(1));
    if (!lhs || !rhs)
      return std::nullopt;
    auto negated = [](const Interval &interval) -> Bounds {
      if (interval.min == std::numeric_limits<int64_t>::min())
        return std::nullopt;
      return Interval{-interval.max, -interval.opt, -interval.min};
    };
    return llvm::TypeSwitch<Operation *, Bounds>(op)
        .Case([&](arith::AddIOp) { return monotone(lhs, rhs, llvm::AddOverflow<int64_t>); })
        .Case([&](arith::SubIOp) { return monotone(lhs, negated(*rhs), llvm::AddOverflow<int64_t>); })
        .Case([&](arith::MulIOp) -> Bounds {
          if (lhs->min < 0 || rhs->min < 0)
            return std::nullopt;
          return monotone(lhs, rhs, llvm::MulOverflow<int64_t>);
        })
        .Case([&](arith::DivSIOp) -> Bounds {
          if (rhs->min != rhs->max || rhs->min <= 0)
            return std::nullopt;
          return Interval{lhs->min / rhs->min, lhs->opt / rhs->min, lhs->max / rhs->min};
        })
        .Case([&](arith::RemSIOp) -> Bounds {
          if (rhs->min != rhs->max || rhs->min <= 0)
            return std::nullopt;
          int64_t last = rhs->min - 1;
          return Interval{std::max(std::min<int64_t>(lhs->min, 0), -last), lhs->opt % rhs->min,
                          std::min(std::max<int64_t>(lhs->max, 0), last)};
        })
        .Case([&](arith::MinSIOp) {
          return Interval{std::min(lhs->min, rhs->min), std::min(lhs->opt, rhs->opt), std::min(lhs->max, rhs->max)};
        })
        .Default([&](Operation *) {
          return Interval{std::max(lhs->min, rhs->min), std::max(lhs->opt, rhs->opt), std::max(lhs->max, rhs->max)};
        });
  }

  DenseMap<Value, Bounds> known;
  /// The one that is computed.
  size_t profile = 0;
};

} // namespace
} // namespace latewood::cluster
