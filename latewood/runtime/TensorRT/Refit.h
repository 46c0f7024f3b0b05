// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives an engine that was built without weights those that its file has beside it (latewood/format/EngineWeights.h).
// An engine that needs some that are not there, or of another size, is an error; it runs only with all of them.
#ifndef LATEWOOD_RUNTIME_TENSORRT_REFIT_H
#define LATEWOOD_RUNTIME_TENSORRT_REFIT_H

#include "latewood/format/EngineWeights.h"
#include "latewood/runtime/TensorRT/Engine.h"

namespace latewood::tensorrt {

/// Once, before the engine has a context.
runtime::Status refit(TensorRTEngine &engine, const format::EngineWeights &parts);

} // namespace latewood::tensorrt

#endif // LATEWOOD_RUNTIME_TENSORRT_REFIT_H
