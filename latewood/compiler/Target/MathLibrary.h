// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which elementary functions the device library has: the table operation x type x lanes -> symbol.
//
// Every function exists for f32 and f64, scalar and on vectors of up to one register; all forms of one function are the
// same code, so that a value does not depend on how a loop was vectorized. Wider vectors are split by the caller,
// narrower types (f16, bf16) computed in f32.
#ifndef LATEWOOD_COMPILER_TARGET_MATHLIBRARY_H
#define LATEWOOD_COMPILER_TARGET_MATHLIBRARY_H

#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace latewood::target {

struct MathFunction {
  llvm::StringLiteral name; // as in the symbol: "exp" in lw_exp_f32x16
  unsigned arity;           // number of operands, all of one type
  llvm::StringLiteral op;   // the operation of MLIR that it implements, or empty
};

/// All functions.
llvm::ArrayRef<MathFunction> getMathFunctions();

/// The function with this name ("exp"), or null.
const MathFunction *findMathFunction(llvm::StringRef name);

/// Lane counts that have a form, descending, ending with 1. `elementBits` is 32 or 64.
llvm::ArrayRef<unsigned> getMathLanes(Level level, unsigned elementBits);

/// The symbol of one form: ("exp", 32, 16) -> "lw_exp_f32x16".
std::string getMathSymbol(const MathFunction &function, unsigned elementBits, unsigned lanes);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_MATHLIBRARY_H
