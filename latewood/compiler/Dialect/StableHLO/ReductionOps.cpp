// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, type inference and formats of the ops with a combining or comparing region.
//
// reduce has a compact form, `applies stablehlo.add`. It stands for exactly one body: the named op on the two block
// arguments, in order, without attributes, every location being the op's own. Only then it is printed, so that nothing
// is lost; the parser therefore needs the op's location before it builds the body, and reads a trailing `loc(...)`
// itself.
#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood::stablehlo;

static RankedTensorType tensorType(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Checks that inputs have one shape, returned in `shape`, and the element types of the init values.
static LogicalResult checkInputs(StringRef op, std::optional<Location> location, ValueRange inputs,
                                 ValueRange initValues, StringRef shapeConstraint, StringRef elementConstraint,
                                 StringRef countConstraint, SmallVectorImpl<int64_t> &shape) {
  if (inputs.empty() || inputs.size() != initValues.size())
    return emitConstraint(location, op, countConstraint, "requires as many init values as inputs, and at least one");
  llvm::append_range(shape, tensorType(inputs.front()).getShape());
  for (auto [input, init] : llvm::zip(inputs, initValues)) {
    if (failed(mergeShape(shape, tensorType(input).getShape())))
      return emitConstraint(location, op, shapeConstraint, "requires inputs of one shape, but got ",
                            inputs.front().getType(), " and ", input.getType());
    if (tensorType(init).getRank() != 0 || tensorType(init).getElementType() != tensorType(input).getElementType())
      return emitConstraint(location, op, elementConstraint,
                            "requires a 0-dimensional init value of the input's element type, but got ", init.getType(),
                            " for ", input.getType());
  }
  return success();
}

//===----------------------------------------------------------------------===//
// reduce
//===----------------------------------------------------------------------===//

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape;
  ArrayRef<int64_t> dimensions = adaptor.getDimensions();
  if (failed(checkInputs(getOperationName(), location, adaptor.getInputs(), adaptor.getInitValues(), "C1", "C2", "C3",
                         shape))) // C1, C2, C3
    return failure();
  if (!areInRange(dimensions, shape.size())) // C4
    return emitConstraint(location, getOperationName(), "C4", "requires dimensions of the inputs, ",
                          adaptor.getInputs().front().getType());
  if (!areUnique(dimensions)) // C5
    return emitConstraint(location, getOperationName(), "C5", "requires dimensions that are all different");
  SmallVector<int64_t> kept; // C7
  for (auto [index, extent] : llvm::enumerate(shape))
    if (!llvm::is_contained(dimensions, index))
      kept.push_back(extent);
  for (Value input : adaptor.getInputs())
    types.push_back(RankedTensorType::get(kept, tensorType(input).getElementType()));
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyReducer(*this, getBody(), getInputs().getTypes(), getResultTypes(), "C6", "C8"); // C6, C8
}

