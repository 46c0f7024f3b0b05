// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What upstream's inliner must know about StableHLO and CHLO.
#pragma once

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace latewood::input {

/// Operations of both dialects may be inlined anywhere: they name nothing but their operands.
void registerInlinerExtension(mlir::DialectRegistry &registry);

} // namespace latewood::input
