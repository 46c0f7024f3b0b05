// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolution of target names. Code is always generated for a level plus named instruction sets, never for "whatever a
// CPU of this name has": a CPU name promises instructions that a virtual machine may hide, and the runtime could not
// check it.

#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include <mutex>

using namespace llvm;

namespace latewood::target {

static constexpr StringLiteral kLevel3[] = {"avx",   "avx2",  "bmi",    "bmi2", "cx16",   "f16c",   "fma",
                                            "lzcnt", "movbe", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"};
static constexpr StringLiteral kLevel4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};

// Instruction sets beyond a level that the code generator makes use of. avx512bf16 is missing on purpose: its
// conversion flushes subnormal numbers whatever the mode says.
static constexpr StringLiteral kAdditional[] = {"avx512bitalg",    "avx512fp16",  "avx512ifma",
                                                "avx512vbmi",      "avx512vbmi2", "avx512vnni",
                                                "avx512vpopcntdq", "avxvnni",     "gfni"};

StringRef stringifyLevel(Level level) { return level == Level::V4 ? "x86-64-v4" : "x86-64-v3"; }

Target::Target(Level level) : level(level), tuneCPU(stringifyLevel(level)) {}

static std::optional<Level> parseLevel(StringRef name) {
  if (name == "x86-64-v3")
    return Level::V3;
  if (name == "x86-64-v4")
    return Level::V4;
  return std::nullopt;
}

// The highest level whose instruction sets are all in `available`.
static std::optional<Level> findLevel(const StringSet<> &available) {
  auto all = [&](ArrayRef<StringLiteral> names) {
    return llvm::all_of(names, [&](StringRef name) { return available.contains(name); });
  };
  if (!all(kLevel3))
    return std::nullopt;
  return all(kLevel4) ? Level::V4 : Level::V3;
}

// Instruction sets that need AVX-512 registers are of no use, and not valid, below level 4.
static bool fitsLevel(StringRef feature, Level level) { return level == Level::V4 || !feature.starts_with("avx512"); }

Expected<Target> Target::resolve(StringRef name) {
  auto [isa, tune] = name.split('@');
  SmallVector<StringRef> parts;
  isa.split(parts, '+');
  StringRef base = parts.front();
  if (isa == "native" && tune.empty()) {
    StringSet<> available;
    for (const auto &feature : sys::getHostCPUFeatures())
      if (feature.second)
        available.insert(feature.first());
    std::optional<Level> level = findLevel(available);
    if (!level)
      return createStringError("target 'native': this machine (%s) lacks instructions of x86-64-v3 (AVX2, FMA, BMI2…), "
                               "the least that Latewood generates code for",
                               sys::getHostCPUName().str().c_str());
    Target target(*level);
    for (StringRef feature : kAdditional)
      if (available.contains(feature) && fitsLevel(feature, *level))
        target.additional.push_back(feature.str());
    StringRef cpu = sys::getHostCPUName();
    if (X86::parseTuneCPU(cpu, /*Only64Bit=*/true) != X86::CK_None)
      target.tuneCPU = cpu.str();
    return target;
  }

  Target target(Level::V3);
  if (std::optional<Level> level = parseLevel(base)) {
    target = Target(*level);
  } else if (X86::parseArchX86(base, /*Only64Bit=*/true) != X86::CK_None) {
    SmallVector<StringRef> features;
    X86::getFeaturesForCPU(base, features);
    StringSet<> available;
    for (StringRef feature : features)
      available.insert(feature);
    std::optional<Level> level = findLevel(available);
    if (!level)
      return createStringError(
          "target '%s': this CPU lacks instructions of x86-64-v3 (AVX2, FMA, BMI2…), the least that "
          "Latewood generates code for",
          base.str().c_str());
    target = Target(*level);
    for (StringRef feature : kAdditional)
      if (available.contains(feature) && fitsLevel(feature, *level))
        target.additional.push_back(feature.str());
    target.tuneCPU = base.str();
  } else {
    return createStringError("unknown target '%s': expected 'native', 'x86-64-v3', 'x86-64-v4' or the name of a 64-bit "
                             "x86 CPU as LLVM knows it (such as 'znver4')",
                             name.str().c_str());
  }

  for (StringRef feature : ArrayRef(parts).drop_front()) {
    if (!is_contained(kAdditional, feature))
      return createStringError("target '%s': unknown instruction set '%s'; expected one of %s", name.str().c_str(),
                               feature.str().c_str(), join(ArrayRef(kAdditional), ", ").c_str());
    if (!fitsLevel(feature, target.level))
      return createStringError("target '%s': instruction set '%s' needs x86-64-v4", name.str().c_str(),
                               feature.str().c_str());
    if (!is_contained(target.additional, feature))
      target.additional.push_back(feature.str());
  }
  llvm::sort(target.additional);
  if (name.contains('@')) {
    if (X86::parseTuneCPU(tune, /*Only64Bit=*/true) == X86::CK_None)
      return createStringError("target '%s': unknown CPU '%s' after '@'", name.str().c_str(), tune.str().c_str());
    target.tuneCPU = tune.str();
  }
  return target;
}

std::string Target::getFeatureString() const {
  std::string text;
  for (StringRef feature : additional)
    text += (text.empty() ? "+" : ",+") + feature.str();
  return text;
}

SmallVector<StringRef> Target::features() const {
  SmallVector<StringRef> all(std::begin(kLevel3), std::end(kLevel3));
  if (level == Level::V4)
    all.append(std::begin(kLevel4), std::end(kLevel4));
  all.append(additional.begin(), additional.end());
  llvm::sort(all);
  return all;
}

bool Target::hasFeature(StringRef feature) const { return is_contained(features(), feature); }

std::string Target::str() const {
  std::string text = getCPU().str();
  for (StringRef feature : additional)
    text += "+" + feature.str();
  if (tuneCPU != getCPU())
    text += "@" + tuneCPU;
  return text;
}

Expected<std::unique_ptr<TargetMachine>> Target::createTargetMachine() const {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser(); // inline assembly, as in upstream's 8x8 transpose
  });
  Triple triple(getTriple());
  std::string error;
  const llvm::Target *llvmTarget = TargetRegistry::lookupTarget(triple, error);
  if (!llvmTarget)
    return createStringError("this build of LLVM has no x86 code generator: %s", error.c_str());
  std::unique_ptr<TargetMachine> machine(llvmTarget->createTargetMachine(triple, getCPU(), getFeatureString(),
                                                                         TargetOptions(), Reloc::PIC_, CodeModel::Small,
                                                                         CodeGenOptLevel::Aggressive));
  if (!machine)
    return createStringError("LLVM has no code generator for %s", str().c_str());
  return machine;
}

} // namespace latewood::target
