// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine that code is generated for.
//
// What a user writes ("native", "x86-64-v4", "znver4") is resolved once, at the start of a compilation, into a *level*
// (the copy of the device library that is used), the instruction sets beyond the level that the code may use, and a CPU
// to tune for. Code generation sees nothing else, so that `features()` is the complete list of what a machine must have
// to run the image: the runtime checks it with cpuid when it chooses one. The canonical text, `str()`, resolves to the
// same target again on every machine:
//
//     x86-64-v4+avx512bf16+avx512vnni@znver4        level + additional instruction sets @ CPU to tune for
#ifndef LATEWOOD_COMPILER_TARGET_TARGET_H
#define LATEWOOD_COMPILER_TARGET_TARGET_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace latewood::target {

/// Instruction set levels of the x86-64 ABI. Each has its own copy of the device library.
enum class Level { V3, V4 };

llvm::StringRef stringifyLevel(Level level);

class Target {
public:
  /// Resolves `native`, a level, the LLVM name of a CPU, or the canonical text of a target. Fails on an unknown name,
  /// and on a CPU without the instructions of x86-64-v3.
  static llvm::Expected<Target> resolve(llvm::StringRef name);

  /// The plain target of a level.
  explicit Target(Level level);

  Level getLevel() const { return level; }
  static llvm::StringRef getTriple() { return "x86_64-unknown-linux-gnu"; }

  /// Value of the function attribute target-cpu: always the level's name.
  llvm::StringRef getCPU() const { return stringifyLevel(level); }
  /// Value of the function attribute tune-cpu.
  llvm::StringRef getTuneCPU() const { return tuneCPU; }
  /// Value of the function attribute target-features, in LLVM's syntax ("+avx512bf16,+avx512vnni").
  std::string getFeatureString() const;

  /// LLVM names of all instruction sets that a machine needs to run the code, sorted.
  llvm::SmallVector<llvm::StringRef> features() const;
  bool hasFeature(llvm::StringRef feature) const;

  /// Width of a vector register, and how many of them there are.
  unsigned getVectorBits() const { return level == Level::V4 ? 512 : 256; }
  unsigned getVectorRegisters() const { return level == Level::V4 ? 32 : 16; }
  /// Elements of `elementBits` bits in a vector register.
  unsigned getLanes(unsigned elementBits) const { return getVectorBits() / elementBits; }

  /// The canonical text.
  std::string str() const;

  bool operator==(const Target &other) const { return str() == other.str(); }

  /// A code generator for the target: position independent, small code model.
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createTargetMachine() const;

private:
  Level level;
  llvm::SmallVector<std::string> additional; // sorted names out of the known instruction sets
  std::string tuneCPU;
};

} // namespace latewood::target

#endif // LATEWOOD_COMPILER_TARGET_TARGET_H