/// The one op of a body that the compact form can express, or null.
static Operation *getCompactReducer(ReduceOp reduce) {
  Block &body = reduce.getBody().front();
  if (reduce.getInputs().size() != 1 || body.getNumArguments() != 2 || !llvm::hasNItems(body, 2))
    return nullptr;
  Operation &inner = body.front(), &terminator = body.back();
  if (inner.getDialect() != reduce->getDialect() || inner.getNumOperands() != 2 || inner.getNumResults() != 1 ||
      inner.getNumRegions() != 0 || !inner.getAttrs().empty() || inner.getOperand(0) != body.getArgument(0) ||
      inner.getOperand(1) != body.getArgument(1))
    return nullptr;
  if (!isa<ReturnOp>(terminator) || terminator.getNumOperands() != 1 ||
      terminator.getOperand(0) != inner.getResult(0) || !terminator.getAttrs().empty())
    return nullptr;
  auto scalar = RankedTensorType::get({}, getElementTypeOrSelf(reduce.getInputs().front().getType()));
  if (inner.getResult(0).getType() != scalar ||
      llvm::any_of(body.getArgumentTypes(), [&](Type t) { return t != scalar; }))
    return nullptr;
  Location location = reduce.getLoc();
  if (inner.getLoc() != location || terminator.getLoc() != location ||
      llvm::any_of(body.getArguments(), [&](BlockArgument argument) { return argument.getLoc() != location; }))
    return nullptr;
  return &inner;
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleave(
      llvm::zip(getInputs(), getInitValues()), printer,
      [&](auto pair) { printer << std::get<0>(pair) << " init: " << std::get<1>(pair) << ')'; }, ", (");
  Operation *inner = getCompactReducer(*this);
  if (inner)
    printer << " applies " << inner->getName().getStringRef();
  printer << " across dimensions = ";
  printDims(printer, getDimensions());
  printer.printOptionalAttrDict((*this)->getAttrs(), {"dimensions"});
  printer << " : ";
  printer.printFunctionalType(*this);
  if (inner)
    return;

  printer.printNewline();
  printer << " reducer";
  Block &body = getBody().front();
  size_t count = getInputs().size();
  for (size_t i = 0; i < count; ++i) {
    printer << (i ? " (" : "(");
    printer.printRegionArgument(body.getArgument(i));
    printer << ", ";
    printer.printRegionArgument(body.getArgument(i + count));
    printer << ')';
  }
  printer << "  ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

/// Builds the body that `applies <name>` stands for.
static ParseResult buildCompactBody(OpAsmParser &parser, SMLoc nameLocation, StringRef name, FunctionType type,
                                    Region &body, Location location) {
  auto info = RegisteredOperationName::lookup(name, parser.getContext());
  if (!info)
    return parser.emitError(nameLocation) << "'applies' names an unknown operation '" << name << "'";
  if (type.getNumInputs() != 2 || !isa<ShapedType>(type.getInput(0)))
    return parser.emitError(nameLocation) << "'applies' requires one input and one init value";
  auto scalar = RankedTensorType::get({}, cast<ShapedType>(type.getInput(0)).getElementType());
  Block &block = body.emplaceBlock();
  block.addArguments({scalar, scalar}, {location, location});
  // Not `OpBuilder(&block, ...)`: the region has no parent yet from which that would take the context.
  OpBuilder builder(parser.getContext());
  builder.setInsertionPointToStart(&block);
  OperationState state(location, *info);
  state.addOperands(block.getArguments());
  state.addTypes(scalar);
  Operation *inner = builder.create(state);
  ReturnOp::create(builder, location, inner->getResults());
  return success();
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands, initValues;
  do {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) || parser.parseKeyword("init") ||
        parser.parseColon() || parser.parseOperand(initValues.emplace_back()) || parser.parseRParen())
      return failure();
  } while (succeeded(parser.parseOptionalComma()));
  operands.append(initValues);

  std::string inner;
  SMLoc innerLocation;
  if (succeeded(parser.parseOptionalKeyword("applies"))) {
    innerLocation = parser.getCurrentLocation();
    if (parser.parseKeywordOrString(&inner))
      return failure();
  }
  SmallVector<int64_t> dimensions;
  FunctionType type;
  if (parser.parseKeyword("across") || parser.parseKeyword("dimensions") || parser.parseEqual() ||
      parseDims(parser, dimensions) || parser.parseOptionalAttrDict(state.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), location, state.operands))
    return failure();
  state.getOrAddProperties<Properties>().dimensions = parser.getBuilder().getDenseI64ArrayAttr(dimensions);
  state.addTypes(type.getResults());
  Region &body = *state.addRegion();

  if (!inner.empty()) {
    std::optional<Location> written;
    if (parser.parseOptionalLocationSpecifier(written))
      return failure();
    state.location = written.value_or(parser.getEncodedSourceLoc(parser.getNameLoc()));
    return buildCompactBody(parser, innerLocation, inner, type, body, state.location);
  }
  // The long form pairs arguments by input, the block has all first ones before all second ones.
  SmallVector<OpAsmParser::Argument> arguments, second;
  if (parser.parseKeyword("reducer"))
    return failure();
  for (size_t i = 0; i < initValues.size(); ++i)
    if (parser.parseLParen() || parser.parseArgument(arguments.emplace_back(), /*allowType=*/true) ||
        parser.parseComma() || parser.parseArgument(second.emplace_back(), /*allowType=*/true) || parser.parseRParen())
      return failure();
  arguments.append(second);
  return parser.parseRegion(body, arguments);
}

