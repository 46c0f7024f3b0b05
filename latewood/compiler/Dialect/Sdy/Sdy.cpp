// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "latewood/compiler/Dialect/Sdy/Sdy.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace latewood::sdy;

MLIR_DEFINE_EXPLICIT_TYPE_ID(latewood::sdy::SdyDialect)

SdyDialect::SdyDialect(MLIRContext *context) : Dialect(getDialectNamespace(), context, TypeID::get<SdyDialect>()) {
  // Its ops are accepted in generic form; only our own dialects promise to know all of theirs.
  allowUnknownOperations(true);
}

Attribute SdyDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  return OpaqueAttr::getChecked([&] { return parser.emitError(parser.getNameLoc()); },
                                StringAttr::get(getContext(), getDialectNamespace()), parser.getFullSymbolSpec(),
                                NoneType::get(getContext()));
}
