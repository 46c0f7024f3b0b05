// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a group to a program: which memory each operand is, the linear address of each access, and the fewest loops. The
// choices that follow (vector loops, phases) are in LoopSchedule.cpp.

#include "latewood/compiler/Engines/CPU/LoopProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Small questions
//===----------------------------------------------------------------------===//

SmallVector<int> Statement::innerLoops(bool reduction) const {
  SmallVector<int> result;
  for (auto [i, loop] : llvm::enumerate(loops))
    if (loop.row < 0 && int(i) != vectorLoop && loop.reduction == reduction)
      result.push_back(i);
  return result;
}

bool Statement::isRowScalar() const {
  return llvm::all_of(loops, [](const Loop &loop) { return loop.reduction || loop.row >= 0; });
}

int64_t Statement::iterations() const {
  int64_t count = 1;
  for (const Loop &loop : loops)
    count *= loop.extent.typical();
  return count;
}

int Program::findStorage(Value tensor) const {
  for (auto [i, storage] : llvm::enumerate(storages))
    if (storage.tensor == tensor)
      return i;
  return -1;
}

int Program::findProducer(Value tensor) const {
  for (auto [i, statement] : llvm::enumerate(statements))
    if (tensor.getDefiningOp() == GenericOp(statement.op).getOperation())
      return i;
  return -1;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// `expr` as a linear function of `numDims` dimensions; nothing if it has a division or a remainder.
static std::optional<Linear> toLinear(AffineExpr expr, unsigned numDims) {
  SmallVector<int64_t> flat;
  if (failed(getFlattenedAffineExpr(expr, numDims, 0, &flat)) || flat.size() != numDims + 1)
    return std::nullopt;
  Linear linear;
  linear.offset = flat.back();
  flat.pop_back();
  linear.strides.assign(flat.begin(), flat.end());
  return linear;
}

/// Fails on extents or strides that are not known.
static bool setExternalStorage(Storage &storage, Value memref) {
  auto seen = cast<MemRefType>(memref.getType());
  // A cast may hide what is known.
  while (auto cast = memref.getDefiningOp<memref::CastOp>())
    memref = cast.getSource();
  auto type = cast<MemRefType>(memref.getType());
  storage.memref = memref;
  storage.elementType = type.getElementType();
  std::optional<SymbolicLayout> layout = getSymbolicLayout(memref);
  if (!layout)
    return false;
  storage.shape = layout->shape;
  storage.strides = layout->strides;
  // A cast may also say what is not known.
  for (auto [size, extent] : llvm::zip_equal(storage.shape, seen.getShape()))
    if (!ShapedType::isDynamic(extent))
      size = extent;
  if (type.getLayout().isIdentity())
    return true;
  int64_t offset = type.getStridesAndOffset().second;
  storage.hasDynamicOffset = ShapedType::isDynamic(offset);
  storage.offset = storage.hasDynamicOffset ? 0 : offset;
  return true;
}

/// Points `access` at `storage` through `map`.
static void setAddress(Access &access, const Storage &storage, AffineMap map) {
  unsigned numLoops = map.getNumDims();
  access.address = Linear();
  access.address.offset = storage.offset;
  access.address.strides.assign(numLoops, 0);
  access.map = map;
  access.kind = Access::Kind::Linear;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    std::optional<Linear> linear = toLinear(expr, numLoops);
    if (!linear) {
      access.kind = Access::Kind::Indexed;
      return;
    }
    access.address.offset += storage.strides[d] * linear->offset;
    for (unsigned l = 0; l < numLoops; ++l)
      access.address.strides[l] += linear->strides[l] * storage.strides[d];
  }
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

std::string cpu::findUnvectorizable(GenericOp op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  for (Operation &nested : op.getBody()->without_terminator()) {
    if (isa<linalg::IndexOp, tensor::ExtractOp>(nested) || nested.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&nested) || nested.getNumRegions() != 0)
      return ("operation '" + nested.getName().getStringRef() + "' has no vector form").str();
    if (!llvm::all_of(nested.getOperandTypes(), isScalar) || !llvm::all_of(nested.getResultTypes(), isScalar))
      return "element type is not a number";
  }
  for (BlockArgument argument : op.getBody()->getArguments())
    if (!isScalar(argument.getType()))
      return "element type is not a number";
  return "";
}

static bool canTrap(GenericOp op) {
  return llvm::any_of(op.getBody()->without_terminator(), [](Operation &nested) {
    return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
               arith::FloorDivSIOp>(nested);
  });
}

