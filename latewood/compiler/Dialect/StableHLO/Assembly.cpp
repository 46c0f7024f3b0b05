// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// StableHLO's own syntax where the declarative form does not reach: type lists that are written once when all types are
// equal, ranges of slices, dimension numbers, precision, windows. What is printed is what is read.

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;

namespace latewood::stablehlo {

//===----------------------------------------------------------------------===//
// Type lists
//===----------------------------------------------------------------------===//

/// Assigns the types of a function type; `location` is where it was written.
static ParseResult assignFunctionType(OpAsmParser &parser, SMLoc location, FunctionType function,
                                      ArrayRef<Type *> operands, Type &result) {
  if (function.getNumInputs() != operands.size() || function.getNumResults() != 1)
    return parser.emitError(location) << "expected a type with " << operands.size()
                                      << " operands and one result, but got " << function;
  for (auto [operand, input] : llvm::zip(operands, function.getInputs()))
    *operand = input;
  result = function.getResult(0);
  return success();
}

ParseResult parseSameTypesImpl(OpAsmParser &parser, ArrayRef<Type *> operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, location, function, operands, result);
  for (Type *operand : operands)
    *operand = type;
  result = type;
  return success();
}

void printSameTypesImpl(OpAsmPrinter &printer, Operation *op, TypeRange operands, Type result) {
  if (llvm::all_of(operands, [&](Type type) { return type == result; }))
    printer << result;
  else
    printer.printFunctionalType(op);
}

ParseResult parseSelectTypes(OpAsmParser &parser, Type &pred, Type &onTrue, Type &onFalse, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, location, function, {&pred, &onTrue, &onFalse}, result);
  pred = type;
  if (parser.parseComma() || parser.parseType(result))
    return failure();
  onTrue = onFalse = result;
  return success();
}

void printSelectTypes(OpAsmPrinter &printer, Operation *op, Type pred, Type onTrue, Type onFalse, Type result) {
  if (onTrue == result && onFalse == result)
    printer << pred << ", " << result;
  else
    printer.printFunctionalType(op);
}

/// The type of a complex tensor's parts; null if `type` is no such tensor.
static Type getPartsType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !isa<ComplexType>(tensor.getElementType()))
    return {};
  return tensor.clone(cast<ComplexType>(tensor.getElementType()).getElementType());
}

ParseResult parseComplexType(OpAsmParser &parser, Type &lhs, Type &rhs, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type))
    return assignFunctionType(parser, location, function, {&lhs, &rhs}, result);
  lhs = rhs = getPartsType(type);
  if (!lhs)
    return parser.emitError(location) << "expected a tensor of complex numbers";
  result = type;
  return success();
}

void printComplexType(OpAsmPrinter &printer, Operation *op, Type lhs, Type rhs, Type result) {
  Type parts = getPartsType(result);
  if (lhs == parts && rhs == parts)
    printer << result;
  else
    printer.printFunctionalType(op);
}

ParseResult parsePairwiseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands, SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.append(operands.begin(), operands.end());
  return success();
}

void printPairwiseTypes(OpAsmPrinter &printer, Operation *, TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

ParseResult parseTokenTypes(OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                            SmallVectorImpl<Type> &types, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseType(result))
    return failure();
  types.assign(operands.size(), result);
  auto function = dyn_cast<FunctionType>(result);
  if (!function)
    return success();
  if (function.getNumResults() != 1)
    return parser.emitError(location) << "expected one result";
  types.assign(function.getInputs().begin(), function.getInputs().end());
  result = function.getResult(0);
  return success();
}

void printTokenTypes(OpAsmPrinter &printer, Operation *, OperandRange, TypeRange, Type result) { printer << result; }

