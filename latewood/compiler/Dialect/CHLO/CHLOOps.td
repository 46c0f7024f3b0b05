// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `chlo` dialect: functions that frameworks have as one op and that StableHLO expresses by several. A module that comes in
// may hold them; the Input phase replaces each by its definition or by a call of the device library, so nothing after that
// phase knows this dialect. Types and rules of agreement are StableHLO's.

#ifndef LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD
#define LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLODialect.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::latewood::chlo";
  let summary = "Client ops on top of StableHLO";
  let description = "Special functions and selections with the textual form that JAX prints.";
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
  let hasConstantMaterializer = 1;
}

class CHLO_ElementwiseOp<string mnemonic, string what, list<Trait> traits = []>
    : Op<CHLO_Dialect, mnemonic, !listconcat([Pure, StableHLO_Elementwise, StableHLO_InferredTypes], traits)> {
  let summary = what;
  string compatible = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
  string inferSame = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::latewood::stablehlo::inferElementwise(getOperationName(), location, adaptor.getOperands().getTypes(), types);
    }
  }];
  string inferPred = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, std::optional<::mlir::Location>,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(::llvm::cast<::mlir::RankedTensorType>(adaptor.getOperands().front().getType())
                          .clone(::mlir::IntegerType::get(context, 1)));
      return ::mlir::success();
    }
  }];
}

class CHLO_UnaryOp<string mnemonic, string what, Type type> : CHLO_ElementwiseOp<mnemonic, what> {
  let description = what # [{, element by element.

    Constraints: (C1) operand and result have the same type.
  }];
  let arguments = (ins type:$operand);
  let results = (outs type:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDefinition = compatible # inferSame;
}

def CHLO_AcosOp : CHLO_UnaryOp<"acos", "Inverse cosine", StableHLO_FloatOrComplexTensor>;
def CHLO_AcoshOp : CHLO_UnaryOp<"acosh", "Inverse hyperbolic cosine", StableHLO_FloatOrComplexTensor>;
def CHLO_AsinOp : CHLO_UnaryOp<"asin", "Inverse sine", StableHLO_FloatOrComplexTensor>;
def CHLO_AsinhOp : CHLO_UnaryOp<"asinh", "Inverse hyperbolic sine", StableHLO_FloatOrComplexTensor>;
def CHLO_AtanOp : CHLO_UnaryOp<"atan", "Inverse tangent", StableHLO_FloatOrComplexTensor>;
def CHLO_AtanhOp : CHLO_UnaryOp<"atanh", "Inverse hyperbolic tangent", StableHLO_FloatOrComplexTensor>;
def CHLO_BesselI1eOp : CHLO_UnaryOp<"bessel_i1e", "Modified Bessel function of order 1, exponentially scaled",
                                    StableHLO_FloatTensor>;
def CHLO_ConjOp : CHLO_UnaryOp<"conj", "Complex conjugate", StableHLO_FloatOrComplexTensor>;
def CHLO_CoshOp : CHLO_UnaryOp<"cosh", "Hyperbolic cosine", StableHLO_FloatOrComplexTensor>;
def CHLO_DigammaOp : CHLO_UnaryOp<"digamma", "Logarithmic derivative of the gamma function", StableHLO_FloatTensor>;
def CHLO_ErfOp : CHLO_UnaryOp<"erf", "Error function", StableHLO_FloatTensor>;
def CHLO_ErfInvOp : CHLO_UnaryOp<"erf_inv", "Inverse of the error function", StableHLO_FloatTensor>;
def CHLO_ErfcOp : CHLO_UnaryOp<"erfc", "Complementary error function", StableHLO_FloatTensor>;
def CHLO_LgammaOp : CHLO_UnaryOp<"lgamma", "Logarithm of the absolute value of the gamma function",
                                 StableHLO_FloatTensor>;
def CHLO_SinhOp : CHLO_UnaryOp<"sinh", "Hyperbolic sine", StableHLO_FloatOrComplexTensor>;
def CHLO_SquareOp : CHLO_UnaryOp<"square", "The operand times itself", StableHLO_FloatOrComplexTensor>;
def CHLO_TanOp : CHLO_UnaryOp<"tan", "Tangent", StableHLO_FloatOrComplexTensor>;

