// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers here were measured on Zen 3 (AVX2) and Zen 4 (AVX-512); each is named and says what it trades. The time
// of a product is flat around them: a factor of two in any of them costs a few percent.

#include "latewood/compiler/Engines/CPU/ContractionPlan.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace latewood;
using cpu::ContractionDim;
using cpu::ContractionPlan;
using cpu::ContractOp;

// Below this many floating-point operations a product takes less time than it would take to wake another thread.
static constexpr int64_t parallelThreshold = int64_t(1) << 21;
// Operations of a task: about 20 us.
static constexpr int64_t taskOperations = int64_t(1) << 21;
// More tasks only cost; rows are cut only while there are fewer than the second number: each block of rows packs B.
static constexpr int64_t mostTasks = 64, enoughTasks = 8;
// Elements that a task of a matrix-vector product reads: it runs at the speed of memory.
static constexpr int64_t taskElements = int64_t(1) << 17;
// Long rows of the matrix keep the prefetcher going: short chunks cost up to a third.
static constexpr int64_t leastChunk = 512, mostChunk = 4096;
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

static int64_t divideCeil(int64_t numerator, int64_t denominator) {
  return static_cast<int64_t>(llvm::divideCeil(numerator, denominator));
}

static int64_t product(ArrayRef<ContractionDim> dims) {
  int64_t count = 1;
  for (const ContractionDim &dim : dims)
    count *= dim.extent;
  return count;
}

int64_t ContractionPlan::outerCount() const { return product(outer); }
int64_t ContractionPlan::outerReducedCount() const { return product(outerReduced); }

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
    return lhs.strides[operand] > rhs.strides[operand];
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
    if (dims[i].extent >= dims[largest].extent)
      largest = i;
  return largest;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static void planRow(ContractionPlan &plan) {
  int64_t columns = plan.column.extent, steps = plan.reduced.extent, outer = plan.outerCount();
  int64_t elements = columns * steps * plan.outerReducedCount();
  plan.isParallel = outer * elements >= 2 * taskElements;
  int64_t chunk = std::min(columns, mostChunk);
  if (plan.isParallel && outer < enoughTasks) {
    int64_t parts = std::clamp<int64_t>(elements / taskElements, 1, mostTasks);
    chunk = divideCeil(columns, parts);
    if (plan.method == cpu::ContractionMethod::RowTimesMatrix)
      chunk = std::max(std::min(leastChunk, columns), std::max(chunk, divideCeil(columns, 4)));
    chunk = std::min(chunk, mostChunk);
  }
  plan.columnsPerTask = columns <= chunk ? columns : llvm::alignTo(chunk, plan.tile.columns);
}