ParseResult parseTupleTypes(OpAsmParser &parser, SmallVectorImpl<Type> &operands, Type &result) {
  SMLoc location = parser.getCurrentLocation();
  Type type;
  if (parser.parseType(type))
    return failure();
  if (auto function = dyn_cast<FunctionType>(type)) {
    if (function.getNumResults() != 1)
      return parser.emitError(location) << "expected one result";
    llvm::append_range(operands, function.getInputs());
    result = function.getResult(0);
    return success();
  }
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple)
    return parser.emitError(location) << "expected a tuple type";
  llvm::append_range(operands, tuple.getTypes());
  result = tuple;
  return success();
}

void printTupleTypes(OpAsmPrinter &printer, Operation *op, TypeRange operands, Type result) {
  auto tuple = dyn_cast<TupleType>(result);
  if (tuple && TypeRange(tuple.getTypes()) == operands)
    printer << result;
  else
    printer.printFunctionalType(op);
}

//===----------------------------------------------------------------------===//
// Operands and attributes
//===----------------------------------------------------------------------===//

ParseResult parseOperandsThenComma(OpAsmParser &parser, SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands) {
  while (true) {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult result = parser.parseOptionalOperand(operand);
    if (!result.has_value())
      return success();
    if (failed(*result) || parser.parseComma())
      return failure();
    operands.push_back(operand);
  }
}

void printOperandsThenComma(OpAsmPrinter &printer, Operation *, OperandRange operands) {
  llvm::interleave(operands, printer, [&](Value operand) { printer << operand << ','; }, " ");
}

ParseResult parseSliceRanges(OpAsmParser &parser, DenseI64ArrayAttr &starts, DenseI64ArrayAttr &limits,
                             DenseI64ArrayAttr &strides) {
  SmallVector<int64_t> start, limit, stride;
  auto parseRange = [&]() -> ParseResult {
    if (parser.parseInteger(start.emplace_back()) || parser.parseColon() || parser.parseInteger(limit.emplace_back()))
      return failure();
    stride.push_back(1);
    return succeeded(parser.parseOptionalColon()) ? parser.parseInteger(stride.back()) : success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseRange))
    return failure();
  starts = parser.getBuilder().getDenseI64ArrayAttr(start);
  limits = parser.getBuilder().getDenseI64ArrayAttr(limit);
  strides = parser.getBuilder().getDenseI64ArrayAttr(stride);
  return success();
}

void printSliceRanges(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides) {
  printer << '[';
  llvm::interleaveComma(llvm::zip(starts.asArrayRef(), limits.asArrayRef(), strides.asArrayRef()), printer,
                        [&](auto range) {
                          auto [start, limit, stride] = range;
                          printer << start << ':' << limit;
                          if (stride != 1)
                            printer << ':' << stride;
                        });
  printer << ']';
}

ParseResult parseExponentMantissa(OpAsmParser &parser, IntegerAttr &exponent, IntegerAttr &mantissa) {
  SMLoc location = parser.getCurrentLocation();
  StringRef format;
  if (parser.parseKeyword(&format))
    return failure();
  StringRef rest = format;
  unsigned exponentBits, mantissaBits;
  if (!rest.consume_front("e") || rest.consumeInteger(10, exponentBits) || !rest.consume_front("m") ||
      rest.consumeInteger(10, mantissaBits) || !rest.empty() || exponentBits > INT32_MAX || mantissaBits > INT32_MAX)
    return parser.emitError(location) << "expected a format such as e5m10, but got '" << format << "'";
  exponent = parser.getBuilder().getI32IntegerAttr(static_cast<int32_t>(exponentBits));
  mantissa = parser.getBuilder().getI32IntegerAttr(static_cast<int32_t>(mantissaBits));
  return success();
}

void printExponentMantissa(OpAsmPrinter &printer, Operation *, IntegerAttr exponent, IntegerAttr mantissa) {
  printer << 'e' << exponent.getInt() << 'm' << mantissa.getInt();
}

ParseResult parseCallTarget(OpAsmParser &parser, StringAttr &target) { return parser.parseSymbolName(target); }

void printCallTarget(OpAsmPrinter &printer, Operation *, StringAttr target) { printer.printSymbolName(target); }

//===----------------------------------------------------------------------===//
// dot_general, convolution
//===----------------------------------------------------------------------===//

