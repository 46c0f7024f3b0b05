// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts linalg operations that run over the same rows into one cpu.group.
//
// From each operation that is not in a group yet, last to first, a group grows towards its producers. A producer joins
// if all its users that come before the root of the group are in the group (so that the group can stand where its root
// stands), and if what remains of the common rows is worth it: enough rows for the threads, and what lies between the
// operations fits the first-level cache for one row. A softmax is one group, with the rows that the maximum and the sum
// leave over; so is a layer normalization with the residual addition before it, whose sum is also a result of the
// group.
//
// In: linalg.generic on tensors. Out: every one of them is in a group, alone if need be; fills have been copied to
// their users.

#include "latewood/compiler/Dialect/CPU/CPU.h"
#include "latewood/compiler/Engines/CPU/Passes.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace latewood::cpu {
#define GEN_PASS_DEF_FORMGROUPSPASS
#include "latewood/compiler/Engines/CPU/Passes.h.inc"
} // namespace latewood::cpu

using namespace mlir;
using namespace latewood;
using namespace latewood::cpu;
using linalg::GenericOp;

namespace {

/// Rows that a group must keep to be worth its lost parallelism, unless it is small.
constexpr int64_t fewestRows = 16;
constexpr int64_t smallGroup = 1 << 14;
/// Bytes per row between the operations of a group.
constexpr int64_t largestRow = 128 << 10;
/// What the operations of a group cost together, in operations of code: they become one function, and the time to
/// compile a function grows faster than its size.
constexpr int64_t largestCode = 512;
/// The size of an elementary function, which becomes a polynomial.
constexpr int64_t elementaryCode = 16;

/// The loops of each operation that are the rows of the group, in the order of the root.
struct Group {
  GenericOp root;
  llvm::MapVector<Operation *, SmallVector<int64_t>> rows;
  int64_t code = 0;

