// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, type inference and formats of control flow, calls, barriers and tokens.
#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace latewood::stablehlo;

//===----------------------------------------------------------------------===//
// while
//===----------------------------------------------------------------------===//

LogicalResult WhileOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperand().getTypes()); // C3
  return success();
}

LogicalResult WhileOp::verifyRegions() {
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegionType(*this, getCond(), "cond", getOperandTypes(), pred, "C1"))) // C1
    return failure();
  return verifyRegionType(*this, getBody(), "body", getOperandTypes(), getOperandTypes(), "C2"); // C2
}

void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getBody().front().getArguments(), getOperand()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
  printer << ')';
  if (getNumOperands()) {
    printer << " : ";
    llvm::interleaveComma(getOperandTypes(), printer);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer.printNewline();
  printer << "cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  auto parsePair = [&]() -> ParseResult {
    return failure(parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()));
  };
  SmallVector<Type> types;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parsePair) ||
      (!operands.empty() && (parser.parseColon() || parser.parseTypeList(types))) ||
      parser.resolveOperands(operands, types, location, state.operands))
    return failure();
  state.addTypes(types);
  // Both regions name their arguments alike.
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  Region *cond = state.addRegion(), *body = state.addRegion();
  return failure(parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseKeyword("cond") ||
                 parser.parseRegion(*cond, arguments) || parser.parseKeyword("do") ||
                 parser.parseRegion(*body, arguments));
}

//===----------------------------------------------------------------------===//
// if, case
//===----------------------------------------------------------------------===//

/// Checks that branches take nothing and return the op's result types.
static LogicalResult verifyBranches(Operation *op, StringRef argumentConstraint, StringRef sameConstraint,
                                    StringRef resultConstraint) {
  for (auto [index, region] : llvm::enumerate(op->getRegions())) {
    if (region.getNumArguments() != 0)
      return op->emitOpError("(") << argumentConstraint << ") requires branches without arguments, but branch " << index
                                  << " has " << region.getNumArguments();
    TypeRange types = region.front().getTerminator()->getOperandTypes();
    if (!areCompatible(types, op->getRegion(0).front().getTerminator()->getOperandTypes()))
      return op->emitOpError("(") << sameConstraint << ") requires branches that return the same types, but branch "
                                  << index << " differs from the first";
    if (!areCompatible(types, op->getResultTypes()))
      return op->emitOpError("(") << resultConstraint
                                  << ") requires branches that return the op's result types, but branch " << index
                                  << " does not";
  }
  return success();
}

LogicalResult IfOp::verifyRegions() { return verifyBranches(*this, "C1", "C2", "C3"); } // C1, C2, C3

LogicalResult CaseOp::verify() {
  if (getBranches().empty()) // C1
    return emitOpError("(C1) requires at least one branch");
  return success();
}

LogicalResult CaseOp::verifyRegions() { return verifyBranches(*this, "C2", "C3", "C4"); } // C2, C3, C4

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

LogicalResult OptimizationBarrierOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  llvm::append_range(types, adaptor.getOperand().getTypes()); // C1
  return success();
}

//===----------------------------------------------------------------------===//
// composite
//===----------------------------------------------------------------------===//

LogicalResult CompositeOp::verify() {
  // C1: two or more parts of letters, digits and underscores, separated by dots; a part begins with no digit.
  SmallVector<StringRef> parts;
  getName().split(parts, '.');
  auto isPart = [](StringRef part) {
    return !part.empty() && !llvm::isDigit(part.front()) &&
           llvm::all_of(part, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; });
  };
  if (parts.size() < 2 || !llvm::all_of(parts, isPart))
    return emitOpError("(C1) requires a name with a namespace, such as \"my.op\", but got \"") << getName() << '"';
  return success();
}

LogicalResult CompositeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getDecompositionAttr());
  if (!function) // C2
    return emitOpError("(C2) requires a decomposition that is a function of the module, but got ")
           << getDecompositionAttr();
  if (!areCompatible(getOperandTypes(), function.getArgumentTypes())) // C3
    return emitOpError("(C3) requires operands of the types that ") << getDecompositionAttr() << " takes";
  if (!areCompatible(getResultTypes(), function.getResultTypes())) // C4
    return emitOpError("(C4) requires results of the types that ") << getDecompositionAttr() << " returns";
  return success();
}