ParseResult parseDotDimensions(OpAsmParser &parser, DotDimensionNumbersAttr &dimensions) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  auto parsePair = [&](SmallVectorImpl<int64_t> &lhs, SmallVectorImpl<int64_t> &rhs) -> ParseResult {
    return failure(parser.parseEqual() || parseDims(parser, lhs) || parser.parseKeyword("x") || parseDims(parser, rhs));
  };
  if (succeeded(parser.parseOptionalKeyword("batching_dims")))
    if (parsePair(lhsBatching, rhsBatching) || parser.parseComma())
      return failure();
  if (parser.parseKeyword("contracting_dims") || parsePair(lhsContracting, rhsContracting))
    return failure();
  dimensions =
      DotDimensionNumbersAttr::get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
  return success();
}

void printDotDimensions(OpAsmPrinter &printer, Operation *, DotDimensionNumbersAttr dimensions) {
  auto printPair = [&](StringRef name, ArrayRef<int64_t> lhs, ArrayRef<int64_t> rhs) {
    printer << name << " = ";
    printDims(printer, lhs);
    printer << " x ";
    printDims(printer, rhs);
  };
  if (!dimensions.getLhsBatchingDimensions().empty() || !dimensions.getRhsBatchingDimensions().empty()) {
    printPair("batching_dims", dimensions.getLhsBatchingDimensions(), dimensions.getRhsBatchingDimensions());
    printer << ", ";
  }
  printPair("contracting_dims", dimensions.getLhsContractingDimensions(), dimensions.getRhsContractingDimensions());
}

ParseResult parsePrecisionAndAlgorithm(OpAsmParser &parser, ArrayAttr &precision, DotAlgorithmAttr &algorithm) {
  auto parsePrecisions = [&]() -> ParseResult {
    SmallVector<Attribute> entries;
    auto parseOne = [&]() -> ParseResult {
      auto entry = FieldParser<Precision>::parse(parser);
      if (failed(entry))
        return failure();
      entries.push_back(PrecisionAttr::get(parser.getContext(), *entry));
      return success();
    };
    if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
    precision = parser.getBuilder().getArrayAttr(entries);
    return success();
  };
  auto parseAlgorithm = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseEqual())
      return failure();
    auto parsed = dyn_cast_or_null<DotAlgorithmAttr>(DotAlgorithmAttr::parse(parser, Type()));
    if (!parsed)
      return parser.emitError(location) << "expected a dot algorithm";
    algorithm = parsed;
    return success();
  };
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc location = parser.getCurrentLocation();
    if (!precision && !algorithm && succeeded(parser.parseOptionalKeyword("precision"))) {
      if (parsePrecisions())
        return failure();
    } else if (!algorithm && succeeded(parser.parseOptionalKeyword("algorithm"))) {
      if (parseAlgorithm())
        return failure();
    } else {
      return parser.emitError(location) << "expected 'precision' or 'algorithm', in this order and each at most once";
    }
  }
  return success();
}

void printPrecisionAndAlgorithm(OpAsmPrinter &printer, Operation *, ArrayAttr precision, DotAlgorithmAttr algorithm) {
  if (precision) {
    printer << ", precision = [";
    llvm::interleaveComma(precision.getAsRange<PrecisionAttr>(), printer,
                          [&](PrecisionAttr entry) { printer << stringifyPrecision(entry.getValue()); });
    printer << ']';
  }
  if (algorithm) {
    printer << ", algorithm = ";
    algorithm.print(printer);
  }
}

ParseResult parsePrecision(OpAsmParser &parser, ArrayAttr &precision) {
  SMLoc location = parser.getCurrentLocation();
  DotAlgorithmAttr algorithm;
  if (parsePrecisionAndAlgorithm(parser, precision, algorithm))
    return failure();
  return algorithm ? parser.emitError(location) << "expected 'precision'" : ParseResult(success());
}

