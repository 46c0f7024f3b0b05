// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device library as the compiler sees it: bytes that are embedded in the compiler, and the facts it needs about
// them.
//
// The functions are C (Engines/CPU/Library), built once per level, and their names are the interface of generated code:
// `lw_<op>_<type>[x<lanes>]` for elementary functions, `lw_mk*`, `lw_pack*`, `lw_matvec*` for matrices (MatrixKernels.h
// there is the contract). What generated code inlines is bitcode. What stays a function, and what instruction selection
// calls by itself (memcpy, __divti3, fmodf…), is an archive of native objects that every image is linked against.
#ifndef LATEWOOD_COMPILER_TARGET_DEVICELIBRARY_H
#define LATEWOOD_COMPILER_TARGET_DEVICELIBRARY_H

#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace latewood::target {

/// Bitcode of the functions to inline, for a level.
llvm::StringRef getLibraryBitcode(Level level);

/// The archive of native objects for a level.
llvm::StringRef getLibraryArchive(Level level);

/// Whether the archive defines `symbol`.
bool isArchiveSymbol(Level level, llvm::StringRef symbol);

/// Whether the library of this level has a function of this name, inlined or not.
bool hasLibraryFunction(Level level, llvm::StringRef name);

/// The register tile of the matrix kernels of one element type.
struct TileShape {
  int64_t rows = 0;                   // MR
  int64_t columns = 0;                // NR
  int64_t lanes = 0;                  // elements of a vector; columns = 2 * lanes
  llvm::SmallVector<int64_t> kernels; // row counts that have a kernel, descending, beginning with `rows`
};

/// Element types with kernels: "f32", "f64", "i32", "i64". Read from the bitcode, so that there is no second copy of
/// the numbers. An unknown type gives a shape of zeros.
const TileShape &getTileShape(Level level, llvm::StringRef elementType);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_DEVICELIBRARY_H
