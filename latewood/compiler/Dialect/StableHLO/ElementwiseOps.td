// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops. All are free of side effects. Operands and result have one shape, and one element type unless the op
// says otherwise; `?` agrees with any extent. Both rules are checked by type inference (ElementwiseOps.cpp), which names the
// constraint that the operands break. Integer arithmetic wraps; floating-point arithmetic is IEEE-754.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_ELEMENTWISEOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_ELEMENTWISEOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

// Type inference in C++ is shared: operands must agree, and the result is their most precise type.
class StableHLO_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_InferOp<mnemonic, !listconcat([Pure, StableHLO_Elementwise], traits)> {
  let extraClassDefinition = sameBaselines;
  string inferSame = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::latewood::stablehlo::inferElementwise(getOperationName(), location, adaptor.getOperands().getTypes(), types);
    }
  }];
}

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

class StableHLO_UnaryBase<string mnemonic, string what, Type operandType, Type resultType, bit folds>
    : StableHLO_ElementwiseOp<mnemonic> {
  let summary = what;
  let arguments = (ins operandType:$operand);
  let results = (outs resultType:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasFolder = folds;
}

class StableHLO_UnaryOp<string mnemonic, string what, Type type, bit folds = 0>
    : StableHLO_UnaryBase<mnemonic, what, type, type, folds> {
  let description = what # [{, element by element.

    Constraints: (C1) operand and result have the same type.
  }];
  let extraClassDefinition = sameBaselines # inferSame;
}

// A transcendental function, with the accuracy that its result must have.
class StableHLO_AccurateUnaryOp<string mnemonic, string what>
    : StableHLO_UnaryBase<mnemonic, what, StableHLO_RealOrComplexTensor, StableHLO_RealOrComplexTensor, 0> {
  let description = what # [{, element by element. `result_accuracy` asks for a tolerance; without it the default holds.

    Constraints: (C1) operand and result have the same type.
  }];
  let arguments = (ins StableHLO_RealOrComplexTensor:$operand,
                       OptionalAttr<StableHLO_ResultAccuracy>:$result_accuracy);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand), [{
    build($_builder, $_state, operand, ::latewood::stablehlo::ResultAccuracyAttr());
  }]>, OpBuilder<(ins "::mlir::Type":$type, "::mlir::Value":$operand), [{
    build($_builder, $_state, type, operand, ::latewood::stablehlo::ResultAccuracyAttr());
  }]>];
  let extraClassDefinition = sameBaselines # inferSame;
}

def StableHLO_CbrtOp : StableHLO_AccurateUnaryOp<"cbrt", "Cube root">;
def StableHLO_CosineOp : StableHLO_AccurateUnaryOp<"cosine", "Cosine">;
def StableHLO_ExpOp : StableHLO_AccurateUnaryOp<"exponential", "e to the power of the operand">;
def StableHLO_Expm1Op : StableHLO_AccurateUnaryOp<"exponential_minus_one", "e to the power of the operand, minus one">;
def StableHLO_LogOp : StableHLO_AccurateUnaryOp<"log", "Natural logarithm">;
def StableHLO_Log1pOp : StableHLO_AccurateUnaryOp<"log_plus_one", "Natural logarithm of one plus the operand">;
def StableHLO_LogisticOp : StableHLO_AccurateUnaryOp<"logistic", "Logistic function 1 / (1 + exp(-x))">;
def StableHLO_RsqrtOp : StableHLO_AccurateUnaryOp<"rsqrt", "Reciprocal of the square root">;
def StableHLO_SineOp : StableHLO_AccurateUnaryOp<"sine", "Sine">;
def StableHLO_SqrtOp : StableHLO_AccurateUnaryOp<"sqrt", "Square root">;
def StableHLO_TanOp : StableHLO_AccurateUnaryOp<"tan", "Tangent">;
def StableHLO_TanhOp : StableHLO_AccurateUnaryOp<"tanh", "Hyperbolic tangent">;

def StableHLO_CeilOp : StableHLO_UnaryOp<"ceil", "Smallest integral value not below the operand",
                                         StableHLO_RealTensor, 1>;
def StableHLO_FloorOp : StableHLO_UnaryOp<"floor", "Largest integral value not above the operand",
                                          StableHLO_RealTensor, 1>;
