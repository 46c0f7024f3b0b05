// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory each value of a cluster function is computed in: the work behind ComputeInPlace.h, in three files.
//
//   PlacementStorages.cpp  what shares a place, and how long it is needed
//   ComputeInPlace.cpp     the first walk: what is computed in place, and what is given a copy
//   PlacementMoves.cpp     the second walk: what can be computed where it is moved to

#ifndef LATEWOOD_COMPILER_ENGINES_CPU_PLACEMENT_H
#define LATEWOOD_COMPILER_ENGINES_CPU_PLACEMENT_H

#include "latewood/compiler/Engines/CPU/Lifetimes.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include <deque>
#include <map>
#include <optional>

namespace latewood::cpu {

/// The part of a storage that an operation concerns: a slice, or (null) all of it.
using Slot = mlir::tensor::InsertSliceOp;

inline bool isTensor(mlir::Value value) { return mlir::isa<mlir::TensorType>(value.getType()); }

inline bool isControlFlow(mlir::Operation *op) {
  return mlir::isa<mlir::func::FuncOp, mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp, mlir::scf::IndexSwitchOp>(
      op);
}

/// Results are views of the first operand.
inline bool isView(mlir::Operation *op) {
  return mlir::isa<mlir::tensor::ExtractSliceOp, mlir::tensor::ExpandShapeOp, mlir::tensor::CollapseShapeOp,
                   mlir::tensor::CastOp>(op);
}

class Placement {
public:
  Placement(mlir::func::FuncOp function, const mlir::bufferization::BufferizationOptions &options)
      : function(function), state(options), rewriter(function.getContext()) {}

  void run();

private:
  /// Values in one place: versions that follow each other.
  struct Storage {
    struct Member {
      mlir::Value value;
      Slot slot;
    };

    bool isWritable = true;
    /// The empty tensor or the copy that it begins with, if something else could be there.
    mlir::Operation *root = nullptr;
    int64_t firstWrite = 0;
    /// By the last use.
    std::multimap<int64_t, Member> members;
    /// By position; a loop's at its beginning.
    std::multimap<int64_t, Slot> writes;
  };

  // Positions: places in the order of the program.
  int64_t positionOf(mlir::Operation *op) const;
  int64_t definitionOf(mlir::Value value) const;
  /// The operation that a use lasts for, and until when.
  std::pair<mlir::Operation *, int64_t> extentOf(mlir::OpOperand &use) const;
  /// Whether a call that comes by one of them does not come by the other: they are in two branches.
  static bool areAlternatives(mlir::Operation *a, mlir::Operation *b);

  // Storages, by number; those that have been united are found by either.
  unsigned newStorage(bool isWritable = true, mlir::Operation *root = nullptr);
  unsigned find(unsigned index);
  unsigned storageOf(mlir::Value value);
  /// `origin`: the value at the beginning of the storage whose whole place `value` has; null for a part of it.
  void addTo(unsigned index, mlir::Value value, mlir::Value origin);
  unsigned merge(unsigned a, unsigned b);
  mlir::Value originOf(mlir::Value value) const { return origins.lookup(value); }

  // Uses.
  /// Whether the user, or whoever takes the value over from it, may read what is in the buffer.
  bool needsContents(mlir::OpOperand &use);
  /// Whether the user itself reads: not where it gives the buffer on, to a value that is in the same storage.
  bool reads(mlir::OpOperand &use);
  /// Whether some value of the storage is needed after `op` has written to it.
  bool isNeededAfter(unsigned index, mlir::Operation *op);

  // The first walk.
  /// An empty tensor for each user, in the block of the user: two of them would be computed in the same place, and one
  /// outside of a loop would live for all of it.
  void separateEmptyTensors();
  void place(mlir::Block &block);
  /// Gives `use` a copy of its value, in front of its user.
  void giveCopy(mlir::OpOperand &use, bool isRead);
  /// Whether the operation itself needs the storage of `use` for something else.
  bool conflictsWithOthers(mlir::OpOperand &use);
  /// Makes `use` a use of a buffer that its user may write to.
  void makeWritable(mlir::OpOperand &use, bool isRead, Slot slot = Slot());
  void placeResults(mlir::Operation *op);
  void place(mlir::bufferization::MaterializeInDestinationOp op);
  void placeInits(mlir::Operation *loop, llvm::MutableArrayRef<mlir::OpOperand> inits);
  void place(mlir::scf::ForOp loop);
  void place(mlir::scf::WhileOp loop);
  void placeBranches(mlir::Operation *op);

  // The second walk.
  void move();
  /// Erased in the end: until then no other operation gets its address, which is in tables.
  void retire(mlir::Operation *op);
  mlir::Value created(mlir::Operation *op, int64_t position);
  /// Whether nothing but moves and reshapes is between the beginning of a storage and `value`; the reshapes, last
  /// first.
  bool findReshapes(mlir::Value value, mlir::Operation *root, llvm::SmallVectorImpl<mlir::Operation *> &reshapes);
  bool isAvailable(mlir::Value value, mlir::Operation *at);
  /// Moves scalars that are computed without effects, and views, up to `at`.
  bool makeAvailable(mlir::Value value, mlir::Operation *at, int64_t position);
  /// Lets the storage of `value` begin in the storage of `dest`, in which `op` puts it into `slot`.
  llvm::LogicalResult tryToBegin(mlir::Value value, mlir::Value dest, mlir::Operation *op, Slot slot);
  /// Whether the slot is read or written by others while it would hold what is moved into it only by `op`.
  bool isDisturbed(unsigned from, unsigned to, mlir::Operation *op, int64_t begin, int64_t end, Slot slot);
  /// Whether `use`, of all of the destination, is by the operation that writes the source first, and leaves each
  /// element alone until it has been read.
  bool isFirstWriteElementwise(const Storage &source, mlir::OpOperand &use, const Storage::Member &member, Slot slot);

  mlir::func::FuncOp function;
  mlir::bufferization::AnalysisState state;
  mlir::IRRewriter rewriter;
  std::optional<ProgramOrder> order;
  /// Of operations that are new, or have moved.
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  std::deque<Storage> storages;
  /// Of storages that have been united.
  llvm::SmallVector<unsigned> parents;
  llvm::DenseMap<mlir::Value, unsigned> storageIndex;
  /// The value at whose place, and with whose elements in their order, it is.
  llvm::DenseMap<mlir::Value, mlir::Value> origins;
  llvm::SmallVector<mlir::Operation *> dead;
};

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_PLACEMENT_H
