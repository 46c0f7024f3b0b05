// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing of the dialect's structured attributes. All records of dimension numbers go through one
// table-driven parser: name = [list] or name = number, in any order, each at most once.
#include "latewood/compiler/Dialect/StableHLO/DimensionRecords.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;
using namespace latewood::stablehlo;

ParseResult latewood::stablehlo::parseDims(AsmParser &parser, SmallVectorImpl<int64_t> &dimensions) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(dimensions.emplace_back()); });
}

void latewood::stablehlo::printDims(AsmPrinter &printer, ArrayRef<int64_t> dimensions) {
  printer << '[';
  llvm::interleaveComma(dimensions, printer);
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Records of dimension numbers
//===----------------------------------------------------------------------===//

/// Reads fields up to `>`; a comma may stand after the last one.
static ParseResult parseFieldsThenGreater(AsmParser &parser, ArrayRef<Field> fields) {
  SmallVector<bool> seen(fields.size());
  auto parseField = [&]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const Field *field = llvm::find_if(fields, [&](const Field &f) { return f.name == name; });
    if (field == fields.end()) {
      InFlightDiagnostic diagnostic = parser.emitError(location) << "unknown field '" << name << "', expected one of ";
      llvm::interleaveComma(fields, diagnostic, [&](const Field &f) { diagnostic << f.name; });
      return diagnostic;
    }
    if (std::exchange(seen[field - fields.begin()], true))
      return parser.emitError(location) << "field '" << name << "' is given twice";
    if (parser.parseEqual())
      return failure();
    return field->list ? parseDims(parser, *field->list) : parser.parseInteger(*field->number);
  };
  while (failed(parser.parseOptionalGreater())) {
    if (parseField())
      return failure();
    if (failed(parser.parseOptionalComma()))
      return parser.parseGreater();
  }
  return success();
}

ParseResult latewood::stablehlo::parseFields(AsmParser &parser, ArrayRef<Field> fields) {
  return failure(parser.parseLess() || parseFieldsThenGreater(parser, fields));
}

void latewood::stablehlo::printFields(AsmPrinter &printer, ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists,
                                      StringRef numberName, int64_t number) {
  StringRef separator = "";
  printer << '<';
  for (auto [name, list] : lists) {
    if (list.empty())
      continue;
    printer << separator << name << " = ";
    printDims(printer, list);
    separator = ", ";
  }
  if (number != 0)
    printer << separator << numberName << " = " << number;
  printer << '>';
}

Attribute DotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting;
  if (parseFields(parser, {{"lhs_batching_dimensions", &lhsBatching},
                           {"rhs_batching_dimensions", &rhsBatching},
                           {"lhs_contracting_dimensions", &lhsContracting},
                           {"rhs_contracting_dimensions", &rhsContracting}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting);
}

void DotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer, {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
                        {"rhs_batching_dimensions", getRhsBatchingDimensions()},
                        {"lhs_contracting_dimensions", getLhsContractingDimensions()},
                        {"rhs_contracting_dimensions", getRhsContractingDimensions()}});
}

Attribute GatherDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> offset, collapsed, operandBatching, indicesBatching, indexMap;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {{"offset_dims", &offset},
                           {"collapsed_slice_dims", &collapsed},
                           {"operand_batching_dims", &operandBatching},
                           {"start_indices_batching_dims", &indicesBatching},
                           {"start_index_map", &indexMap},
                           {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), offset, collapsed, operandBatching, indicesBatching, indexMap, indexVectorDim);
}

void GatherDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"offset_dims", getOffsetDims()},
               {"collapsed_slice_dims", getCollapsedSliceDims()},
               {"operand_batching_dims", getOperandBatchingDims()},
               {"start_indices_batching_dims", getStartIndicesBatchingDims()},
               {"start_index_map", getStartIndexMap()}},
              "index_vector_dim", getIndexVectorDim());
}

Attribute ScatterDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand;
  int64_t indexVectorDim = 0;
  if (parseFields(parser, {{"update_window_dims", &updateWindow},
                           {"inserted_window_dims", &insertedWindow},
                           {"input_batching_dims", &inputBatching},
                           {"scatter_indices_batching_dims", &indicesBatching},
                           {"scatter_dims_to_operand_dims", &toOperand},
                           {"index_vector_dim", nullptr, &indexVectorDim}}))
    return {};
  return get(parser.getContext(), updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand,
             indexVectorDim);
}

void ScatterDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printFields(printer,
              {{"update_window_dims", getUpdateWindowDims()},
               {"inserted_window_dims", getInsertedWindowDims()},
               {"input_batching_dims", getInputBatchingDims()},
               {"scatter_indices_batching_dims", getScatterIndicesBatchingDims()},
               {"scatter_dims_to_operand_dims", getScatterDimsToOperandDims()}},
              "index_vector_dim", getIndexVectorDim());
}

//===----------------------------------------------------------------------===//
// Convolution dimension numbers
//===----------------------------------------------------------------------===//

