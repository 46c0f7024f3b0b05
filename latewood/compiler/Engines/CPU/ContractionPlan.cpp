// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers here were measured on Zen 3 (AVX2) and Zen 4 (AVX-512); each is named and says what it trades. The time
// of a product is flat around them: a factor of two in any of them costs a few percent.

#include "latewood/compiler/Engines/CPU/ContractionPlan.h"
#include "latewood/compiler/Engines/CPU/SizeBuilder.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace latewood;
using cpu::ContractionDim;
using cpu::ContractionPlan;
using cpu::ContractOp;
using cpu::PlanQuestion;
using cpu::SizeBuilder;
using cpu::SymbolicSize;

// Below this many floating-point operations a product takes less time than it would take to wake another thread.
static constexpr int64_t parallelThreshold = int64_t(1) << 21;
// Operations of a task: about 20 us.
static constexpr int64_t taskOperations = int64_t(1) << 21;
// More tasks only cost; rows are cut only while there are fewer than the second number: each block of rows packs B.
static constexpr int64_t mostTasks = 64, enoughTasks = 8, leastRowTiles = 4;
// Elements that a task of a matrix-vector product reads: it runs at the speed of memory.
static constexpr int64_t taskElements = int64_t(1) << 17;
// Long rows of the matrix keep the prefetcher going: short chunks cost up to a third.
static constexpr int64_t leastChunk = 512, mostChunk = ContractionPlan::mostColumnsPerTask;
// Rows of A at a multiple of this distance share a few sets of the first-level cache.
static constexpr int64_t conflictBytes = 2048;
// Packed panels of B that are used together should stay in the second-level cache, and be read in runs of this many
// bytes.
static constexpr int64_t packedBytes = int64_t(512) << 10, runBytes = 512, leastRunBytes = 256;
// A matrix that stays in the second-level cache however it is read.
static constexpr int64_t smallBytes = int64_t(256) << 10;
// Longest sum that is packed at once; a longer one is made in blocks of so many steps.
static constexpr int64_t mostSteps = 4096, blockSteps = 2048;
// Sums that a group of panels keeps in memory between blocks.
static constexpr int64_t sumsBytes = int64_t(512) << 10;
// A matrix that is larger than this and meets no more rows than that is streamed, so many steps at a time.
static constexpr int64_t streamedBytes = int64_t(2) << 20, mostStreamedRows = 24, streamedSteps = 16;
// Scratch of one task.
static constexpr int64_t mostTaskBytes = int64_t(1) << 20;

static SymbolicSize countOf(ArrayRef<ContractionDim> dims) {
  SymbolicSize count = 1;
  for (const ContractionDim &dim : dims)
    count *= dim.extent;
  return count;
}

SymbolicSize ContractionPlan::outerCount() const { return countOf(outer); }
SymbolicSize ContractionPlan::outerReducedCount() const { return countOf(outerReduced); }

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string getTypeName(Type type, bool isUnsigned) {
  if (type.isBF16())
    return "bf16";
  if (auto floatType = dyn_cast<FloatType>(type))
    return "f" + llvm::utostr(floatType.getWidth());
  return (isUnsigned ? "u" : "i") + llvm::utostr(type.getIntOrFloatBitWidth());
}

