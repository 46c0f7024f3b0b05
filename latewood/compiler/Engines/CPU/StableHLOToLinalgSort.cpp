// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort: long rows by one key are sorted by its digits (StableHLOToLinalgRadixSort.cpp). Whatever else there is, a merge
// sort from the bottom up, with the comparator's code in its innermost loop.
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
// Few and long rows are sorted in chunks, which all threads work on: first each chunk by itself, then runs of chunks
// are merged, also chunk by chunk of what comes out. Where the two runs are divided to give a chunk is found by
// bisection (how many of the first d elements of the merged run are the left run's?). An order that contradicts itself
// (as of NaN, by a comparison that is no total order) makes bisection contradict itself, too; the places are therefore
// put right one after the other, so that each element is in one chunk whatever the comparator says.
//
// The right run's element is taken only if it comes strictly before the left run's, so that the sort is stable. Merging
// has no branches: which element is taken is a select. It goes on from both ends at once, the smallest elements and the
// largest: each is a chain of loads and selects that depend on each other, and two of them take the time of one. Under
// an order that contradicts itself the two may not meet; such a merge is done again, from one end.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgLoops.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgRadixSort.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

/// Elements of a chunk, a power of 4: two sets of buffers stay in the cache. And the rows from which on one thread per
/// row is enough.
constexpr int64_t chunkLength = 1 << 12, manyRows = 8;
/// Rows that are long enough for chunks, and those that are for sorting by digits.
constexpr int64_t longRow = 4 * chunkLength, longEnoughForDigits = 1 << 11;

Value add(Builder &b, Value x, Value y) { return arith::AddIOp::create(b, x, y); }
Value sub(Builder &b, Value x, Value y) { return arith::SubIOp::create(b, x, y); }
Value smaller(Builder &b, Value x, Value y) { return arith::MinUIOp::create(b, x, y); }
Value larger(Builder &b, Value x, Value y) { return arith::MaxUIOp::create(b, x, y); }
Value isBelow(Builder &b, Value x, Value y) { return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, x, y); }
Value select(Builder &b, Value condition, Value yes, Value no) {
  return arith::SelectOp::create(b, condition, yes, no);
}
Value negate(Builder &b, Value value) {
  return arith::XOrIOp::create(b, value, arith::ConstantOp::create(b, b.getBoolAttr(true)));
}

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

/// A part of a row: [begin, end).
struct Range {
  Value begin, end;
};

class SortBuilder {
public:
  SortBuilder(stablehlo::SortOp op, ValueRange inputs, int64_t dim, ConversionPatternRewriter &rewriter)
      : b(op.getLoc(), rewriter), op(op), inputs(inputs), dim(dim), extents(cpu::getExtents(rewriter, op.getInputs())),
        extent(extents[dim]), captured(cpu::readCaptured(rewriter, op.getComparator().front())), count(inputs.size()),
        zero(index(0)), one(index(1)), two(index(2)), length(cpu::toValue(b, extent)),
        last(cpu::toValue(b, cpu::subIndices(b, extent, b.getIndexAttr(1)))) {}

  SmallVector<Value> build() {
    SmallVector<Value> upper;
    int64_t rows = 1;
    for (OpFoldResult other : cpu::withoutDim(extents, dim)) {
      upper.push_back(cpu::toValue(b, other));
      rows *= getConstantIntValue(other).value_or(manyRows);
    }
    int64_t known = getConstantIntValue(extent).value_or(rows < manyRows ? longRow : 0);
    bool inChunks = rows < manyRows && known >= longRow;
    std::optional<cpu::SortKey> key = known >= longEnoughForDigits ? cpu::matchSortKey(op) : std::nullopt;
    SmallVector<Value> empty, lower(upper.size(), zero), steps(upper.size(), one);
    for (Value input : inputs)
      empty.push_back(cpu::makeEmpty(b, cast<RankedTensorType>(input.getType()), extents));
    auto each = [&](OpBuilder &nested, Location loc, ValueRange row, ValueRange values) -> scf::ValueVector {
      Builder inner(loc, nested);
      SmallVector<Value> sorted;
      if (key)
        sorted = cpu::makeRadixSort(inner, {op, *key, inputs, extent, captured, inChunks}, values,
                                    [&](Value place) { return inRow(row, place); });
      else
        sorted = inChunks ? sortInChunks(inner, row, values) : sortRow(inner, row, values);
      return scf::ValueVector(sorted.begin(), sorted.end());
    };
    return scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, empty, each).results;
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  SmallVector<Value> makeBuffers(Builder &at) {
    SmallVector<Value> buffers;
    for (Value input : inputs)
      buffers.push_back(cpu::makeBuffer(at, cpu::getTypeOf(extent, cpu::getElement(input)), extent));
    return buffers;
  }