void cpu::promoteNarrowFloats(Statement &statement) {
  GenericOp op = statement.op;
  Block *body = op.getBody();
  auto isNarrow = [](Type type) { return type.isBF16() || type.isF16(); };
  Operation *terminator = body->getTerminator();
  // Accumulators of simple combiners: kept in f32 from the first element to the last.
  llvm::SmallPtrSet<Operation *, 4> combines;
  if (statement.combiner.kind == Combiner::Kind::Simple && statement.hasReduction())
    for (auto [i, type] : llvm::enumerate(statement.accumulatorTypes)) {
      if (!isNarrow(type))
        continue;
      BlockArgument accumulator = body->getArgument(op.getNumDpsInputs() + i);
      Operation *combine = terminator->getOperand(i).getDefiningOp();
      OpBuilder builder(combine);
      type = builder.getF32Type();
      for (OpOperand &operand : combine->getOpOperands())
        if (operand.get() != accumulator)
          operand.set(arith::ExtFOp::create(builder, combine->getLoc(), type, operand.get()));
      accumulator.setType(type);
      combine->getResult(0).setType(type);
      combines.insert(combine);
    }
  for (Operation &nested : llvm::make_early_inc_range(body->without_terminator())) {
    if (combines.contains(&nested) ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::BitcastOp, arith::SelectOp, tensor::ExtractOp>(nested) ||
        nested.hasTrait<OpTrait::ConstantLike>() || !OpTrait::hasElementwiseMappableTraits(&nested))
      continue;
    OpBuilder builder(&nested);
    for (OpOperand &operand : nested.getOpOperands())
      if (isNarrow(operand.get().getType()))
        operand.set(arith::ExtFOp::create(builder, nested.getLoc(), builder.getF32Type(), operand.get()));
    builder.setInsertionPointAfter(&nested);
    for (OpResult result : nested.getResults())
      if (isNarrow(result.getType())) {
        Type narrow = result.getType();
        result.setType(builder.getF32Type());
        auto truncate = arith::TruncFOp::create(builder, nested.getLoc(), narrow, result);
        result.replaceAllUsesExcept(truncate, truncate);
      }
  }
}

//===----------------------------------------------------------------------===//
// Fewer loops
//===----------------------------------------------------------------------===//

namespace {
/// All linear functions of the loops of a statement.
template <typename Fn>
void forEachLinear(Statement &statement, Fn fn) {
  for (SmallVector<Access> *accesses : {&statement.inputs, &statement.inits, &statement.outs})
    for (Access &access : *accesses)
      if (access.kind == Access::Kind::Linear)
        fn(access.address);
  for (Linear &dim : statement.dims)
    fn(dim);
}
} // namespace

/// True if linalg.index, or an access that is not linear, needs loop `loop` by itself.
static bool isUsedAsIndex(Statement &statement, unsigned loop) {
  auto usesDim = [&](unsigned d) { return statement.dims[d].strides[loop] != 0; };
  for (SmallVector<Access> *accesses : {&statement.inputs, &statement.inits, &statement.outs})
    for (Access &access : *accesses)
      if (access.kind == Access::Kind::Indexed)
        for (unsigned d = 0; d < statement.dims.size(); ++d)
          if (access.map.isFunctionOfDim(d) && usesDim(d))
            return true;
  for (auto index : statement.op.getBody()->getOps<linalg::IndexOp>())
    if (usesDim(index.getDim()))
      return true;
  return false;
}

static void eraseLoop(Statement &statement, unsigned loop) {
  forEachLinear(statement, [&](Linear &linear) { linear.strides.erase(linear.strides.begin() + loop); });
  statement.loops.erase(statement.loops.begin() + loop);
}

/// Whether loops `outer` and `inner` are one loop of extent outer * inner.
static bool areOneLoop(Statement &statement, unsigned outer, unsigned inner) {
  if (statement.loops[outer].reduction != statement.loops[inner].reduction || isUsedAsIndex(statement, outer) ||
      isUsedAsIndex(statement, inner))
    return false;
  const SymbolicSize &extent = statement.loops[inner].extent;
  bool one = true;
  for (SmallVector<Access> *accesses : {&statement.inputs, &statement.inits, &statement.outs})
    for (Access &access : *accesses)
      if (access.kind == Access::Kind::Linear)
        one = one && access.address.strides[outer] == access.address.strides[inner] * extent;
  return one;
}

static int findRowLoop(const Statement &statement, int row) {
  for (auto [i, loop] : llvm::enumerate(statement.loops))
    if (loop.row == row)
      return i;
  return -1;
}

