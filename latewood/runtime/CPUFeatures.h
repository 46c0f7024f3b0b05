// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which instruction set features this machine and its operating system offer, by LLVM's names, so that a file for
// another CPU is refused with the names of what is missing instead of dying of an illegal instruction.
//
// The environment variable LATEWOOD_HIDE_CPU_FEATURES (names, separated by commas; read once) makes the process do as
// if the machine lacked some: for tests, and for measuring what the code for a lesser machine does.

#ifndef LATEWOOD_RUNTIME_CPUFEATURES_H
#define LATEWOOD_RUNTIME_CPUFEATURES_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace latewood::runtime {

/// Of the features that code for `cpu` with this list may use, those that this machine lacks. Names may carry a '+';
/// those with a '-' are not used. Without features, the levels x86-64, x86-64-v2, -v3 and -v4 stand for theirs; another
/// CPU then counts as a feature of its own. A name that this runtime does not know counts as missing.
std::vector<std::string> missingCPUFeatures(std::string_view cpu, std::span<const std::string> features);

/// The features of this machine that missingCPUFeatures knows and compiled code can profit from.
std::vector<std::string_view> hostCPUFeatures();

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_CPUFEATURES_H
