// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `chlo` dialect: result types and verifiers. The constraints are numbered in CHLOOps.td.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood;
using namespace latewood::chlo;

#include "latewood/compiler/Dialect/CHLO/CHLODialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/CHLO/CHLOAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/CHLO/CHLOOps.cpp.inc"

void CHLODialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "latewood/compiler/Dialect/CHLO/CHLOOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "latewood/compiler/Dialect/CHLO/CHLOAttributes.cpp.inc"
      >();
}

Operation *CHLODialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return stablehlo::ConstantOp::create(builder, location, elements);
}

void TopKOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getValues(), "values");
  setName(getIndices(), "indices");
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  auto operand = cast<RankedTensorType>(adaptor.getOperand().getType());
  int64_t k = static_cast<int64_t>(adaptor.getK());
  if (operand.getRank() == 0) // C1
    return stablehlo::emitConstraint(location, getOperationName(), "C1",
                                     "requires an operand of at least one dimension");
  SmallVector<int64_t> shape(operand.getShape());
  if (k < 0 || (!ShapedType::isDynamic(shape.back()) && k > shape.back())) // C2
    return stablehlo::emitConstraint(location, getOperationName(), "C2",
                                     "requires k of at least 0 and at most the last extent, but got ", k, " for ",
                                     operand);
  shape.back() = k; // C3
  types.push_back(RankedTensorType::get(shape, operand.getElementType()));
  types.push_back(RankedTensorType::get(shape, IntegerType::get(context, 32)));
  return success();
}