//===----------------------------------------------------------------------===//
// reduce_window, select_and_scatter
//===----------------------------------------------------------------------===//

/// An optional list of one positive number a dimension; absent means all 1.
static LogicalResult checkPositive(StringRef op, std::optional<Location> location,
                                   std::optional<ArrayRef<int64_t>> list, size_t rank, StringRef name,
                                   StringRef sizeConstraint, StringRef valueConstraint) {
  if (!list)
    return success();
  if (list->size() != rank)
    return emitConstraint(location, op, sizeConstraint, "requires one entry of ", name, " for each of the ", rank,
                          " dimensions, but got ", list->size());
  if (llvm::any_of(*list, [](int64_t entry) { return entry <= 0; }))
    return emitConstraint(location, op, valueConstraint, "requires positive ", name);
  return success();
}

static LogicalResult checkPadding(StringRef op, std::optional<Location> location,
                                  std::optional<DenseIntElementsAttr> padding, size_t rank, StringRef constraint) {
  if (padding && padding->getType().getShape() != ArrayRef<int64_t>{static_cast<int64_t>(rank), 2})
    return emitConstraint(location, op, constraint, "requires padding of shape [", rank, ", 2], but got ",
                          padding->getType());
  return success();
}

LogicalResult ReduceWindowOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                               SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  SmallVector<int64_t> shape;
  if (failed(
          checkInputs(name, location, adaptor.getInputs(), adaptor.getInitValues(), "C2", "C3", "C1", shape))) // C1-C3
    return failure();
  size_t rank = shape.size();
  if (failed(checkPositive(name, location, adaptor.getWindowDimensions(), rank, "window_dimensions", "C4",
                           "C5")) ||                                                                           // C4, C5
      failed(checkPositive(name, location, adaptor.getWindowStrides(), rank, "window_strides", "C6", "C7")) || // C6, C7
      failed(checkPositive(name, location, adaptor.getBaseDilations(), rank, "base_dilations", "C8", "C9")) || // C8, C9
      failed(checkPositive(name, location, adaptor.getWindowDilations(), rank, "window_dilations", "C10",
                           "C11")) ||                                          // C10, C11
      failed(checkPadding(name, location, adaptor.getPadding(), rank, "C12"))) // C12
    return failure();
  auto at = [](std::optional<ArrayRef<int64_t>> list, size_t index) { return list ? (*list)[index] : 1; };
  SmallVector<int64_t> windows; // C14, C15
  for (auto [index, extent] : llvm::enumerate(shape)) {
    WindowDimension window{adaptor.getWindowDimensions()[index], at(adaptor.getWindowStrides(), index),
                           at(adaptor.getBaseDilations(), index), at(adaptor.getWindowDilations(), index)};
    if (auto padding = adaptor.getPadding()) {
      window.low = padding->getValues<int64_t>()[2 * index];
      window.high = padding->getValues<int64_t>()[2 * index + 1];
    }
    windows.push_back(countWindows(extent, window));
  }
  for (Value input : adaptor.getInputs())
    types.push_back(RankedTensorType::get(windows, tensorType(input).getElementType()));
  return success();
}

LogicalResult ReduceWindowOp::verifyRegions() {
  return verifyReducer(*this, getBody(), getInputs().getTypes(), getResultTypes(), "C13", "C16"); // C13, C16
}