/// One bracket of the `[b, 0, 1, f]` notation: two letters, and the spatial dimensions by number.
static ParseResult parseRoles(AsmParser &parser, StringRef letters, int64_t &first, int64_t &second,
                              SmallVectorImpl<int64_t> &spatial) {
  SmallVector<std::pair<int64_t, int64_t>> numbered; // (spatial number, position)
  int64_t position = 0;
  first = second = -1;
  SMLoc location = parser.getCurrentLocation();
  auto parseOne = [&]() -> ParseResult {
    SMLoc entry = parser.getCurrentLocation();
    int64_t number;
    OptionalParseResult isNumber = parser.parseOptionalInteger(number);
    if (isNumber.has_value()) {
      if (failed(*isNumber))
        return failure();
      numbered.push_back({number, position++});
      return success();
    }
    StringRef letter;
    // A dimension of unknown role, as frameworks print it for a dimension that is not used, cannot be expressed.
    if (parser.parseKeyword(&letter))
      return failure();
    int64_t *role = letter == letters.substr(0, 1) ? &first : letter == letters.substr(1, 1) ? &second : nullptr;
    if (!role)
      return parser.emitError(entry) << "expected '" << letters[0] << "', '" << letters[1]
                                     << "' or the number of a spatial dimension";
    if (*role >= 0)
      return parser.emitError(entry) << "dimension '" << letter << "' is given twice";
    *role = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  if (first < 0 || second < 0)
    return parser.emitError(location) << "expected both '" << letters[0] << "' and '" << letters[1] << "'";
  llvm::sort(numbered);
  for (auto [index, entry] : llvm::enumerate(numbered)) {
    if (entry.first != static_cast<int64_t>(index))
      return parser.emitError(location) << "expected the spatial dimensions 0 to " << numbered.size() - 1
                                        << ", each once";
    spatial.push_back(entry.second);
  }
  return success();
}

static void printRoles(AsmPrinter &printer, StringRef letters, int64_t first, int64_t second,
                       ArrayRef<int64_t> spatial) {
  // Indexed by position. Numbers out of range are the verifier's to report; here they only must not be lost silently.
  SmallVector<std::string> roles(spatial.size() + 2, "?");
  auto set = [&](int64_t position, std::string role) {
    if (position >= 0 && position < static_cast<int64_t>(roles.size()))
      roles[position] = std::move(role);
  };
  set(first, std::string(1, letters[0]));
  set(second, std::string(1, letters[1]));
  for (auto [index, position] : llvm::enumerate(spatial))
    set(position, std::to_string(index));
  printer << '[';
  llvm::interleaveComma(roles, printer);
  printer << ']';
}

ParseResult latewood::stablehlo::parseConvolutionDimensions(AsmParser &parser, ConvDimensionNumbersAttr &dimensions) {
  int64_t inputBatch, inputFeature, kernelInput, kernelOutput, outputBatch, outputFeature;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  SMLoc location = parser.getCurrentLocation();
  if (parseRoles(parser, "bf", inputBatch, inputFeature, inputSpatial) || parser.parseKeyword("x") ||
      parseRoles(parser, "io", kernelInput, kernelOutput, kernelSpatial) || parser.parseArrow() ||
      parseRoles(parser, "bf", outputBatch, outputFeature, outputSpatial))
    return failure();
  if (inputSpatial.size() != kernelSpatial.size() || inputSpatial.size() != outputSpatial.size())
    return parser.emitError(location) << "expected equally many spatial dimensions in input, kernel and output";
  dimensions = ConvDimensionNumbersAttr::get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput,
                                             kernelOutput, kernelSpatial, outputBatch, outputFeature, outputSpatial);
  return success();
}

void latewood::stablehlo::printConvolutionDimensions(AsmPrinter &printer, Operation *,
                                                     ConvDimensionNumbersAttr dimensions) {
  printRoles(printer, "bf", dimensions.getInputBatchDimension(), dimensions.getInputFeatureDimension(),
             dimensions.getInputSpatialDimensions());
  printer << 'x';
  printRoles(printer, "io", dimensions.getKernelInputFeatureDimension(), dimensions.getKernelOutputFeatureDimension(),
             dimensions.getKernelSpatialDimensions());
  printer << "->";
  printRoles(printer, "bf", dimensions.getOutputBatchDimension(), dimensions.getOutputFeatureDimension(),
             dimensions.getOutputSpatialDimensions());
}

