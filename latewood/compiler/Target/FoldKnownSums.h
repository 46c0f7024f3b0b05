// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces sums of zeros, which LLVM 22's instruction selection does not get out of.
#ifndef LATEWOOD_COMPILER_TARGET_FOLDKNOWNSUMS_H
#define LATEWOOD_COMPILER_TARGET_FOLDKNOWNSUMS_H

namespace llvm {
class Module;
} // namespace llvm

namespace latewood::target {

/// Replaces horizontal sums of integer vectors by 0 where all lanes are known to be 0. With vectors of i1 in mask
/// registers instruction selection rewrites such a sum forever, when the optimizer has left one: a count of differences
/// between constants, say. Returns whether anything changed.
bool foldKnownSums(llvm::Module &module);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_FOLDKNOWNSUMS_H