class CHLO_PredicateOp<string mnemonic, string what> : CHLO_ElementwiseOp<mnemonic, what> {
  let description = what # [{, element by element.

    Constraints: (C1) operand and result have the same shape.
  }];
  let arguments = (ins StableHLO_FloatTensor:$operand);
  let results = (outs StableHLO_PredTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let extraClassDefinition = compatible # inferPred;
}

def CHLO_IsInfOp : CHLO_PredicateOp<"is_inf", "Whether the operand is infinite">;
def CHLO_IsNegInfOp : CHLO_PredicateOp<"is_neg_inf", "Whether the operand is minus infinity">;
def CHLO_IsPosInfOp : CHLO_PredicateOp<"is_pos_inf", "Whether the operand is plus infinity">;

class CHLO_BinaryOp<string mnemonic, string what, string first, string second> : CHLO_ElementwiseOp<mnemonic, what> {
  let description = what # [{, element by element.

    Constraints: (C1) both operands and the result have the same type.
  }];
  let arguments = !dag(ins, [StableHLO_FloatTensor, StableHLO_FloatTensor], [first, second]);
  let results = (outs StableHLO_FloatTensor:$result);
  let assemblyFormat = "$" # first # " `,` $" # second # " attr-dict `:` type($" # first # ") `,` type($" # second #
                       ") `->` type(results)";
  let extraClassDefinition = compatible # inferSame;
}

def CHLO_MulhiOp : CHLO_ElementwiseOp<"mulhi", "The high half of the product of integers"> {
  let description = [{
    The product in twice as many bits, shifted right by the width of an element.

    Constraints: (C1) both operands and the result have the same type.
  }];
  let arguments = (ins StableHLO_IntTensor:$lhs, StableHLO_IntTensor:$rhs);
  let results = (outs StableHLO_IntTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type(results)";
  let extraClassDefinition = compatible # inferSame;
}
def CHLO_NextAfterOp : CHLO_BinaryOp<"next_after", "The next number after x in the direction of y", "x", "y">;
def CHLO_PolygammaOp : CHLO_BinaryOp<"polygamma", "Derivative of order n of the digamma function at x", "n", "x">;
def CHLO_ZetaOp : CHLO_BinaryOp<"zeta", "Hurwitz zeta function", "x", "q">;

def CHLO_ConstantOp : Op<CHLO_Dialect, "constant", [ConstantLike, Pure, StableHLO_InferredTypes]> {
  let summary = "a constant tensor";
  let description = "Constraints: (C1) value and result have the same type.";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs StableHLO_Tensor:$output);
  let assemblyFormat = "attr-dict $value";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location>,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      types.push_back(adaptor.getValue().getType());
      return ::mlir::success();
    }
    ::mlir::OpFoldResult $cppClass::fold(FoldAdaptor) { return getValue(); }
  }];
  let hasFolder = 1;
}

def CHLO_TopKOp : Op<CHLO_Dialect, "top_k", [Pure, StableHLO_InferredTypes,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the largest elements along the last dimension, and where they are";
  let description = [{
    Both results are ordered by value, descending, and by index where values are equal.

    Example: `%values, %indices = chlo.top_k(%x, k = 2) : tensor<6x4xf32> -> (tensor<6x2xf32>, tensor<6x2xi32>)`

    Constraints: (C1) the operand has a dimension; (C2) 0 <= k <= last extent; (C3) the results have the operand's shape with
    last extent k, and element types of the operand and i32.
  }];
  let arguments = (ins StableHLO_PredIntOrFloatTensor:$operand, I64Attr:$k);
  let results = (outs StableHLO_PredIntOrFloatTensor:$values, RankedTensorOf<[I32]>:$indices);
  let assemblyFormat = "`(` $operand `,` `k` `=` $k `)` attr-dict `:` type($operand) `->` `(` type($values) `,` type($indices) `)`";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
}

#endif // LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD
