// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work of the pass MaterializeShapes on one function, in three files:
//   MaterializeShapes.cpp   walks the operations, keeps extents that must be equal in classes, writes with_shape
//   ResultExtents.cpp       what an operation says about the extents of its results and operands
//   FollowedElements.cpp    small integer tensors, element by element, as scalars
#pragma once
#include "latewood/compiler/Cluster/HostScalars.h"
#include "latewood/compiler/Dialect/Plan/Plan.h"
#include "latewood/compiler/Dialect/StableHLO/Shapes.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

namespace latewood::cluster {

using Extents = llvm::SmallVector<mlir::Value>;

class ShapeMaterializer {
public:
  explicit ShapeMaterializer(mlir::func::FuncOp function) : function(function), scalars(function) {}

  mlir::LogicalResult run();

private:
  //===--- MaterializeShapes.cpp ---------------------------------------------------------------------------------===//

  mlir::LogicalResult visitBlock(mlir::Block &block);
  mlir::LogicalResult visit(mlir::Operation *op);
  mlir::LogicalResult visitBranches(mlir::Operation *op);
  void cutToShape(mlir::Value tensor, mlir::ArrayRef<mlir::Value> all);
  mlir::LogicalResult visitWhile(stablehlo::WhileOp op);
  void visitAssert(plan::AssertOp op);
  /// Ties a value to its extents, one per dimension; those that the type knows have to be these, too.
  /// Returns what is used in its place.
  mlir::Value setExtents(mlir::Value value, mlir::ArrayRef<mlir::Value> all);
  /// Gives an operand that is a shape, or several indices, as scalars.
  void setElements(mlir::OpOperand &operand);
  void finish();

  /// The representative of a class of extents that are equal.
  mlir::Value resolve(mlir::Value extent);
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
  HostScalars scalars;
  llvm::DenseMap<mlir::Value, Extents> extents;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> followed;
  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  /// Conditions that are asserted already.
  llvm::DenseSet<mlir::Value> checked;
  llvm::DenseSet<mlir::Value> knownToFit;
};

/// The largest tensor that is followed element by element.
inline constexpr int64_t maxFollowedElements = 64;

} // namespace latewood::cluster
