// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of hundreds of arguments take them from memory.
//
// A network has as many arguments as parameters. Behind the first few of a function, each is a store by its caller and
// a load at its beginning: basic blocks of thousands of operations on the stack, for which instruction scheduling and
// register allocation need a time that grows with the square of their number.

#ifndef LATEWOOD_COMPILER_TARGET_PASSARGUMENTS_H
#define LATEWOOD_COMPILER_TARGET_PASSARGUMENTS_H

namespace llvm {
class Module;
} // namespace llvm

namespace latewood::target {

/// In: functions that are called by name. Out: none of those that are defined here has more than a few dozen
/// parameters; one that had more has a single one, the address of a structure that its caller has filled.
void passArgumentsInMemory(llvm::Module &module);

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_PASSARGUMENTS_H