def StableHLO_RoundOp : StableHLO_UnaryOp<"round_nearest_afz", "Nearest integral value, ties away from zero",
                                          StableHLO_RealTensor, 1>;
def StableHLO_RoundNearestEvenOp : StableHLO_UnaryOp<"round_nearest_even", "Nearest integral value, ties to even",
                                                     StableHLO_RealTensor, 1>;
def StableHLO_ClzOp : StableHLO_UnaryOp<"count_leading_zeros", "Number of leading zero bits", StableHLO_IntTensor, 1>;
def StableHLO_PopulationCountOp : StableHLO_UnaryOp<"popcnt", "Number of one bits", StableHLO_IntTensor, 1>;
def StableHLO_NotOp : StableHLO_UnaryOp<"not", "Logical or bitwise complement", StableHLO_PredOrIntTensor, 1>;
def StableHLO_NegOp : StableHLO_UnaryOp<"negate", "Negation", StableHLO_IntRealOrComplexTensor, 1>;
def StableHLO_SignOp : StableHLO_UnaryOp<"sign", "-1, 0 or 1 by the operand's sign (x / |x| if complex)",
                                         StableHLO_SIntRealOrComplexTensor, 1>;

def StableHLO_AbsOp : StableHLO_UnaryBase<"abs", "Absolute value", StableHLO_SIntRealOrComplexTensor,
                                          RankedTensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_Quantized]>, 1> {
  let description = [{
    Constraints: (C1) operand and result have the same shape; (C2) the result's element type is the operand's, or the type
    of the parts of a complex operand.
  }];
}
class StableHLO_PartOp<string mnemonic, string what>
    : StableHLO_UnaryBase<mnemonic, what, StableHLO_FloatOrComplexTensor, StableHLO_FloatTensor, 0> {
  let description = what # [{ of each element; a floating-point operand has an imaginary part of zero.

    Constraints: (C1) operand and result have the same shape; (C2) the result's element type is the operand's, or the type
    of the parts of a complex operand.
  }];
}
def StableHLO_RealOp : StableHLO_PartOp<"real", "Real part">;
def StableHLO_ImagOp : StableHLO_PartOp<"imag", "Imaginary part">;

