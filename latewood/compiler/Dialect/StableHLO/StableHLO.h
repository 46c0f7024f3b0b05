// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `stablehlo` dialect in C++: dialect class, attributes, types, ops.
//
// Include this file to read or build StableHLO. What shape rules need beyond one op (dimension arithmetic that knows
// `?`, agreement of types) is in Shapes.h; the pieces of textual syntax that several ops share are in Assembly.h.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLO_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLO_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "latewood/compiler/Dialect/StableHLO/Shapes.h"

namespace latewood::stablehlo {

/// Marks ops that compute each result element from the operands' elements at the same index. Operands and result have
/// one shape, except that `pred` of select and `min`, `max` of clamp may be 0-dimensional.
template <typename ConcreteType>
class ElementwiseTrait : public mlir::OpTrait::TraitBase<ConcreteType, ElementwiseTrait> {};

/// Checks that an op's result types agree with those that its operands and attributes imply.
template <typename ConcreteType>
class InferredTypesTrait : public mlir::OpTrait::TraitBase<ConcreteType, InferredTypesTrait> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation *op) {
    llvm::SmallVector<mlir::Type, 4> types;
    if (failed(ConcreteType::inferReturnTypes(op->getContext(), op->getLoc(), op->getOperands(),
                                              op->getRawDictionaryAttrs(), op->getPropertiesStorage(), op->getRegions(),
                                              types)))
      return mlir::failure();
    if (ConcreteType::isCompatibleReturnTypes(types, op->getResultTypes()))
      return mlir::success();
    return emitWrongResultTypes(op, types);
  }
};

} // namespace latewood::stablehlo

#include "latewood/compiler/Dialect/StableHLO/StableHLODialect.h.inc"
#include "latewood/compiler/Dialect/StableHLO/StableHLOEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "latewood/compiler/Dialect/StableHLO/StableHLOTypes.h.inc"

#include "latewood/compiler/Dialect/StableHLO/Assembly.h"

#define GET_OP_CLASSES
#include "latewood/compiler/Dialect/StableHLO/StableHLOOps.h.inc"

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLO_H