static void eraseRow(Program &program, int row) {
  program.rows.erase(program.rows.begin() + row);
  for (Statement &statement : program.statements) {
    eraseLoop(statement, findRowLoop(statement, row));
    for (Loop &loop : statement.loops)
      if (loop.row > row)
        --loop.row;
  }
}

static void mergeRows(Program &program, int outer, int inner) {
  program.rows[inner] *= program.rows[outer];
  for (Statement &statement : program.statements)
    statement.loops[findRowLoop(statement, inner)].extent = program.rows[inner];
  eraseRow(program, outer);
}

/// Removes loops of one iteration, and merges loops that are one in memory.
static void coalesce(Program &program) {
  for (int row = program.rows.size() - 1; row >= 0; --row)
    if (program.rows[row] == 1)
      eraseRow(program, row);
  for (Statement &statement : program.statements)
    for (int loop = statement.loops.size() - 1; loop >= 0; --loop)
      if (statement.loops[loop].extent == 1 && statement.loops[loop].row < 0)
        eraseLoop(statement, loop);

  auto findRowPair = [&]() -> std::optional<std::pair<int, int>> {
    for (int outer = 0, e = program.rows.size(); outer < e; ++outer)
      for (int inner = 0; inner < e; ++inner)
        if (outer != inner && llvm::all_of(program.statements, [&](Statement &statement) {
              return areOneLoop(statement, findRowLoop(statement, outer), findRowLoop(statement, inner));
            }))
          return std::pair(outer, inner);
    return std::nullopt;
  };
  while (auto pair = findRowPair())
    mergeRows(program, pair->first, pair->second);

  for (Statement &statement : program.statements) {
    auto findPair = [&]() -> std::optional<std::pair<unsigned, unsigned>> {
      for (unsigned outer = 0; outer < statement.loops.size(); ++outer)
        for (unsigned inner = 0; inner < statement.loops.size(); ++inner)
          if (outer != inner && statement.isInner(outer) && statement.isInner(inner) &&
              areOneLoop(statement, outer, inner))
            return std::pair(outer, inner);
      return std::nullopt;
    };
    while (auto pair = findPair()) {
      statement.loops[pair->second].extent *= statement.loops[pair->first].extent;
      eraseLoop(statement, pair->first);
    }
  }
}

/// Loops in the order of memory: the largest stride of the result, or of the first input, outermost.
static void sortLoops(Program &program) {
  auto strideOf = [](const Statement &statement, unsigned loop) {
    int64_t stride = 0;
    auto consider = [&](const SmallVector<Access> &accesses) {
      for (const Access &access : accesses)
        if (stride == 0 && access.kind == Access::Kind::Linear)
          stride = std::abs(access.address.strides[loop].typical());
    };
    consider(statement.outs);
    consider(statement.inputs);
    return stride;
  };
  for (Statement &statement : program.statements) {
    SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, statement.loops.size()));
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return strideOf(statement, a) > strideOf(statement, b); });
    auto permute = [&](auto &values) {
      auto old = values;
      for (auto [to, from] : llvm::enumerate(order))
        values[to] = old[from];
    };
    permute(statement.loops);
    forEachLinear(statement, [&](Linear &linear) { permute(linear.strides); });
  }
  // Rows in the order of the last statement, the root.
  if (program.statements.empty())
    return;
  SmallVector<int> newIndex(program.rows.size(), -1);
  SmallVector<SymbolicSize> rows;
  for (const Loop &loop : program.statements.back().loops)
    if (loop.row >= 0) {
      newIndex[loop.row] = rows.size();
      rows.push_back(program.rows[loop.row]);
    }
  program.rows = rows;
  for (Statement &statement : program.statements)
    for (Loop &loop : statement.loops)
      if (loop.row >= 0)
        loop.row = newIndex[loop.row];
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// The scalar that `value`, the result of a fill in the region, consists of.
static std::optional<Access> matchFill(Value value, function_ref<Value(Value)> outside) {
  auto fill = value.getDefiningOp<GenericOp>();
  if (!fill || fill.getNumReductionLoops() != 0)
    return std::nullopt;
  Value yielded = fill.getBody()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  Access access;
  access.kind = Access::Kind::Scalar;
  if (auto argument = dyn_cast<BlockArgument>(yielded); argument && argument.getOwner() == fill.getBody()) {
    Value operand = fill->getOperand(argument.getArgNumber());
    if (isa<ShapedType>(operand.getType()))
      return std::nullopt;
    yielded = operand;
  }
  if (matchPattern(yielded, m_Constant(&access.constant)))
    return access;
  if (isa<BlockArgument>(yielded) && isa<GroupOp>(cast<BlockArgument>(yielded).getOwner()->getParentOp())) {
    access.scalar = outside(yielded);
    return access;
  }
  return std::nullopt;
}

