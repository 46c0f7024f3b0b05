// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect class. Op definitions are generated and compiled in shards; what is written by hand lies in the files of
// the op families.
#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace latewood::stablehlo;

#include "latewood/compiler/Dialect/StableHLO/StableHLODialect.cpp.inc"
#include "latewood/compiler/Dialect/StableHLO/StableHLOEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "latewood/compiler/Dialect/StableHLO/StableHLOTypes.cpp.inc"

void StableHLODialect::initialize() {
  registerStableHLODialectOperations(this);
  addAttributes<
#define GET_ATTRDEF_LIST
#include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "latewood/compiler/Dialect/StableHLO/StableHLOTypes.cpp.inc"
      >();
}

Operation *StableHLODialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location location) {
  auto elements = dyn_cast<ElementsAttr>(value);
  // A folder may know less about a shape than the op it replaces; such a fold is not taken.
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, location, elements);
}
