// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsers and printers behind the `custom<...>` directives of the ops' formats. A parser accepts every form that its
// printer writes, and the long form where the printer would write a short one.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_ASSEMBLY_H
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_ASSEMBLY_H

#include "mlir/IR/OpImplementation.h"

namespace latewood::stablehlo {

/// `[1, 2]`
mlir::ParseResult parseDims(mlir::AsmParser &parser, llvm::SmallVectorImpl<int64_t> &dimensions);
void printDims(mlir::AsmPrinter &printer, llvm::ArrayRef<int64_t> dimensions);

/// SameTypes: one type if operands and result have the same, a function type otherwise. The result comes last.
mlir::ParseResult parseSameTypesImpl(mlir::OpAsmParser &parser, llvm::ArrayRef<mlir::Type *> operands,
                                     mlir::Type &result);
void printSameTypesImpl(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange operands, mlir::Type result);

template <typename... T>
mlir::ParseResult parseSameTypes(mlir::OpAsmParser &parser, T &...types) {
  llvm::SmallVector<mlir::Type *> all{&types...};
  return parseSameTypesImpl(parser, llvm::ArrayRef(all).drop_back(), *all.back());
}
template <typename... T>
void printSameTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, T... types) {
  llvm::SmallVector<mlir::Type> all{types...};
  printSameTypesImpl(printer, op, llvm::ArrayRef(all).drop_back(), all.back());
}

/// SelectTypes: `tensor<4xi1>, tensor<4xf32>` (predicate, all others), or a function type.
mlir::ParseResult parseSelectTypes(mlir::OpAsmParser &parser, mlir::Type &pred, mlir::Type &onTrue, mlir::Type &onFalse,
                                   mlir::Type &result);
void printSelectTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type pred, mlir::Type onTrue,
                      mlir::Type onFalse, mlir::Type result);

/// ComplexType: the complex result type alone if both operands have the type of its parts, or a function type.
mlir::ParseResult parseComplexType(mlir::OpAsmParser &parser, mlir::Type &lhs, mlir::Type &rhs, mlir::Type &result);
void printComplexType(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::Type lhs, mlir::Type rhs,
                      mlir::Type result);

/// PairwiseTypes: one list for operands and results alike.
mlir::ParseResult parsePairwiseTypes(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &operands,
                                     llvm::SmallVectorImpl<mlir::Type> &results);
void printPairwiseTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange operands,
                        mlir::TypeRange results);

/// TokenTypes: one type, for all operands and the result, or a function type.
mlir::ParseResult parseTokenTypes(mlir::OpAsmParser &parser,
                                  llvm::ArrayRef<mlir::OpAsmParser::UnresolvedOperand> operands,
                                  llvm::SmallVectorImpl<mlir::Type> &types, mlir::Type &result);
void printTokenTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange operands,
                     mlir::TypeRange types, mlir::Type result);

/// TupleTypes: the tuple type alone if its elements are the operands' types, or a function type.
mlir::ParseResult parseTupleTypes(mlir::OpAsmParser &parser, llvm::SmallVectorImpl<mlir::Type> &operands,
                                  mlir::Type &result);
void printTupleTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::TypeRange operands, mlir::Type result);

/// OperandsThenComma: `%a, %b,`: for a variadic operand that a keyword follows.
mlir::ParseResult parseOperandsThenComma(mlir::OpAsmParser &parser,
                                         llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands);
void printOperandsThenComma(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::OperandRange operands);

/// SliceRanges: `[0:4, 1:8:2]`: start, limit and, unless it is 1, stride.
mlir::ParseResult parseSliceRanges(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &starts,
                                   mlir::DenseI64ArrayAttr &limits, mlir::DenseI64ArrayAttr &strides);
void printSliceRanges(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI64ArrayAttr starts,
                      mlir::DenseI64ArrayAttr limits, mlir::DenseI64ArrayAttr strides);

/// ExponentMantissa: `e5m10`.
mlir::ParseResult parseExponentMantissa(mlir::OpAsmParser &parser, mlir::IntegerAttr &exponent,
                                        mlir::IntegerAttr &mantissa);
void printExponentMantissa(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::IntegerAttr exponent,
                           mlir::IntegerAttr mantissa);

/// CallTarget: `@target`. Any name is a target, also one that is no identifier.
mlir::ParseResult parseCallTarget(mlir::OpAsmParser &parser, mlir::StringAttr &target);
void printCallTarget(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::StringAttr target);

/// DotDimensions: `batching_dims = [0] x [0], contracting_dims = [2] x [1]`, the first part only if not empty.
mlir::ParseResult parseDotDimensions(mlir::OpAsmParser &parser, DotDimensionNumbersAttr &dimensions);
void printDotDimensions(mlir::OpAsmPrinter &printer, mlir::Operation *op, DotDimensionNumbersAttr dimensions);

/// Precision: `, precision = [HIGH, DEFAULT]`, only if present.
mlir::ParseResult parsePrecision(mlir::OpAsmParser &parser, mlir::ArrayAttr &precision);
void printPrecision(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr precision);

/// PrecisionAndAlgorithm: `, precision = [HIGH, DEFAULT], algorithm = <...>`, each part only if present.
mlir::ParseResult parsePrecisionAndAlgorithm(mlir::OpAsmParser &parser, mlir::ArrayAttr &precision,
                                             DotAlgorithmAttr &algorithm);
void printPrecisionAndAlgorithm(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::ArrayAttr precision,
                                DotAlgorithmAttr algorithm);

/// ConvolutionDimensions: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
mlir::ParseResult parseConvolutionDimensions(mlir::AsmParser &parser, ConvDimensionNumbersAttr &dimensions);
void printConvolutionDimensions(mlir::AsmPrinter &printer, mlir::Operation *op, ConvDimensionNumbersAttr dimensions);

/// WindowAttributes: `{stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = ..., rhs_dilate = ..., reverse = [false,
/// false]}`, each only if present.
mlir::ParseResult parseWindowAttributes(mlir::OpAsmParser &parser, mlir::DenseI64ArrayAttr &strides,
                                        mlir::DenseIntElementsAttr &padding, mlir::DenseI64ArrayAttr &lhsDilation,
                                        mlir::DenseI64ArrayAttr &rhsDilation, mlir::DenseBoolArrayAttr &reversal);
void printWindowAttributes(mlir::OpAsmPrinter &printer, mlir::Operation *op, mlir::DenseI64ArrayAttr strides,
                           mlir::DenseIntElementsAttr padding, mlir::DenseI64ArrayAttr lhsDilation,
                           mlir::DenseI64ArrayAttr rhsDilation, mlir::DenseBoolArrayAttr reversal);

} // namespace latewood::stablehlo

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_ASSEMBLY_H