LogicalResult SelectAndScatterOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                                   SmallVectorImpl<Type> &types) {
  StringRef name = getOperationName();
  RankedTensorType operand = tensorType(adaptor.getOperand()), source = tensorType(adaptor.getSource());
  size_t rank = operand.getRank();
  if (operand.getElementType() != source.getElementType()) // C1
    return emitConstraint(location, name, "C1", "requires operand and source of one element type, but got ", operand,
                          " and ", source);
  if (operand.getElementType() != tensorType(adaptor.getInitValue()).getElementType()) // C3
    return emitConstraint(location, name, "C3", "requires an init value of the operand's element type, but got ",
                          adaptor.getInitValue().getType());
  if (failed(checkPositive(name, location, adaptor.getWindowDimensions(), rank, "window_dimensions", "C4",
                           "C5")) ||                                                                           // C4, C5
      failed(checkPositive(name, location, adaptor.getWindowStrides(), rank, "window_strides", "C6", "C7")) || // C6, C7
      failed(checkPadding(name, location, adaptor.getPadding(), rank, "C8")))                                  // C8
    return failure();
  SmallVector<int64_t> windows;
  for (auto [index, extent] : llvm::enumerate(operand.getShape())) {
    WindowDimension window;
    if (auto dimensions = adaptor.getWindowDimensions())
      window.size = (*dimensions)[index];
    if (auto strides = adaptor.getWindowStrides())
      window.stride = (*strides)[index];
    if (auto padding = adaptor.getPadding()) {
      window.low = padding->getValues<int64_t>()[2 * index];
      window.high = padding->getValues<int64_t>()[2 * index + 1];
    }
    windows.push_back(countWindows(extent, window));
  }
  if (failed(verifyCompatibleShape(windows, source.getShape()))) // C2
    return emitConstraint(location, name, "C2", "requires a source with one element for each window, ",
                          RankedTensorType::get(windows, source.getElementType()), ", but got ", source);
  types.push_back(operand); // C11
  return success();
}

LogicalResult SelectAndScatterOp::verifyRegions() {
  auto scalar = RankedTensorType::get({}, getOperand().getType().getElementType());
  auto pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (failed(verifyRegionType(*this, getSelect(), "select", {scalar, scalar}, pred, "C9"))) // C9
    return failure();
  return verifyReducer(*this, getScatter(), getOperand().getType(), getType(), "C10", "C12"); // C10, C12
}

//===----------------------------------------------------------------------===//
// map, sort
//===----------------------------------------------------------------------===//

LogicalResult MapOp::verify() {
  if (getInputs().empty()) // C2
    return emitOpError("(C2) requires at least one input");
  for (Type type : getInputs().getTypes())
    if (!haveCompatibleShapes(type, getType())) // C1
      return emitOpError("(C1) requires inputs and result of one shape, but got ") << type << " and " << getType();
  for (auto [index, dimension] : llvm::enumerate(getDimensions()))
    if (dimension != static_cast<int64_t>(index)) // C3
      return emitOpError("(C3) requires all dimensions in ascending order");
  if (static_cast<int64_t>(getDimensions().size()) != getType().getRank()) // C3
    return emitOpError("(C3) requires all ") << getType().getRank() << " dimensions";
  return success();
}

LogicalResult MapOp::verifyRegions() {
  SmallVector<Type> arguments;
  for (Type type : getInputs().getTypes())
    arguments.push_back(RankedTensorType::get({}, getElementTypeOrSelf(type)));
  Type result = RankedTensorType::get({}, getType().getElementType());
  return verifyRegionType(*this, getComputation(), "a computation", arguments, result, "C4"); // C4
}

LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  if (adaptor.getInputs().empty()) // C1
    return emitConstraint(location, getOperationName(), "C1", "requires at least one input");
  RankedTensorType first = tensorType(adaptor.getInputs().front());
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : adaptor.getInputs())
    if (failed(mergeShape(shape, tensorType(input).getShape()))) // C3
      return emitConstraint(location, getOperationName(), "C3", "requires inputs of one shape, but got ", first,
                            " and ", input.getType());
  int64_t dimension = static_cast<int64_t>(adaptor.getDimension()), rank = first.getRank();
  if (dimension < -rank || dimension >= rank) // C4
    return emitConstraint(location, getOperationName(), "C4", "requires a dimension in [", -rank, ", ", rank,
                          "), but got ", dimension);
  llvm::append_range(types, adaptor.getInputs().getTypes()); // C2
  return success();
}

LogicalResult SortOp::verifyRegions() {
  SmallVector<Type> arguments;
  for (Type type : getInputs().getTypes())
    arguments.append(2, RankedTensorType::get({}, getElementTypeOrSelf(type)));
  Type pred = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  return verifyRegionType(*this, getComparator(), "a comparator", arguments, pred, "C5"); // C5
}
