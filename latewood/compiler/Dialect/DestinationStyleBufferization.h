// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How calls that take their results' memory become calls on buffers: the same for a call of a cluster (plan.call) and
// for a run of an engine (tensorrt_runtime.enqueue). Operands of tensor type become their buffers, others stay; the
// destinations' buffers are the results.
#pragma once
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace latewood {

/// Appends the buffers of `values`; what is no tensor is itself.
inline mlir::LogicalResult getBuffers(mlir::ValueRange values, mlir::RewriterBase &rewriter,
                                      const mlir::bufferization::BufferizationOptions &options,
                                      mlir::bufferization::BufferizationState &state,
                                      llvm::SmallVectorImpl<mlir::Value> &buffers) {
  for (mlir::Value value : values) {
    if (!mlir::isa<mlir::TensorType>(value.getType())) {
      buffers.push_back(value);
      continue;
    }
    mlir::FailureOr<mlir::Value> buffer = mlir::bufferization::getBuffer(rewriter, value, options, state);
    if (mlir::failed(buffer))
      return mlir::failure();
    buffers.push_back(*buffer);
  }
  return mlir::success();
}

/// Effects of a call on buffers: it reads these operands, or writes them.
inline void addEffects(mlir::MutableOperandRange operands, mlir::MemoryEffects::Effect *effect,
                       llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>> &effects) {
  for (mlir::OpOperand &operand : operands)
    if (mlir::isa<mlir::BaseMemRefType>(operand.get().getType()))
      effects.emplace_back(effect, &operand);
}

/// The result that `operand` is the destination of, if it is one. Asked for each result of all operands, of which there
/// may be a thousand: destinations come last, in the order of the results.
template <typename Call>
mlir::bufferization::AliasingValueList getAliasingResult(Call call, mlir::OpOperand &operand) {
  unsigned number = operand.getOperandNumber(), inputs = call.getInputs().size();
  if (number < inputs)
    return {};
  return {{call->getResult(number - inputs), mlir::bufferization::BufferRelation::Equivalent}};
}

/// `call` has a name (what it calls), inputs, and destinations.
template <typename Call, typename Name>
mlir::LogicalResult bufferizeCall(Call call, Name name, mlir::RewriterBase &rewriter,
                                  const mlir::bufferization::BufferizationOptions &options,
                                  mlir::bufferization::BufferizationState &state) {
  llvm::SmallVector<mlir::Value> inputs, outs;
  if (mlir::failed(getBuffers(call.getInputs(), rewriter, options, state, inputs)) ||
      mlir::failed(getBuffers(call.getOuts(), rewriter, options, state, outs)))
    return mlir::failure();
  Call::create(rewriter, call.getLoc(), mlir::TypeRange(), name, inputs, outs);
  mlir::bufferization::replaceOpWithBufferizedValues(rewriter, call, outs);
  return mlir::success();
}

} // namespace latewood