// The ending of library functions that read elements of `factor` for sums in `accumulator`; empty where there are none.
static std::string getSuffix(Type factor, bool isUnsigned, Type accumulator) {
  std::string to = getTypeName(accumulator, false);
  if (factor == accumulator)
    return to;
  bool exists = accumulator.isF32() ? factor.isBF16() || factor.isF16()
                                    : accumulator.isInteger(32) && (factor.isInteger(8) || factor.isInteger(16));
  return exists ? getTypeName(factor, isUnsigned) + "_" + to : std::string();
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

// Whether `inner` runs inside `outer` without a gap in all operands.
static bool isContiguous(const ContractionDim &outer, const ContractionDim &inner) {
  return llvm::all_of(llvm::zip_equal(outer.strides, inner.strides),
                      [&](auto strides) { return std::get<0>(strides) == std::get<1>(strides) * inner.extent; });
}

// Sorts dimensions from the outermost to the innermost as `operand` has them, and merges what is contiguous.
static void mergeDims(SmallVectorImpl<ContractionDim> &dims, unsigned operand) {
  llvm::stable_sort(dims, [&](const ContractionDim &lhs, const ContractionDim &rhs) {
    return lhs.strides[operand].typical() > rhs.strides[operand].typical();
  });
  SmallVector<ContractionDim> merged;
  for (ContractionDim &dim : dims) {
    if (!merged.empty() && isContiguous(merged.back(), dim)) {
      dim.extent *= merged.back().extent;
      merged.back() = dim;
    } else {
      merged.push_back(dim);
    }
  }
  dims = std::move(merged);
}

// Takes the dimension at `position` out of `dims`; without one, a dimension of one position.
static ContractionDim takeDim(SmallVectorImpl<ContractionDim> &dims, size_t position, size_t numOperands) {
  if (dims.empty()) {
    ContractionDim dim;
    dim.strides.assign(numOperands, 0);
    return dim;
  }
  ContractionDim dim = dims[position];
  dims.erase(dims.begin() + position);
  return dim;
}

static size_t getLargest(ArrayRef<ContractionDim> dims) {
  size_t largest = 0;
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i].extent.typical() >= dims[largest].extent.typical())
      largest = i;
  return largest;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

namespace {
/// Makes a plan from strides: choices from questions, numbers from `sizes`.
class Planner {
public:
  Planner(ContractionPlan &plan, SizeBuilder &sizes, ArrayRef<PlanQuestion> answers, std::optional<PlanQuestion> &open)
      : plan(plan), sizes(sizes), answers(answers), open(open) {}

  bool isOne(const SymbolicSize &size);
  bool isAtMost(const SymbolicSize &size, int64_t bound);
  void planRow();
  void planTiles(Type aElement, Type bElement, Type accumulator, target::Level level);

private:
  bool ask(PlanQuestion question) {
    if (!open)
      open = std::move(question);
    return false;
  }
  /// What to go by where no question is worth it: a constant is itself.
  static int64_t guess(const SymbolicSize &size) { return size.typical(); }
  bool isDynamic() const {
    return !(plan.outerCount() * plan.row.extent * plan.column.extent * plan.reduced.extent * plan.outerReducedCount())
                .isConstant();
  }

  ContractionPlan &plan;
  SizeBuilder &sizes;
  ArrayRef<PlanQuestion> answers;
  std::optional<PlanQuestion> &open;
};
} // namespace

bool Planner::isOne(const SymbolicSize &size) {
  if (size.isConstant())
    return size == 1;
  for (const PlanQuestion &known : answers) {
    if (known.size != size)
      continue;
    if (known.isExact && known.bound == 1)
      return known.answer;
    if (!known.isExact && known.bound >= 1 && !known.answer)
      return false;
  }
  return ask({size, 1, /*isExact=*/true});
}

bool Planner::isAtMost(const SymbolicSize &size, int64_t bound) {
  if (size.isConstant())
    return size.getConstant() <= bound;
  for (const PlanQuestion &known : answers) {
    if (known.size != size)
      continue;
    if (known.isExact && known.answer)
      return known.bound <= bound;
    if (!known.isExact && (known.answer ? known.bound <= bound : known.bound >= bound))
      return known.answer;
  }
  return ask({size, bound, /*isExact=*/false});
}

void Planner::planRow() {
  SymbolicSize columns = plan.column.extent, outer = plan.outerCount();
  SymbolicSize elements = columns * plan.reduced.extent * plan.outerReducedCount();
  bool isFixed = (outer * elements).isConstant();
  plan.isParallel = !isFixed || (outer * elements).getConstant() >= 2 * taskElements;
  SymbolicSize chunk = sizes.minimum(columns, mostChunk);
  if (plan.isParallel && guess(outer) < enoughTasks && columns != 1) {
    SymbolicSize parts = sizes.clamp(sizes.floorDiv(elements, taskElements), 1, mostTasks);
    SymbolicSize cut = sizes.ceilDiv(columns, parts);
    if (plan.method == cpu::ContractionMethod::RowTimesMatrix)
      cut = sizes.maximum(sizes.minimum(leastChunk, columns), sizes.maximum(cut, sizes.ceilDiv(columns, 4)));
    chunk = sizes.minimum(cut, mostChunk);
  }
  if (!isFixed)
    plan.outerPerTask = sizes.ifLess(outer * elements, 2 * taskElements, outer, 1);
  // The rounded chunk is no more than all columns.
  SymbolicSize rounded = sizes.ceilDiv(chunk, plan.tile.columns) * plan.tile.columns;
  plan.columnsPerTask = sizes.ifLess(chunk, columns, rounded, columns);
  plan.columnGroups = sizes.ceilDiv(columns, plan.columnsPerTask);
}

