// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expands checks into StableHLO and assertions. A check computes one boolean per element, "this one is wrong", and
// counts: the assertion is on the count, so that a failure says how many elements differ.
//
// In:  operations of the `check` dialect, and the custom calls that stand for them in exported programs.
// Out: StableHLO and plan.assert.

#include "latewood/compiler/Dialect/Check/Check.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Input/Passes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

namespace latewood::input {

#define GEN_PASS_DEF_EXPANDCHECKSPASS
#include "latewood/compiler/Input/Passes.h.inc"

namespace {

using stablehlo::ComparisonDirection;

// Writes element-wise StableHLO with the shape of its operands.
class CheckBuilder {
public:
  CheckBuilder(Operation *op) : b(op->getLoc(), op) {}

  Value compare(ComparisonDirection direction, Value lhs, Value rhs) {
    Type type = withElement(lhs, b.getI1Type());
    return stablehlo::CompareOp::create(b, type, lhs, rhs, direction, /*compare_type=*/nullptr);
  }
  Value logicalAnd(Value lhs, Value rhs) { return stablehlo::AndOp::create(b, lhs.getType(), lhs, rhs); }
  Value logicalOr(Value lhs, Value rhs) { return stablehlo::OrOp::create(b, lhs.getType(), lhs, rhs); }
  Value logicalNot(Value value) { return stablehlo::NotOp::create(b, value.getType(), value); }
  Value select(Value condition, Value yes, Value no) {
    return stablehlo::SelectOp::create(b, yes.getType(), condition, yes, no);
  }
  Value convert(Value value, Type element) {
    if (getElementTypeOrSelf(value) == element)
      return value;
    return stablehlo::ConvertOp::create(b, withElement(value, element), value);
  }
  // A tensor like `like` whose elements, of an integer or float type, are all `number`.
  Value splat(Value like, Type element, uint64_t number) {
    auto type = cast<RankedTensorType>(withElement(like, element));
    APInt bits(element.getIntOrFloatBitWidth(), number, /*isSigned=*/false, /*implicitTrunc=*/true);
    return stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, bits));
  }
  Value splat(Value like, double number) {
    auto type = cast<RankedTensorType>(withElement(like, b.getF64Type()));
    return stablehlo::ConstantOp::create(b, type, DenseElementsAttr::get(type, b.getF64FloatAttr(number).getValue()));
  }

  // Both parts of a complex value, or the value itself.
  SmallVector<Value> parts(Value value) {
    auto complex = dyn_cast<ComplexType>(getElementTypeOrSelf(value));
    if (!complex)
      return {value};
    Type type = withElement(value, complex.getElementType());
    return {stablehlo::RealOp::create(b, type, value), stablehlo::ImagOp::create(b, type, value)};
  }

  Value constant(ElementsAttr value) { return stablehlo::ConstantOp::create(b, value.getType(), value); }

