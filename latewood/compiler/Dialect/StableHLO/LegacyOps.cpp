// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers and type inference of the ops that the specification has left, and Einstein's notation.
#include "latewood/compiler/Dialect/StableHLO/Einsum.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
using namespace latewood::stablehlo;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

//===----------------------------------------------------------------------===//
// broadcast, dot, torch_index_select
//===----------------------------------------------------------------------===//

LogicalResult BroadcastOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(adaptor.getBroadcastSizes());
  if (llvm::any_of(shape, [](int64_t size) { return size < 0; })) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires sizes that are not negative");
  llvm::append_range(shape, tensorType(adaptor.getOperand()).getShape()); // C2
  types.push_back(tensorType(adaptor.getOperand()).clone(shape));
  return success();
}

LogicalResult DotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getLhs()), rhs = tensorType(adaptor.getRhs());
  for (RankedTensorType type : {lhs, rhs})
    if (type.getRank() != 1 && type.getRank() != 2) // C1
      return emitConstraint(location, getOperationName(), "C1", "requires one or two dimensions, but got ", type);
  if (!extentsAgree(lhs.getShape().back(), rhs.getShape().front())) // C2
    return emitConstraint(location, getOperationName(), "C2", "requires contracted dimensions of one extent, but got ",
                          lhs, " and ", rhs);
  SmallVector<int64_t> shape(lhs.getShape().drop_back());
  llvm::append_range(shape, rhs.getShape().drop_front());
  types.push_back(RankedTensorType::get(shape, lhs.getElementType()));
  return success();
}

LogicalResult DotOp::verify() {
  if (auto precision = getPrecisionConfig(); precision && precision->size() != 2 && !precision->empty()) // C3
    return emitOpError("(C3) requires two precisions, but got ") << precision->size();
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType();
  bool fits = isQuantized(rhs)
                  ? isQuantized(lhs) == isQuantized(getType()) &&
                        (isQuantized(lhs) ? getStorageType(lhs) == getStorageType(rhs) : lhs == getExpressedType(rhs))
                  : lhs == rhs || (isa<FloatType>(lhs) && isa<FloatType>(rhs));
  if (!fits) // C4
    return emitOpError("(C4) requires operands of one element type, but got ") << lhs << " and " << rhs;
  return success();
}

LogicalResult TorchIndexSelectOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  RankedTensorType operand = tensorType(adaptor.getOperand()), index = tensorType(adaptor.getIndex());
  auto dim = static_cast<int64_t>(adaptor.getDim()), batch = static_cast<int64_t>(adaptor.getBatchDims());
  if (!areInRange(dim, operand.getRank())) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires a dimension of the operand, but got ", dim,
                          " for ", operand);
  if (batch < 0 || batch > dim || batch > index.getRank()) // C2
    return emitConstraint(location, getOperationName(), "C2",
                          "requires batch_dims of at most dim and the index's rank, ", "but got ", batch);
  SmallVector<int64_t> shape(operand.getShape().take_front(batch));
  if (failed(mergeShape(shape, index.getShape().take_front(batch)))) // C3
    return emitConstraint(location, getOperationName(), "C3", "requires batch dimensions of one extent, but got ",
                          operand, " and ", index);
  llvm::append_range(shape, operand.getShape().slice(batch, dim - batch)); // C4
  llvm::append_range(shape, index.getShape().drop_front(batch));
  llvm::append_range(shape, operand.getShape().drop_front(dim + 1));
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// Einstein's notation
//===----------------------------------------------------------------------===//

/// Reads the labels of one term. `ellipsis` is the number of dimensions that `...` stands for; it is found for an
/// operand of the given rank.
static LogicalResult parseTerm(StringRef term, std::optional<int64_t> rank, int64_t &ellipsis,
                               SmallVectorImpl<int64_t> &labels, std::string &message) {
  auto [front, back] = term.split("...");
  bool hasEllipsis = term.contains("...");
  for (StringRef letters : {front, back})
    if (!llvm::all_of(letters, llvm::isAlpha)) {
      message = ("letters and at most one '...' in '" + term + "'").str();
      return failure();
    }
  if (rank) {
    ellipsis = *rank - static_cast<int64_t>(front.size() + back.size());
    if (hasEllipsis ? ellipsis < 0 : ellipsis != 0) {
      message = ("a letter for each dimension, but '" + term + "' names " + Twine(front.size() + back.size()) + " of " +
                 Twine(*rank))
                    .str();
      return failure();
    }
  }
  llvm::append_range(labels, front);
  if (hasEllipsis)
    for (int64_t label = -ellipsis; label < 0; ++label)
      labels.push_back(label);
  llvm::append_range(labels, back);
  return success();
}

