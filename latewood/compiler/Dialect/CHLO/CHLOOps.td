// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `chlo` dialect: functions that frameworks have as one op and that StableHLO expresses by several. A module that comes in
// may hold them; the Input phase replaces each by its definition or by a call of the device library, so nothing after that
// phase knows this dialect. Types and rules of agreement are StableHLO's.

#ifndef LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD
#define LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"

def CHLO_Dialect : Dialect {
  let name = "chlo";
  let cppNamespace = "::latewood::chlo";
  let summary = "Client ops on top of StableHLO";
  let description = "Special functions and selections with the textual form that JAX prints.";
  let dependentDialects = ["::latewood::stablehlo::StableHLODialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

// The dialect has attributes of its own for what StableHLO enumerates: `#chlo<comparison_direction EQ>`.
class CHLO_EnumAttr<EnumInfo enumInfo, string name> : EnumAttr<CHLO_Dialect, enumInfo, name> {
  // The enumeration's own attribute, which EnumAttr would take, is StableHLO's.
  let constBuilderCall = "::latewood::chlo::" # enumInfo.className # "Attr::get($_builder.getContext(), $0)";
}
def CHLO_ComparisonDirectionAttr : CHLO_EnumAttr<StableHLO_ComparisonDirection, "comparison_direction">;
def CHLO_ComparisonTypeAttr : CHLO_EnumAttr<StableHLO_ComparisonType, "comparison_type">;
def CHLO_PrecisionAttr : CHLO_EnumAttr<StableHLO_Precision, "precision">;
def CHLO_PrecisionConfig : TypedArrayAttrBase<CHLO_PrecisionAttr, "array of precisions">;

def CHLO_RaggedDotDimensionNumbers : AttrDef<CHLO_Dialect, "RaggedDotDimensionNumbers"> {
  let mnemonic = "ragged_dot";
  let summary = "which dimensions of ragged_dot's operands are batched, contracted, cut into groups, and number groups";
  let parameters = (ins StableHLO_Dims:$lhsBatchingDimensions, StableHLO_Dims:$rhsBatchingDimensions,
                        StableHLO_Dims:$lhsContractingDimensions, StableHLO_Dims:$rhsContractingDimensions,
                        StableHLO_Dims:$lhsRaggedDimensions, StableHLO_Dims:$rhsGroupDimensions);
  let hasCustomAssemblyFormat = 1;
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

//===----------------------------------------------------------------------===//
// Broadcasting
//===----------------------------------------------------------------------===//

class CHLO_BroadcastingOp<string mnemonic, string what, Type operandType, Type resultType, string inference>
    : Op<CHLO_Dialect, mnemonic, [Pure, StableHLO_InferredTypes]> {
  let summary = what;
  let description = what # [{, after the operands have been broadcast to one shape. `broadcast_dimensions` says which of the
    result's dimensions are those of the operand of lower rank; without it they are the last ones, as in NumPy.

    Constraints: (C1) one entry of `broadcast_dimensions` a dimension of the operand of lower rank, ascending, below the other
    rank; (C2) extents that meet agree, or one of them is 1; (C3) one element type; (C4) the result has the shape of both.
  }];
  let arguments = (ins operandType:$lhs, operandType:$rhs, OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions);
  let results = (outs resultType:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` `(` type($lhs) `,` type($rhs) `)` `->` type(results)";
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *, std::optional<::mlir::Location> location,
        Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::latewood::chlo::inferBroadcasting(getOperationName(), location, adaptor.getLhs().getType(),
          adaptor.getRhs().getType(), adaptor.getBroadcastDimensions(), ::latewood::chlo::BroadcastResult::}] # inference # [{,
          types);
    }
  }];
}

class CHLO_BroadcastBinaryOp<string mnemonic, string what, Type type>
    : CHLO_BroadcastingOp<mnemonic, what, type, type, "Same">;

def CHLO_BroadcastAddOp : CHLO_BroadcastBinaryOp<"broadcast_add", "Sum", StableHLO_PlainTensor>;
def CHLO_BroadcastAndOp : CHLO_BroadcastBinaryOp<"broadcast_and", "Logical or bitwise and", StableHLO_PredOrIntTensor>;
def CHLO_BroadcastAtan2Op : CHLO_BroadcastBinaryOp<"broadcast_atan2", "Angle of the point (rhs, lhs)",
                                                   StableHLO_FloatOrComplexTensor>;
def CHLO_BroadcastDivOp : CHLO_BroadcastBinaryOp<"broadcast_divide", "Quotient", StableHLO_PlainTensor>;
def CHLO_BroadcastMaxOp : CHLO_BroadcastBinaryOp<"broadcast_maximum", "Larger value", StableHLO_PlainTensor>;
def CHLO_BroadcastMinOp : CHLO_BroadcastBinaryOp<"broadcast_minimum", "Smaller value", StableHLO_PlainTensor>;
def CHLO_BroadcastMulOp : CHLO_BroadcastBinaryOp<"broadcast_multiply", "Product", StableHLO_PlainTensor>;
def CHLO_BroadcastNextAfterOp : CHLO_BroadcastBinaryOp<"broadcast_next_after", "The next number in a direction",
                                                       StableHLO_FloatTensor>;
def CHLO_BroadcastOrOp : CHLO_BroadcastBinaryOp<"broadcast_or", "Logical or bitwise or", StableHLO_PredOrIntTensor>;
def CHLO_BroadcastPolygammaOp : CHLO_BroadcastBinaryOp<"broadcast_polygamma", "Derivative of the digamma function",
                                                       StableHLO_FloatTensor>;
def CHLO_BroadcastPowOp : CHLO_BroadcastBinaryOp<"broadcast_power", "Power", StableHLO_PlainTensor>;
def CHLO_BroadcastRemOp : CHLO_BroadcastBinaryOp<"broadcast_remainder", "Remainder", StableHLO_PlainTensor>;
def CHLO_BroadcastShiftLeftOp : CHLO_BroadcastBinaryOp<"broadcast_shift_left", "Left shift", StableHLO_IntTensor>;
def CHLO_BroadcastShiftRightArithmeticOp
    : CHLO_BroadcastBinaryOp<"broadcast_shift_right_arithmetic", "Right shift that copies the sign", StableHLO_IntTensor>;
def CHLO_BroadcastShiftRightLogicalOp
    : CHLO_BroadcastBinaryOp<"broadcast_shift_right_logical", "Right shift that inserts zeros", StableHLO_IntTensor>;
def CHLO_BroadcastSubOp : CHLO_BroadcastBinaryOp<"broadcast_subtract", "Difference", StableHLO_PlainTensor>;
def CHLO_BroadcastXorOp : CHLO_BroadcastBinaryOp<"broadcast_xor", "Logical or bitwise exclusive or",
                                                 StableHLO_PredOrIntTensor>;
def CHLO_BroadcastZetaOp : CHLO_BroadcastBinaryOp<"broadcast_zeta", "Hurwitz zeta function", StableHLO_FloatTensor>;

def CHLO_BroadcastComplexOp : CHLO_BroadcastingOp<"broadcast_complex", "Complex numbers from their parts",
                                                  StableHLO_Float32Or64Tensor, StableHLO_ComplexTensor, "Complex">;
def CHLO_BroadcastCompareOp : CHLO_BroadcastingOp<"broadcast_compare", "Comparison", StableHLO_PlainTensor,
                                                  StableHLO_PredTensor, "Predicate"> {
  let arguments = (ins StableHLO_PlainTensor:$lhs, StableHLO_PlainTensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$broadcast_dimensions,
                       CHLO_ComparisonDirectionAttr:$comparison_direction,
                       OptionalAttr<CHLO_ComparisonTypeAttr>:$compare_type);
}

def CHLO_BroadcastSelectOp : Op<CHLO_Dialect, "broadcast_select", [Pure, StableHLO_InferredTypes]> {
  let summary = "select, after the operands have been broadcast as in NumPy";
  let description = [{
    Constraints: (C1) extents that meet agree, or are 1; (C2) on_true and on_false have one element type; (C3) the result has the
    shape of all and that element type.
  }];
  let arguments = (ins StableHLO_PredTensor:$pred, StableHLO_PlainTensor:$on_true, StableHLO_PlainTensor:$on_false);
  let results = (outs StableHLO_PlainTensor:$result);
  let assemblyFormat = [{
    $pred `,` $on_true `,` $on_false attr-dict `:` `(` type($pred) `,` type($on_true) `,` type($on_false) `)` `->`
    type(results)
  }];
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
}

def CHLO_ConstantLikeOp : Op<CHLO_Dialect, "constant_like", [Pure, StableHLO_InferredTypes]> {
  let summary = "one number in the shape of the operand";
  let description = [{
    Example: `%0 = "chlo.constant_like"(%x) {value = 3.2 : f32} : (tensor<?xf32>) -> tensor<?xf32>`

    Constraints: (C1) the result has the operand's shape and the value's type as element type, (C2) which a tensor can have.
  }];
  let arguments = (ins TypedAttrInterface:$value, StableHLO_PlainTensor:$operand);
  let results = (outs StableHLO_PlainTensor:$result);
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
}

def CHLO_AsinAcosKernelOp : CHLO_UnaryOp<"_asin_acos_kernel", "What the inverse sine and cosine of a complex number share",
                                         StableHLO_ComplexTensor> {
  let description = [{
    The w with asin(z) = complex(atan2(re z, re w), sign(im z) * im w), element by element.

    Constraints: (C1) operand and result have the same type.
  }];
}

//===----------------------------------------------------------------------===//
// Products of groups, scans
//===----------------------------------------------------------------------===//

def CHLO_RaggedDotOp : Op<CHLO_Dialect, "ragged_dot", [Pure, StableHLO_InferredTypes]> {
  let summary = "products of matrices, one dimension of which is cut into groups";
  let description = [{
    As `dot_general`, but a dimension of `lhs` consists of groups, as long as `group_sizes` says, one after the other. With batch
    dimensions b, contracted ones k, groups g:
    - a free dimension m is cut: [b, m, k], [g, b, k, n] -> [b, m, n]. Each group has an rhs of its own; what is in no group is 0;
    - a contracted dimension k is cut: [b, m, k], [b, k, n] -> [g, b, m, n]. Each group has a sum of its own;
    - a batch dimension b is cut: [b, m, k], [b, k, n] -> [b, m, n]. The groups change nothing.

    `group_sizes` has the shape [g], or [b..., x..., g] with the batch dimensions and the dimensions of the ragged one's kind that
    come before it.

    Constraints: (C1) the batching and contracting dimensions are as in `dot_general`; (C2) one ragged dimension, of lhs; (C3) rhs
    has one group dimension if that is free, none else, and (C4) it is different from the others; (C5) the extent of the group
    dimension is the number of groups; (C6) the shape of `group_sizes`; (C7) the result's shape; (C8) two precisions; (C9) one
    element type, which can be promoted to the result's.
  }];
  let arguments = (ins StableHLO_PlainTensor:$lhs, StableHLO_PlainTensor:$rhs, StableHLO_IntTensor:$group_sizes,
                       CHLO_RaggedDotDimensionNumbers:$ragged_dot_dimension_numbers,
                       OptionalAttr<CHLO_PrecisionConfig>:$precision_config);
  let results = (outs StableHLO_PlainTensor:$result);
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::haveCompatibleShapes(l, r);
    }
  }];
  let hasVerifier = 1;
}

def CHLO_ScanOp : Op<CHLO_Dialect, "scan", [AttrSizedOperandSegments, AttrSizedResultSegments, IsolatedFromAbove,
    SingleBlockImplicitTerminator<"::latewood::stablehlo::ReturnOp">, RecursiveMemoryEffects]> {
  let summary = "a loop over the slices of tensors that carries values";
  let description = [{
    The body takes the slices of the inputs at one index of `dimension`, without that dimension, and the values carried; it returns
    slices of the outputs and the next values. `is_reverse` goes from the last index to the first. `scan_dim_size` says the
    number of steps if there are no inputs.

    Example:
    ```mlir
    %sums, %sum = chlo.scan (%x) inits (%zero) dimension=0 {
    ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
      %0 = stablehlo.add %input, %carry : tensor<f32>
      stablehlo.return %0, %0 : tensor<f32>, tensor<f32>
    } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
    ```

    Constraints: (C1) there are inputs or outputs; (C2) `dimension` is one of each input; (C3) its extents and `scan_dim_size`
    agree; (C4) the body takes slices and initial values, and returns (C5) slices of the outputs and values of the carries' types;
    (C6) the carries have the types of the initial values.
  }];
  let arguments = (ins Variadic<StableHLO_PlainTensor>:$inputs, Variadic<StableHLO_PlainTensor>:$inits,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dimension,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scan_dim_size,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_reverse, OptionalAttr<BoolAttr>:$is_associative);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_PlainTensor>:$outputs, Variadic<StableHLO_PlainTensor>:$carries);
  let extraClassDeclaration = [{
    /// The number of steps, `?` if no input says it.
    int64_t getStepCount();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_CHLO_CHLOOPS_TD
