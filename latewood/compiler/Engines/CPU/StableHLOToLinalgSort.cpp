// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort: a merge sort from the bottom up, with the comparator's code in its innermost loop.
//
//   for each row of the other dimensions
//     for each pass (runs of 1, 2, 4... elements are sorted)
//       for each pair of runs: merge them into the buffers
//       copy the buffers back
//
// The right run's element is taken only if it comes strictly before the left run's, so that the sort is stable. Merging
// has no branches: which element is taken is a select.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

Value add(Builder &b, Value x, Value y) { return arith::AddIOp::create(b, x, y); }
Value smaller(Builder &b, Value x, Value y) { return arith::MinUIOp::create(b, x, y); }
Value isBelow(Builder &b, Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y); }

/// How often runs are merged until one is left: the logarithm of the extent to base 2, rounded up.
Value countPasses(Builder &b, OpFoldResult extent, Value last) {
  if (auto known = getConstantIntValue(extent))
    return arith::ConstantIndexOp::create(b, llvm::Log2_64_Ceil(*known));
  // The bits of the last position. Without elements there is none, and it is -1.
  Value position = arith::IndexCastOp::create(b, b.getI64Type(), last);
  Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0),
        bits = arith::ConstantIntOp::create(b, b.getI64Type(), 64);
  position = arith::MaxSIOp::create(b, position, zero);
  Value unused = math::CountLeadingZerosOp::create(b, position);
  return arith::IndexCastOp::create(b, b.getIndexType(), arith::SubIOp::create(b, bits, unused));
}