static bool isFill(GenericOp op) {
  return op.getNumReductionLoops() == 0 && llvm::all_of(op.getResults(), [](Value result) {
           return matchFill(result, [](Value value) { return value; }).has_value();
         });
}

/// Fails, with a diagnostic, on loops of unknown extent.
static FailureOr<Statement> buildStatement(GenericOp op) {
  Statement statement;
  statement.op = op;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  std::optional<SmallVector<SymbolicSize>> extents = getLoopExtents(op);
  if (!extents)
    return op.emitError() << "works on a shape that is not known";
  for (auto [extent, iterator] : llvm::zip(*extents, iterators))
    statement.loops.push_back({extent, iterator == utils::IteratorType::reduction});
  unsigned numLoops = statement.loops.size();
  for (unsigned d = 0; d < numLoops; ++d) {
    Linear dim;
    dim.strides.assign(numLoops, 0);
    dim.strides[d] = 1;
    statement.dims.push_back(dim);
  }
  for (Value out : op.getDpsInits())
    statement.accumulatorTypes.push_back(getElementTypeOrSelf(out.getType()));
  statement.combiner = matchCombiner(op);
  statement.notVectorizable = findUnvectorizable(op);
  statement.scalarTail = canTrap(op);
  return statement;
}

static bool usesAccumulator(GenericOp op, unsigned result) {
  return !op.getBody()->getArgument(op.getNumDpsInputs() + result).use_empty();
}

static void finish(Program &program, const target::Target &target) {
  coalesce(program);
  sortLoops(program);
  schedule(program, target);
}

