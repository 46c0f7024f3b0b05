// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linking objects into an image: an ELF shared object that needs nothing from outside, so that the runtime can map it
// without a dynamic linker.
//
// In:  relocatable objects whose undefined symbols are in the library archive or in each other.
// Out: an image that exports the entries and has no undefined symbol, no needed library, no thread-local storage, no
//      initializer, no page that is writable when it runs, and no relocation but relative ones. All of this is checked
//      on the finished bytes.
//
// lld works in the process, with one thread, under one mutex: it keeps its state in global variables. A failed link
// leaves it usable.
#ifndef LATEWOOD_COMPILER_TARGET_LINK_H
#define LATEWOOD_COMPILER_TARGET_LINK_H

#include "latewood/compiler/Target/Codegen.h"

namespace latewood::target {

llvm::Expected<Bytes> linkImage(llvm::ArrayRef<Bytes> objects, const Target &target,
                                llvm::ArrayRef<std::string> entries);

/// Checks the promises above on the bytes of an image.
llvm::Error verifyImage(llvm::StringRef image, llvm::ArrayRef<std::string> entries);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_LINK_H