  struct Candidates {
    SmallVector<Value> left, right;
    Value rightIsBefore;
  };
  Candidates compare(Builder &at, ValueRange data, Value left, Value right) {
    Candidates result;
    SmallVector<Value> arguments;
    for (auto [tensor, original] : llvm::zip_equal(data, op.getInputs())) {
      Type element = cpu::getElement(original);
      result.left.push_back(tensor::ExtractOp::create(at, tensor, left));
      result.right.push_back(tensor::ExtractOp::create(at, tensor, right));
      arguments.push_back(cpu::loadElement(at, result.right.back(), element));
      arguments.push_back(cpu::loadElement(at, result.left.back(), element));
    }
    result.rightIsBefore = cpu::emitScalarBlock(at, op.getComparator().front(), arguments, [&](Value value) {
                             return captured.at(value);
                           }).front();
    return result;
  }

  /// Which of two candidates comes next in a merge: the right one strictly before the left one, or the left run is
  /// empty.
  Value takesRightNext(Builder &at, const Candidates &candidates, Value left, Value leftEnd, Value right,
                       Value rightEnd) {
    Value leftIsEmpty = negate(at, isBelow(at, left, leftEnd));
    return arith::AndIOp::create(at, isBelow(at, right, rightEnd),
                                 arith::OrIOp::create(at, leftIsEmpty, candidates.rightIsBefore));
  }

  /// Merges two ranges of `data` into `to` of `buffers`, which is as long as both. The right one does not begin at 0.
  SmallVector<Value> merge(Builder &at, ValueRange data, Range left, Range right, Range to, ValueRange buffers) {
    // Carried: the next elements of both runs, behind the last elements that are left of both, and the buffers.
    SmallVector<Value> cursors = {left.begin, right.begin, left.end, right.end};
    cursors.append(buffers.begin(), buffers.end());
    Value size = sub(at, to.end, to.begin), steps = arith::ShRUIOp::create(at, add(at, size, one), one);
    SmallVector<Value> merged =
        cpu::makeLoop(at, zero, steps, one, cursors, [&](Builder &inner, Value number, ValueRange state) {
          Value nextLeft = state[0], nextRight = state[1], leftEnd = state[2], rightEnd = state[3];
          Candidates first = compare(inner, data, smaller(inner, nextLeft, last), smaller(inner, nextRight, last));
          Value takesRight = takesRightNext(inner, first, nextLeft, left.end, nextRight, right.end);
          Value lastLeft = sub(inner, larger(inner, leftEnd, one), one), lastRight = sub(inner, rightEnd, one);
          Candidates second = compare(inner, data, lastLeft, lastRight);
          Value rightIsEmpty = negate(inner, isBelow(inner, right.begin, rightEnd));
          Value takesLeft = arith::AndIOp::create(inner, isBelow(inner, left.begin, leftEnd),
                                                  arith::OrIOp::create(inner, rightIsEmpty, second.rightIsBefore));
          SmallVector<Value> next = {
              select(inner, takesRight, nextLeft, add(inner, nextLeft, one)),
              select(inner, takesRight, add(inner, nextRight, one), nextRight),
              select(inner, takesLeft, lastLeft, leftEnd),
              select(inner, takesLeft, rightEnd, lastRight),
          };
          // An element in the middle is written twice, with the same value.
          Value place = add(inner, to.begin, number), lastPlace = sub(inner, sub(inner, to.end, one), number);
          for (unsigned i = 0; i < count; ++i) {
            Value value = select(inner, takesRight, first.right[i], first.left[i]);
            Value buffer = tensor::InsertOp::create(inner, value, state[4 + i], place);
            value = select(inner, takesLeft, second.left[i], second.right[i]);
            next.push_back(tensor::InsertOp::create(inner, value, buffer, lastPlace));
          }
          return next;
        });
    // Both ends meet, at one element where there is one in the middle, unless the order contradicts itself. Then the
    // smallest elements alone decide, again from the first one on.
    Value overlap = sub(at, merged[0], merged[2]);
    Value meets = arith::CmpIOp::create(at, arith::CmpIPredicate::ule, overlap, arith::AndIOp::create(at, size, one));
    cursors = {left.begin, right.begin};
    cursors.append(merged.begin() + 4, merged.end());
    merged = cpu::makeLoop(
        at, zero, select(at, meets, zero, size), one, cursors, [&](Builder &inner, Value number, ValueRange state) {
          Candidates next = compare(inner, data, smaller(inner, state[0], last), smaller(inner, state[1], last));
          Value takesRight = takesRightNext(inner, next, state[0], left.end, state[1], right.end);
          SmallVector<Value> results = {select(inner, takesRight, state[0], add(inner, state[0], one)),
                                        select(inner, takesRight, add(inner, state[1], one), state[1])};
          for (unsigned i = 0; i < count; ++i)
            results.push_back(tensor::InsertOp::create(inner, select(inner, takesRight, next.right[i], next.left[i]),
                                                       state[2 + i], add(inner, to.begin, number)));
          return results;
        });
    return SmallVector<Value>(ArrayRef(merged).take_back(count));
  }