void printPrecision(OpAsmPrinter &printer, Operation *op, ArrayAttr precision) {
  printPrecisionAndAlgorithm(printer, op, precision, {});
}

ParseResult parseWindowAttributes(OpAsmParser &parser, DenseI64ArrayAttr &strides, DenseIntElementsAttr &padding,
                                  DenseI64ArrayAttr &lhsDilation, DenseI64ArrayAttr &rhsDilation,
                                  DenseBoolArrayAttr &reversal) {
  Builder &builder = parser.getBuilder();
  auto parseList = [&](DenseI64ArrayAttr &into) -> ParseResult {
    SmallVector<int64_t> values;
    if (parseDims(parser, values))
      return failure();
    into = builder.getDenseI64ArrayAttr(values);
    return success();
  };
  auto parsePadding = [&]() -> ParseResult {
    SmallVector<int64_t> values;
    int64_t rows = 0;
    auto parseRow = [&]() -> ParseResult {
      SMLoc location = parser.getCurrentLocation();
      size_t before = values.size();
      if (parseDims(parser, values))
        return failure();
      if (values.size() != before + 2)
        return parser.emitError(location) << "(C4) expected pairs of low and high padding";
      ++rows;
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRow))
      return failure();
    padding = DenseIntElementsAttr::get(RankedTensorType::get({rows, 2}, builder.getI64Type()), values);
    return success();
  };
  auto parseReversal = [&]() -> ParseResult {
    SmallVector<bool> values;
    auto parseOne = [&]() -> ParseResult {
      if (succeeded(parser.parseOptionalKeyword("true"))) {
        values.push_back(true);
        return success();
      }
      values.push_back(false);
      return parser.parseKeyword("false");
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
    reversal = builder.getDenseBoolArrayAttr(values);
    return success();
  };
  // Fields come in any order; `}` ends the list.
  auto parseField = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    bool given = name == "stride"       ? !!strides
                 : name == "pad"        ? !!padding
                 : name == "lhs_dilate" ? !!lhsDilation
                 : name == "rhs_dilate" ? !!rhsDilation
                                        : name == "reverse" && !!reversal;
    if (given)
      return parser.emitError(location) << "field '" << name << "' is given twice";
    if (parser.parseEqual())
      return failure();
    if (name == "stride")
      return parseList(strides);
    if (name == "pad")
      return parsePadding();
    if (name == "lhs_dilate")
      return parseList(lhsDilation);
    if (name == "rhs_dilate")
      return parseList(rhsDilation);
    if (name == "reverse")
      return parseReversal();
    return parser.emitError(location) << "unknown field '" << name
                                      << "', expected one of stride, pad, lhs_dilate, rhs_dilate, reverse";
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseField);
}

void printWindowAttributes(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides, DenseIntElementsAttr padding,
                           DenseI64ArrayAttr lhsDilation, DenseI64ArrayAttr rhsDilation, DenseBoolArrayAttr reversal) {
  StringRef separator = "";
  printer << '{';
  auto printName = [&](StringRef name) {
    printer << separator << name << " = ";
    separator = ", ";
  };
  if (strides) {
    printName("stride");
    printDims(printer, strides.asArrayRef());
  }
  if (padding) {
    printName("pad");
    SmallVector<int64_t> values(padding.getValues<int64_t>());
    printer << '[';
    for (size_t row = 0; row + 1 < values.size(); row += 2) {
      printer << (row ? ", " : "");
      printDims(printer, {values[row], values[row + 1]});
    }
    printer << ']';
  }
  if (lhsDilation) {
    printName("lhs_dilate");
    printDims(printer, lhsDilation.asArrayRef());
  }
  if (rhsDilation) {
    printName("rhs_dilate");
    printDims(printer, rhsDilation.asArrayRef());
  }
  if (reversal) {
    printName("reverse");
    printer << '[';
    llvm::interleaveComma(reversal.asArrayRef(), printer, [&](bool value) { printer << (value ? "true" : "false"); });
    printer << ']';
  }
  printer << '}';
}

} // namespace latewood::stablehlo
