// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix sums, in the form that suits the shape:
//
//   slices   where a step of the scan has elements side by side (the scanned dimension is not the innermost): a loop
//            along the dimension that carries the running values of all others as tensors
//   rows     where there are many: loops over all other dimensions, and inside one that carries the running value
//   blocks   where there are few, and long: see below
//
// Blocks. A row is divided into segments, and eight neighbouring segments are a block. A first loop over blocks
// combines the elements of each segment, a short second one makes of these the values that the segments begin with, and
// a third one over blocks scans the segments. Blocks are independent of each other, so that all threads work on them;
// the segments of a block are scanned side by side, because one running value alone would wait for each combination to
// end. What is left behind the last whole block is scanned segment by segment. The initial value is used once, by the
// second loop, so that it need not be an identity. The order of combinations is free by the specification; the division
// depends on the extent only, so that results do not on the number of threads.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalgScan.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgLoops.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

/// Elements of a segment. No multiple of a page or of a way of the cache: the segments of a block are read at a time.
constexpr int64_t segmentLength = 520;
constexpr int64_t segmentsPerBlock = 8;
/// Rows from which on it is enough that each has one thread, and the length below which blocks do not pay.
constexpr int64_t manyRows = 8, longRow = 8 * segmentLength * segmentsPerBlock;
/// Elements that one step of the scan has side by side, from which on it is a loop over slices.
constexpr int64_t manyContiguous = 8;

class ScanBuilder {
public:
  ScanBuilder(stablehlo::ReduceWindowOp op, ValueRange inputs, ValueRange inits, ArrayRef<Type> types,
              ArrayRef<OpFoldResult> extents, cpu::Scan scan, ConversionPatternRewriter &rewriter)
      : b(op.getLoc(), rewriter), op(op), inputs(inputs), inits(inits), types(types), extents(extents), scan(scan),
        body(op.getBody().front()), captured(cpu::readCaptured(rewriter, body)), count(types.size()), zero(index(0)),
        one(index(1)), length(cpu::toValue(b, extents[scan.dim])),
        last(cpu::toValue(b, cpu::subIndices(b, extents[scan.dim], b.getIndexAttr(1)))) {}

