// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerations and structured attributes of the `stablehlo` dialect.
//
// An enumeration prints as `#stablehlo<comparison_direction LT>` on its own and as `LT` inside an op's format. A record of
// dimension numbers prints its fields by name, leaves out lists that are empty and numbers that are 0, and parses its
// fields in any order; a field twice or a field unknown is an error. Attributes.cpp holds those parsers.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOATTRIBUTES_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOATTRIBUTES_TD

include "latewood/compiler/Dialect/StableHLO/StableHLODialect.td"
include "mlir/IR/TensorEncoding.td"

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class StableHLO_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::latewood::stablehlo";
  let genSpecializedAttr = 0;
}

def StableHLO_ComparisonDirection : StableHLO_Enum<"ComparisonDirection", [
  I32EnumAttrCase<"EQ", 0>, I32EnumAttrCase<"NE", 1>, I32EnumAttrCase<"GE", 2>,
  I32EnumAttrCase<"GT", 3>, I32EnumAttrCase<"LE", 4>, I32EnumAttrCase<"LT", 5>]>;
def StableHLO_ComparisonDirectionAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_ComparisonDirection, "comparison_direction">;

def StableHLO_ComparisonType : StableHLO_Enum<"ComparisonType", [
  I32EnumAttrCase<"NOTYPE", 0>, I32EnumAttrCase<"FLOAT", 1>, I32EnumAttrCase<"TOTALORDER", 2>,
  I32EnumAttrCase<"SIGNED", 3>, I32EnumAttrCase<"UNSIGNED", 4>]>;
def StableHLO_ComparisonTypeAttr : EnumAttr<StableHLO_Dialect, StableHLO_ComparisonType, "comparison_type">;

def StableHLO_Precision : StableHLO_Enum<"Precision", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGH", 1>, I32EnumAttrCase<"HIGHEST", 2>]>;
def StableHLO_PrecisionAttr : EnumAttr<StableHLO_Dialect, StableHLO_Precision, "precision">;
def StableHLO_PrecisionConfig : TypedArrayAttrBase<StableHLO_PrecisionAttr, "array of precisions">;

def StableHLO_FftType : StableHLO_Enum<"FftType", [
  I32EnumAttrCase<"FFT", 0>, I32EnumAttrCase<"IFFT", 1>, I32EnumAttrCase<"RFFT", 2>, I32EnumAttrCase<"IRFFT", 3>]>;
def StableHLO_FftTypeAttr : EnumAttr<StableHLO_Dialect, StableHLO_FftType, "fft_type">;

def StableHLO_RngAlgorithm : StableHLO_Enum<"RngAlgorithm", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"THREE_FRY", 1>, I32EnumAttrCase<"PHILOX", 2>]>;
def StableHLO_RngAlgorithmAttr : EnumAttr<StableHLO_Dialect, StableHLO_RngAlgorithm, "rng_algorithm">;

def StableHLO_RngDistribution : StableHLO_Enum<"RngDistribution", [
  I32EnumAttrCase<"UNIFORM", 1>, I32EnumAttrCase<"NORMAL", 2>]>;
def StableHLO_RngDistributionAttr : EnumAttr<StableHLO_Dialect, StableHLO_RngDistribution, "rng_distribution">;

def StableHLO_Transpose : StableHLO_Enum<"Transpose", [
  I32EnumAttrCase<"TRANSPOSE_INVALID", 0>, I32EnumAttrCase<"NO_TRANSPOSE", 1>,
  I32EnumAttrCase<"TRANSPOSE", 2>, I32EnumAttrCase<"ADJOINT", 3>]>;
def StableHLO_TransposeAttr : EnumAttr<StableHLO_Dialect, StableHLO_Transpose, "transpose">;

def StableHLO_ResultAccuracyMode : StableHLO_Enum<"ResultAccuracyMode", [
  I32EnumAttrCase<"DEFAULT", 0>, I32EnumAttrCase<"HIGHEST", 1>, I32EnumAttrCase<"TOLERANCE", 2>]>;
def StableHLO_ResultAccuracyModeAttr
    : EnumAttr<StableHLO_Dialect, StableHLO_ResultAccuracyMode, "result_accuracy_mode"> {
  let assemblyFormat = "`<` $value `>`";
}

// Stored as a plain integer: `api_version = 2 : i32`.
def StableHLO_CustomCallApiVersion : I32EnumAttr<"CustomCallApiVersion", "version of a custom call's interface", [
  I32EnumAttrCase<"API_VERSION_UNSPECIFIED", 0>, I32EnumAttrCase<"API_VERSION_ORIGINAL", 1>,
  I32EnumAttrCase<"API_VERSION_STATUS_RETURNING", 2>, I32EnumAttrCase<"API_VERSION_STATUS_RETURNING_UNIFIED", 3>,
  I32EnumAttrCase<"API_VERSION_TYPED_FFI", 4>]> { let cppNamespace = "::latewood::stablehlo"; }

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

class StableHLO_Attr<string name, string attrMnemonic> : AttrDef<StableHLO_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def StableHLO_Dims : ArrayRefParameter<"int64_t", "dimensions">;
// An optional group of an attribute format takes only parameters that may be absent; an empty list counts as absent.
def StableHLO_OptionalDims : OptionalArrayRefParameter<"int64_t", "dimensions">;