Attribute ConvDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  ConvDimensionNumbersAttr dimensions;
  if (parser.parseLess())
    return {};
  // Beside the short notation there is the one with field names.
  if (failed(parser.parseOptionalKeyword("raw"))) {
    if (parseConvolutionDimensions(parser, dimensions) || parser.parseGreater())
      return {};
    return dimensions;
  }
  int64_t inputBatch = 0, inputFeature = 0, kernelInput = 0, kernelOutput = 0, outputBatch = 0, outputFeature = 0;
  SmallVector<int64_t> inputSpatial, kernelSpatial, outputSpatial;
  if (parseFieldsThenGreater(parser, {{"input_batch_dimension", nullptr, &inputBatch},
                                      {"input_feature_dimension", nullptr, &inputFeature},
                                      {"input_spatial_dimensions", &inputSpatial},
                                      {"kernel_input_feature_dimension", nullptr, &kernelInput},
                                      {"kernel_output_feature_dimension", nullptr, &kernelOutput},
                                      {"kernel_spatial_dimensions", &kernelSpatial},
                                      {"output_batch_dimension", nullptr, &outputBatch},
                                      {"output_feature_dimension", nullptr, &outputFeature},
                                      {"output_spatial_dimensions", &outputSpatial}}))
    return {};
  return get(parser.getContext(), inputBatch, inputFeature, inputSpatial, kernelInput, kernelOutput, kernelSpatial,
             outputBatch, outputFeature, outputSpatial);
}

void ConvDimensionNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printConvolutionDimensions(printer, nullptr, *this);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// dot_algorithm, result_accuracy
//===----------------------------------------------------------------------===//

LogicalResult DotAlgorithmAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, Type lhs, Type rhs,
                                       Type accumulation, int64_t lhsComponents, int64_t rhsComponents,
                                       int64_t primitiveOperations, bool) {
  for (Type type : {lhs, rhs, accumulation})
    if (!isa<FloatType>(type))
      return emitError() << "dot algorithm requires floating-point types, but got " << type;
  if (lhsComponents <= 0)
    return emitError() << "(C22) dot algorithm requires a positive lhs_component_count, but got " << lhsComponents;
  if (rhsComponents <= 0)
    return emitError() << "(C23) dot algorithm requires a positive rhs_component_count, but got " << rhsComponents;
  if (primitiveOperations <= 0)
    return emitError() << "(C24) dot algorithm requires positive num_primitive_operations, but got "
                       << primitiveOperations;
  return success();
}

LogicalResult ResultAccuracyAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, APFloat atol, APFloat rtol,
                                         int64_t ulps, ResultAccuracyModeAttr mode) {
  if (atol.isNegative() || rtol.isNegative() || ulps < 0)
    return emitError() << "result accuracy requires tolerances that are not negative";
  bool hasTolerance = atol.isNonZero() || rtol.isNonZero() || ulps != 0;
  if (mode && mode.getValue() != ResultAccuracyMode::TOLERANCE && hasTolerance)
    return emitError() << "result accuracy takes tolerances in the mode TOLERANCE only";
  return success();
}

Attribute ResultAccuracyAttr::parse(AsmParser &parser, Type) {
  double atol = 0, rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyModeAttr mode;
  SMLoc location = parser.getCurrentLocation();
  auto parseField = [&]() -> ParseResult {
    SMLoc entry = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "atol")
      return parser.parseFloat(atol);
    if (name == "rtol")
      return parser.parseFloat(rtol);
    if (name == "ulps")
      return parser.parseInteger(ulps);
    if (name == "mode")
      return parser.parseAttribute(mode);
    return parser.emitError(entry) << "unknown field '" << name << "', expected one of atol, rtol, ulps, mode";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  if (!mode) {
    parser.emitError(location) << "expected a field 'mode'";
    return {};
  }
  return getChecked([&] { return parser.emitError(location); }, parser.getContext(), APFloat(atol), APFloat(rtol), ulps,
                    mode);
}

void ResultAccuracyAttr::print(AsmPrinter &printer) const {
  printer << '<';
  StringRef separator = "";
  auto field = [&](StringRef name, auto printValue) {
    printer << separator << name << " = ";
    printValue();
    separator = ", ";
  };
  if (getAtol().isNonZero())
    field("atol", [&] { printer.printFloat(getAtol()); });
  if (getRtol().isNonZero())
    field("rtol", [&] { printer.printFloat(getRtol()); });
  if (getUlps() != 0)
    field("ulps", [&] { printer << getUlps(); });
  field("mode", [&] { printer << getMode(); });
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Attribute BoundsAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> bounds;
  auto parseBound = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalQuestion())) {
      bounds.push_back(ShapedType::kDynamic);
      return success();
    }
    return parser.parseInteger(bounds.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseBound))
    return {};
  return get(parser.getContext(), bounds);
}

void BoundsAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getBounds(), printer, [&](int64_t bound) {
    if (ShapedType::isDynamic(bound))
      printer << '?';
    else
      printer << bound;
  });
  printer << '>';
}

LogicalResult BoundsAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (getBounds().size() != shape.size())
    return emitError() << "bounds are one per dimension, but there are " << getBounds().size() << " for "
                       << shape.size() << " dimensions";
  for (auto [dimension, bound, extent] : llvm::enumerate(getBounds(), shape)) {
    if (ShapedType::isDynamic(bound))
      continue;
    if (!ShapedType::isDynamic(extent))
      return emitError() << "dimension " << dimension << " has the extent " << extent << " and can have no bound";
    if (bound < 0)
      return emitError() << "the bound of dimension " << dimension << " is negative: " << bound;
  }
  return success();
}
