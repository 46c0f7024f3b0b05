// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Textual form of records of dimension numbers, `<name = [1, 2], name = 3>`, for attributes of this dialect and of
// `chlo`. Fields come in any order, each at most once; a list that is left out is empty, a number 0.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_DIMENSIONRECORDS_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_DIMENSIONRECORDS_H

#include "mlir/IR/OpImplementation.h"

namespace latewood::stablehlo {

/// A field to parse into: a list or a number.
struct Field {
  llvm::StringRef name;
  llvm::SmallVector<int64_t> *list;
  int64_t *number = nullptr;
};

mlir::ParseResult parseFields(mlir::AsmParser &parser, llvm::ArrayRef<Field> fields);
void printFields(mlir::AsmPrinter &printer, llvm::ArrayRef<std::pair<llvm::StringRef, llvm::ArrayRef<int64_t>>> lists,
                 llvm::StringRef numberName = {}, int64_t number = 0);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_DIMENSIONRECORDS_H
