// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An attribute `#sdy.sharding<@mesh, [{}]>` is an opaque attribute with the text `sharding<@mesh, [{}]>`. Inside the
// formats of ops the name in front is left out; the text after it is read token by token up to the bracket that closes
// it.
#include "latewood/compiler/Dialect/Sdy/Sdy.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace latewood::sdy;

//===----------------------------------------------------------------------===//
// Attributes as text
//===----------------------------------------------------------------------===//

static OpaqueAttr getTextAttr(MLIRContext *context, const Twine &text) {
  return OpaqueAttr::get(StringAttr::get(context, SdyDialect::getDialectNamespace()), text.str(),
                         NoneType::get(context));
}

/// Reads one token that is no bracket.
static bool parseInnerToken(AsmParser &parser) {
  std::string string;
  StringAttr symbol;
  int64_t integer;
  StringRef keyword;
  if (succeeded(parser.parseOptionalComma()) || succeeded(parser.parseOptionalColon()) ||
      succeeded(parser.parseOptionalEqual()) || succeeded(parser.parseOptionalQuestion()) ||
      succeeded(parser.parseOptionalStar()) || succeeded(parser.parseOptionalArrow()) ||
      succeeded(parser.parseOptionalString(&string)) || succeeded(parser.parseOptionalSymbolName(symbol)))
    return true;
  OptionalParseResult isInteger = parser.parseOptionalInteger(integer);
  return isInteger.has_value() ? succeeded(*isInteger) : succeeded(parser.parseOptionalKeyword(&keyword));
}

/// Reads a bracketed text, brackets included, and makes it an attribute with `name` in front.
static ParseResult parseText(AsmParser &parser, StringRef name, OpaqueAttr &attribute) {
  SMLoc start = parser.getCurrentLocation(), location = start;
  SmallVector<char> open;
  auto close = [&](char bracket) {
    bool matches = !open.empty() && open.back() == bracket;
    if (matches)
      open.pop_back();
    return matches;
  };
  do {
    location = parser.getCurrentLocation();
    bool ok = true;
    if (succeeded(parser.parseOptionalLess()))
      open.push_back('<');
    else if (succeeded(parser.parseOptionalLSquare()))
      open.push_back('[');
    else if (succeeded(parser.parseOptionalLBrace()))
      open.push_back('{');
    else if (succeeded(parser.parseOptionalLParen()))
      open.push_back('(');
    else if (succeeded(parser.parseOptionalGreater()))
      ok = close('<');
    else if (succeeded(parser.parseOptionalRSquare()))
      ok = close('[');
    else if (succeeded(parser.parseOptionalRBrace()))
      ok = close('{');
    else if (succeeded(parser.parseOptionalRParen()))
      ok = close('(');
    else
      ok = !open.empty() && parseInnerToken(parser);
    if (!ok)
      return parser.emitError(location) << "expected the text of a " << name << " in matching brackets";
  } while (!open.empty());
  // The last token is the bracket that closes the first one.
  StringRef text(start.getPointer(), location.getPointer() + 1 - start.getPointer());
  attribute = getTextAttr(parser.getContext(), name + text);
  return success();
}

static void printText(AsmPrinter &printer, StringRef name, OpaqueAttr attribute) {
  StringRef text = attribute.getAttrData();
  text.consume_front(name);
  printer << text;
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return getTextAttr(getContext(), parser.getFullSymbolSpec());
}

static ParseResult parseMesh(OpAsmParser &parser, OpaqueAttr &mesh) { return parseText(parser, "mesh", mesh); }
static void printMesh(OpAsmPrinter &printer, Operation *, OpaqueAttr mesh) { printText(printer, "mesh", mesh); }
static ParseResult parseSharding(OpAsmParser &parser, OpaqueAttr &sharding) {
  return parseText(parser, "sharding", sharding);
}
static void printSharding(OpAsmPrinter &printer, Operation *, OpaqueAttr sharding) {
  printText(printer, "sharding", sharding);
}

//===----------------------------------------------------------------------===//
// manual_computation
//===----------------------------------------------------------------------===//

/// `[...]` stands for `sharding_per_value<[...]>`.
static ParseResult parsePerValue(OpAsmParser &parser, StringRef field, OpaqueAttr &shardings) {
  OpaqueAttr inner;
  if (parser.parseKeyword(field) || parser.parseEqual() || parseText(parser, "", inner))
    return failure();
  shardings = getTextAttr(parser.getContext(), "sharding_per_value<" + inner.getAttrData() + ">");
  return success();
}

static void printPerValue(OpAsmPrinter &printer, StringRef field, OpaqueAttr shardings) {
  StringRef text = shardings.getAttrData();
  if (text.consume_front("sharding_per_value<"))
    text.consume_back(">");
  printer << ' ' << field << '=' << text;
}

ParseResult ManualComputationOp::parse(OpAsmParser &parser, OperationState &state) {
  SMLoc location = parser.getCurrentLocation();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<OpAsmParser::Argument> arguments;
  FunctionType type;
  auto &properties = state.getOrAddProperties<Properties>();
  Region &body = *state.addRegion();
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parsePerValue(parser, "in_shardings", properties.in_shardings) ||
      parsePerValue(parser, "out_shardings", properties.out_shardings) || parser.parseKeyword("manual_axes") ||
      parser.parseEqual() || parseText(parser, "manual_axes", properties.manual_axes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true) ||
      parser.parseRegion(body, arguments) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.parseColonType(type) || parser.resolveOperands(operands, type.getInputs(), location, state.operands))
    return failure();
  state.addTypes(type.getResults());
  return success();
}

void ManualComputationOp::print(OpAsmPrinter &printer) {
  printer << '(' << getTensors() << ')';
  printPerValue(printer, "in_shardings", getInShardings());
  printPerValue(printer, "out_shardings", getOutShardings());
  printer << " manual_axes=";
  printText(printer, "manual_axes", getManualAxes());
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer,
                        [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ") ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"in_shardings", "out_shardings", "manual_axes"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// Dialect
//===----------------------------------------------------------------------===//

#include "latewood/compiler/Dialect/Sdy/SdyDialect.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/Sdy/SdyOps.cpp.inc"

void SdyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/Sdy/SdyOps.cpp.inc"
      >();
  // Its other ops are accepted in generic form; only our own dialects promise to know all of theirs.
  allowUnknownOperations(true);
}
