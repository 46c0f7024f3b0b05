// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps vectors of bf16 away from instruction selection, which has no register for them.
#ifndef LATEWOOD_COMPILER_TARGET_CARRYBFLOATS_H
#define LATEWOOD_COMPILER_TARGET_CARRYBFLOATS_H

namespace llvm {
class Module;
} // namespace llvm

namespace latewood::target {

/// Vectors of bf16 are loaded, moved and stored as vectors of i16, whose bits they are.
void carryBFloats(llvm::Module &module);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_CARRYBFLOATS_H
