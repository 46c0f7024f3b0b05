// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long buffers live, counted in operations: what memory planning decides by, and what the report of a compilation
// draws.
#pragma once
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
class BufferViewFlowAnalysis;
} // namespace mlir

namespace latewood::cpu {

/// Numbers of all operations inside of one, in the order of the program: each has a number before its regions and one
/// behind them.
class ProgramOrder {
public:
  explicit ProgramOrder(mlir::Operation *root) : root(root) { number(root); }

  int64_t before(mlir::Operation *op) const { return numbers.lookup(op).first; }
  int64_t after(mlir::Operation *op) const { return numbers.lookup(op).second; }
  mlir::Operation *getRoot() const { return root; }
  int64_t size() const { return next; }

private:
  void number(mlir::Operation *op);

  mlir::Operation *root;
  int64_t next = 0;
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> numbers;
};

/// Numbers of operations, both included.
struct LiveRange {
  int64_t first = 0, last = 0;
};

/// From the operation that gives `buffer` to the last operation of its block that contains a use of it or of a view of
/// it: a use inside of a loop keeps it for the whole loop. Deallocations are no uses; they go into `deallocations`.
/// Fails, with an error at the operation, where a buffer leaves the function or goes from one iteration to the next.
mlir::FailureOr<LiveRange> findLiveRange(mlir::Value buffer, const ProgramOrder &order,
                                         const mlir::BufferViewFlowAnalysis &flow,
                                         llvm::SmallVectorImpl<mlir::Operation *> &deallocations);

/// The bytes of an element in memory; none where it has no fixed size.
std::optional<int64_t> elementBytes(mlir::Type element);

/// The bytes that the plan gives a buffer of this type; none where that is not known before the program runs.
std::optional<int64_t> plannedBytes(mlir::MemRefType type);

} // namespace latewood::cpu
