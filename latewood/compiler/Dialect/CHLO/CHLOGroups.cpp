// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ragged_dot and scan: verifiers, type inference and formats.
#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Dialect/StableHLO/DimensionRecords.h"
#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::chlo;

//===----------------------------------------------------------------------===//
// ragged_dot
//===----------------------------------------------------------------------===//

Attribute RaggedDotDimensionNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup;
  if (stablehlo::parseFields(parser, {{"lhs_batching_dimensions", &lhsBatching},
                                      {"rhs_batching_dimensions", &rhsBatching},
                                      {"lhs_contracting_dimensions", &lhsContracting},
                                      {"rhs_contracting_dimensions", &rhsContracting},
                                      {"lhs_ragged_dimensions", &lhsRagged},
                                      {"rhs_group_dimensions", &rhsGroup}}))
    return {};
  return get(parser.getContext(), lhsBatching, rhsBatching, lhsContracting, rhsContracting, lhsRagged, rhsGroup);
}

void RaggedDotDimensionNumbersAttr::print(AsmPrinter &printer) const {
  stablehlo::printFields(printer, {{"lhs_batching_dimensions", getLhsBatchingDimensions()},
                                   {"rhs_batching_dimensions", getRhsBatchingDimensions()},
                                   {"lhs_contracting_dimensions", getLhsContractingDimensions()},
                                   {"rhs_contracting_dimensions", getRhsContractingDimensions()},
                                   {"lhs_ragged_dimensions", getLhsRaggedDimensions()},
                                   {"rhs_group_dimensions", getRhsGroupDimensions()}});
}

LogicalResult RaggedDotOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()),
       rhs = cast<RankedTensorType>(adaptor.getRhs().getType()),
       sizes = cast<RankedTensorType>(adaptor.getGroupSizes().getType());
  RaggedDotDimensionNumbersAttr numbers = adaptor.getRaggedDotDimensionNumbers();
  ArrayRef<int64_t> batching = numbers.getLhsBatchingDimensions(), contracting = numbers.getLhsContractingDimensions(),
                    groups = numbers.getRhsGroupDimensions();
  auto fail = [&](StringRef constraint, auto &&...message) {
    return stablehlo::emitConstraint(location, getOperationName(), constraint, message...);
  };
  auto shape = stablehlo::inferDotShape(
      getOperationName(), location, lhs, rhs,
      {batching, numbers.getRhsBatchingDimensions(), contracting, numbers.getRhsContractingDimensions()}, groups, "C1");
  if (failed(shape)) // C1
    return failure();
  if (numbers.getLhsRaggedDimensions().size() != 1 ||
      !stablehlo::areInRange(numbers.getLhsRaggedDimensions(), lhs.getRank())) // C2
    return fail("C2", "requires one ragged dimension of lhs, ", lhs);
  int64_t ragged = numbers.getLhsRaggedDimensions().front();
  bool isBatch = llvm::is_contained(batching, ragged), isContracted = llvm::is_contained(contracting, ragged);
  bool isFree = !isBatch && !isContracted;
  if (groups.size() != (isFree ? 1 : 0)) // C3
    return fail("C3", "requires ", isFree ? "one group dimension" : "no group dimension", " of rhs, but got ",
                groups.size());
  if (!stablehlo::areInRange(groups, rhs.getRank()) ||
      !stablehlo::areUnique(groups, numbers.getRhsBatchingDimensions()) ||
      !stablehlo::areUnique(groups, numbers.getRhsContractingDimensions())) // C4
    return fail("C4", "requires a group dimension of rhs that is neither batched nor contracted");
  if (sizes.getRank() == 0) // C6
    return fail("C6", "requires group_sizes of at least one dimension");
  int64_t count = sizes.getShape().back();
  if (isFree && !stablehlo::extentsAgree(count, rhs.getDimSize(groups.front()))) // C5
    return fail("C5", "requires a group for each entry of group_sizes, but got ", rhs.getDimSize(groups.front()),
                " and ", count);
  if (sizes.getRank() != 1) { // C6
    SmallVector<int64_t> expected;
    for (int64_t dimension : batching) {
      if (dimension == ragged)
        break;
      expected.push_back(lhs.getDimSize(dimension));
    }
    if (isContracted)
      for (int64_t dimension : contracting) {
        if (dimension == ragged)
          break;
        expected.push_back(lhs.getDimSize(dimension));
      }
    if (isFree)
      for (int64_t dimension = 0; dimension < ragged; ++dimension)
        if (!llvm::is_contained(batching, dimension) && !llvm::is_contained(contracting, dimension))
          expected.push_back(lhs.getDimSize(dimension));
    expected.push_back(count);
    if (failed(verifyCompatibleShape(sizes.getShape(), expected)))
      return fail("C6", "requires group_sizes of type ", sizes.clone(expected), ", but got ", sizes);
  }
  if (isContracted)
    shape->insert(shape->begin(), count);
  types.push_back(RankedTensorType::get(*shape, lhs.getElementType())); // C7
  return success();
}