static void planTiles(ContractionPlan &plan, Type aElement, Type bElement, Type accumulator, target::Level level) {
  int64_t rows = plan.row.extent, steps = plan.reduced.extent, allSteps = steps * plan.outerReducedCount();
  int64_t bytes = accumulator.getIntOrFloatBitWidth() / 8, panelBytes = plan.tile.columns * bytes;
  int64_t operations = 2 * plan.outerCount() * rows * plan.column.extent * allSteps;
  bool rowsAreRuns = plan.column.strides[plan.b] == 1;
  plan.isParallel = operations >= parallelThreshold;

  // B is read where it lies by a few row tiles, by more when its vectors are whole lines, by even more when it is
  // small; otherwise row tiles would fetch scattered lines again and again.
  int64_t bBytes = steps * plan.column.extent * bElement.getIntOrFloatBitWidth() / 8;
  int64_t directTiles = level == target::Level::V4 ? (bBytes <= smallBytes ? 22 : 11) : 2;
  plan.packsB = bElement != accumulator || !rowsAreRuns || plan.rowTiles() > directTiles;

  // Tasks: outer loops first, then columns, then rows.
  plan.panelsPerTask = plan.panels();
  plan.rowTilesPerTask = plan.rowTiles();
  if (plan.isParallel) {
    int64_t wanted = std::clamp<int64_t>(operations / taskOperations, 1, mostTasks);
    int64_t least = plan.packsB && rowsAreRuns ? divideCeil(leastRunBytes, panelBytes) : 1;
    int64_t groups = std::min(divideCeil(plan.panels(), least), divideCeil(wanted, plan.outerCount()));
    plan.panelsPerTask = divideCeil(plan.panels(), std::max<int64_t>(groups, 1));
    int64_t tasks = plan.outerCount() * plan.columnGroups();
    if (tasks < std::min(wanted, enoughTasks)) {
      int64_t blocks = divideCeil(std::min(wanted, enoughTasks), tasks);
      plan.rowTilesPerTask = std::max(std::min<int64_t>(plan.rowTiles(), 4), divideCeil(plan.rowTiles(), blocks));
    }
  }
  plan.panelsPerPack =
      plan.packsB ? std::min(plan.panelsPerTask,
                             std::clamp(packedBytes / (panelBytes * std::max<int64_t>(allSteps, 1)),
                                        divideCeil(leastRunBytes, panelBytes), divideCeil(runBytes, panelBytes)))
                  : plan.panelsPerTask;

  plan.kBlock = std::max<int64_t>(steps, 1);
  if (rows <= mostStreamedRows && bBytes > streamedBytes && rowsAreRuns && plan.panels() > 1) {
    plan.isStreamed = true;
    plan.kBlock = streamedSteps;
    plan.rowTilesPerTask = plan.rowTiles();
    int64_t least = divideCeil(leastChunk, plan.tile.columns), most = divideCeil(mostChunk, plan.tile.columns);
    plan.panelsPerTask = std::clamp(divideCeil(plan.panels(), 4), std::min(least, plan.panels()), most);
    plan.panelsPerPack = plan.panelsPerTask;
  } else if (allSteps > mostSteps) {
    plan.isStreamed = true;
    plan.kBlock = divideCeil(steps, divideCeil(steps, blockSteps));
    plan.panelsPerPack = std::min(plan.panelsPerTask, divideCeil(leastRunBytes, panelBytes));
    int64_t tileBytes = plan.tile.rows * panelBytes * plan.panelsPerPack;
    plan.rowTilesPerTask = std::min(plan.rowTilesPerTask, std::max<int64_t>(1, sumsBytes / tileBytes));
  }

  // A is read where it lies unless its elements must be converted, or its lines would be fetched again and again.
  int64_t rowStride = plan.row.strides[plan.a], stepStride = plan.reduced.strides[plan.a];
  bool isScattered = steps > 1 && stepStride != 1;
  bool conflicts = rows > 4 && plan.kBlock > streamedSteps && (rowStride * bytes) % conflictBytes == 0;
  if (aElement != accumulator || (plan.panels() > 2 && (isScattered || conflicts))) {
    int64_t taskBytes = plan.rowTilesPerTask * plan.tile.rows * allSteps * bytes;
    plan.aSource = plan.columnGroups() == 1 && taskBytes <= mostTaskBytes ? cpu::RowFactorSource::PackedTask
                                                                          : cpu::RowFactorSource::PackedWhole;
  }
}

FailureOr<ContractionPlan> cpu::planContraction(ContractOp op, const target::Target &target, std::string &reason) {
  ContractionPlan plan;
  unsigned numOperands = op->getNumOperands(), init = numOperands - 1;
  Type accumulator = op.getAccumulatorType();
  plan.accumulator = getTypeName(accumulator, false);
  plan.tile = target::getTileShape(target.getLevel(), plan.accumulator);
  if (plan.tile.rows == 0) {
    reason = "there are no kernels that sum in " + plan.accumulator;
    return failure();
  }

  // Strides of all operands in all dimensions.
  SmallVector<int64_t> extents = op.getExtents();
  SmallVector<ContractionDim> dims(extents.size());
  for (auto [dim, extent] : llvm::zip_equal(dims, extents)) {
    dim.extent = extent;
    dim.strides.assign(numOperands, 0);
  }
  for (auto [i, operand, map] : llvm::enumerate(op->getOperands(), op.getMaps())) {
    auto type = dyn_cast<MemRefType>(operand.getType());
    if (!type)
      continue;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (!type.hasStaticShape() || failed(type.getStridesAndOffset(strides, offset)) ||
        llvm::any_of(strides, [](int64_t stride) { return ShapedType::isDynamic(stride) || stride < 0; })) {
      reason = "the layout of operand " + llvm::utostr(i) + " is dynamic";
      return failure();
    }
    for (auto [expression, stride] : llvm::zip_equal(map.getResults(), strides)) {
      auto terms = *getLinearTerms(expression);
      for (auto [dim, factor] : terms)
        dims[dim].strides[i] = factor * stride;
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
             plan.accumulator;
    return failure();
  }

  bool unitColumns = plan.column.extent == 1 || plan.column.strides[plan.b] == 1;
  bool unitSteps = plan.reduced.extent == 1 || plan.reduced.strides[plan.b] == 1;
  if (plan.row.extent == 1 && isa<FloatType>(accumulator) && (unitColumns || unitSteps)) {
    // Both hold for a vector; then the longer run wins.
    bool alongColumns = unitColumns && (!unitSteps || plan.column.extent >= plan.reduced.extent);
    plan.method = alongColumns ? ContractionMethod::RowTimesMatrix : ContractionMethod::RowTimesColumns;
    planRow(plan);
  } else {
    planTiles(plan, element(plan.a), element(plan.b), accumulator, target.getLevel());
  }
  return plan;
}