def StableHLO_IsFiniteOp : StableHLO_ElementwiseOp<"is_finite"> {
  let summary = "true where the operand is neither infinite nor NaN";
  let description = "Constraints: (C1) operand and result have the same shape.";
  let arguments = (ins StableHLO_RealTensor:$x);
  let results = (outs StableHLO_PredTensor:$y);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def StableHLO_ConvertOp : StableHLO_Op<"convert", [Pure, StableHLO_Elementwise]> {
  let summary = "value conversion between element types";
  let description = [{
    Converts each element. Boolean true is one; a conversion to boolean asks whether the value is not zero; a conversion of a
    complex value to a real type drops the imaginary part; rounding is to nearest, ties to even.

    Constraints: (C1) operand and result have the same shape.
  }];
  let arguments = (ins StableHLO_PlainTensor:$operand);
  let results = (outs StableHLO_PlainTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Type":$elementType)>];
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_BitcastConvertOp : StableHLO_Op<"bitcast_convert", [Pure]> {
  let summary = "reinterprets the bits of the elements";
  let description = [{
    The result's bits are the operand's. A narrower result element type adds a minor dimension, a wider one consumes it.

    Constraints: (C1) the shapes agree, up to that minor dimension; (C2) both element types are complex or none is.
  }];
  let arguments = (ins StableHLO_TensorOrPerAxis:$operand);
  let results = (outs StableHLO_TensorOrPerAxis:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_UniformQuantizeOp : StableHLO_Op<"uniform_quantize", [Pure, StableHLO_Elementwise]> {
  let summary = "numbers to integers that stand for them";
  let description = [{
    Divides by the result type's scale, adds its zero point, clamps to its range and rounds to the nearest integer, ties to
    even. A quantized operand is dequantized first.

    Example: `%q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1:-30>>`

    Constraints: (C1) operand and result have the same shape; (C2) the result expresses the operand's element type, or the
    type that a quantized operand expresses.
  }];
  let arguments = (ins StableHLO_FloatOrQuantizedTensor:$operand);
  let results = (outs StableHLO_QuantizedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
  let hasVerifier = 1;
}

def StableHLO_UniformDequantizeOp : StableHLO_InferOp<"uniform_dequantize", [Pure, StableHLO_Elementwise]> {
  let summary = "the numbers that quantized integers stand for";
  let description = [{
    Subtracts the operand type's zero point and multiplies by its scale.

    Constraints: (C1) operand and result have the same shape; (C2) the result's element type is the one that the operand
    expresses.
  }];
  let arguments = (ins StableHLO_QuantizedTensor:$operand);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` custom<SameTypes>(type($operand), type($result))";
}

def StableHLO_ReducePrecisionOp : StableHLO_ElementwiseOp<"reduce_precision"> {
  let summary = "rounds to a format with fewer exponent and mantissa bits, and back";
  let description = [{
    Constraints: (C1) operand and result have the same type; (C2) at least one exponent bit; (C3) the number of mantissa bits
    is not negative.
  }];
  let arguments = (ins StableHLO_RealTensor:$operand, I32Attr:$exponent_bits, I32Attr:$mantissa_bits);
  let results = (outs StableHLO_RealTensor:$output);
  let assemblyFormat = [{
    $operand `,` `format` `=` custom<ExponentMantissa>($exponent_bits, $mantissa_bits) attr-dict `:`
    custom<SameTypes>(type($operand), type($output))
  }];
  let extraClassDefinition = sameBaselines # inferSame;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

class StableHLO_BinaryOp<string mnemonic, string what, Type type, list<Trait> traits = [], bit folds = 1>
    : StableHLO_ElementwiseOp<mnemonic, traits> {
  let summary = what;
  let description = what # [{, element by element.

    Constraints: (C1) both operands and the result have the same type.
  }];
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<SameTypes>(type($lhs), type($rhs), type($result))";
  let extraClassDefinition = sameBaselines # inferSame;
  let hasFolder = folds;
}

def StableHLO_AddOp : StableHLO_BinaryOp<"add", "Sum (logical or of booleans)", StableHLO_TensorOrPerAxis,
                                         [Commutative]> {
  let description = [{
    Constraints: (C1) both operands and the result have the same type; or (C2) all are quantized, (C3) with one storage type,
    (C4) expressing one type; (C5) the result is quantized per axis if an operand is, (C6), (C7) along that operand's dimension.
  }];
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r) ||
             (::latewood::stablehlo::isQuantized(l[0]) && ::latewood::stablehlo::haveCompatibleShapes(l, r));
    }
  }];
  let hasVerifier = 1;
}
def StableHLO_SubtractOp : StableHLO_BinaryOp<"subtract", "Difference", StableHLO_IntRealOrComplexTensor>;
def StableHLO_MulOp : StableHLO_BinaryOp<"multiply", "Product (logical and of booleans)", StableHLO_Tensor,
                                         [Commutative]>;
def StableHLO_DivOp : StableHLO_BinaryOp<"divide", "Quotient, truncated for integers",
                                         StableHLO_IntRealOrComplexTensor>;
def StableHLO_RemOp : StableHLO_BinaryOp<"remainder", "Remainder of the truncated division, with the dividend's sign",
                                         StableHLO_IntRealOrComplexTensor>;
def StableHLO_MaxOp : StableHLO_BinaryOp<"maximum", "Larger value; NaN if either is; lexicographic for complex",
                                         StableHLO_Tensor, [Commutative]>;
def StableHLO_MinOp : StableHLO_BinaryOp<"minimum", "Smaller value; NaN if either is; lexicographic for complex",
                                         StableHLO_Tensor, [Commutative]>;
def StableHLO_PowOp : StableHLO_BinaryOp<"power", "lhs to the power of rhs", StableHLO_IntRealOrComplexTensor, [], 0>;
def StableHLO_Atan2Op : StableHLO_BinaryOp<"atan2", "Angle of the point (rhs, lhs)", StableHLO_RealOrComplexTensor,
                                           [], 0>;
def StableHLO_AndOp : StableHLO_BinaryOp<"and", "Logical or bitwise and", StableHLO_PredOrIntTensor, [Commutative]>;
def StableHLO_OrOp : StableHLO_BinaryOp<"or", "Logical or bitwise or", StableHLO_PredOrIntTensor, [Commutative]>;
def StableHLO_XorOp : StableHLO_BinaryOp<"xor", "Logical or bitwise exclusive or", StableHLO_PredOrIntTensor,
                                         [Commutative]>;
def StableHLO_ShiftLeftOp : StableHLO_BinaryOp<"shift_left", "Left shift; 0 if rhs is not below the bit width",
                                               StableHLO_IntTensor>;
def StableHLO_ShiftRightArithmeticOp
    : StableHLO_BinaryOp<"shift_right_arithmetic", "Right shift that copies the sign, also by the bit width and more",
                         StableHLO_IntTensor>;
def StableHLO_ShiftRightLogicalOp
    : StableHLO_BinaryOp<"shift_right_logical", "Right shift that inserts zeros; 0 if rhs is not below the bit width",
                         StableHLO_IntTensor>;

def StableHLO_ComplexOp : StableHLO_ElementwiseOp<"complex"> {
  let summary = "complex numbers from real and imaginary parts";
  let description = [{
    Constraints: (C1) both operands have the same type; (C2) operands and result have the same shape; (C3) the result's
    element type is complex over the operands' element type.
  }];
  let arguments = (ins StableHLO_Float32Or64Tensor:$lhs, StableHLO_Float32Or64Tensor:$rhs);
  let results = (outs StableHLO_ComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` custom<ComplexType>(type($lhs), type($rhs), type($result))";
}

def StableHLO_CompareOp : StableHLO_ElementwiseOp<"compare"> {
  let summary = "compares element by element";
  let description = [{
    Without `compare_type` the element type decides: unsigned and boolean elements compare as unsigned numbers, other integers
    as signed, floating-point ones as IEEE-754 prescribes (NaN is unordered, -0 equals +0). `TOTALORDER` orders all values:
    -NaN, -inf, ..., -0, +0, ..., +inf, +NaN. Complex values compare with EQ and NE, or lexicographically.

    Example: `%r = stablehlo.compare LT, %a, %b, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>`

    Constraints: (C1) both operands have the same element type; (C2) operands and result have the same shape; (C3)
    `compare_type` fits the element type.
  }];
  let arguments = (ins StableHLO_Tensor:$lhs, StableHLO_Tensor:$rhs,
                       StableHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<StableHLO_ComparisonTypeAttr>:$compare_type);
  let results = (outs StableHLO_PredTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "::latewood::stablehlo::ComparisonDirection":$direction)>];
  let assemblyFormat = [{
    `` $comparison_direction `,` $lhs `,` $rhs (`,` `` $compare_type^)? attr-dict `:` functional-type(operands, results)
  }];
  let extraClassDeclaration = [{
    /// The kind of comparison made: `compare_type`, or what the element type implies without it.
    ::latewood::stablehlo::ComparisonType getEffectiveCompareType();
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Ternary
//===----------------------------------------------------------------------===//

def StableHLO_SelectOp : StableHLO_ElementwiseOp<"select"> {
  let summary = "elements of on_true where pred holds, of on_false elsewhere";
  let description = [{
    Example: `%r = stablehlo.select %p, %a, %b : tensor<4xi1>, tensor<4xf32>`

    Constraints: (C1) `pred` is 0-dimensional or has the shape of `on_true`; (C2) `on_true`, `on_false` and the result have
    the same type.
  }];
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_Tensor:$on_true, StableHLO_Tensor:$on_false);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    operands attr-dict `:` custom<SelectTypes>(type($pred), type($on_true), type($on_false), type($result))
  }];
  let hasFolder = 1;
}

def StableHLO_ClampOp : StableHLO_ElementwiseOp<"clamp"> {
  let summary = "minimum(maximum(operand, min), max)";
  let description = [{
    Constraints: (C1), (C2) `min` and `max` are each 0-dimensional or have the operand's shape; (C3) the element types agree;
    (C4) operand and result have the same type.
  }];
  let arguments = (ins StableHLO_Tensor:$min, StableHLO_Tensor:$operand, StableHLO_Tensor:$max);
  let results = (outs StableHLO_Tensor:$result);
  let assemblyFormat = [{
    $min `,` $operand `,` $max attr-dict `:`
    custom<SameTypes>(type($min), type($operand), type($max), type($result))
  }];
  let hasFolder = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_ELEMENTWISEOPS_TD