  /// Merges each two runs of `width` elements in a range of `data` into one, in `buffers`.
  SmallVector<Value> mergeRuns(Builder &at, ValueRange data, ValueRange buffers, Range range, Value width) {
    Value doubled = arith::MulIOp::create(at, width, two);
    return cpu::makeLoop(at, range.begin, range.end, doubled, buffers,
                         [&](Builder &inner, Value start, ValueRange values) {
                           Value middle = smaller(inner, add(inner, start, width), range.end);
                           Value end = smaller(inner, add(inner, start, doubled), range.end);
                           return merge(inner, data, {start, middle}, {middle, end}, {start, end}, values);
                         });
  }

  /// A loop that merges from the first half of what it carries into the second and back, for runs of `width`, twice
  /// that, four times... `rest` is carried along.
  using Merge = function_ref<void(Builder &, ValueRange, SmallVectorImpl<Value> &, Value, SmallVectorImpl<Value> &)>;
  SmallVector<Value> mergeTwice(Builder &at, Value passes, Value width, ValueRange carried, Merge mergeAll) {
    return cpu::makeLoop(at, zero, passes, one, carried, [&](Builder &inner, Value number, ValueRange state) {
      Value now = arith::ShLIOp::create(inner, width, arith::MulIOp::create(inner, number, two));
      SmallVector<Value> first(state.take_front(count)), second(state.slice(count, count)),
          rest(state.drop_front(2 * count));
      mergeAll(inner, first, second, now, rest);
      mergeAll(inner, second, first, arith::MulIOp::create(inner, now, two), rest);
      SmallVector<Value> next(first);
      next.append(second);
      next.append(rest);
      return next;
    });
  }

  /// Sorts a range of the first half of `carried` with the second half as scratch; returns both.
  SmallVector<Value> sortRange(Builder &at, Range range, Value passes, ValueRange carried) {
    return mergeTwice(at, passes, one, carried,
                      [&](Builder &inner, ValueRange data, SmallVectorImpl<Value> &buffers, Value width,
                          SmallVectorImpl<Value> &) { buffers = mergeRuns(inner, data, buffers, range, width); });
  }

  /// Copies a range element by element; `from` and `to` say where each one is.
  using Position = function_ref<SmallVector<Value>(Value)>;
  SmallVector<Value> copy(Builder &at, Range range, ValueRange sources, Position from, ValueRange targets,
                          Position to) {
    return cpu::makeLoop(at, range.begin, range.end, one, targets,
                         [&](Builder &inner, Value place, ValueRange tensors) {
                           SmallVector<Value> next;
                           for (auto [source, tensor] : llvm::zip_equal(sources, tensors)) {
                             Value value = tensor::ExtractOp::create(inner, source, from(place));
                             next.push_back(tensor::InsertOp::create(inner, value, tensor, to(place)));
                           }
                           return next;
                         });
  }
  static SmallVector<Value> inBuffer(Value place) { return {place}; }
  SmallVector<Value> inRow(ValueRange row, Value place) {
    SmallVector<Value> position(row);
    position.insert(position.begin() + dim, place);
    return position;
  }

