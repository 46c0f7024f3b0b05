// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Einstein's notation: `ab,bc->ac`. A letter names a dimension; `...` stands for those dimensions of an operand that
// have no letter, aligned at the last one across operands. Read here once, for the verifier and for the expansion.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_EINSUM_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_EINSUM_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace latewood::stablehlo {

/// The notation applied to operands: a label for each dimension of each operand and of the result. Letters are their
/// own labels; the dimensions of an ellipsis have negative ones, -1 the last.
struct Einsum {
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands;
  llvm::SmallVector<int64_t> result;

  /// The extents of the result's dimensions.
  llvm::SmallVector<int64_t> getResultShape(llvm::ArrayRef<mlir::RankedTensorType> types) const;
};

/// Reads `config` for operands of these types. On failure, `message` says what was expected.
llvm::FailureOr<Einsum> parseEinsum(llvm::StringRef config, llvm::ArrayRef<mlir::RankedTensorType> types,
                                    std::string &message);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_EINSUM_H
