// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of transfers and tuples.
#include "latewood/compiler/Dialect/StableHLO/SourceTargetPairs.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

/// Results of a transfer to this device: tensors, then a token.
static LogicalResult verifyReceived(Operation *op, StringRef tensors, StringRef token) {
  if (op->getNumResults() == 0 || !isa<TokenType>(op->getResults().back().getType()))
    return op->emitOpError(token) << "requires a token as the last result";
  for (Type type : TypeRange(op->getResultTypes()).drop_back())
    if (!isa<RankedTensorType>(type))
      return op->emitOpError(tensors) << "requires tensors before the token, but got " << type;
  return success();
}

LogicalResult InfeedOp::verify() { return verifyReceived(*this, "(C2) ", "(C3) "); } // C1, C2, C3

/// The channel must be of `hostType` for a transfer with the host, and of type 1 between devices.
static LogicalResult verifyChannelType(Operation *op, ChannelHandleAttr channel, bool isHostTransfer,
                                       int64_t hostType) {
  int64_t expected = isHostTransfer ? hostType : 1;
  if (channel.getType() != expected)
    return op->emitOpError("(C5) requires a channel of type ") << expected << ", but got " << channel.getType();
  return success();
}

LogicalResult SendOp::verify() {
  if (auto pairs = getSourceTargetPairs(); pairs && failed(verifySourceTargetPairs(*this, *pairs))) // C1-C4
    return failure();
  return verifyChannelType(*this, getChannelHandle(), getIsHostTransfer(), /*hostType=*/2); // C5
}

LogicalResult RecvOp::verify() {
  if (failed(verifyReceived(*this, "", "")))
    return failure();
  if (auto pairs = getSourceTargetPairs(); pairs && failed(verifySourceTargetPairs(*this, *pairs))) // C1-C4
    return failure();
  return verifyChannelType(*this, getChannelHandle(), getIsHostTransfer(), /*hostType=*/3); // C5
}

LogicalResult TupleOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  types.push_back(TupleType::get(context, adaptor.getVal().getTypes())); // C1
  return success();
}

LogicalResult GetTupleElementOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                  SmallVectorImpl<Type> &types) {
  auto tuple = cast<TupleType>(adaptor.getOperand().getType());
  int64_t index = adaptor.getIndexAttr().getInt();
  if (!areInRange(index, tuple.size())) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires an index in bounds, but got ", index, " for ",
                          tuple);
  types.push_back(tuple.getType(index)); // C2
  return success();
}

OpFoldResult GetTupleElementOp::fold(FoldAdaptor) {
  auto tuple = getOperand().getDefiningOp<TupleOp>();
  if (!tuple || tuple.getVal()[getIndex()].getType() != getType())
    return {};
  return tuple.getVal()[getIndex()];
}
