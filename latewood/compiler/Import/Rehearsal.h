// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading what may be damaged in such a way that the reader crashes.
//
// MLIR's reader of bytecode trusts the insides of what it reads: with sizes and indices that do not fit each other it
// reads outside of its buffers, recurses without end, or asks for absurd amounts of memory. No check in front of it
// could be complete without being a second reader. So the reading is rehearsed: a child process reads the same bytes
// first, and only what it survives is read here. The child shares the memory of this process as it is now (fork), so
// that both readings go the same way.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstdint>
#include <optional>
#include <string>

namespace latewood::import {

/// Runs `work` in a child process. Returns nothing if it came to its end, whatever it found, and else what became of
/// it. `bytes`: how much it reads, for the limits of time and memory that the child gets. Where no child can be made,
/// or one is held up by a lock that another thread of this process had when it was made, nothing is returned either.
/// `report` becomes what `work` gave, if it came to its end.
std::optional<std::string> rehearse(uint64_t bytes, llvm::function_ref<std::string()> work, std::string &report);

} // namespace latewood::import