void Planner::planTiles(Type aElement, Type bElement, Type accumulator, target::Level level) {
  const target::TileShape &tile = plan.tile;
  SymbolicSize rows = plan.row.extent, steps = plan.reduced.extent, allSteps = steps * plan.outerReducedCount();
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8, panelBytes = tile.columns * bytes;
  SymbolicSize operations = 2 * plan.outerCount() * rows * plan.column.extent * allSteps;
  bool rowsAreRuns = plan.column.strides[plan.b] == 1;
  plan.rowTiles = sizes.ceilDiv(rows, tile.rows);
  plan.panels = sizes.ceilDiv(plan.column.extent, tile.columns);
  plan.fullPanels = sizes.floorDiv(plan.column.extent, tile.columns);
  plan.tailColumns = plan.column.extent - plan.fullPanels * tile.columns;
  // With dynamic extents there are tasks in any case: one, where the product is small.
  plan.isParallel = !operations.isConstant() || operations.getConstant() >= parallelThreshold;

  // B is read where it lies by a few row tiles, by more when its vectors are whole lines, by even more when it is
  // small; otherwise row tiles would fetch scattered lines again and again.
  SymbolicSize bBytes = steps * plan.column.extent * (bElement.getIntOrFloatBitWidth() / 8);
  int64_t directTiles = level == target::Level::V4 ? (guess(bBytes) <= smallBytes ? 22 : 11) : 2;
  plan.packsB = bElement != accumulator || !rowsAreRuns || !isAtMost(rows, directTiles * tile.rows);

  // Tasks: outer loops first, then columns, then rows.
  plan.panelsPerTask = plan.panels;
  plan.rowTilesPerTask = plan.rowTiles;
  plan.columnGroups = plan.rowBlocks = 1;
  if (plan.isParallel) {
    SymbolicSize wanted = sizes.clamp(sizes.floorDiv(operations, taskOperations), 1, mostTasks);
    int64_t least = plan.packsB && rowsAreRuns ? llvm::divideCeil(leastRunBytes, panelBytes) : 1;
    SymbolicSize most = sizes.ceilDiv(plan.panels, least);
    if (most != 1) {
      SymbolicSize groups = sizes.minimum(most, sizes.ceilDiv(wanted, plan.outerCount()));
      plan.panelsPerTask = sizes.ceilDiv(plan.panels, sizes.maximum(groups, 1));
    }
    plan.columnGroups = sizes.ceilDiv(plan.panels, plan.panelsPerTask);
    SymbolicSize tasks = plan.outerCount() * plan.columnGroups;
    if (!plan.rowTiles.isConstant() || plan.rowTiles.getConstant() > leastRowTiles) {
      // One block, where there are enough tasks.
      SymbolicSize blocks = sizes.ceilDiv(sizes.minimum(wanted, enoughTasks), tasks);
      plan.rowTilesPerTask =
          sizes.maximum(sizes.minimum(plan.rowTiles, leastRowTiles), sizes.ceilDiv(plan.rowTiles, blocks));
    }
    if (!operations.isConstant()) {
      plan.outerPerTask = sizes.ifLess(operations, parallelThreshold, plan.outerCount(), 1);
      plan.tilesPerPack = sizes.ifLess(operations, parallelThreshold, plan.rowTiles, plan.tilesPerPack);
    }
  }
  plan.panelsPerPack = plan.panelsPerTask;
  if (plan.packsB) {
    plan.panelsPerPack =
        sizes.clamp(sizes.floorDiv(packedBytes, panelBytes * sizes.maximum(allSteps, 1)),
                    llvm::divideCeil(leastRunBytes, panelBytes), llvm::divideCeil(runBytes, panelBytes));
    if (plan.panelsPerTask.isConstant())
      plan.panelsPerPack = sizes.minimum(plan.panelsPerTask, plan.panelsPerPack);
  }

  plan.kBlock = sizes.maximum(steps, 1);
  bool isLarge = guess(bBytes) > streamedBytes && guess(plan.panels) > 1;
  if (isLarge && rowsAreRuns && isAtMost(rows, mostStreamedRows)) {
    plan.isStreamed = true;
    plan.kBlock = streamedSteps;
    plan.rowTilesPerTask = plan.rowTiles;
    int64_t least = llvm::divideCeil(leastChunk, tile.columns), most = llvm::divideCeil(mostChunk, tile.columns);
    SymbolicSize quarter = sizes.ceilDiv(plan.panels, 4);
    plan.panelsPerTask = sizes.minimum(sizes.maximum(quarter, sizes.minimum(least, plan.panels)), most);
    plan.panelsPerPack = plan.panelsPerTask;
  } else if (!isAtMost(allSteps, mostSteps)) {
    plan.isStreamed = true;
    plan.kBlock = sizes.ceilDiv(steps, sizes.ceilDiv(steps, blockSteps));
    plan.panelsPerPack = llvm::divideCeil(leastRunBytes, panelBytes);
    if (plan.panelsPerTask.isConstant())
      plan.panelsPerPack = sizes.minimum(plan.panelsPerTask, plan.panelsPerPack);
    SymbolicSize most = sizes.maximum(1, sizes.floorDiv(sumsBytes, tile.rows * panelBytes * plan.panelsPerPack));
    plan.rowTilesPerTask = sizes.minimum(plan.rowTilesPerTask, most);
  }
  plan.columnGroups = sizes.ceilDiv(plan.panels, plan.panelsPerTask);
  plan.rowBlocks = sizes.ceilDiv(plan.rowTiles, plan.rowTilesPerTask);

  // A is read where it lies unless its elements must be converted, or its lines would be fetched again and again.
  SymbolicSize rowStride = plan.row.strides[plan.a], stepStride = plan.reduced.strides[plan.a];
  bool isScattered = steps != 1 && steps != 0 && stepStride != 1;
  bool conflicts = guess(rows) > 4 && guess(plan.kBlock) > streamedSteps && rowStride.isConstant() &&
                   (rowStride.getConstant() * bytes) % conflictBytes == 0;
  if (aElement != accumulator || (guess(plan.panels) > 2 && (isScattered || conflicts))) {
    SymbolicSize taskBytes = plan.rowTilesPerTask * tile.rows * allSteps * bytes;
    bool isSmall = taskBytes.isConstant() && plan.columnGroups == 1 && taskBytes.getConstant() <= mostTaskBytes;
    plan.aSource = isSmall ? cpu::RowFactorSource::PackedTask : cpu::RowFactorSource::PackedWhole;
  }
}

