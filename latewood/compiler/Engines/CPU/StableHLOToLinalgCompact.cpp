// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// latewood.nonzero: where a tensor is not zero, as one vector of indices for each of its dimensions.
//
//   place = 0
//   for each element, row-major
//     if it is not zero: write its indices at `place`, place += 1
//
// How many there are has been counted before by a reduction, which is how the host knows the extent of the results.
// Hits are rare as a rule: a branch that is predicted costs less than to write every index. Nothing is held but the
// results.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

struct NonzeroToLoops : OpConversionPattern<stablehlo::CustomCallOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!cpu::isNonzero(op))
      return failure();
    Builder b(op.getLoc(), rewriter);
    Value operand = adaptor.getInputs().front();
    Type element = cpu::getElement(op.getInputs().front());
    cpu::Extents extents = cpu::getExtents(rewriter, op.getInputs().front());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);

    SmallVector<Value> state{zero};
    for (Value result : op.getResults()) {
      OpFoldResult count = cpu::getExtents(rewriter, result).front();
      state.push_back(cpu::makeBuffer(b, cpu::getTypeOf(count, cpu::getStorageType(cpu::getElement(result))), count));
    }
    SmallVector<Value> upper =
        llvm::map_to_vector(extents, [&](OpFoldResult extent) { return cpu::toValue(b, extent); });
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
    auto visit = [&](OpBuilder &nested, Location loc, ValueRange place, ValueRange values) -> scf::ValueVector {
      Builder inner(loc, nested);
      Value stored = tensor::ExtractOp::create(inner, operand, place);
      Value value = cpu::loadElement(inner, stored, element);
      Value isHit;
      if (auto number = dyn_cast<FloatType>(value.getType()))
        // A NaN is not zero.
        isHit = arith::CmpFOp::create(inner, arith::CmpFPredicate::UNE, value,
                                      arith::ConstantOp::create(inner, inner.getFloatAttr(number, 0.0)));
      else
        isHit = arith::CmpIOp::create(inner, arith::CmpIPredicate::ne, value,
                                      arith::ConstantOp::create(inner, inner.getIntegerAttr(value.getType(), 0)));
      auto branch = scf::IfOp::create(
          inner, isHit,
          [&](OpBuilder &builder, Location) {
            Builder write(loc, builder);
            SmallVector<Value> next{arith::AddIOp::create(write, values.front(), one)};
            for (auto [index, buffer] : llvm::zip_equal(place, values.drop_front())) {
              Type type = cpu::getElement(buffer);
              Value number = arith::IndexCastOp::create(write, type, index);
              next.push_back(tensor::InsertOp::create(write, number, buffer, values.front()));
            }
            scf::YieldOp::create(write, next);
          },
          [&](OpBuilder &builder, Location) { scf::YieldOp::create(builder, loc, values); });
      return scf::ValueVector(ValueRange(branch.getResults()));
    };
    scf::ValueVector results = scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, state, visit).results;
    rewriter.replaceOp(op, ArrayRef<Value>(results).drop_front());
    return success();
  }
};

} // namespace

bool cpu::isNonzero(Operation *op) {
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  if (!call || call.getCallTargetName() != "latewood.nonzero" || call.getInputs().size() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(call.getInputs().front().getType());
  auto isVector = [](Type result) {
    auto vector = dyn_cast<RankedTensorType>(result);
    return vector && vector.getRank() == 1 && vector.getElementType().isInteger() &&
           vector.getElementTypeBitWidth() >= 8;
  };
  return type && type.getRank() != 0 && !isa<ComplexType>(type.getElementType()) &&
         static_cast<int64_t>(call->getNumResults()) == type.getRank() && llvm::all_of(call.getResultTypes(), isVector);
}

void cpu::populateCompactToLoops(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<NonzeroToLoops>(types, patterns.getContext());
}
