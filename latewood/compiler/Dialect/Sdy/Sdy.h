// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stand-in for the `sdy` dialect, in which frameworks annotate how tensors are spread over devices.
//
// Programs for one device carry such annotations too. They are kept as they were written: attributes verbatim, without a look
// inside, so that a module with them parses and prints back, and a later phase can drop them by their prefix.

#ifndef LATEWOOD_COMPILER_DIALECT_SDY_SDY_H
#define LATEWOOD_COMPILER_DIALECT_SDY_SDY_H

#include "mlir/IR/Dialect.h"

namespace latewood::sdy {

class SdyDialect : public mlir::Dialect {
public:
  static llvm::StringRef getDialectNamespace() { return "sdy"; }
  explicit SdyDialect(mlir::MLIRContext *context);
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser, mlir::Type type) const override;
};

} // namespace latewood::sdy

MLIR_DECLARE_EXPLICIT_TYPE_ID(latewood::sdy::SdyDialect)

#endif // LATEWOOD_COMPILER_DIALECT_SDY_SDY_H
