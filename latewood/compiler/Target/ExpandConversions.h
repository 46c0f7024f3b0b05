// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces what instruction selection would turn into one call per element by code.
#ifndef LATEWOOD_COMPILER_TARGET_EXPANDCONVERSIONS_H
#define LATEWOOD_COMPILER_TARGET_EXPANDCONVERSIONS_H

namespace llvm {
class Module;
} // namespace llvm

namespace latewood::target {

/// Expands conversions from f32 to bf16, scalar and vector, into integer operations: round to nearest, ties to even; a
/// NaN stays one (made quiet). Returns whether anything changed.
bool expandConversions(llvm::Module &module);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_EXPANDCONVERSIONS_H
