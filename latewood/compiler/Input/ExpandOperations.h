// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expansions: operations that no engine needs to know, because simpler StableHLO computes exactly what they mean. Each
// family has a file ExpandOperations<Family>.cpp, which adds its expansions to one table.
//
// An expansion gets a builder that stands at the operation, and returns the values of its results. It may return
// operations that are expanded themselves. What it refuses it reports. One that returns no values for an operation that
// has results leaves it alone.
#pragma once

#include "latewood/compiler/Input/TensorExpression.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"

namespace latewood::input {

using Expansion = mlir::FailureOr<llvm::SmallVector<mlir::Value>> (*)(mlir::ImplicitLocOpBuilder &b,
                                                                      mlir::Operation *op);

/// Which extents of an operation's tensors an expansion can do without: the first operand's, but for some trailing
/// dimensions.
enum class Dynamic { None, AllButTwo, AllButOne, All };

class ExpansionTable {
public:
  template <typename OpTy>
  void add(Expansion expansion, Dynamic dynamic = Dynamic::None) {
    operations[OpTy::getOperationName()] = {expansion, dynamic};
  }
  /// For custom calls of `target`.
  void addCall(llvm::StringRef target, Expansion expansion, Dynamic dynamic = Dynamic::None) {
    calls[target] = {expansion, dynamic};
  }

  /// The expansion of `op`, or null: it has none, or none for its dynamic dimensions.
  Expansion lookup(mlir::Operation *op) const;

private:
  struct Entry {
    Expansion expansion = nullptr;
    Dynamic dynamic = Dynamic::None;
  };

  llvm::StringMap<Entry> operations, calls;
};

void addBroadcastingExpansions(ExpansionTable &table);
void addCollectiveExpansions(ExpansionTable &table);
void addDynamicExpansions(ExpansionTable &table);
void addFactorizationExpansions(ExpansionTable &table);
void addFourierExpansions(ExpansionTable &table);
void addGroupExpansions(ExpansionTable &table);
void addIterativeExpansions(ExpansionTable &table);
void addLegacyExpansions(ExpansionTable &table);
void addNormalizationExpansions(ExpansionTable &table);
void addRandomExpansions(ExpansionTable &table);
void addSelectionExpansions(ExpansionTable &table);
void addSpecialFunctionExpansions(ExpansionTable &table);
void addTriangularExpansions(ExpansionTable &table);

/// The one function that a call names as what it computes with, or null.
mlir::func::FuncOp findComputation(stablehlo::CustomCallOp call);
/// Makes the function's body that of a region of an operation.
void cloneComputation(mlir::ImplicitLocOpBuilder &b, mlir::func::FuncOp computation, mlir::Region &region);

/// f64 for f64, f32 for all narrower floats: what an expansion of several roundings computes in.
mlir::Type getComputeElement(mlir::Type element);

/// Solves `a x = b` for x, where `a` is triangular: `lower` or upper, with the diagonal it has or one of ones. What
/// stands in the other triangle is not read. All dimensions before the last two are a batch.
Tensor solveTriangular(const Tensor &a, const Tensor &b, bool lower, bool unitDiagonal);

/// A = QR with LAPACK's packing: R in the upper triangle, the reflections' vectors below it, their scales aside.
struct PackedQR {
  Tensor packed, tau;
};
PackedQR factorQR(const Tensor &a);
/// The first `columns` columns of Q.
Tensor makeQ(const PackedQR &qr, int64_t columns);

} // namespace latewood::input
