// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars that the host computes: the extents of tensors and what they are made of. Each is created once, folded as it
// is created, and stands as far out as its operands allow, so that equal ones are one value and loops hold none that
// does not change in them.
//
// The function's own block is the host's, and so are blocks of control flow that the host does itself; all others will
// be an engine's.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace latewood::cluster {

class HostScalars {
public:
  explicit HostScalars(mlir::func::FuncOp function) : function(function), builder(function.getContext()) {
    hostBlocks.insert(&function.getBody().front());
  }

  /// What is created from now on serves `op`: it stands before it, or before an operation around it.
  void setAnchor(mlir::Operation *op) { anchor = op; }
  mlir::Operation *getAnchor() const { return anchor; }

  mlir::Value constant(mlir::Type type, const llvm::APInt &value);
  mlir::Value index(int64_t value);

  /// The value of the operation, which has one result: folded, or an equal one that exists, or new.
  template <typename OpTy, typename... Args>
  mlir::Value get(Args &&...args) {
    builder.setInsertionPoint(anchor);
    return settle(OpTy::create(builder, anchor->getLoc(), std::forward<Args>(args)...));
  }

  mlir::Value add(mlir::Value lhs, mlir::Value rhs) { return get<mlir::arith::AddIOp>(lhs, rhs); }
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs) { return get<mlir::arith::SubIOp>(lhs, rhs); }
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs) { return get<mlir::arith::MulIOp>(lhs, rhs); }
  mlir::Value div(mlir::Value lhs, mlir::Value rhs) { return get<mlir::arith::DivSIOp>(lhs, rhs); }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value lhs, mlir::Value rhs) {
    return get<mlir::arith::CmpIOp>(predicate, lhs, rhs);
  }
  mlir::Value logicalAnd(mlir::Value lhs, mlir::Value rhs) { return get<mlir::arith::AndIOp>(lhs, rhs); }
  mlir::Value select(mlir::Value condition, mlir::Value onTrue, mlir::Value onFalse) {
    return get<mlir::arith::SelectOp>(condition, onTrue, onFalse);
  }

  /// The number as an extent. A number that was made of one by a cast that keeps every value is that one.
  mlir::Value toIndex(mlir::Value number, bool isUnsigned);

  /// The number behind `value`, if it is a constant.
  static std::optional<int64_t> getConstant(mlir::Value value);
  /// Whether it is at least 0, as far as its definition shows.
  bool isNonNegative(mlir::Value value) const;
  /// From now on `value`, an extent that control flow carries, is known to be at least 0.
  void assumeNonNegative(mlir::Value value) { nonNegative.insert(value); }

  void addHostBlock(mlir::Block *block) { hostBlocks.insert(block); }
  /// Whether the host computes `value` itself.
  bool isOnHost(mlir::Value value) const { return hostBlocks.contains(value.getParentBlock()); }
  /// The innermost block of the host around the anchor, and what the anchor is, or is in, there.
  mlir::Block *getHostBlock() const { return getHostAnchor()->getBlock(); }
  mlir::Operation *getHostAnchor() const;

private:
  /// The operation before which something stands that uses `operands` and serves the anchor.
  mlir::Operation *getOutermostAnchor(mlir::ValueRange operands) const;
  mlir::Value settle(mlir::Operation *op);

  mutable mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  mlir::Operation *anchor = nullptr;
  llvm::DenseMap<llvm::hash_code, llvm::SmallVector<mlir::Operation *, 1>> known;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  llvm::DenseSet<mlir::Value> nonNegative;
  llvm::DenseSet<mlir::Block *> hostBlocks;
};

} // namespace latewood::cluster