//===----------------------------------------------------------------------===//
// custom_call
//===----------------------------------------------------------------------===//

void CustomCallOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  if (!getHasSideEffect())
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

/// One layout a value, each a permutation of its tensor's dimensions.
static LogicalResult verifyLayouts(Operation *op, StringRef what, TypeRange types, ArrayAttr layouts) {
  // A single tuple stands for its elements.
  SmallVector<Type> flat(types);
  if (types.size() == 1)
    if (auto tuple = dyn_cast<TupleType>(types.front()))
      flat.assign(tuple.begin(), tuple.end());
  if (flat.size() != layouts.size())
    return op->emitOpError("requires one layout for each of the ")
           << flat.size() << " " << what << "s, but got " << layouts.size();
  for (auto [index, type, layout] : llvm::enumerate(flat, layouts.getAsRange<DenseIntElementsAttr>())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    SmallVector<int64_t> order;
    for (const APInt &dimension : layout)
      order.push_back(dimension.getSExtValue());
    int64_t rank = tensor ? tensor.getRank() : 0;
    if (static_cast<int64_t>(order.size()) != rank || !areInRange(order, rank) || !areUnique(order))
      return op->emitOpError("requires a layout of ")
             << what << " " << index << " that is a permutation of its " << rank << " dimensions";
  }
  return success();
}

/// The type that an alias names in a list of values: a value, or an element of the only, tuple-typed one.
static Type getAliasedType(TypeRange types, std::optional<int64_t> index, ArrayRef<int64_t> tupleIndices) {
  Type type;
  if (index) {
    if (!areInRange(*index, types.size()))
      return {};
    type = types[*index];
  } else if (types.size() == 1) {
    type = types.front();
  } else {
    // Several results count as one tuple.
    if (tupleIndices.empty() || !areInRange(tupleIndices.front(), types.size()))
      return {};
    type = types[tupleIndices.front()];
    tupleIndices = tupleIndices.drop_front();
  }
  for (int64_t element : tupleIndices) {
    auto tuple = dyn_cast<TupleType>(type);
    if (!tuple || !areInRange(element, tuple.size()))
      return {};
    type = tuple.getType(element);
  }
  return type;
}

LogicalResult CustomCallOp::verify() {
  if (getOperandLayouts().has_value() != getResultLayouts().has_value())
    return emitOpError("requires layouts of operands and results together, or neither");
  if (getOperandLayouts() && (failed(verifyLayouts(*this, "operand", getOperandTypes(), *getOperandLayouts())) ||
                              failed(verifyLayouts(*this, "result", getResultTypes(), *getResultLayouts()))))
    return failure();
  if (getApiVersion() == CustomCallApiVersion::API_VERSION_TYPED_FFI) {
    if (getBackendConfig() && !isa<DictionaryAttr>(*getBackendConfig()))
      return emitOpError("requires a dictionary as backend_config in api_version 4");
  } else if (getBackendConfig() && isa<DictionaryAttr>(*getBackendConfig())) {
    return emitOpError("requires a string as backend_config in an api_version other than 4");
  }
  for (auto alias : getOutputOperandAliases().getAsRange<OutputOperandAliasAttr>()) {
    Type operand = getAliasedType(getOperandTypes(), alias.getOperandIndex(), alias.getOperandTupleIndices());
    Type result = getAliasedType(getResultTypes(), std::nullopt, alias.getOutputTupleIndices());
    // A single result may be addressed as the only element of a tuple.
    if (!result && getNumResults() == 1 && alias.getOutputTupleIndices() == ArrayRef<int64_t>{0})
      result = getResult(0).getType();
    if (!operand || !result)
      return emitOpError("requires an alias between an operand and a result that exist, but got ") << alias;
    if (!areCompatible(operand, result))
      return emitOpError("requires an alias between values of one type, but got ") << operand << " and " << result;
  }
  return success();
}

LogicalResult CustomCallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto symbol : getCalledComputations().getAsRange<FlatSymbolRefAttr>())
    if (!symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, symbol))
      return emitOpError("requires called computations that are functions of the module, but got ") << symbol;
  return success();
}
