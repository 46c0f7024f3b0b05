// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From cpuid, and from xgetbv for what the system must save on a context switch: a processor with AVX-512 under a
// system that does not save its registers counts as one without.

#include "latewood/runtime/CPUFeatures.h"

#include <algorithm>
#include <array>
#include <cpuid.h>
#include <cstdint>
#include <cstdlib>

namespace latewood::runtime {

namespace {
/// Where a feature's bit is, and which register state it needs.
enum class Leaf : uint8_t { one, seven, sevenOne, extended, none };
enum class Register : uint8_t { a, b, c, d };
enum class State : uint8_t { none, avx, avx512, amx };

struct Feature {
  std::string_view name;
  Leaf leaf;
  Register reg;
  uint8_t bit;
  State state = State::none;
};

using enum Leaf;
using enum Register;

constexpr Feature knownFeatures[] = {
    {"cx8", one, d, 8},
    {"cmov", one, d, 15},
    {"mmx", one, d, 23},
    {"fxsr", one, d, 24},
    {"sse", one, d, 25},
    {"sse2", one, d, 26},
    {"sse3", one, c, 0},
    {"pclmul", one, c, 1},
    {"ssse3", one, c, 9},
    {"fma", one, c, 12, State::avx},
    {"cx16", one, c, 13},
    {"sse4.1", one, c, 19},
    {"sse4.2", one, c, 20},
    {"crc32", one, c, 20},
    {"movbe", one, c, 22},
    {"popcnt", one, c, 23},
    {"aes", one, c, 25},
    {"avx", one, c, 28, State::avx},
    {"f16c", one, c, 29, State::avx},
    {"bmi", seven, b, 3},
    {"avx2", seven, b, 5, State::avx},
    {"bmi2", seven, b, 8},
    {"avx512f", seven, b, 16, State::avx512},
    {"avx512dq", seven, b, 17, State::avx512},
    {"adx", seven, b, 19},
    {"avx512ifma", seven, b, 21, State::avx512},
    {"avx512cd", seven, b, 28, State::avx512},
    {"sha", seven, b, 29},
    {"avx512bw", seven, b, 30, State::avx512},
    {"avx512vl", seven, b, 31, State::avx512},
    {"avx512vbmi", seven, c, 1, State::avx512},
    {"avx512vbmi2", seven, c, 6, State::avx512},
    {"gfni", seven, c, 8},
    {"vaes", seven, c, 9, State::avx},
    {"vpclmulqdq", seven, c, 10, State::avx},
    {"avx512vnni", seven, c, 11, State::avx512},
    {"avx512bitalg", seven, c, 12, State::avx512},
    {"avx512vpopcntdq", seven, c, 14, State::avx512},
    {"avx512vp2intersect", seven, d, 8, State::avx512},
    {"amx-bf16", seven, d, 22, State::amx},
    {"avx512fp16", seven, d, 23, State::avx512},
    {"amx-tile", seven, d, 24, State::amx},
    {"amx-int8", seven, d, 25, State::amx},
    {"sha512", sevenOne, a, 0, State::avx},
    {"sm3", sevenOne, a, 1, State::avx},
    {"sm4", sevenOne, a, 2, State::avx},
    {"avxvnni", sevenOne, a, 4, State::avx},
    {"avx512bf16", sevenOne, a, 5, State::avx512},
    {"amx-fp16", sevenOne, a, 21, State::amx},
    {"avxifma", sevenOne, a, 23, State::avx},
    {"avxvnniint8", sevenOne, d, 4, State::avx},
    {"avxneconvert", sevenOne, d, 5, State::avx},
    {"avxvnniint16", sevenOne, d, 10, State::avx},
    {"sahf", extended, c, 0},
    {"lzcnt", extended, c, 5},
    {"sse4a", extended, c, 6},
    {"xop", extended, c, 11, State::avx},
    {"fma4", extended, c, 16, State::avx},
    {"tbm", extended, c, 21},
    // Always there in 64-bit mode.
    {"64bit", none, a, 0},
    {"x87", none, a, 0},
};

// Instructions that numerical code never contains (cache and system control, random numbers, transactions), and names
// that LLVM keeps without a meaning of their own: no reason to refuse a file.
constexpr std::string_view irrelevantFeatures[] = {
    "cldemote", "clflushopt", "clwb",      "clzero",    "cmpccxadd", "enqcmd",    "evex512",  "fsgsbase",
    "hreset",   "invlpgb",    "invpcid",   "kl",        "lwp",       "movdir64b", "movdiri",  "mwaitx",
    "pconfig",  "pku",        "prefetchi", "prfchw",    "ptwrite",   "raoint",    "rdpid",    "rdpru",
    "rdrnd",    "rdseed",     "rtm",       "serialize", "sgx",       "shstk",     "tsxldtrk", "uintr",
    "usermsr",  "waitpkg",    "wbnoinvd",  "widekl",    "xsave",     "xsavec",    "xsaveopt", "xsaves",
};

constexpr std::string_view v1[] = {"cx8", "cmov", "fxsr", "mmx", "sse", "sse2"};
constexpr std::string_view v2[] = {"cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"};
constexpr std::string_view v3[] = {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"};
constexpr std::string_view v4[] = {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"};

struct Machine {
  /// [leaf][register]
  std::array<std::array<uint32_t, 4>, 4> words{};
  bool hasAVXState = false, hasAVX512State = false, hasAMXState = false;
  /// Names in LATEWOOD_HIDE_CPU_FEATURES, separated by commas.
  std::string hidden;

  bool isHidden(std::string_view name) const {
    for (std::string_view rest = hidden; !rest.empty();) {
      std::string_view word = rest.substr(0, rest.find(','));
      if (word == name)
        return true;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return false;
  }

  Machine() {
    if (const char *names = std::getenv("LATEWOOD_HIDE_CPU_FEATURES"))
      hidden = names;
    auto read = [&](Leaf leaf, uint32_t number, uint32_t sub) {
      auto &word = words[static_cast<size_t>(leaf)];
      if (!__get_cpuid_count(number, sub, &word[0], &word[1], &word[2], &word[3]))
        word = {};
    };
    read(one, 1, 0);
    read(seven, 7, 0);
    if (words[static_cast<size_t>(seven)][0] >= 1)
      read(sevenOne, 7, 1);
    read(extended, 0x80000001, 0);
    constexpr uint32_t osxsave = 1u << 27;
    if (words[0][2] & osxsave) {
      uint32_t low = 0, high = 0;
      __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
      hasAVXState = (low & 0x6) == 0x6;
      hasAVX512State = (low & 0xe6) == 0xe6;
      hasAMXState = (low & 0x60000) == 0x60000;
    }
  }

  bool has(const Feature &feature) const {
    if (isHidden(feature.name))
      return false;
    if (feature.leaf == none)
      return true;
    if ((feature.state == State::avx && !hasAVXState) || (feature.state == State::avx512 && !hasAVX512State) ||
        (feature.state == State::amx && !hasAMXState))
      return false;
    return (words[static_cast<size_t>(feature.leaf)][static_cast<size_t>(feature.reg)] >> feature.bit) & 1;
  }
};

const Machine &machine() {
  static const Machine instance;
  return instance;
}

bool isPresent(std::string_view name) {
  for (const Feature &feature : knownFeatures)
    if (feature.name == name)
      return machine().has(feature);
  return std::find(std::begin(irrelevantFeatures), std::end(irrelevantFeatures), name) != std::end(irrelevantFeatures);
}
} // namespace

std::vector<std::string> missingCPUFeatures(std::string_view cpu, std::span<const std::string> features) {
  std::vector<std::string> missing;
  auto require = [&](std::string_view name) {
    if (!isPresent(name))
      missing.emplace_back(name);
  };
  if (!features.empty()) {
    for (std::string_view name : features) {
      if (name.starts_with('-') || name.empty())
        continue;
      require(name.starts_with('+') ? name.substr(1) : name);
    }
    return missing;
  }
  int level = cpu == "x86-64" ? 1 : cpu == "x86-64-v2" ? 2 : cpu == "x86-64-v3" ? 3 : cpu == "x86-64-v4" ? 4 : 0;
  if (level == 0) {
    missing.emplace_back(cpu);
    return missing;
  }
  for (std::string_view name : v1)
    require(name);
  if (level >= 2)
    for (std::string_view name : v2)
      require(name);
  if (level >= 3)
    for (std::string_view name : v3)
      require(name);
  if (level >= 4)
    for (std::string_view name : v4)
      require(name);
  return missing;
}

std::vector<std::string_view> hostCPUFeatures() {
  std::vector<std::string_view> names;
  for (const Feature &feature : knownFeatures)
    if (machine().has(feature))
      names.push_back(feature.name);
  return names;
}

} // namespace latewood::runtime
