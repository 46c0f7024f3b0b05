// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort: a merge sort from the bottom up, with the comparator's code in its innermost loop.
//
//   for each row of the other dimensions
//     copy the row into a first set of buffers
//     for each two passes (runs of 1, 2, 4... elements are sorted)
//       for each pair of runs: merge them into a second set of buffers
//       for each pair of longer runs: merge them into the first set
//     copy the first set to the result
//
// So the merges read and write contiguous elements whatever the dimension is, and what the last one gives is where the
// row is read from. (A pass for which the first run is all of the row copies it.) Rows are independent of each other.
//
// The right run's element is taken only if it comes strictly before the left run's, so that the sort is stable. Merging
// has no branches: which element is taken is a select. It goes on from both ends at once, the smallest elements and the
// largest: each is a chain of loads and selects that depend on each other, and two of them take the time of one.

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

/// How often runs are merged twice until one is left: half of the logarithm of the extent to base 2, rounded up.
Value countPasses(Builder &b, OpFoldResult extent, Value last) {
  if (auto known = getConstantIntValue(extent))
    return arith::ConstantIndexOp::create(b, llvm::divideCeil(llvm::Log2_64_Ceil(*known), 2));
  // The bits of the last position. Without elements there is none, and it is -1.
  Value position = arith::IndexCastOp::create(b, b.getI64Type(), last);
  Value zero = arith::ConstantIntOp::create(b, b.getI64Type(), 0),
        bits = arith::ConstantIntOp::create(b, b.getI64Type(), 64);
  position = arith::MaxSIOp::create(b, position, zero);
  Value unused = math::CountLeadingZerosOp::create(b, position);
  Value one = arith::ConstantIntOp::create(b, b.getI64Type(), 1);
  Value passes = arith::SubIOp::create(b, bits, unused);
  passes = arith::ShRUIOp::create(b, arith::AddIOp::create(b, passes, one), one);
  return arith::IndexCastOp::create(b, b.getIndexType(), passes);
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

    SmallVector<Value> upper;
    for (OpFoldResult other : cpu::withoutDim(extents, dim))
      upper.push_back(cpu::toValue(b, other));
    SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);

    auto at = [&](ValueRange row, Value index) {
      SmallVector<Value> position(row);
      position.insert(position.begin() + dim, index);
      return position;
    };

    struct Candidates {
      SmallVector<Value> left, right;
      Value rightIsBefore;
    };
    auto compare = [&](Builder &inner, ValueRange data, Value left, Value right) {
      Candidates result;
      SmallVector<Value> arguments;
      for (auto [i, tensor] : llvm::enumerate(data)) {
        Type element = cpu::getElement(op.getInputs()[i]);
        result.left.push_back(tensor::ExtractOp::create(inner, tensor, left));
        result.right.push_back(tensor::ExtractOp::create(inner, tensor, right));
        arguments.push_back(cpu::loadElement(inner, result.right.back(), element));
        arguments.push_back(cpu::loadElement(inner, result.left.back(), element));
      }
      result.rightIsBefore = cpu::emitScalarBlock(inner, op.getComparator().front(), arguments, [&](Value value) {
                               return captured.at(value);
                             }).front();
      return result;
    };
    auto negate = [](Builder &inner, Value value) -> Value {
      return arith::XOrIOp::create(inner, value, arith::ConstantOp::create(inner, inner.getBoolAttr(true)));
    };
    auto select = [](Builder &inner, Value condition, Value yes, Value no) -> Value {
      return arith::SelectOp::create(inner, condition, yes, no);
    };

    // One step of a merge, from both ends. Carried: the next elements of both runs, behind the last elements that are
    // left of both, and the buffers.
    auto mergeStep = [&](Builder &inner, ValueRange data, Value start, Value middle, Value end, Value number,
                         ValueRange values) {
      Value left = values[0], right = values[1], leftEnd = values[2], rightEnd = values[3];
      Candidates first = compare(inner, data, smaller(inner, left, last), smaller(inner, right, last));
      Value leftIsEmpty = negate(inner, isBelow(inner, left, middle));
      Value takesRight = arith::AndIOp::create(inner, isBelow(inner, right, end),
                                               arith::OrIOp::create(inner, leftIsEmpty, first.rightIsBefore));
      Value lastLeft = arith::SubIOp::create(inner, arith::MaxUIOp::create(inner, leftEnd, one), one);
      Value lastRight = arith::SubIOp::create(inner, rightEnd, one);
      Candidates second = compare(inner, data, lastLeft, lastRight);
      Value rightIsEmpty = negate(inner, isBelow(inner, middle, rightEnd));
      Value takesLeft = arith::AndIOp::create(inner, isBelow(inner, start, leftEnd),
                                              arith::OrIOp::create(inner, rightIsEmpty, second.rightIsBefore));
      SmallVector<Value> next = {
          select(inner, takesRight, left, add(inner, left, one)),
          select(inner, takesRight, add(inner, right, one), right),
          select(inner, takesLeft, lastLeft, leftEnd),
          select(inner, takesLeft, rightEnd, lastRight),
      };
      // An element in the middle is written twice, with the same value.
      Value place = add(inner, start, number);
      Value lastPlace = arith::SubIOp::create(inner, arith::SubIOp::create(inner, end, one), number);
      for (unsigned i = 0; i < count; ++i) {
        Value value = select(inner, takesRight, first.right[i], first.left[i]);
        Value buffer = tensor::InsertOp::create(inner, value, values[4 + i], place);
        value = select(inner, takesLeft, second.left[i], second.right[i]);
        next.push_back(tensor::InsertOp::create(inner, value, buffer, lastPlace));
      }
      scf::YieldOp::create(inner, next);
    };

    // Merges each two runs of `width` elements of `data` into one, in `buffers`.
    auto mergeRuns = [&](Builder &inner, ValueRange data, ValueRange buffers, Value width) {
      Location loc = inner.getLoc();
      Value doubled = arith::MulIOp::create(inner, width, two);
      auto pairs = scf::ForOp::create(
          inner, zero, length, doubled, buffers, [&](OpBuilder &nested, Location, Value start, ValueRange values) {
            Builder merge(loc, nested);
            Value middle = smaller(merge, add(merge, start, width), length);
            Value end = smaller(merge, add(merge, start, doubled), length);
            SmallVector<Value> cursors = {start, middle, middle, end};
            cursors.append(values.begin(), values.end());
            Value steps = arith::SubIOp::create(merge, add(merge, end, one), start);
            steps = arith::ShRUIOp::create(merge, steps, one);
            auto merged = scf::ForOp::create(merge, zero, steps, one, cursors,
                                             [&](OpBuilder &innermost, Location, Value number, ValueRange state) {
                                               Builder step(loc, innermost);
                                               mergeStep(step, data, start, middle, end, number, state);
                                             });
            scf::YieldOp::create(merge, merged.getResults().take_back(count));
          });
      return SmallVector<Value>(pairs.getResults());
    };

    // Copies element by element; `from` and `to` say where each one is.
    using Position = function_ref<SmallVector<Value>(Value)>;
    auto copy = [&](Builder &inner, ValueRange sources, Position from, ValueRange targets, Position to) {
      Location loc = inner.getLoc();
      auto loop = scf::ForOp::create(inner, zero, length, one, targets,
                                     [&](OpBuilder &nested, Location, Value place, ValueRange tensors) {
                                       Builder step(loc, nested);
                                       SmallVector<Value> next;
                                       for (auto [source, tensor] : llvm::zip_equal(sources, tensors)) {
                                         Value value = tensor::ExtractOp::create(step, source, from(place));
                                         next.push_back(tensor::InsertOp::create(step, value, tensor, to(place)));
                                       }
                                       scf::YieldOp::create(step, next);
                                     });
      return SmallVector<Value>(loop.getResults());
    };

    auto sortRow = [&](OpBuilder &nested, Location loc, ValueRange row, ValueRange values) -> scf::ValueVector {
      Builder inner(loc, nested);
      auto makeBuffers = [&] {
        SmallVector<Value> buffers;
        for (Value input : adaptor.getInputs())
          buffers.push_back(cpu::makeBuffer(inner, cpu::getTypeOf(extent, cpu::getElement(input)), extent));
        return buffers;
      };
      auto inRow = [&](Value index) { return at(row, index); };
      auto inBuffer = [](Value index) { return SmallVector<Value>{index}; };
      SmallVector<Value> carried = copy(inner, adaptor.getInputs(), inRow, makeBuffers(), inBuffer);
      carried.append(makeBuffers());
      auto passes = scf::ForOp::create(
          inner, zero, passCount, one, carried, [&](OpBuilder &builder, Location, Value number, ValueRange state) {
            Builder body(loc, builder);
            Value width = arith::ShLIOp::create(body, one, arith::MulIOp::create(body, number, two));
            SmallVector<Value> second = mergeRuns(body, state.take_front(count), state.take_back(count), width);
            SmallVector<Value> next =
                mergeRuns(body, second, state.take_front(count), arith::MulIOp::create(body, width, two));
            next.append(second);
            scf::YieldOp::create(body, next);
          });
      SmallVector<Value> sorted = copy(inner, passes.getResults().take_front(count), inBuffer, values, inRow);
      return scf::ValueVector(sorted.begin(), sorted.end());
    };
    SmallVector<Value> empty;
    for (Value input : adaptor.getInputs())
      empty.push_back(cpu::makeEmpty(b, cast<RankedTensorType>(input.getType()), extents));
    scf::ValueVector results = scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, empty, sortRow).results;
    rewriter.replaceOp(op, results);
    return success();
  }
};

} // namespace

void cpu::populateSortToLoops(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<SortToLoops>(types, patterns.getContext());
}