FailureOr<Program> cpu::buildProgram(GroupOp group, const target::Target &target) {
  Program program;
  Block &block = group.getBody().front();
  auto outside = [&](Value value) -> Value {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument ? group->getOperand(argument.getArgNumber()) : Value();
  };
  for (BlockArgument argument : block.getArguments())
    if (isa<RankedTensorType>(argument.getType())) {
      Storage &storage = program.storages.emplace_back();
      storage.tensor = argument;
      if (!setExternalStorage(storage, outside(argument)))
        return group.emitError() << "works on a buffer of unknown layout, " << outside(argument).getType();
    } else {
      program.outside[argument] = outside(argument);
    }

  // What is yielded lies in the destination; other results are row-local.
  Operation *yield = block.getTerminator();
  size_t firstOut = group.getInputs().size();
  DenseMap<Value, unsigned> destinations;
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (!value.getDefiningOp<GenericOp>() || !destinations.try_emplace(value, i).second)
      return group.emitError() << "value " << i << " of the group is not a result of its own";

  SmallVector<GenericOp> ops;
  for (Operation &op : block.without_terminator()) {
    if (auto generic = dyn_cast<GenericOp>(op)) {
      // A fill that only starts reductions, or is only read, is a scalar of its users.
      if (!isFill(generic) || llvm::any_of(generic.getResults(), [&](Value v) { return destinations.contains(v); }))
        ops.push_back(generic);
    } else if (!isa<tensor::EmptyOp>(op) && !op.hasTrait<OpTrait::ConstantLike>()) {
      return op.emitOpError() << "is not expected in a cpu.group";
    }
  }

  if (!ops.empty()) {
    auto rows = ops.back()->getAttrOfType<DenseI64ArrayAttr>(GroupOp::getRowsAttrName());
    std::optional<SmallVector<SymbolicSize>> extents = getLoopExtents(ops.back());
    if (rows && extents)
      for (int64_t loop : rows.asArrayRef())
        program.rows.push_back((*extents)[loop]);
  }
  for (GenericOp op : ops) {
    FailureOr<Statement> built = buildStatement(op);
    if (failed(built))
      return failure();
    Statement &statement = *built;
    auto rows = op->getAttrOfType<DenseI64ArrayAttr>(GroupOp::getRowsAttrName());
    if (rows) {
      if (rows.size() != int64_t(program.rows.size()))
        return op.emitOpError() << "has " << rows.size() << " rows where its group has " << program.rows.size();
      for (auto [row, loop] : llvm::enumerate(rows.asArrayRef()))
        statement.loops[loop].row = row;
    } else if (ops.size() == 1) {
      for (Loop &loop : statement.loops)
        if (!loop.reduction) {
          loop.row = program.rows.size();
          program.rows.push_back(loop.extent);
        }
    } else if (!program.rows.empty()) {
      return op.emitOpError() << "has no rows";
    }
    // Results first: a statement may read the contents of its destination.
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      Storage storage;
      AffineMap map = maps[op.getNumDpsInputs() + i];
      auto destination = destinations.find(result);
      if (destination != destinations.end()) {
        (void)setExternalStorage(storage, group->getOperand(firstOut + destination->second)); // an argument: checked
      } else {
        auto type = cast<RankedTensorType>(result.getType());
        storage.elementType = type.getElementType();
        std::optional<SmallVector<SymbolicSize>> shape = getSymbolicShape(result);
        if (!shape)
          return op.emitError() << "works on a shape that is not known";
        storage.shape = *shape;
        storage.strides.assign(type.getRank(), 0);
        for (int64_t d = type.getRank() - 1; d >= 0; --d) {
          auto dim = dyn_cast<AffineDimExpr>(map.getResult(d));
          if (!dim)
            return op.emitOpError() << "result " << i << " has an indexing map that is not a projected permutation";
          if (statement.loops[dim.getPosition()].row >= 0)
            continue;
          storage.strides[d] = storage.elements;
          storage.elements *= storage.shape[d];
        }
      }
      storage.tensor = result;
      Access out;
      out.tensor = result;
      out.storage = program.storages.size();
      setAddress(out, storage, map);
      statement.outs.push_back(out);
      program.storages.push_back(storage);
    }
    auto makeAccess = [&](Value tensor, AffineMap map) -> FailureOr<Access> {
      Access access;
      if (!isa<RankedTensorType>(tensor.getType())) {
        access.kind = Access::Kind::Scalar;
        if (matchPattern(tensor, m_Constant(&access.constant)))
          return access;
        access.scalar = outside(tensor);
        return access;
      }
      if (std::optional<Access> fill = matchFill(tensor, outside))
        return *fill;
      access.tensor = tensor;
      access.storage = program.findStorage(tensor);
      if (access.storage < 0)
        return op.emitOpError() << "reads a tensor that the group does not have";
      setAddress(access, program.storages[access.storage], map);
      return access;
    };
    for (auto [i, input] : llvm::enumerate(op.getDpsInputs())) {
      if (op.getBody()->getArgument(i).use_empty()) {
        statement.inputs.emplace_back();
        continue;
      }
      FailureOr<Access> access = makeAccess(input, maps[i]);
      if (failed(access))
        return failure();
      statement.inputs.push_back(*access);
    }
    for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
      if (!usesAccumulator(op, i)) {
        statement.inits.emplace_back();
        continue;
      }
      FailureOr<Access> access = makeAccess(init, maps[op.getNumDpsInputs() + i]);
      if (failed(access))
        return failure();
      statement.inits.push_back(*access);
    }
    keepOrderUnlessIdentity(statement);
    for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
      if (program.findStorage(extract.getTensor()) < 0)
        return extract.emitOpError() << "reads a tensor that the group does not have";
    program.statements.push_back(std::move(*built));
  }
  finish(program, target);
  return program;
}

FailureOr<Program> cpu::buildProgram(GenericOp op, const target::Target &target) {
  Program program;
  FailureOr<Statement> built = buildStatement(op);
  if (failed(built))
    return failure();
  Statement &statement = *built;
  for (Loop &loop : statement.loops)
    if (!loop.reduction) {
      loop.row = program.rows.size();
      program.rows.push_back(loop.extent);
    }
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  bool known = true;
  auto makeAccess = [&](Value operand, AffineMap map) {
    Access access;
    if (!isa<MemRefType>(operand.getType())) {
      access.kind = Access::Kind::Scalar;
      access.scalar = operand;
      return access;
    }
    Storage storage;
    if (!setExternalStorage(storage, operand)) {
      known = false;
      return access;
    }
    access.storage = program.storages.size();
    setAddress(access, storage, map);
    program.storages.push_back(storage);
    return access;
  };
  for (auto [i, input] : llvm::enumerate(op.getDpsInputs()))
    statement.inputs.push_back(op.getBody()->getArgument(i).use_empty() ? Access() : makeAccess(input, maps[i]));
  for (auto [i, out] : llvm::enumerate(op.getDpsInits())) {
    statement.outs.push_back(makeAccess(out, maps[op.getNumDpsInputs() + i]));
    statement.inits.push_back(usesAccumulator(op, i) ? statement.outs.back() : Access());
  }
  keepOrderUnlessIdentity(statement);
  if (!known)
    return op.emitError() << "works on a buffer of unknown layout";
  program.statements.push_back(std::move(*built));
  finish(program, target);
  return program;
}