def StableHLO_DotDimensionNumbers : StableHLO_Attr<"DotDimensionNumbers", "dot"> {
  let summary = "which dimensions of dot_general's operands are batched and which are contracted";
  let parameters = (ins StableHLO_Dims:$lhsBatchingDimensions, StableHLO_Dims:$rhsBatchingDimensions,
                        StableHLO_Dims:$lhsContractingDimensions, StableHLO_Dims:$rhsContractingDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_DotAlgorithm : StableHLO_Attr<"DotAlgorithm", "dot_algorithm"> {
  let summary = "how dot_general must compute: operand and accumulator precision, operand splitting";
  let parameters = (ins "::mlir::Type":$lhsPrecisionType, "::mlir::Type":$rhsPrecisionType,
                        "::mlir::Type":$accumulationType, "int64_t":$lhsComponentCount, "int64_t":$rhsComponentCount,
                        "int64_t":$numPrimitiveOperations, "bool":$allowImpreciseAccumulation);
  let assemblyFormat = [{
    `<` `lhs_precision_type` `=` $lhsPrecisionType `,` `rhs_precision_type` `=` $rhsPrecisionType `,`
        `accumulation_type` `=` $accumulationType `,` `lhs_component_count` `=` $lhsComponentCount `,`
        `rhs_component_count` `=` $rhsComponentCount `,` `num_primitive_operations` `=` $numPrimitiveOperations `,`
        `allow_imprecise_accumulation` `=` $allowImpreciseAccumulation `>`
  }];
  let genVerifyDecl = 1;
}

def StableHLO_ConvDimensionNumbers : StableHLO_Attr<"ConvDimensionNumbers", "conv"> {
  let summary = "roles of the dimensions of a convolution's operands and result";
  let description = "Prints as `<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`: one letter or spatial number a dimension.";
  let parameters = (ins "int64_t":$inputBatchDimension, "int64_t":$inputFeatureDimension,
                        StableHLO_Dims:$inputSpatialDimensions, "int64_t":$kernelInputFeatureDimension,
                        "int64_t":$kernelOutputFeatureDimension, StableHLO_Dims:$kernelSpatialDimensions,
                        "int64_t":$outputBatchDimension, "int64_t":$outputFeatureDimension,
                        StableHLO_Dims:$outputSpatialDimensions);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_GatherDimensionNumbers : StableHLO_Attr<"GatherDimensionNumbers", "gather"> {
  let summary = "how gather's result, operand and start indices correspond";
  let parameters = (ins StableHLO_Dims:$offsetDims, StableHLO_Dims:$collapsedSliceDims,
                        StableHLO_Dims:$operandBatchingDims, StableHLO_Dims:$startIndicesBatchingDims,
                        StableHLO_Dims:$startIndexMap, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_ScatterDimensionNumbers : StableHLO_Attr<"ScatterDimensionNumbers", "scatter"> {
  let summary = "how scatter's updates, inputs and indices correspond";
  let parameters = (ins StableHLO_Dims:$updateWindowDims, StableHLO_Dims:$insertedWindowDims,
                        StableHLO_Dims:$inputBatchingDims, StableHLO_Dims:$scatterIndicesBatchingDims,
                        StableHLO_Dims:$scatterDimsToOperandDims, "int64_t":$indexVectorDim);
  let hasCustomAssemblyFormat = 1;
}

def StableHLO_OutputOperandAlias : StableHLO_Attr<"OutputOperandAlias", "output_operand_alias"> {
  let summary = "a result of a custom call that may share memory with an operand";
  let parameters = (ins StableHLO_OptionalDims:$outputTupleIndices, "int64_t":$operandIndex,
                        StableHLO_OptionalDims:$operandTupleIndices);
  let assemblyFormat = [{
    `<` `output_tuple_indices` `=` `[` (`]`) : ($outputTupleIndices^ `]`)? `,` `operand_index` `=` $operandIndex `,`
        `operand_tuple_indices` `=` `[` (`]`) : ($operandTupleIndices^ `]`)? `>`
  }];
}

def StableHLO_ChannelHandle : StableHLO_Attr<"ChannelHandle", "channel_handle"> {
  let summary = "identity and kind of a communication channel";
  let parameters = (ins "int64_t":$handle, "int64_t":$type);
  let assemblyFormat = "`<` struct(params) `>`";
}

def StableHLO_ResultAccuracy : StableHLO_Attr<"ResultAccuracy", "result_accuracy"> {
  let summary = "accuracy that a transcendental op's result must have";
  let parameters = (ins "::llvm::APFloat":$atol, "::llvm::APFloat":$rtol, "int64_t":$ulps,
                        "::latewood::stablehlo::ResultAccuracyModeAttr":$mode);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// Written as the encoding of a tensor type: `tensor<?x4xf32, #stablehlo.bounds<16, ?>>`.
def StableHLO_Bounds : AttrDef<StableHLO_Dialect, "Bounds", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "bounds";
  let summary = "the largest extent of each dynamic dimension of a tensor, where there is one";
  let parameters = (ins StableHLO_Dims:$bounds);
  let hasCustomAssemblyFormat = 1;
}

// A memory layout of a custom call's operand or result: dimensions from minor to major.
def StableHLO_Layout : Attr<
    And<[IndexElementsAttr.predicate,
         CPred<"::llvm::cast<::mlir::DenseIntElementsAttr>($_self).getType().getRank() == 1">]>,
    "layout (1-dimensional tensor of index)"> {
  let storageType = IndexElementsAttr.storageType;
  let returnType = IndexElementsAttr.returnType;
  let convertFromStorage = IndexElementsAttr.convertFromStorage;
}
def StableHLO_LayoutArray : TypedArrayAttrBase<StableHLO_Layout, "array of layouts">;
def StableHLO_SymbolArray : TypedArrayAttrBase<FlatSymbolRefAttr, "array of symbols">;
def StableHLO_AliasArray : TypedArrayAttrBase<StableHLO_OutputOperandAlias, "array of output_operand_alias">;

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLOATTRIBUTES_TD
