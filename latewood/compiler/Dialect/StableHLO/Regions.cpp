// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checks of Regions.h. Messages say what the region had to be, and what it is.

#include "latewood/compiler/Dialect/StableHLO/Regions.h"
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"

using namespace mlir;

namespace latewood::stablehlo {

/// Appends a list of types to a message.
static void appendTypes(InFlightDiagnostic &diagnostic, TypeRange types) {
  diagnostic << '(';
  llvm::interleaveComma(types, diagnostic, [&](Type type) { diagnostic << type; });
  diagnostic << ')';
}

LogicalResult verifyRegionType(Operation *op, Region &region, StringRef what, TypeRange arguments, TypeRange results,
                               StringRef constraint) {
  Block &block = region.front();
  TypeRange actualResults = block.getTerminator()->getOperandTypes();
  if (areCompatible(block.getArgumentTypes(), arguments) && areCompatible(actualResults, results))
    return success();
  InFlightDiagnostic diagnostic = op->emitOpError("(") << constraint << ") requires " << what << " of type ";
  appendTypes(diagnostic, arguments);
  diagnostic << " -> ";
  appendTypes(diagnostic, results);
  diagnostic << ", but got ";
  appendTypes(diagnostic, block.getArgumentTypes());
  diagnostic << " -> ";
  appendTypes(diagnostic, actualResults);
  return diagnostic;
}

LogicalResult verifyReducer(Operation *op, Region &region, TypeRange inputs, TypeRange results,
                            StringRef regionConstraint, StringRef resultConstraint) {
  // The accumulator types are what the region returns; everything else must fit to them.
  SmallVector<Type> accumulators;
  for (auto [index, type] : llvm::enumerate(region.front().getTerminator()->getOperandTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 0 ||
        (index < inputs.size() && !isPromotable(getElementTypeOrSelf(inputs[index]), tensor.getElementType())))
      return op->emitOpError("(") << regionConstraint
                                  << ") requires a region that returns 0-dimensional tensors, to which "
                                  << "the inputs' element types can be promoted, but result " << index << " has type "
                                  << type;
    accumulators.push_back(type);
  }
  if (accumulators.size() != inputs.size())
    return op->emitOpError("(") << regionConstraint << ") requires a region that returns " << inputs.size()
                                << " values, but got " << accumulators.size();
  SmallVector<Type> arguments(accumulators);
  arguments.append(accumulators);
  if (failed(verifyRegionType(op, region, "a region", arguments, accumulators, regionConstraint)))
    return failure();
  for (auto [index, type, accumulator] : llvm::enumerate(results, accumulators))
    if (getElementTypeOrSelf(type) != getElementTypeOrSelf(accumulator))
      return op->emitOpError("(") << resultConstraint << ") requires result " << index << " to have the element type "
                                  << getElementTypeOrSelf(accumulator) << " that the region returns, but got " << type;
  return success();
}

} // namespace latewood::stablehlo