  // Asserts that no element of `wrong` is true. Returns whether that holds.
  Value assertNone(Value wrong, StringRef check) {
    auto type = cast<RankedTensorType>(wrong.getType());
    auto scalar = RankedTensorType::get({}, b.getI64Type());
    Value zero = stablehlo::ConstantOp::create(b, scalar, DenseElementsAttr::get(scalar, APInt(64, 0)));
    auto reduce = stablehlo::ReduceOp::create(b, TypeRange{scalar}, ValueRange{convert(wrong, b.getI64Type())},
                                              ValueRange{zero}, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    {
      OpBuilder::InsertionGuard guard(b);
      Block *body = b.createBlock(&reduce.getBody(), {}, {scalar, scalar}, {b.getLoc(), b.getLoc()});
      Value sum = stablehlo::AddOp::create(b, scalar, body->getArgument(0), body->getArgument(1));
      stablehlo::ReturnOp::create(b, sum);
    }
    Value count = reduce->getResult(0);
    Value none = compare(ComparisonDirection::EQ, count, zero);
    std::string total = type.hasStaticShape() ? " of " + std::to_string(type.getNumElements()) : std::string();
    std::string message = (check + " failed: {0}" + total + " elements differ").str();
    plan::AssertOp::create(b, none, message, ValueRange{count});
    return none;
  }

  Value bothNaN(Value lhs, Value rhs) {
    return logicalAnd(compare(ComparisonDirection::NE, lhs, lhs), compare(ComparisonDirection::NE, rhs, rhs));
  }

  // Whether elements are a pair that expect_eq refuses.
  Value notEqual(Value lhs, Value rhs) {
    Value wrong;
    for (auto [l, r] : llvm::zip(parts(lhs), parts(rhs))) {
      Value bad = compare(ComparisonDirection::NE, l, r);
      if (isa<FloatType>(getElementTypeOrSelf(l)))
        bad = logicalAnd(bad, logicalNot(bothNaN(l, r)));
      wrong = wrong ? logicalOr(wrong, bad) : bad;
    }
    return wrong;
  }

  // Whether elements are a pair that expect_almost_eq refuses.
  Value notAlmostEqual(Value lhs, Value rhs, double tolerance) {
    Value wrong;
    for (auto [l, r] : llvm::zip(parts(lhs), parts(rhs))) {
      Value equal = logicalNot(notEqual(l, r));
      Value l64 = convert(l, b.getF64Type()), r64 = convert(r, b.getF64Type());
      Value difference =
          stablehlo::AbsOp::create(b, l64.getType(), stablehlo::SubtractOp::create(b, l64.getType(), l64, r64));
      Value near = compare(ComparisonDirection::LE, difference, splat(difference, tolerance));
      Value bad = logicalNot(logicalOr(equal, near));
      wrong = wrong ? logicalOr(wrong, bad) : bad;
    }
    return wrong;
  }

  // Whether elements are a pair that expect_close refuses.
  Value notClose(Value actual, Value expected, uint64_t minimum, uint64_t maximum) {
    Value wrong;
    for (auto [a, e] : llvm::zip(parts(actual), parts(expected))) {
      Value distance = ulpDifference(a, e);
      Type element = getElementTypeOrSelf(distance);
      Value bad = logicalOr(compare(ComparisonDirection::GT, distance, splat(distance, element, maximum)),
                            compare(ComparisonDirection::LT, distance, splat(distance, element, minimum)));
      wrong = wrong ? logicalOr(wrong, bad) : bad;
    }
    return wrong;
  }

private:
  static Type withElement(Value value, Type element) { return cast<RankedTensorType>(value.getType()).clone(element); }

  Value ulpDifference(Value a, Value e) {
    auto type = cast<FloatType>(getElementTypeOrSelf(a));
    unsigned width = type.getWidth();
    Type bitsType = IntegerType::get(b.getContext(), width, IntegerType::Unsigned);
    Type wide = IntegerType::get(b.getContext(), 64, IntegerType::Unsigned);
    auto bitsOf = [&](Value value) -> Value {
      return stablehlo::BitcastConvertOp::create(b, withElement(value, bitsType), value);
    };
    Value aBits = bitsOf(a), eBits = bitsOf(e);
    uint64_t sign = uint64_t(1) << (width - 1);
    auto magnitude = [&](Value bits) -> Value {
      Value mask = splat(bits, bitsType, sign - 1);
      return convert(stablehlo::AndOp::create(b, bits.getType(), bits, mask), wide);
    };
    Value aMagnitude = magnitude(aBits), eMagnitude = magnitude(eBits);
    auto negative = [&](Value bits) { return compare(ComparisonDirection::GE, bits, splat(bits, bitsType, sign)); };
    Value sameSign = compare(ComparisonDirection::EQ, convert(negative(aBits), b.getI32Type()),
                             convert(negative(eBits), b.getI32Type()));
    Type distanceType = aMagnitude.getType();
    Value larger = stablehlo::MaxOp::create(b, distanceType, aMagnitude, eMagnitude);
    Value smaller = stablehlo::MinOp::create(b, distanceType, aMagnitude, eMagnitude);
    Value distance = select(sameSign, stablehlo::SubtractOp::create(b, distanceType, larger, smaller),
                            stablehlo::AddOp::create(b, distanceType, larger, smaller));
    auto finite = [&](Value value) -> Value {
      return stablehlo::IsFiniteOp::create(b, withElement(value, b.getI1Type()), value);
    };
    distance = select(logicalAnd(finite(a), finite(e)), distance, splat(distance, wide, ~uint64_t(0)));
    Value same = logicalOr(compare(ComparisonDirection::EQ, aBits, eBits), bothNaN(a, e));
    return select(same, splat(distance, wide, 0), distance);
  }

  ImplicitLocOpBuilder b;
};

class ExpandChecksPass : public impl::ExpandChecksPassBase<ExpandChecksPass> {
public:
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      FailureOr<bool> expanded = expand(op);
      if (failed(expanded))
        return WalkResult::interrupt();
      if (*expanded)
        op->erase();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult expandEqual(CheckBuilder &builder, Value lhs, Value rhs, StringRef name) {
    builder.assertNone(builder.notEqual(lhs, rhs), name);
    return success();
  }

