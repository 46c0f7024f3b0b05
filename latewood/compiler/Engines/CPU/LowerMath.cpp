// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar and vector arithmetic becomes what the target has instructions, or the library functions, for.
//
// In: math and arith on scalars and one-dimensional vectors. Out: no operation of the math dialect and no remainder of
// floats that LLVM would turn into a call of the C library (an image imports nothing); conversions between f32 and bf16
// are integer code on vectors, because LLVM calls a function for each element; vectors of small integers are divided as
// floats; floor and ceiling divisions are spelled out.

#include "latewood/compiler/Engines/CPU/MathToLibrary.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/compiler/Engines/CPU/TargetOf.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_LOWERMATHPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;

namespace {

Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

Value makeConstant(OpBuilder &b, Location loc, Type type, int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  TypedAttr attr = b.getIntegerAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, loc, attr);
}

/// f32 -> bf16: round to nearest, ties to even, a NaN stays one. All in 32-bit lanes: comparing floats and selecting
/// 16-bit integers, as the upstream expansion does, is scalar code on AVX2.
struct TruncateToBF16 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!getElementTypeOrSelf(op.getType()).isBF16() || !getElementTypeOrSelf(from).isF32())
      return failure();
    Location loc = op.getLoc();
    Type wide = withElement(from, rewriter.getI32Type()), narrow = withElement(from, rewriter.getI16Type());
    auto constant = [&](int64_t value) { return makeConstant(rewriter, loc, wide, value); };
    Value bits = arith::BitcastOp::create(rewriter, loc, wide, op.getIn());
    Value odd =
        arith::AndIOp::create(rewriter, loc, arith::ShRUIOp::create(rewriter, loc, bits, constant(16)), constant(1));
    Value bias = arith::AddIOp::create(rewriter, loc, odd, constant(0x7fff));
    Value rounded = arith::AddIOp::create(rewriter, loc, bits, bias);
    Value magnitude = arith::AndIOp::create(rewriter, loc, bits, constant(0x7fffffff));
    Value isNaN = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sgt, magnitude, constant(0x7f800000));
    Value quiet = arith::OrIOp::create(rewriter, loc, bits, constant(0x400000));
    Value result = arith::SelectOp::create(rewriter, loc, isNaN, quiet, rounded);
    result = arith::ShRUIOp::create(rewriter, loc, result, constant(16));
    result = arith::TruncIOp::create(rewriter, loc, narrow, result);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), result);
    return success();
  }
};

/// bf16 -> f32, and to wider types by way of it: a shift.
struct ExtendFromBF16 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op, PatternRewriter &rewriter) const override {
    Type from = op.getIn().getType();
    if (!getElementTypeOrSelf(from).isBF16())
      return failure();
    Location loc = op.getLoc();
    Type f32 = withElement(from, rewriter.getF32Type());
    Type wide = withElement(from, rewriter.getI32Type()), narrow = withElement(from, rewriter.getI16Type());
    Value bits = arith::BitcastOp::create(rewriter, loc, narrow, op.getIn());
    bits = arith::ExtUIOp::create(rewriter, loc, wide, bits);
    bits = arith::ShLIOp::create(rewriter, loc, bits, makeConstant(rewriter, loc, wide, 16));
    Value result = arith::BitcastOp::create(rewriter, loc, f32, bits);
    if (op.getType() != f32)
      result = arith::ExtFOp::create(rewriter, loc, op.getType(), result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// f64 -> bf16 and f64 -> f16 have no instruction. By way of f32 the result is rounded twice, unless the first rounding
/// is to odd.
struct TruncateF64 : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    Type to = getElementTypeOrSelf(op.getType()), from = op.getIn().getType();
    if (!(to.isBF16() || to.isF16()) || !getElementTypeOrSelf(from).isF64())
      return failure();
    Location loc = op.getLoc();
    Type f32 = withElement(from, rewriter.getF32Type()), i32 = withElement(from, rewriter.getI32Type());
    Value nearest = arith::TruncFOp::create(rewriter, loc, f32, op.getIn());
    // Inexact: replace the last bit by 1 after moving towards zero. Then no tie is made that was none.
    Value back = arith::ExtFOp::create(rewriter, loc, from, nearest);
    Value inexact = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ONE, back, op.getIn());
    Value magnitude = math::AbsFOp::create(rewriter, loc, op.getIn());
    Value nearestMagnitude = math::AbsFOp::create(rewriter, loc, back);
    Value away = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::OGT, nearestMagnitude, magnitude);
    Value bits = arith::BitcastOp::create(rewriter, loc, i32, nearest);
    Value one = makeConstant(rewriter, loc, i32, 1);
    Value towardsZero =
        arith::SelectOp::create(rewriter, loc, away, arith::SubIOp::create(rewriter, loc, bits, one), bits);
    Value odd = arith::OrIOp::create(rewriter, loc, towardsZero, one);
    Value chosen = arith::SelectOp::create(rewriter, loc, inexact, odd, bits);
    Value single = arith::BitcastOp::create(rewriter, loc, f32, chosen);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(), single);
    return success();
  }
};

/// Vectors of integers of up to 32 bits are divided as floats of twice the precision: there is no such instruction for
/// integers. A quotient that is no integer differs from the next one by more than the rounding. Constant divisors are
/// better off with LLVM. Nobody divides by zero here: StableHLO's divisions have been guarded.
template <typename OpTy, bool isSigned, bool isRemainder>
struct DivideVectors : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto element = type ? dyn_cast<IntegerType>(type.getElementType()) : IntegerType();
    auto broadcast = op.getRhs().template getDefiningOp<vector::BroadcastOp>();
    if (!element || element.getWidth() > 32 ||
        matchPattern(broadcast ? broadcast.getSource() : op.getRhs(), m_Constant()))
      return failure();
    Location loc = op.getLoc();
    Type number =
        withElement(type, element.getWidth() > 16 ? Type(rewriter.getF64Type()) : Type(rewriter.getF32Type()));
    auto toFloat = [&](Value value) -> Value {
      if constexpr (isSigned)
        return arith::SIToFPOp::create(rewriter, loc, number, value);
      return arith::UIToFPOp::create(rewriter, loc, number, value);
    };
    Value exact = arith::DivFOp::create(rewriter, loc, toFloat(op.getLhs()), toFloat(op.getRhs()));
    Value quotient;
    if constexpr (isSigned)
      quotient = arith::FPToSIOp::create(rewriter, loc, type, exact);
    else
      quotient = arith::FPToUIOp::create(rewriter, loc, type, exact);
    if constexpr (isRemainder)
      quotient = arith::SubIOp::create(rewriter, loc, op.getLhs(),
                                       arith::MulIOp::create(rewriter, loc, quotient, op.getRhs()));
    rewriter.replaceOp(op, quotient);
    return success();
  }
};

struct LowerMathPass : cpu::impl::LowerMathPassBase<LowerMathPass> {
  void runOnOperation() override {
    FailureOr<target::Target> target = getTargetOf(getOperation());
    if (failed(target))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    populateMathToLibraryPatterns(patterns, *target);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    patterns.add<TruncateToBF16, ExtendFromBF16, TruncateF64, DivideVectors<arith::DivSIOp, true, false>,
                 DivideVectors<arith::DivUIOp, false, false>, DivideVectors<arith::RemSIOp, true, true>,
                 DivideVectors<arith::RemUIOp, false, true>>(&getContext());
    GreedyRewriteConfig config;
    config.enableFolding(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};

} // namespace