LogicalResult RaggedDotOp::verify() {
  if (auto precision = getPrecisionConfig(); precision && precision->size() != 2 && !precision->empty()) // C8
    return emitOpError("(C8) requires two precisions, but got ") << precision->size();
  Type lhs = getLhs().getType().getElementType(), rhs = getRhs().getType().getElementType();
  if (lhs != rhs || !stablehlo::isPromotable(lhs, getType().getElementType())) // C9
    return emitOpError("(C9) requires operands of one element type that can be promoted to the result's, but got ")
           << lhs << ", " << rhs << " and " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// scan
//===----------------------------------------------------------------------===//

int64_t ScanOp::getStepCount() {
  if (auto count = getScanDimSize())
    return *count;
  for (Value input : getInputs()) {
    int64_t extent = cast<RankedTensorType>(input.getType()).getDimSize(getDimension());
    if (!ShapedType::isDynamic(extent))
      return extent;
  }
  return ShapedType::kDynamic;
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty() && getOutputs().empty()) // C1
    return emitOpError("(C1) requires inputs or outputs");
  auto dimension = static_cast<int64_t>(getDimension());
  for (Value value : getInputs()) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!stablehlo::areInRange(dimension, type.getRank())) // C2
      return emitOpError("(C2) requires a dimension of the inputs, but got ") << dimension << " for " << type;
    if (!stablehlo::extentsAgree(type.getDimSize(dimension), getStepCount())) // C3
      return emitOpError("(C3) requires inputs of ") << getStepCount() << " slices, but got " << type;
  }
  if (!stablehlo::areCompatible(getInits().getTypes(), getCarries().getTypes())) // C6
    return emitOpError("(C6) requires carries of the types of the initial values");
  return success();
}

LogicalResult ScanOp::verifyRegions() {
  auto dimension = static_cast<int64_t>(getDimension());
  // The type of a slice at one index.
  auto drop = [&](Type type) -> FailureOr<Type> {
    auto tensor = cast<RankedTensorType>(type);
    if (!stablehlo::areInRange(dimension, tensor.getRank()) ||
        !stablehlo::extentsAgree(tensor.getDimSize(dimension), getStepCount()))
      return failure();
    SmallVector<int64_t> shape(tensor.getShape());
    shape.erase(shape.begin() + dimension);
    return Type(tensor.clone(shape));
  };
  SmallVector<Type> arguments, results;
  for (Type type : getInputs().getTypes())
    arguments.push_back(*drop(type)); // `verify` has checked it
  for (Type type : getOutputs().getTypes()) {
    FailureOr<Type> slice = drop(type);
    if (failed(slice)) // C5
      return emitOpError("(C5) requires outputs of ")
             << getStepCount() << " slices along dimension " << dimension << ", but got " << type;
    results.push_back(*slice);
  }
  llvm::append_range(arguments, getInits().getTypes());
  llvm::append_range(results, getCarries().getTypes());
  return stablehlo::verifyRegionType(*this, getBody(), "a body", arguments, results, "C4"); // C4, C5
}

ParseResult ScanOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> inputs, inits;
  int64_t dimension = 0;
  FunctionType type;
  Region *body = state.addRegion();
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOperandList(inputs, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("inits") ||
      parser.parseOperandList(inits, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("dimension") ||
      parser.parseEqual() || parser.parseInteger(dimension) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parser.parseRegion(*body) ||
      parser.parseColonType(type))
    return failure();
  if (type.getNumInputs() != inputs.size() + inits.size() || type.getNumResults() < inits.size())
    return parser.emitError(location) << "expected the types of " << inputs.size() << " inputs and " << inits.size()
                                      << " initial values, and results with as many carries";
  if (parser.resolveOperands(inputs, type.getInputs().take_front(inputs.size()), location, state.operands) ||
      parser.resolveOperands(inits, type.getInputs().take_back(inits.size()), location, state.operands))
    return failure();
  state.addTypes(type.getResults());
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.dimension = parser.getBuilder().getI64IntegerAttr(dimension);
  auto count = [](auto &list) { return static_cast<int32_t>(list.size()); };
  properties.operandSegmentSizes = {count(inputs), count(inits)};
  properties.resultSegmentSizes = {static_cast<int32_t>(type.getNumResults() - inits.size()), count(inits)};
  return success();
}

void ScanOp::print(OpAsmPrinter &printer) {
  printer << " (" << getInputs() << ") inits (" << getInits() << ") dimension=" << getDimension();
  SmallVector<StringRef> elided{"dimension", "operandSegmentSizes", "resultSegmentSizes"};
  if (!getIsReverse())
    elided.push_back("is_reverse");
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(getBody());
  printer << " : ";
  printer.printFunctionalType(*this);
}
