// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host program's call of an engine, in terms of the call frame alone: results in destination style, or allocated, be
// it from an output slot or as temporary memory. Internal.

#ifndef LATEWOOD_RUNTIME_ENGINECALLS_H
#define LATEWOOD_RUNTIME_ENGINECALLS_H

#include "latewood/format/abi.h"
#include "latewood/runtime/Engine.h"

namespace latewood::runtime {

/// `lw_api::enqueue`, for an engine that was found.
int32_t runEngine(lw_call *call, const Engine &engine, EngineContext &context, EngineDevice &device,
                  std::span<const lw_operand> inputs, std::span<const lw_operand> outputs) noexcept;

/// `lw_api::enqueue_alloc`, for an engine that was found.
int32_t runAllocatingEngine(lw_call *call, const Engine &engine, EngineContext &context,
                            std::span<const lw_operand> inputs, const int64_t *slots,
                            std::span<lw_operand> results) noexcept;

} // namespace latewood::runtime

#endif // LATEWOOD_RUNTIME_ENGINECALLS_H
