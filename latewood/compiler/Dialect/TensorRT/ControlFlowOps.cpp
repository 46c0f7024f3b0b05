// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of conditionals and loops.
#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::tensorrt;

/// Reports types that do not agree with what is wanted (`constraint` of `op`).
static LogicalResult checkTypes(Operation *op, TypeRange types, TypeRange wanted, StringRef what,
                                StringRef constraint) {
  if (stablehlo::areCompatible(types, wanted))
    return success();
  return op->emitOpError("(") << constraint << ") requires " << what << " of types (" << wanted << "), but got ("
                              << types << ")";
}

LogicalResult IfOp::verifyRegions() {
  if (getNumResults() == 0) // C2
    return emitOpError("(C2) requires a result");
  for (Region *region : {&getTrueRegion(), &getFalseRegion()}) {
    auto yield = dyn_cast<YieldOp>(region->front().getTerminator());
    if (!yield || region->front().getNumArguments() != 0) // C1
      return emitOpError("(C1) requires regions without arguments that end with 'tensorrt.yield'");
    if (failed(checkTypes(*this, yield.getOperandTypes(), getResultTypes(), "yielded values", "C1"))) // C1
      return failure();
  }
  return success();
}

LogicalResult WhileOp::verifyRegions() {
  auto condition = dyn_cast<ConditionOp>(getCondRegion().front().getTerminator());
  auto yield = dyn_cast<YieldOp>(getBodyRegion().front().getTerminator());
  if (!condition || !yield) // C2
    return emitOpError("(C2) requires regions that end with 'tensorrt.condition' and 'tensorrt.yield'");
  if (failed(checkTypes(*this, getResultTypes(), getOperandTypes(), "results", "C1")) || // C1
      failed(checkTypes(*this, getCondRegion().getArgumentTypes(), getOperandTypes(), "arguments of the condition",
                        "C1")) ||
      failed(checkTypes(*this, condition.getArgs().getTypes(), getOperandTypes(), "passed values", "C1")) ||
      failed(checkTypes(*this, getBodyRegion().getArgumentTypes(), getOperandTypes(), "arguments of the body", "C1")) ||
      failed(checkTypes(*this, yield.getOperandTypes(), getOperandTypes(), "yielded values", "C1")))
    return failure();
  return success();
}

LogicalResult ForOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBodyRegion().front().getTerminator());
  if (!yield) // C3
    return emitOpError("(C3) requires a body that ends with 'tensorrt.yield'");
  TypeRange arguments = getBodyRegion().getArgumentTypes();
  if (getLb().getType() != getUb().getType() || getLb().getType() != getStep().getType() || arguments.empty() ||
      arguments.front() != getLb().getType()) // C1
    return emitOpError("(C1) requires bounds, step and the first argument of one type");
  if (failed(checkTypes(*this, getResultTypes(), getInit().getTypes(), "results", "C2")) || // C2
      failed(checkTypes(*this, arguments.drop_front(), getInit().getTypes(), "arguments", "C2")) ||
      failed(checkTypes(*this, yield.getOperandTypes(), getInit().getTypes(), "yielded values", "C2")))
    return failure();
  return success();
}