struct SortToLoops : OpConversionPattern<stablehlo::SortOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult matchAndRewrite(stablehlo::SortOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(adaptor.getInputs().front().getType());
    int64_t rank = type.getRank(), dim = op.getDimension() < 0 ? op.getDimension() + rank : op.getDimension();
    if (rank == 0 || llvm::is_contained(type.getShape(), 0) || type.getDimSize(dim) == 1) {
      rewriter.replaceOp(op, adaptor.getInputs());
      return success();
    }
    Builder b(op.getLoc(), rewriter);
    cpu::Extents extents = cpu::getExtents(rewriter, op.getInputs());
    OpFoldResult extent = extents[dim];
    unsigned count = adaptor.getInputs().size();
    DenseMap<Value, Value> captured = cpu::readCaptured(rewriter, op.getComparator().front());
    Value zero = arith::ConstantIndexOp::create(b, 0), one = arith::ConstantIndexOp::create(b, 1);
    Value two = arith::ConstantIndexOp::create(b, 2);
    Value length = cpu::toValue(b, extent);
    Value last = cpu::toValue(b, cpu::subIndices(b, extent, b.getIndexAttr(1)));
    Value passCount = countPasses(b, extent, last);

    SmallVector<Value> carried(adaptor.getInputs()), upper;
    for (Value input : adaptor.getInputs())
      carried.push_back(cpu::makeBuffer(b, cpu::getTypeOf(extent, cpu::getElement(input)), extent));
    for (OpFoldResult other : cpu::withoutDim(extents, dim))
      upper.push_back(cpu::toValue(b, other));
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);

    auto at = [&](ValueRange row, Value index) {
      SmallVector<Value> position(row);
      position.insert(position.begin() + dim, index);
      return position;
    };

    // One step of a merge. Carried: the next elements of both runs, and the buffers.
    auto mergeStep = [&](Builder &inner, ValueRange row, ValueRange data, Value middle, Value end, Value place,
                         ValueRange values) {
      Value left = values[0], right = values[1];
      SmallVector<Value> lefts, rights, arguments;
      for (auto [i, tensor] : llvm::enumerate(data)) {
        Type element = cpu::getElement(op.getInputs()[i]);
        lefts.push_back(tensor::ExtractOp::create(inner, tensor, at(row, smaller(inner, left, last))));
        rights.push_back(tensor::ExtractOp::create(inner, tensor, at(row, smaller(inner, right, last))));
        arguments.push_back(cpu::loadElement(inner, rights.back(), element));
        arguments.push_back(cpu::loadElement(inner, lefts.back(), element));
      }
      Value comesBefore = cpu::emitScalarBlock(inner, op.getComparator().front(), arguments, [&](Value value) {
                            return captured.at(value);
                          }).front();
      Value yes = arith::ConstantOp::create(inner, inner.getBoolAttr(true));
      Value leftIsEmpty = arith::XOrIOp::create(inner, isBelow(inner, left, middle), yes);
      Value takesRight = arith::AndIOp::create(inner, isBelow(inner, right, end),
                                               arith::OrIOp::create(inner, leftIsEmpty, comesBefore));
      SmallVector<Value> next = {arith::SelectOp::create(inner, takesRight, left, add(inner, left, one)),
                                 arith::SelectOp::create(inner, takesRight, add(inner, right, one), right)};
      for (unsigned i = 0; i < count; ++i) {
        Value taken = arith::SelectOp::create(inner, takesRight, rights[i], lefts[i]);
        next.push_back(tensor::InsertOp::create(inner, taken, values[2 + i], place));
      }
      scf::YieldOp::create(inner, next);
    };

    auto pass = [&](Builder &inner, ValueRange row, Value number, ValueRange values) {
      Location loc = inner.getLoc();
      ValueRange data = values.take_front(count);
      Value width = arith::ShLIOp::create(inner, one, number);
      Value doubled = arith::MulIOp::create(inner, width, two);
      auto pairs = scf::ForOp::create(inner, zero, length, doubled, values.take_back(count),
                                      [&](OpBuilder &nested, Location, Value start, ValueRange buffers) {
                                        Builder merge(loc, nested);
                                        Value middle = smaller(merge, add(merge, start, width), length);
                                        Value end = smaller(merge, add(merge, start, doubled), length);
                                        SmallVector<Value> cursors = {start, middle};
                                        cursors.append(buffers.begin(), buffers.end());
                                        auto merged = scf::ForOp::create(
                                            merge, start, end, one, cursors,
                                            [&](OpBuilder &innermost, Location, Value place, ValueRange state) {
                                              Builder step(loc, innermost);
                                              mergeStep(step, row, data, middle, end, place, state);
                                            });
                                        scf::YieldOp::create(merge, merged.getResults().take_back(count));
                                      });
      ValueRange buffers = pairs.getResults();
      auto copied = scf::ForOp::create(
          inner, zero, length, one, data, [&](OpBuilder &nested, Location, Value place, ValueRange tensors) {
            Builder copy(loc, nested);
            SmallVector<Value> next;
            for (auto [buffer, tensor] : llvm::zip_equal(buffers, tensors)) {
              Value value = tensor::ExtractOp::create(copy, buffer, place);
              next.push_back(tensor::InsertOp::create(copy, value, tensor, at(row, place)));
            }
            scf::YieldOp::create(copy, next);
          });
      SmallVector<Value> next(copied.getResults());
      next.append(buffers.begin(), buffers.end());
      scf::YieldOp::create(inner, next);
    };

    auto sortRow = [&](OpBuilder &nested, Location loc, ValueRange row, ValueRange values) -> scf::ValueVector {
      Builder inner(loc, nested);
      auto loop = scf::ForOp::create(inner, zero, passCount, one, values,
                                     [&](OpBuilder &builder, Location, Value number, ValueRange state) {
                                       Builder body(loc, builder);
                                       pass(body, row, number, state);
                                     });
      return scf::ValueVector(ValueRange(loop.getResults()));
    };
    scf::ValueVector results = scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, carried, sortRow).results;
    rewriter.replaceOp(op, ArrayRef<Value>(results).take_front(count));
    return success();
  }
};

} // namespace

void cpu::populateSortToLoops(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<SortToLoops>(types, patterns.getContext());
}
