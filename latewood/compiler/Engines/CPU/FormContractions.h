// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the two halves of forming products share: fusion (FormContractions.cpp) and reshapes
// (FormContractionsReshapes.cpp).
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_FORMCONTRACTIONS_H
#define LATEWOOD_COMPILER_ENGINES_CPU_FORMCONTRACTIONS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/PatternMatch.h"
#include <optional>

namespace latewood::cpu {
class ContractOp;

/// A producer that permutes, repeats or widens the elements of one tensor.
struct TensorCopy {
  mlir::Value source;
  mlir::AffineMap map; // from the index of the copy to the index of the source
  bool isUnsigned;     // of a widening of integers
  bool isWidening;
};

/// The copy that produces `tensor`, if it is one.
std::optional<TensorCopy> matchTensorCopy(mlir::Value tensor);

/// Whether the element type that `copy` widens, if it does, can be that of factor `i` of the product.
bool canWiden(ContractOp contract, unsigned i, const TensorCopy &copy);

/// Makes the source of `copy` operand `i`, in the place of the copy.
void absorbCopy(ContractOp contract, unsigned i, const TensorCopy &copy, mlir::RewriterBase &rewriter);

/// Whether the body of an elementwise operation can be computed on vectors: arithmetic only, constants apart.
bool isVectorizableEpilogue(mlir::Block &body);

/// Moves reshapes out of the way between a product and what it can be fused with.
void populateContractionReshapePatterns(mlir::RewritePatternSet &patterns);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_FORMCONTRACTIONS_H
