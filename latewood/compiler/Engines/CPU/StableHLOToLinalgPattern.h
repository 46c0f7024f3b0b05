// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The form of most patterns of the conversion: one operation with one result becomes one value. A pattern says how the
// value is made; what all of them have in common is here.
//
// A pattern that also refuses, or that has several results, is an OpConversionPattern of its own.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGPATTERN_H
#define LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGPATTERN_H

#include "latewood/compiler/Engines/CPU/StableHLOToLinalg.h"

namespace latewood::cpu {

/// Matches each `OpTy` whose result has a type that the engine has, and replaces it by what `makeResult` makes.
template <typename OpTy>
struct ToLinalgPattern : mlir::OpConversionPattern<OpTy> {
  using mlir::OpConversionPattern<OpTy>::OpConversionPattern;

  mlir::LogicalResult matchAndRewrite(OpTy op, typename OpTy::Adaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const final {
    auto type = this->getTypeConverter()->template convertType<mlir::RankedTensorType>(op.getType());
    if (!type)
      return mlir::failure();
    rewriter.replaceOp(op, makeResult(op, adaptor, type, rewriter));
    return mlir::success();
  }

  /// The value that takes the place of the result: a tensor of `type`, the result's type with its elements as they are
  /// stored. `adaptor` has the converted operands.
  virtual mlir::Value makeResult(OpTy op, typename OpTy::Adaptor adaptor, mlir::RankedTensorType type,
                                 mlir::ConversionPatternRewriter &rewriter) const = 0;
};

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_STABLEHLOTOLINALGPATTERN_H