  static LogicalResult expandClose(CheckBuilder &builder, Operation *op, Value actual, Value expected, uint64_t minimum,
                                   uint64_t maximum, StringRef name) {
    Type element = getElementTypeOrSelf(actual);
    if (auto complex = dyn_cast<ComplexType>(element))
      element = complex.getElementType();
    if (!llvm::isPowerOf2_32(element.getIntOrFloatBitWidth()) || element.getIntOrFloatBitWidth() < 8)
      return op->emitError() << "distances in units in the last place need elements of whole bytes, got " << element;
    builder.assertNone(builder.notClose(actual, expected, minimum, maximum), name);
    return success();
  }

  // Whether `op` was a check and is expanded.
  static FailureOr<bool> expand(Operation *op) {
    CheckBuilder builder(op);
    StringRef name = op->getName().getStringRef();
    if (auto check = dyn_cast<check::ExpectEqOp>(op))
      return done(expandEqual(builder, check.getLhs(), check.getRhs(), name));
    if (auto check = dyn_cast<check::ExpectEqConstOp>(op))
      return done(expandEqual(builder, check.getLhs(), builder.constant(check.getValue()), name));
    if (auto check = dyn_cast<check::ExpectAlmostEqOp>(op)) {
      builder.assertNone(builder.notAlmostEqual(check.getLhs(), check.getRhs(), check.getTolerance().convertToDouble()),
                         name);
      return true;
    }
    if (auto check = dyn_cast<check::ExpectAlmostEqConstOp>(op)) {
      Value expected = builder.constant(check.getValue());
      builder.assertNone(builder.notAlmostEqual(check.getLhs(), expected, check.getTolerance().convertToDouble()),
                         name);
      return true;
    }
    if (auto check = dyn_cast<check::ExpectCloseOp>(op))
      return done(expandClose(builder, op, check.getActual(), check.getExpected(), check.getMinUlpDifference(),
                              check.getMaxUlpDifference(), name));
    if (auto call = dyn_cast<stablehlo::CustomCallOp>(op))
      return expandCall(builder, call);
    return false;
  }

  static FailureOr<bool> expandCall(CheckBuilder &builder, stablehlo::CustomCallOp call) {
    StringRef target = call.getCallTargetName();
    if (target == "check.eq")
      return expandAlike(builder, call);
    if (!target.starts_with("check.expect_"))
      return false;
    if (call.getNumOperands() != 2 || call.getNumResults() != 0 ||
        call.getOperand(0).getType() != call.getOperand(1).getType())
      return call.emitError() << "custom call '" << target << "' needs two operands of one type and no result";
    Value lhs = call.getOperand(0), rhs = call.getOperand(1);
    // The tolerances are those of StableHLO's own runner.
    if (target == "check.expect_eq")
      return done(expandEqual(builder, lhs, rhs, target));
    if (target == "check.expect_almost_eq") {
      builder.assertNone(builder.notAlmostEqual(lhs, rhs, /*tolerance=*/1e-3), target);
      return true;
    }
    if (target == "check.expect_close")
      return done(expandClose(builder, call, lhs, rhs, /*minimum=*/0, /*maximum=*/3, target));
    return call.emitError() << "unknown check '" << target << "'";
  }

  // An older check, which gives its verdict as a result too. Its tolerance is that of StableHLO's own runner.
  static FailureOr<bool> expandAlike(CheckBuilder &builder, stablehlo::CustomCallOp call) {
    if (call.getNumOperands() != 2 || call.getNumResults() != 1 ||
        call.getOperand(0).getType() != call.getOperand(1).getType() ||
        call.getResult(0).getType() != RankedTensorType::get({}, IntegerType::get(call.getContext(), 1)))
      return call.emitError()
             << "custom call 'check.eq' needs two operands of one type and a result of type tensor<i1>";
    Value lhs = call.getOperand(0), rhs = call.getOperand(1);
    Value wrong = isa<IntegerType>(getElementTypeOrSelf(lhs)) ? builder.notEqual(lhs, rhs)
                                                              : builder.notAlmostEqual(lhs, rhs, /*tolerance=*/1e-4);
    call.getResult(0).replaceAllUsesWith(builder.assertNone(wrong, "check.eq"));
    return true;
  }

  static FailureOr<bool> done(LogicalResult result) {
    if (failed(result))
      return failure();
    return true;
  }
};

} // namespace
} // namespace latewood::input