  SmallVector<Value> sortRow(Builder &at, ValueRange row, ValueRange values) {
    Range all = {zero, length};
    auto ofRow = [&](Value place) { return inRow(row, place); };
    SmallVector<Value> carried = copy(at, all, inputs, ofRow, makeBuffers(at), inBuffer);
    carried.append(makeBuffers(at));
    SmallVector<Value> sorted = sortRange(at, all, countPasses(at, extent, last), carried);
    return copy(at, all, ArrayRef(sorted).take_front(count), inBuffer, values, ofRow);
  }

  SmallVector<Value> sortInChunks(Builder &at, ValueRange row, ValueRange values);
  void mergeChunks(Builder &at, ValueRange data, SmallVectorImpl<Value> &buffers, Value width, Value &splits);
  Value countLeft(Builder &at, ValueRange data, Range left, Range right, Value first);

  /// A chunk, and the two runs that are merged into a run which it is a part of.
  struct Chunk {
    Range range, left, right;
  };
  Chunk getChunk(Builder &at, Value number, Value width) {
    Value begin = arith::MulIOp::create(at, number, chunk);
    Value doubled = arith::MulIOp::create(at, width, two);
    Value start = arith::MulIOp::create(at, arith::DivUIOp::create(at, begin, doubled), doubled);
    Value middle = smaller(at, add(at, start, width), length);
    return {{begin, smaller(at, add(at, begin, chunk), length)},
            {start, middle},
            {middle, smaller(at, add(at, start, doubled), length)}};
  }
  Value loadSplit(Builder &at, Value splits, Value number) {
    return arith::IndexCastOp::create(at, at.getIndexType(), tensor::ExtractOp::create(at, splits, number));
  }
  Value storeSplit(Builder &at, Value split, Value splits, Value number) {
    return tensor::InsertOp::create(at, arith::IndexCastOp::create(at, at.getI64Type(), split), splits, number);
  }

  Builder b;
  stablehlo::SortOp op;
  ValueRange inputs;
  int64_t dim;
  cpu::Extents extents;
  OpFoldResult extent;
  DenseMap<Value, Value> captured;
  unsigned count;
  Value zero, one, two, length, last, chunk, chunks;
};

SmallVector<Value> SortBuilder::sortInChunks(Builder &at, ValueRange row, ValueRange values) {
  OpFoldResult chunkSize = at.getIndexAttr(chunkLength);
  OpFoldResult number = cpu::divIndices(at, cpu::addIndices(at, extent, at.getIndexAttr(chunkLength - 1)), chunkSize);
  chunk = cpu::toValue(at, chunkSize);
  chunks = cpu::toValue(at, number);
  Value lastChunk = cpu::toValue(at, cpu::subIndices(at, number, at.getIndexAttr(1)));
  auto rangeOf = [&](Builder &inner, Value place) { return getChunk(inner, place, chunk).range; };
  auto ofRow = [&](Value place) { return inRow(row, place); };

  SmallVector<Value> carried = cpu::makeIndependentLoop(
      at, zero, chunks, one, makeBuffers(at), [&](Builder &inner, Value place, ValueRange buffers) {
        return copy(inner, rangeOf(inner, place), inputs, ofRow, buffers, inBuffer);
      });
  carried.append(makeBuffers(at));
  Value passes = arith::ConstantIndexOp::create(at, llvm::Log2_64(chunkLength) / 2);
  carried =
      cpu::makeIndependentLoop(at, zero, chunks, one, carried, [&](Builder &inner, Value place, ValueRange buffers) {
        return sortRange(inner, rangeOf(inner, place), passes, buffers);
      });
  carried.push_back(cpu::makeBuffer(at, cpu::getTypeOf({number}, at.getI64Type()), {number}));
  carried = mergeTwice(at, countPasses(at, number, lastChunk), chunk, carried,
                       [&](Builder &inner, ValueRange data, SmallVectorImpl<Value> &buffers, Value width,
                           SmallVectorImpl<Value> &rest) { mergeChunks(inner, data, buffers, width, rest.front()); });
  return cpu::makeIndependentLoop(at, zero, chunks, one, values, [&](Builder &inner, Value place, ValueRange results) {
    return copy(inner, rangeOf(inner, place), ArrayRef(carried).take_front(count), inBuffer, results, ofRow);
  });
}

