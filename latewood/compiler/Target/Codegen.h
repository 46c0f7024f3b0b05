// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From an LLVM module to an image: the last two steps of every compilation for the CPU.
//
// `compileToObjects` links the used bodies of the device library into the module, makes everything but the entries
// private, sets one target on all functions, optimizes, and emits relocatable objects. `linkImage` (Link.h) makes one
// image of them.
//
// In:  a verified module whose undefined symbols are functions of the device library only.
// Out: objects whose undefined symbols are functions of the library archive only. The bytes depend on the module, the
// target
//      and the entries, and on nothing else (not on the number of threads that work on a large module).
#ifndef LATEWOOD_COMPILER_TARGET_CODEGEN_H
#define LATEWOOD_COMPILER_TARGET_CODEGEN_H

#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace latewood::target {

/// The bytes of a relocatable object or of an image.
using Bytes = llvm::SmallVector<char, 0>;

/// Compiles a module. A large one comes back as several objects, compiled in parallel. `entries` are the functions that
/// stay visible; each must be defined in the module.
llvm::Expected<std::vector<Bytes>> compileToObjects(std::unique_ptr<llvm::Module> module, const Target &target,
                                                    llvm::ArrayRef<std::string> entries);

/// Compiles a module and links it into an image.
llvm::Expected<Bytes> compileToImage(std::unique_ptr<llvm::Module> module, const Target &target,
                                     llvm::ArrayRef<std::string> entries);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_CODEGEN_H