FailureOr<ContractionPlan> cpu::planContraction(ContractOp op, const target::Target &target,
                                                ArrayRef<PlanQuestion> answers, OpBuilder &builder,
                                                std::optional<PlanQuestion> &open, std::string &reason) {
  ContractionPlan plan;
  unsigned numOperands = op->getNumOperands(), init = numOperands - 1;
  Type accumulator = op.getAccumulatorType();
  plan.kernel = getTypeName(accumulator, false);
  plan.tile = target::getTileShape(target.getLevel(), plan.kernel);
  if (plan.tile.rows == 0) {
    reason = "there are no kernels that sum in " + plan.kernel;
    return failure();
  }

  // Strides of all operands in all dimensions.
  SmallVector<ContractionDim> dims(op.getNumDims());
  SmallVector<int64_t> extents = op.getExtents();
  for (auto [dim, extent] : llvm::zip_equal(dims, extents)) {
    dim.extent = extent;
    dim.strides.assign(numOperands, 0);
  }
  for (auto [i, operand, map] : llvm::enumerate(op->getOperands(), op.getMaps())) {
    if (!isa<MemRefType>(operand.getType()))
      continue;
    std::optional<SymbolicLayout> layout = getSymbolicLayout(operand);
    if (!layout || llvm::any_of(layout->strides, [](const SymbolicSize &stride) { return stride.typical() < 0; })) {
      reason = "the layout of operand " + llvm::utostr(i) + " is dynamic";
      return failure();
    }
    for (auto [expression, stride, extent] : llvm::zip_equal(map.getResults(), layout->strides, layout->shape)) {
      auto terms = getLinearTerms(expression);
      for (auto [dim, factor] : *terms)
        dims[dim].strides[i] = factor * stride;
      if (auto plain = dyn_cast<AffineDimExpr>(expression);
          plain && ShapedType::isDynamic(extents[plain.getPosition()]))
        dims[plain.getPosition()].extent = extent;
    }
  }

  SmallVector<ContractionDim> batch, rows, columns, reduced;
  for (auto [dim, kind] : llvm::zip_equal(dims, op.getDimKinds())) {
    if (dim.extent == 1)
      continue;
    (kind == ContractOp::DimKind::Batch    ? batch
     : kind == ContractOp::DimKind::Row    ? rows
     : kind == ContractOp::DimKind::Column ? columns
                                           : reduced)
        .push_back(dim);
  }
  mergeDims(batch, init);
  mergeDims(rows, init);
  mergeDims(columns, init);

  // The columns are where the result is contiguous.
  auto isInnermost = [&](ArrayRef<ContractionDim> free) { return !free.empty() && free.back().strides[init] == 1; };
  if (columns.empty() || (!isInnermost(columns) && isInnermost(rows))) {
    std::swap(rows, columns);
    std::swap(plan.a, plan.b);
  }
  mergeDims(reduced, plan.a);
  plan.row = takeDim(rows, getLargest(rows), numOperands);
  plan.column = takeDim(columns, columns.empty() ? 0 : columns.size() - 1, numOperands);
  plan.reduced = takeDim(reduced, getLargest(reduced), numOperands);
  plan.outer = std::move(batch);
  llvm::append_range(plan.outer, rows);
  llvm::append_range(plan.outer, columns);
  plan.outerReduced = std::move(reduced);

  auto element = [&](unsigned operand) { return getElementTypeOrSelf(op->getOperand(operand).getType()); };
  auto isUnsigned = [&](unsigned operand) { return operand == 0 ? op.getLhsUnsigned() : op.getRhsUnsigned(); };
  plan.aSuffix = getSuffix(element(plan.a), isUnsigned(plan.a), accumulator);
  plan.bSuffix = getSuffix(element(plan.b), isUnsigned(plan.b), accumulator);
  if (plan.aSuffix.empty() || plan.bSuffix.empty()) {
    reason = "there is no packing of " + getTypeName(element(plan.aSuffix.empty() ? plan.a : plan.b), false) + " as " +
             plan.kernel;
    return failure();
  }

  SizeBuilder sizes(builder, op.getLoc());
  Planner planner(plan, sizes, answers, open);
  bool unitColumns = plan.column.extent == 1 || plan.column.strides[plan.b] == 1;
  bool unitSteps = plan.reduced.extent == 1 || plan.reduced.strides[plan.b] == 1;
  if (isa<FloatType>(accumulator) && (unitColumns || unitSteps) && planner.isOne(plan.row.extent)) {
    plan.row.extent = 1;
    // Both hold for a vector; then the longer run wins.
    bool alongColumns = unitColumns && (!unitSteps || plan.column.extent.typical() >= plan.reduced.extent.typical());
    plan.method = alongColumns ? ContractionMethod::RowTimesMatrix : ContractionMethod::RowTimesColumns;
    planner.planRow();
  } else {
    planner.planTiles(element(plan.a), element(plan.b), accumulator, target.getLevel());
    // Narrow integers are multiplied in pairs. A block of a streamed sum would have to be even.
    auto isNarrow = [&](unsigned operand) {
      Type type = element(operand);
      return type.isInteger(8) || (type.isInteger(16) && !isUnsigned(operand));
    };
    plan.packedSteps = plan.reduced.extent;
    if (accumulator.isInteger(32) && isNarrow(plan.a) && isNarrow(plan.b) && !plan.isStreamed) {
      plan.kernel = "i16x2";
      plan.packedSteps = sizes.ceilDiv(plan.reduced.extent, 2);
      for (auto [suffix, operand] : {std::pair{&plan.aSuffix, plan.a}, {&plan.bSuffix, plan.b}})
        *suffix = getTypeName(element(operand), isUnsigned(operand)) + "_" + plan.kernel;
    }
  }
  return plan;
}