  SmallVector<Value> build() {
    int64_t contiguous = 1, rows = 1;
    for (auto [dim, extent] : llvm::enumerate(extents)) {
      int64_t known = getConstantIntValue(extent).value_or(manyContiguous);
      if (static_cast<int64_t>(dim) > scan.dim)
        contiguous *= known;
      if (static_cast<int64_t>(dim) != scan.dim)
        rows *= known;
    }
    if (contiguous >= manyContiguous)
      return ofSlices();
    bool isLong = getConstantIntValue(extents[scan.dim]).value_or(longRow) >= longRow;
    return ofRows(rows < manyRows && isLong);
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value makeResult(unsigned i) {
    // One result may be the same memory as something else; several must be told apart.
    auto type = cast<RankedTensorType>(types[i]);
    return count == 1 ? cpu::makeEmpty(b, type, extents) : cpu::makeBuffer(b, type, extents);
  }

  /// Running values, as computed, combined with others.
  SmallVector<Value> combine(Builder &at, ValueRange running, ValueRange values) {
    SmallVector<Value> scalars(running);
    scalars.append(values.begin(), values.end());
    return cpu::emitScalarBlock(at, body, scalars, [&](Value value) { return captured.at(value); });
  }

  SmallVector<Value> positionOf(Builder &at, ValueRange row, Value step) {
    SmallVector<Value> position(row);
    Value place = scan.isReverse ? Value(arith::SubIOp::create(at, last, step)) : step;
    position.insert(position.begin() + scan.dim, place);
    return position;
  }

  SmallVector<Value> load(Builder &at, ValueRange row, Value step) {
    SmallVector<Value> position = positionOf(at, row, step), values;
    for (auto [input, original] : llvm::zip_equal(inputs, op.getInputs()))
      values.push_back(cpu::loadElement(at, tensor::ExtractOp::create(at, input, position), cpu::getElement(original)));
    return values;
  }

  SmallVector<Value> store(Builder &at, ValueRange values, ValueRange tensors, ValueRange position) {
    SmallVector<Value> next;
    for (auto [value, tensor, original] : llvm::zip_equal(values, tensors, op.getResults())) {
      Value stored = cpu::storeElement(at, value, cpu::getElement(original));
      next.push_back(tensor::InsertOp::create(at, stored, tensor, position));
    }
    return next;
  }

  SmallVector<Value> loop(Builder &at, Value from, Value to, ValueRange carried, cpu::LoopBody each) {
    return cpu::makeLoop(at, from, to, one, carried, each);
  }
  SmallVector<Value> loopOverBlocks(Builder &at, Value blocks, ValueRange carried, cpu::LoopBody each) {
    return cpu::makeIndependentLoop(at, zero, blocks, one, carried, each);
  }

  SmallVector<Value> ofSlices();
  SmallVector<Value> ofRows(bool inBlocks);
  SmallVector<Value> scanRow(Builder &at, ValueRange row, ValueRange tensors);
  SmallVector<Value> scanBlocks(Builder &at, ValueRange row, ValueRange tensors);
  SmallVector<Value> combineSegments(Builder &at, ValueRange row, ArrayRef<Value> starts, Value steps,
                                     ArrayRef<Value> places, ValueRange partials);
  SmallVector<Value> scanSegments(Builder &at, ValueRange row, ArrayRef<Value> starts, Value steps,
                                  ArrayRef<Value> places, ValueRange partials, ValueRange tensors);

  Builder b;
  stablehlo::ReduceWindowOp op;
  ValueRange inputs, inits;
  ArrayRef<Type> types;
  ArrayRef<OpFoldResult> extents;
  cpu::Scan scan;
  Block &body;
  DenseMap<Value, Value> captured;
  unsigned count;
  Value zero, one, length, last;
};

SmallVector<Value> ScanBuilder::ofSlices() {
  auto type = cast<RankedTensorType>(types.front());
  cpu::Extents mixedSizes(extents), shape = cpu::withoutDim(extents, scan.dim);
  mixedSizes[scan.dim] = b.getIndexAttr(1);
  SmallVector<Value> carried;
  SmallVector<Type> sliceTypes;
  for (unsigned i = 0; i < count; ++i) {
    sliceTypes.push_back(cpu::getTypeOf(shape, cpu::getElement(types[i])));
    carried.push_back(
        cpu::makeUniform(b, cast<RankedTensorType>(sliceTypes[i]), cpu::getOnlyElement(b, inits[i]), shape));
  }
  for (unsigned i = 0; i < count; ++i)
    carried.push_back(makeResult(i));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<AffineMap> maps(2 * count, b.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);

  auto step = [&](Builder &inner, Value step, ValueRange values) {
    SmallVector<OpFoldResult> offsets(type.getRank(), inner.getIndexAttr(0));
    offsets[scan.dim] = scan.isReverse ? Value(arith::SubIOp::create(inner, last, step)) : step;
    SmallVector<Value> slices;
    for (auto [input, sliceType] : llvm::zip_equal(inputs, sliceTypes))
      slices.push_back(tensor::ExtractSliceOp::create(inner, cast<RankedTensorType>(sliceType), input, offsets,
                                                      mixedSizes, strides));
    auto combined = linalg::GenericOp::create(
        inner, sliceTypes, slices, values.take_front(count), maps, iterators,
        [&](OpBuilder &builder, Location loc, ValueRange elements) {
          Builder at(loc, builder);
          SmallVector<Value> running, loaded;
          for (auto [element, init] : llvm::zip_equal(elements.take_back(count), op.getInitValues()))
            running.push_back(cpu::loadElement(at, element, cpu::getElement(init)));
          for (auto [element, input] : llvm::zip_equal(elements.take_front(count), op.getInputs()))
            loaded.push_back(cpu::loadElement(at, element, cpu::getElement(input)));
          SmallVector<Value> results = combine(at, running, loaded);
          for (auto [result, original] : llvm::zip_equal(results, op.getResults()))
            result = cpu::storeElement(at, result, cpu::getElement(original));
          linalg::YieldOp::create(at, results);
        });
    SmallVector<Value> next(combined.getResults());
    for (unsigned i = 0; i < count; ++i)
      next.push_back(
          tensor::InsertSliceOp::create(inner, combined.getResult(i), values[count + i], offsets, mixedSizes, strides));
    return next;
  };
  SmallVector<Value> results = loop(b, zero, length, carried, step);
  return SmallVector<Value>(ArrayRef(results).take_back(count));
}

SmallVector<Value> ScanBuilder::ofRows(bool inBlocks) {
  SmallVector<Value> results, upper = cpu::toValues(b, cpu::withoutDim(extents, scan.dim));
  for (unsigned i = 0; i < count; ++i)
    results.push_back(makeResult(i));
  auto each = [&](OpBuilder &nested, Location loc, ValueRange row, ValueRange tensors) -> scf::ValueVector {
    Builder inner(loc, nested);
    SmallVector<Value> next = inBlocks ? scanBlocks(inner, row, tensors) : scanRow(inner, row, tensors);
    return scf::ValueVector(next.begin(), next.end());
  };
  SmallVector<Value> lower(upper.size(), zero), steps(upper.size(), one);
  return scf::buildLoopNest(b, op.getLoc(), lower, upper, steps, results, each).results;
}

SmallVector<Value> ScanBuilder::scanRow(Builder &at, ValueRange row, ValueRange tensors) {
  SmallVector<Value> carried;
  for (auto [init, original] : llvm::zip_equal(inits, op.getInitValues()))
    carried.push_back(cpu::loadElement(at, cpu::getOnlyElement(at, init), cpu::getElement(original)));
  carried.append(tensors.begin(), tensors.end());
  SmallVector<Value> results = loop(at, zero, length, carried, [&](Builder &inner, Value step, ValueRange values) {
    SmallVector<Value> next = combine(inner, values.take_front(count), load(inner, row, step));
    next.append(store(inner, next, values.take_back(count), positionOf(inner, row, step)));
    return next;
  });
  return SmallVector<Value>(ArrayRef(results).take_back(count));
}

/// Combines the elements of some segments side by side, and writes what comes out to `places` of `partials`.
SmallVector<Value> ScanBuilder::combineSegments(Builder &at, ValueRange row, ArrayRef<Value> starts, Value steps,
                                                ArrayRef<Value> places, ValueRange partials) {
  SmallVector<Value> running;
  for (Value start : starts)
    llvm::append_range(running, load(at, row, start));
  running = loop(at, one, steps, running, [&](Builder &inner, Value step, ValueRange values) {
    SmallVector<Value> next;
    for (auto [number, start] : llvm::enumerate(starts)) {
      Value place = arith::AddIOp::create(inner, start, step);
      llvm::append_range(next, combine(inner, values.slice(number * count, count), load(inner, row, place)));
    }
    return next;
  });
  SmallVector<Value> next(partials);
  for (auto [number, place] : llvm::enumerate(places))
    next = store(at, ArrayRef(running).slice(number * count, count), next, place);
  return next;
}

/// Scans some segments side by side, from the values at `places` of `partials`.
SmallVector<Value> ScanBuilder::scanSegments(Builder &at, ValueRange row, ArrayRef<Value> starts, Value steps,
                                             ArrayRef<Value> places, ValueRange partials, ValueRange tensors) {
  SmallVector<Value> carried;
  for (Value place : places)
    for (auto [partial, original] : llvm::zip_equal(partials, op.getResults()))
      carried.push_back(cpu::loadElement(at, tensor::ExtractOp::create(at, partial, place), cpu::getElement(original)));
  carried.append(tensors.begin(), tensors.end());
  carried = loop(at, zero, steps, carried, [&](Builder &inner, Value step, ValueRange values) {
    SmallVector<Value> next, results(values.take_back(count));
    for (auto [number, start] : llvm::enumerate(starts)) {
      Value place = arith::AddIOp::create(inner, start, step);
      SmallVector<Value> combined = combine(inner, values.slice(number * count, count), load(inner, row, place));
      results = store(inner, combined, results, positionOf(inner, row, place));
      next.append(combined);
    }
    next.append(results);
    return next;
  });
  return SmallVector<Value>(ArrayRef(carried).take_back(count));
}

SmallVector<Value> ScanBuilder::scanBlocks(Builder &at, ValueRange row, ValueRange tensors) {
  OpFoldResult extent = extents[scan.dim], segment = at.getIndexAttr(segmentLength);
  OpFoldResult blocks = cpu::divIndices(at, extent, at.getIndexAttr(segmentLength * segmentsPerBlock));
  OpFoldResult segments = cpu::divIndices(at, cpu::addIndices(at, extent, at.getIndexAttr(segmentLength - 1)), segment);
  Value blockCount = cpu::toValue(at, blocks), segmentCount = cpu::toValue(at, segments);
  Value inBlocks = cpu::toValue(at, cpu::mulIndices(at, blocks, at.getIndexAttr(segmentsPerBlock)));
  Value steps = cpu::toValue(at, segment), perBlock = arith::ConstantIndexOp::create(at, segmentsPerBlock);
  SmallVector<Value> partials;
  for (Type type : types)
    partials.push_back(cpu::makeBuffer(at, cpu::getTypeOf({segments}, cpu::getElement(type)), {segments}));

  // The segments of a block: their numbers and where they begin. The last ones of a row: how long they are.
  auto segmentsOf = [&](Builder &inner, Value block) {
    std::pair<SmallVector<Value>, SmallVector<Value>> result;
    Value first = arith::MulIOp::create(inner, block, perBlock);
    for (int64_t number = 0; number < segmentsPerBlock; ++number) {
      Value place = arith::AddIOp::create(inner, first, arith::ConstantIndexOp::create(inner, number));
      result.first.push_back(place);
      result.second.push_back(arith::MulIOp::create(inner, place, steps));
    }
    return result;
  };
  auto lengthFrom = [&](Builder &inner, Value start) -> Value {
    return arith::MinUIOp::create(inner, arith::SubIOp::create(inner, length, start), steps);
  };

  partials = loopOverBlocks(at, blockCount, partials, [&](Builder &inner, Value block, ValueRange values) {
    auto [places, starts] = segmentsOf(inner, block);
    return combineSegments(inner, row, starts, steps, places, values);
  });
  partials = loop(at, inBlocks, segmentCount, partials, [&](Builder &inner, Value place, ValueRange values) {
    Value start = arith::MulIOp::create(inner, place, steps);
    return combineSegments(inner, row, start, lengthFrom(inner, start), place, values);
  });

  SmallVector<Value> carried;
  for (auto [init, original] : llvm::zip_equal(inits, op.getInitValues()))
    carried.push_back(cpu::loadElement(at, cpu::getOnlyElement(at, init), cpu::getElement(original)));
  carried.append(partials);
  carried = loop(at, zero, segmentCount, carried, [&](Builder &inner, Value place, ValueRange values) {
    SmallVector<Value> elements;
    for (auto [partial, original] : llvm::zip_equal(values.take_back(count), op.getResults()))
      elements.push_back(
          cpu::loadElement(inner, tensor::ExtractOp::create(inner, partial, place), cpu::getElement(original)));
    SmallVector<Value> next = combine(inner, values.take_front(count), elements);
    next.append(store(inner, values.take_front(count), values.take_back(count), place));
    return next;
  });
  ValueRange begins = ValueRange(carried).take_back(count);

  SmallVector<Value> results =
      loopOverBlocks(at, blockCount, tensors, [&](Builder &inner, Value block, ValueRange values) {
        auto [places, starts] = segmentsOf(inner, block);
        return scanSegments(inner, row, starts, steps, places, begins, values);
      });
  return loop(at, inBlocks, segmentCount, results, [&](Builder &inner, Value place, ValueRange values) {
    Value start = arith::MulIOp::create(inner, place, steps);
    return scanSegments(inner, row, start, lengthFrom(inner, start), place, begins, values);
  });
}

} // namespace