/// How many of the `first` elements of the run that `left` and `right` will be are the left one's.
Value SortBuilder::countLeft(Builder &at, ValueRange data, Range left, Range right, Value first) {
  Value ofLeft = sub(at, left.end, left.begin), ofRight = sub(at, right.end, right.begin);
  Value low = sub(at, larger(at, first, ofRight), ofRight), high = smaller(at, first, ofLeft);
  Location loc = at.getLoc();
  auto loop = scf::WhileOp::create(
      at, TypeRange{low.getType(), high.getType()}, ValueRange{low, high},
      [&](OpBuilder &nested, Location, ValueRange bounds) {
        Builder inner(loc, nested);
        scf::ConditionOp::create(inner, isBelow(inner, bounds[0], bounds[1]), bounds);
      },
      [&](OpBuilder &nested, Location, ValueRange bounds) {
        Builder inner(loc, nested);
        // The element in the middle is among the first ones unless so many of the right run come before it.
        Value middle = arith::ShRUIOp::create(inner, add(inner, bounds[0], bounds[1]), one);
        Value other = sub(inner, sub(inner, first, one), middle);
        Value isLater =
            compare(inner, data, add(inner, left.begin, middle), add(inner, right.begin, other)).rightIsBefore;
        SmallVector<Value> next = {select(inner, isLater, bounds[0], add(inner, middle, one)),
                                   select(inner, isLater, middle, bounds[1])};
        scf::YieldOp::create(inner, next);
      });
  return loop.getResult(0);
}

/// Merges each two runs of `width` elements, a multiple of the chunk, into one. `splits` is scratch for a number per
/// chunk.
void SortBuilder::mergeChunks(Builder &at, ValueRange data, SmallVectorImpl<Value> &buffers, Value width,
                              Value &splits) {
  splits = cpu::makeIndependentLoop(at, zero, chunks, one, splits,
                                    [&](Builder &inner, Value number, ValueRange values) -> SmallVector<Value> {
                                      Chunk chunk = getChunk(inner, number, width);
                                      Value first = sub(inner, chunk.range.begin, chunk.left.begin);
                                      Value split = countLeft(inner, data, chunk.left, chunk.right, first);
                                      return {storeSplit(inner, split, values.front(), number)};
                                    })
               .front();
  // No chunk takes less than nothing from a run, or more than it is long.
  splits = cpu::makeLoop(at, zero, chunks, one, {zero, splits},
                         [&](Builder &inner, Value number, ValueRange values) -> SmallVector<Value> {
                           Chunk own = getChunk(inner, number, width);
                           Value isFirst =
                               arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, own.range.begin, own.left.begin);
                           Value least = select(inner, isFirst, zero, values[0]);
                           Value most = select(inner, isFirst, zero, add(inner, least, chunk));
                           Value split = loadSplit(inner, values[1], number);
                           split = smaller(inner, larger(inner, split, least), most);
                           return {split, storeSplit(inner, split, values[1], number)};
                         })
               .back();
  buffers =
      cpu::makeIndependentLoop(at, zero, chunks, one, buffers, [&](Builder &inner, Value number, ValueRange values) {
        auto [range, left, right] = getChunk(inner, number, width);
        Value lastChunk = sub(inner, chunks, one);
        Value isLast = arith::CmpIOp::create(inner, arith::CmpIPredicate::eq, range.end, right.end);
        Value begin = loadSplit(inner, splits, number);
        Value end = loadSplit(inner, splits, smaller(inner, add(inner, number, one), lastChunk));
        end = select(inner, isLast, sub(inner, left.end, left.begin), end);
        auto rightOf = [&](Value place, Value split) {
          return add(inner, right.begin, sub(inner, sub(inner, place, left.begin), split));
        };
        Range ofLeft = {add(inner, left.begin, begin), add(inner, left.begin, end)};
        Range ofRight = {rightOf(range.begin, begin), rightOf(range.end, end)};
        return merge(inner, data, ofLeft, ofRight, range, values);
      });
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
    rewriter.replaceOp(op, SortBuilder(op, adaptor.getInputs(), dim, rewriter).build());
    return success();
  }
};

} // namespace

void cpu::populateSortToLoops(const TypeConverter &types, RewritePatternSet &patterns) {
  patterns.add<SortToLoops>(types, patterns.getContext());
}