FailureOr<Einsum> latewood::stablehlo::parseEinsum(StringRef config, ArrayRef<RankedTensorType> types,
                                                   std::string &message) {
  std::string text;
  llvm::copy_if(config, std::back_inserter(text), [](char c) { return c != ' '; });
  auto [inputs, output] = StringRef(text).split("->");
  SmallVector<StringRef> terms;
  inputs.split(terms, ',');
  if (terms.size() != types.size()) {
    message = ("notation for " + Twine(types.size()) + " operands, but got '" + config + "'").str();
    return failure();
  }
  Einsum einsum;
  int64_t ellipsis = 0;
  for (auto [term, type] : llvm::zip(terms, types)) {
    int64_t own = 0;
    if (failed(parseTerm(term, type.getRank(), own, einsum.operands.emplace_back(), message)))
      return failure();
    ellipsis = std::max(ellipsis, own);
  }
  std::map<int64_t, int64_t> counts;
  for (ArrayRef<int64_t> labels : einsum.operands)
    for (int64_t label : labels)
      ++counts[label];
  if (StringRef(text).contains("->")) {
    if (failed(parseTerm(output, std::nullopt, ellipsis, einsum.result, message)))
      return failure();
  } else {
    for (auto [label, count] : counts)
      if (label < 0 || count == 1)
        einsum.result.push_back(label);
  }
  if (!areUnique(einsum.result)) {
    message = "a result that has each letter once";
    return failure();
  }
  for (int64_t label : einsum.result)
    if (!counts.count(label)) {
      message = "a result of letters that an operand has";
      return failure();
    }
  return einsum;
}

SmallVector<int64_t> Einsum::getResultShape(ArrayRef<RankedTensorType> types) const {
  SmallVector<int64_t> shape;
  for (int64_t label : result) {
    int64_t extent = ShapedType::kDynamic;
    for (auto [labels, type] : llvm::zip(operands, types))
      for (auto [index, other] : llvm::enumerate(labels))
        if (other == label && ShapedType::isDynamic(extent))
          extent = type.getDimSize(index);
    shape.push_back(extent);
  }
  return shape;
}

/// Checks both kinds of einsum.
static LogicalResult verifyEinsum(Operation *op, StringRef config) {
  auto types = llvm::map_to_vector(op->getOperandTypes(), llvm::CastTo<RankedTensorType>);
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  std::string message;
  FailureOr<Einsum> einsum = parseEinsum(config, types, message);
  if (failed(einsum)) // C1
    return op->emitOpError("(C1) requires ") << message;
  std::map<int64_t, int64_t> extents;
  for (auto [labels, type] : llvm::zip(einsum->operands, types))
    for (auto [label, extent] : llvm::zip(labels, type.getShape())) {
      int64_t &known = extents.try_emplace(label, extent).first->second;
      if (!extentsAgree(known, extent)) // C2
        return op->emitOpError("(C2) requires equal extents for equal letters, but got ") << known << " and " << extent;
    }
  SmallVector<int64_t> shape = einsum->getResultShape(types);
  if (failed(verifyCompatibleShape(shape, result.getShape()))) // C3
    return op->emitOpError("(C3) requires a result of type ") << result.clone(shape) << ", but got " << result;
  for (RankedTensorType type : types)
    if (type.getElementType() != types.front().getElementType() ||
        !isPromotable(type.getElementType(), result.getElementType())) // C4
      return op->emitOpError("(C4) requires one element type that can be promoted to ")
             << result.getElementType() << ", but got " << type;
  return success();
}

LogicalResult EinsumOp::verify() { return verifyEinsum(*this, getEinsumConfig()); }      // C1-C4
LogicalResult UnaryEinsumOp::verify() { return verifyEinsum(*this, getEinsumConfig()); } // C1-C4
