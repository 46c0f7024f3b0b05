// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementary functions become calls of the device library.
//
// LLVM lowers `llvm.exp` on a vector to one call of `expf` per lane, and there is no such function in an image. So
// every operation of the math dialect that is not an instruction, and arith.remf, is replaced before it can reach LLVM:
// vectors of any shape and length are flattened and split into the lane counts that the library has (the last piece is
// padded), f16 and bf16 are computed in f32.
#ifndef LATEWOOD_COMPILER_ENGINES_CPU_MATHTOLIBRARY_H
#define LATEWOOD_COMPILER_ENGINES_CPU_MATHTOLIBRARY_H

#include "latewood/compiler/Target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace latewood::cpu {

/// Adds the patterns. They declare library functions in the nearest symbol table of the matched operation, so they must
/// run where that is allowed: in a pass on the module (or whatever owns the symbol table), not in one on functions.
void populateMathToLibraryPatterns(mlir::RewritePatternSet &patterns, const target::Target &target);

/// Calls function `name` ("logistic", "erf_inv") of the library on operands of one type, a float or a vector of floats:
/// for operations of our own that have no counterpart in the math dialect. Null when the library has no such function.
mlir::Value emitLibraryCall(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef name,
                            mlir::ValueRange operands, const target::Target &target);

} // namespace latewood::cpu

#endif // LATEWOOD_COMPILER_ENGINES_CPU_MATHTOLIBRARY_H
