// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of the pass MaterializeShapes on one function, in four files:
//   MaterializeShapes.cpp   walks the operations, keeps extents that must be equal in classes, writes with_shape
//   ResultExtents.cpp       what an operation says about the extents of its results and operands
//   FollowedElements.cpp    small integer tensors, element by element, as scalars
//   HostControlFlow.cpp     loops and branches that the host does itself
#pragma once
#include "latewood/compiler/Cluster/HostScalars.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace latewood::cluster {

using Extents = llvm::SmallVector<mlir::Value>;

/// Which control flow is the host's, found out by trying: an engine takes a loop as long as all extents in it are known
/// before it begins, and a loop carries an extent or an integer as a scalar if it must. Where an attempt finds that
/// this does not hold, it says so here, and the next attempt knows.
class HostPlan {
public:
  struct Loop {
    /// Carried values, and their dimensions, whose extents change.
    llvm::SetVector<std::pair<unsigned, int64_t>> extents;
    /// Carried tensors of integers that extents depend on.
    llvm::SetVector<unsigned> elements;
  };

  bool isHosted(mlir::Operation *op) const { return hosted.contains(originOf(op)); }
  Loop &getLoop(mlir::Operation *op) { return loops[originOf(op)]; }

  /// The host does `op`, and everything around it.
  void host(mlir::Operation *op);
  void carryExtent(mlir::Operation *loop, unsigned number, int64_t dimension) {
    host(loop);
    changed |= getLoop(loop).extents.insert({number, dimension});
  }
  void carryElements(mlir::Operation *loop, unsigned number) {
    host(loop);
    changed |= getLoop(loop).elements.insert(number);
  }

  /// Begins an attempt on a copy of `function`, which is mapped.
  void begin(mlir::func::FuncOp function, const mlir::IRMapping &mapping);
  /// Whether an attempt found out something, and is void.
  bool hasChanged() const { return changed; }

private:
  mlir::Operation *originOf(mlir::Operation *op) const {
    mlir::Operation *origin = origins.lookup(op);
    return origin ? origin : op;
  }

  llvm::DenseSet<mlir::Operation *> hosted;
  llvm::DenseMap<mlir::Operation *, Loop> loops;
  /// From the copy's control flow to the function's.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> origins;
  bool changed = false;
};

class ShapeMaterializer {
public:
  ShapeMaterializer(mlir::func::FuncOp function, HostPlan &plan) : function(function), plan(plan), scalars(function) {}

  /// Nothing of it is of use if `plan` has changed.
  mlir::LogicalResult run();

private:
  //===--- MaterializeShapes.cpp ---------------------------------------------------------------------------------===//

  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitBranches(mlir::Operation *op);
  mlir::LogicalResult visitWhile(stablehlo::WhileOp op);
  void visitAssert(plan::AssertOp op);
  void visitAllocatingCall(mlir::Operation *call);
  /// Ties a value to its extents, one per dimension; those that the type knows have to be these, too.
  /// Returns what is used in its place.
  mlir::Value setExtents(mlir::Value value, mlir::ArrayRef<mlir::Value> all);
  /// Gives an operand that is a shape, or several indices, as scalars.
  void setElements(mlir::OpOperand &operand);
  void finish();

  /// The representative of a class of extents that are equal, as seen from the anchor, or from `block`.
  mlir::Value resolve(mlir::Value extent) { return resolve(extent, scalars.getAnchor()->getBlock()); }
  mlir::Value resolve(mlir::Value extent, mlir::Block *block);
  /// From now on the two are one; the host checks it where it is not evident.
  void unify(mlir::Value lhs, mlir::Value rhs, const llvm::Twine &message);
  /// The same for two representatives where the check is there.
  void join(mlir::Value lhs, mlir::Value rhs);
  /// Asserts a condition of the host.
  void check(mlir::Value condition, const llvm::Twine &message, mlir::ValueRange values);
  /// The extent, which is checked to be one.
  mlir::Value checkNonNegative(mlir::Value extent);

  mlir::Value getExtent(mlir::Value tensor, int64_t dimension);
  Extents getExtents(mlir::Value tensor);

  //===--- HostControlFlow.cpp -----------------------------------------------------------------------------------===//