std::optional<cpu::Scan> cpu::matchScan(stablehlo::ReduceWindowOp op) {
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  // What is summed in another type than the results have is no scan of these.
  if (!llvm::equal(op.getInputs().getTypes(), op.getResultTypes()))
    return std::nullopt;
  Window window(type.getRank(), op.getWindowDimensions(), op.getWindowStrides(), op.getBaseDilations(),
                op.getWindowDilations(), op.getPadding());
  std::optional<Scan> scan;
  for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
    if (window.stride[dim] != 1 || window.baseDilation[dim] != 1 || window.windowDilation[dim] != 1)
      return std::nullopt;
    int64_t low = window.low[dim], high = window.high[dim];
    if (window.size[dim] == 1 && low == 0 && high == 0)
      continue;
    int64_t reach = window.size[dim] - 1;
    bool isForward = low == reach && high == 0, isReverse = low == 0 && high == reach;
    bool covers = window.size[dim] >= (ShapedType::isDynamic(extent) ? stablehlo::kWholeWindow : extent);
    if (scan || !covers || (!isForward && !isReverse))
      return std::nullopt;
    scan = Scan{static_cast<int64_t>(dim), isReverse};
  }
  return scan;
}

SmallVector<Value> cpu::makeScan(stablehlo::ReduceWindowOp op, ValueRange inputs, ValueRange inits,
                                 ArrayRef<Type> types, ArrayRef<OpFoldResult> extents, Scan scan,
                                 ConversionPatternRewriter &rewriter) {
  return ScanBuilder(op, inputs, inits, types, extents, scan, rewriter).build();
}