  bool contains(Operation *op) const { return rows.contains(op); }
};

int64_t codeOf(GenericOp op) {
  int64_t size = 0;
  op.getBody()->walk([&](Operation *nested) {
    bool simple = !isa<math::MathDialect>(nested->getDialect()) || isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(nested);
    size += simple ? 1 : elementaryCode;
  });
  return size;
}

bool isFill(GenericOp op) {
  return op.getNumReductionLoops() == 0 && op->getNumResults() == 1 && op.getBody()->without_terminator().empty() &&
         llvm::none_of(op.getDpsInputs(), [](Value input) { return isa<ShapedType>(input.getType()); }) &&
         op.getBody()->getArguments().back().use_empty();
}

/// The position at which `map` has exactly loop `loop`, if that is the only mention of the loop.
std::optional<unsigned> findPosition(AffineMap map, int64_t loop) {
  std::optional<unsigned> position;
  for (auto [i, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (position || !isa<AffineDimExpr>(expr))
      return std::nullopt;
    position = i;
  }
  return position;
}

/// For each row of the group, the loop of `producer` that computes it; -1 where some reader takes other rows as well.
SmallVector<int64_t> mapRows(const Group &group, GenericOp producer) {
  size_t count = group.rows.front().second.size();
  SmallVector<int64_t> result(count, -1);
  SmallVector<utils::IteratorType> iterators = producer.getIteratorTypesArray();
  bool first = true;
  for (OpResult value : producer->getResults()) {
    AffineMap out = producer.getIndexingMapMatchingResult(value);
    for (OpOperand &use : value.getUses()) {
      auto entry = group.rows.find(use.getOwner());
      if (entry == group.rows.end())
        continue;
      AffineMap in = cast<GenericOp>(use.getOwner()).getMatchingIndexingMap(&use);
      for (size_t row = 0; row < count; ++row) {
        int64_t loop = -1;
        if (entry->second[row] >= 0)
          if (std::optional<unsigned> position = findPosition(in, entry->second[row]))
            if (auto dim = dyn_cast<AffineDimExpr>(out.getResult(*position)))
              if (iterators[dim.getPosition()] == utils::IteratorType::parallel)
                loop = dim.getPosition();
        result[row] = first || result[row] == loop ? loop : -1;
      }
      first = false;
    }
  }
  return result;
}

using Extents = SmallVector<SymbolicSize>;

/// An empty tensor like `value`, which dominates the builder's position.
Value emptyLike(OpBuilder &builder, Location loc, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> sizes;
  if (!type.hasStaticShape())
    for (auto [size, extent] : llvm::zip_equal(*getSymbolicShape(value), type.getShape()))
      if (ShapedType::isDynamic(extent))
        sizes.push_back(size.materialize(builder, loc));
  return tensor::EmptyOp::create(builder, loc, type.getShape(), type.getElementType(), sizes);
}

struct FormGroupsPass : cpu::impl::FormGroupsPassBase<FormGroupsPass> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) {
      if (!isa_and_nonnull<linalg::LinalgOp, GroupOp, ContractOp>(block->getParentOp()))
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      copyFills(*block);
      SmallVector<GenericOp> ops = llvm::to_vector(block->getOps<GenericOp>());
      llvm::SmallPtrSet<Operation *, 32> taken;
      for (GenericOp op : llvm::reverse(ops)) {
        if (taken.contains(op))
          continue;
        Group group = grow(op, taken);
        for (auto &[member, rows] : group.rows)
          taken.insert(member);
        build(group);
      }
    }
  }

  /// A fill has one user, so that it can be part of the user's group.
  void copyFills(Block &block) {
    for (GenericOp op : llvm::to_vector(block.getOps<GenericOp>())) {
      if (!isFill(op))
        continue;
      llvm::SetVector<Operation *> users(op->user_begin(), op->user_end());
      for (Operation *user : users) {
        if (users.size() == 1 && user->getBlock() == &block)
          continue;
        if (!isa<GenericOp>(user))
          continue;
        OpBuilder builder(user);
        user->replaceUsesOfWith(op->getResult(0), builder.clone(*op)->getResult(0));
      }
      if (op->use_empty())
        op->erase();
    }
  }

  Group grow(GenericOp root, const llvm::SmallPtrSetImpl<Operation *> &taken) {
    Group group;
    group.root = root;
    std::optional<Extents> extents = getLoopExtents(root);
    SmallVector<int64_t> rows;
    if (extents)
      for (auto [loop, iterator] : llvm::enumerate(root.getIteratorTypesArray()))
        if (iterator == utils::IteratorType::parallel && (*extents)[loop] != 1 && (*extents)[loop] != 0)
          rows.push_back(loop);
    group.rows[root] = rows;
    group.code = codeOf(root);
    if (!extents)
      return group;
    // A statement that reads its destination in place keeps to itself.
    SmallVector<Operation *> worklist = {root};
    llvm::SmallPtrSet<Operation *, 8> refused;
    while (!worklist.empty()) {
      // The last producer in the block first: its users are decided by then.
      Operation *candidate = nullptr;
      for (Operation *member : worklist)
        for (Value operand : member->getOperands()) {
          auto producer = operand.getDefiningOp<GenericOp>();
          if (producer && producer->getBlock() == root->getBlock() && !taken.contains(producer) &&
              !group.contains(producer) && !refused.contains(producer) &&
              (!candidate || candidate->isBeforeInBlock(producer)))
            candidate = producer;
        }
      if (!candidate)
        break;
      if (tryAdd(group, cast<GenericOp>(candidate))) {
        worklist.push_back(candidate);
        refused.clear();
      } else {
        refused.insert(candidate);
      }
    }
    return group;
  }

  bool tryAdd(Group &group, GenericOp producer) {
    for (Operation *user : producer->getUsers()) {
      if (group.contains(user)) {
        // A table that is looked up is needed as a whole.
        continue;
      }
      Operation *ancestor = producer->getBlock()->findAncestorOpInBlock(*user);
      if (!ancestor)
        return false;
      if (group.contains(ancestor)) // used inside a body: by tensor.extract
        return false;
      if (ancestor->isBeforeInBlock(group.root))
        return false;
    }
    for (AffineMap map : producer.getIndexingMapsArray())
      if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) && map == producer.getIndexingMapsArray().back())
        return false;
    if (isFill(producer)) {
      SmallVector<int64_t> rows = mapRows(group, producer);
      if (llvm::is_contained(rows, -1))
        rows = mapFillRows(group, producer);
      group.rows[producer] = rows;
      return true;
    }
    int64_t code = codeOf(producer);
    if (group.code + code > largestCode || !getLoopExtents(producer))
      return false;
    SmallVector<int64_t> mapped = mapRows(group, producer);

    // What the group would be.
    Group larger = group;
    larger.code += code;
    larger.rows[producer] = mapped;
    for (size_t row = mapped.size(); row-- > 0;)
      if (mapped[row] < 0)
        for (auto &[member, rows] : larger.rows)
          rows.erase(rows.begin() + row);
    Extents extents, rootExtents = *getLoopExtents(group.root);
    for (int64_t loop : larger.rows.front().second)
      extents.push_back(rootExtents[loop]);
    SymbolicSize symbolicRows = product(extents);
    int64_t rows = symbolicRows.typical(), work = 0, bytes = 0;
    bool isBounded = true; // or the program may come with any amount of work
    for (auto &[member, memberRows] : larger.rows) {
      auto op = cast<GenericOp>(member);
      if (isFill(op))
        continue;
      SymbolicSize iterations = product(*getLoopExtents(op));
      isBounded &= iterations.isConstant();
      work += iterations.typical();
      if (op == group.root)
        continue;
      for (OpResult result : op->getResults()) {
        auto type = cast<RankedTensorType>(result.getType());
        std::optional<Extents> shape = getSymbolicShape(result);
        if (!shape)
          return false;
        bytes += product(*shape).typical() / std::max<int64_t>(1, rows) *
                 llvm::divideCeil(type.getElementType().isIntOrFloat() ? type.getElementTypeBitWidth() : 128, 8);
      }
    }
    if (bytes > largestRow || (rows < fewestRows && (work > smallGroup || !isBounded)))
      return false;
    group = larger;
    return true;
  }

  /// A fill is the same in all rows: any loop will do, none is run.
  SmallVector<int64_t> mapFillRows(const Group &group, GenericOp fill) {
    return SmallVector<int64_t>(group.rows.front().second.size(), 0);
  }

  void build(Group &group) {
    SmallVector<Operation *> members;
    for (auto &[member, rows] : group.rows)
      members.push_back(member);
    llvm::sort(members, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });

    // What comes in: tensors and scalars from outside. Constants are copied, empty tensors are made anew.
    llvm::SetVector<Value> inputs;
    SmallVector<OpResult> outputs;
    SmallVector<Value> outs;
    llvm::SetVector<Operation *> constants;
    auto isOutside = [&](Value value) {
      Operation *op = value.getDefiningOp();
      if (!op)
        return !isa<GenericOp>(cast<BlockArgument>(value).getOwner()->getParentOp()) ||
               !group.contains(cast<BlockArgument>(value).getOwner()->getParentOp());
      while (op && op->getBlock() != group.root->getBlock()) {
        op = op->getParentOp();
      }
      return !op || !group.contains(op);
    };
    auto consider = [&](Value value) {
      if (!isOutside(value))
        return;
      // Made anew, of the same extents.
      if (auto empty = value.getDefiningOp<tensor::EmptyOp>()) {
        for (Value size : empty.getDynamicSizes()) {
          Operation *definition = size.getDefiningOp();
          if (definition && definition->hasTrait<OpTrait::ConstantLike>())
            constants.insert(definition);
          else
            inputs.insert(size);
        }
        return;
      }
      Operation *op = value.getDefiningOp();
      if (op && op->hasTrait<OpTrait::ConstantLike>() && !isa<ShapedType>(value.getType()))
        constants.insert(op);
      else
        inputs.insert(value);
    };
    OpBuilder builder(group.root);
    Location loc = group.root.getLoc();
    DenseMap<Operation *, SmallVector<int>> outputIndex; // per result, or -1
    for (Operation *member : members) {
      auto op = cast<GenericOp>(member);
      for (Value input : op.getDpsInputs())
        consider(input);
      op.getBody()->walk([&](Operation *nested) {
        for (Value operand : nested->getOperands())
          if (!op->isProperAncestor(operand.getParentRegion()->getParentOp()) &&
              operand.getParentRegion() != &op.getRegion())
            consider(operand);
      });
      for (auto [i, result] : llvm::enumerate(op->getResults())) {
        bool leaves = op == group.root || llvm::any_of(result.getUsers(), [&](Operation *user) {
                        Operation *ancestor = group.root->getBlock()->findAncestorOpInBlock(*user);
                        return !ancestor || !group.contains(ancestor);
                      });
        Value init = op.getDpsInits()[i];
        bool fresh = init.getDefiningOp<tensor::EmptyOp>() || !isOutside(init);
        outputIndex[op].push_back(leaves ? int(outputs.size()) : -1);
        if (!leaves) {
          consider(init);
          continue;
        }
        outputs.push_back(result);
        outs.push_back(fresh ? emptyLike(builder, loc, init) : init);
      }
    }

    SmallVector<Type> types = llvm::map_to_vector(outs, [](Value out) { return out.getType(); });
    auto groupOp = GroupOp::create(builder, loc, types, inputs.getArrayRef(), outs);
    Block &block = groupOp.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
    SmallVector<Value> destinations;
    for (Value out : outs)
      destinations.push_back(block.addArgument(out.getType(), out.getLoc()));
    builder.setInsertionPointToStart(&block);
    for (Operation *constant : constants)
      builder.clone(*constant, mapping);
    // An empty tensor may also be an input: the window of a pooling has a shape and no contents.
    for (Operation *member : members)
      for (Value input : cast<GenericOp>(member).getDpsInputs())
        if (auto empty = input.getDefiningOp<tensor::EmptyOp>(); empty && !mapping.contains(input))
          builder.clone(*empty, mapping);
    SmallVector<Value> results(outputs.size());
    for (Operation *member : members) {
      auto op = cast<GenericOp>(member);
      for (auto [i, init] : llvm::enumerate(op.getDpsInits())) {
        int output = outputIndex[op][i];
        // A destination of its own, unless the operation starts from what another one of the group, or an input, gives.
        if (output >= 0 && outs[output] == init)
          mapping.map(init, destinations[output]);
        else if (init.getDefiningOp<tensor::EmptyOp>())
          mapping.map(init, output >= 0 ? Value(destinations[output])
                                        : builder.cloneWithoutRegions(*init.getDefiningOp(), mapping)->getResult(0));
      }
      auto clone = cast<GenericOp>(builder.clone(*member, mapping));
      if (members.size() > 1)
        clone->setAttr(GroupOp::getRowsAttrName(), builder.getDenseI64ArrayAttr(group.rows[member]));
      for (auto [i, output] : llvm::enumerate(outputIndex[op]))
        if (output >= 0)
          results[output] = clone->getResult(i);
    }
    GroupYieldOp::create(builder, loc, results);
    for (auto [output, result] : llvm::zip(outputs, groupOp.getResults()))
      output.replaceUsesWithIf(result, [&](OpOperand &use) {
        Operation *ancestor = group.root->getBlock()->findAncestorOpInBlock(*use.getOwner());
        return !ancestor || !group.contains(ancestor);
      });
    for (Operation *member : llvm::reverse(members))
      member->erase();
  }
};

} // namespace