  mlir::LogicalResult visitHostBranches(mlir::Operation *op);
  mlir::LogicalResult visitHostWhile(stablehlo::WhileOp loop);
  void replaceInvariants(stablehlo::WhileOp loop);
  void enter(const HostPlan::Loop &form, mlir::Block &block, mlir::ValueRange initial, mlir::ValueRange carried);
  llvm::SmallVector<mlir::Value> collectCarried(const HostPlan::Loop &form, mlir::ValueRange tensors);
  void setCarried(const HostPlan::Loop &form, mlir::ValueRange initial, mlir::ValueRange tensors,
                  mlir::ValueRange carried);

  //===--- ResultExtents.cpp -------------------------------------------------------------------------------------===//

  /// For each result its extents. Fails for an operation without a rule.
  mlir::FailureOr<llvm::SmallVector<Extents>> computeExtents(mlir::Operation *op);
  void unifyShapes(mlir::Operation *op, mlir::Value lhs, mlir::Value rhs);
  void unifyExtents(mlir::Operation *op, mlir::Value lhs, int64_t lhsDimension, mlir::Value rhs, int64_t rhsDimension);
  mlir::Value countWindows(mlir::Value extent, const stablehlo::WindowDimension &window, mlir::Value low,
                           mlir::Value high);
  mlir::Value atLeastZero(mlir::Value extent);
  Extents extentsOfElementwise(mlir::Operation *op);
  Extents extentsOfBroadcast(stablehlo::DynamicBroadcastInDimOp op);
  Extents extentsOfReshape(stablehlo::DynamicReshapeOp op);
  Extents extentsOfConcatenate(stablehlo::ConcatenateOp op);
  Extents extentsOfDot(stablehlo::DotGeneralOp op);
  Extents extentsOfGather(mlir::Operation *op, mlir::Value operand, mlir::Value indices,
                          stablehlo::GatherDimensionNumbersAttr numbers, mlir::ArrayRef<mlir::Value> sizes);
  Extents extentsOfSlice(stablehlo::RealDynamicSliceOp op);
  Extents extentsOfPad(mlir::Value operand, mlir::ArrayRef<mlir::Value> low, mlir::ArrayRef<mlir::Value> high,
                       mlir::ArrayRef<mlir::Value> interior);
  template <typename OpTy>
  Extents extentsOfConvolution(OpTy op, mlir::ArrayRef<mlir::Value> padding);
  mlir::Value countNonzero(mlir::Value tensor);
  mlir::FailureOr<llvm::SmallVector<Extents>> extentsOfCall(stablehlo::CustomCallOp op);

  //===--- FollowedElements.cpp ----------------------------------------------------------------------------------===//

  /// The elements of a small tensor of integers, row-major, as signless integers of their width. What no rule says is
  /// read from the tensor when it has been computed.
  llvm::SmallVector<mlir::Value> getElements(mlir::Value tensor);
  /// The elements as extents or indices.
  Extents getElementsAsIndices(mlir::Value tensor);
  mlir::Value computeExactly(mlir::Value number);
  bool follow(mlir::Value tensor, llvm::SmallVectorImpl<mlir::Value> &elements);
  bool followOperation(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &elements);
  bool followElementwise(mlir::Operation *op, llvm::SmallVectorImpl<mlir::Value> &elements);
  void readElements(mlir::Value tensor, llvm::SmallVectorImpl<mlir::Value> &elements);

  mlir::func::FuncOp function;
  HostPlan &plan;
  HostScalars scalars;
  llvm::DenseMap<mlir::Value, Extents> extents;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> followed;
  /// What an extent is equal to, and in which block: that of the assertion. Null: wherever it is known.
  struct Leader {
    mlir::Value value;
    mlir::Block *scope;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Leader, 1>> leaders;
  /// Conditions that are asserted already, and in which blocks.
  llvm::DenseSet<std::pair<mlir::Value, mlir::Block *>> checked;
};

/// The largest tensor that is followed element by element, and that a loop carries so.
inline constexpr int64_t maxFollowedElements = 64, maxCarriedElements = 8;

/// Loops of the host do without values that serve for nothing but themselves (counters of which only the scalar is
/// used), and branches without results that nobody uses.
void dropUnusedCarried(mlir::func::FuncOp function);

} // namespace latewood::cluster
