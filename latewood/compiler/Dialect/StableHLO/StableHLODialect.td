// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `stablehlo` dialect: its definition, its element and tensor types, and the base classes of its ops.
//
// The public StableHLO specification is the contract: op names, attribute names, textual forms and numbered constraints
// are the specification's; this directory is an implementation of its own. What JAX prints parses here and prints back.
// Constraints that a type or attribute predicate can express stand in these ODS files; all others are checked in C++, in
// the file named after the family of ops, each under its number.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLODIALECT_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLODIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def StableHLO_Dialect : Dialect {
  let name = "stablehlo";
  let cppNamespace = "::latewood::stablehlo";
  let summary = "Tensor programs as frameworks export them";
  let description = [{
    The input language of the compiler: ops on ranked tensors with value semantics, as the public StableHLO specification
    defines them. A tensor's dimensions are static or `?`.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let dependentDialects = ["::mlir::quant::QuantDialect"];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def StableHLO_TokenType : TypeDef<StableHLO_Dialect, "Token"> {
  let mnemonic = "token";
  let summary = "orders ops with side effects";
  let description = "Carries no data. Ops that produce and consume tokens execute in the order of the tokens.";
}

def StableHLO_FutureType : TypeDef<StableHLO_Dialect, "Future"> {
  let mnemonic = "future";
  let summary = "the results of an op that may still run";
  let parameters = (ins ArrayRefParameter<"::mlir::Type", "types of the results">:$types);
  let assemblyFormat = "`<` $types `>`";
}

def StableHLO_Pred : TypeAlias<I1, "boolean">;
def StableHLO_SInt : SignlessIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def StableHLO_UInt : UnsignedIntOfWidths<[2, 4, 8, 16, 32, 64]>;
def StableHLO_Int : AnyTypeOf<[StableHLO_SInt, StableHLO_UInt], "integer">;
def StableHLO_Float : AnyTypeOf<[F4E2M1FN, F6E2M3FN, F6E3M2FN, F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ,
                                 F8E5M2, F8E5M2FNUZ, F8E8M0FNU, BF16, F16, F32, F64], "floating-point">;
def StableHLO_ComplexType : Complex<AnyTypeOf<[F32, F64]>>;
def StableHLO_PlainElement : AnyTypeOf<[StableHLO_Pred, StableHLO_Int, StableHLO_Float, StableHLO_ComplexType]>;
// An integer that stands for a number: (integer - zero point) * scale.
def StableHLO_Quantized : Type<CPred<"::llvm::isa<::mlir::quant::UniformQuantizedType>($_self)">, "per-tensor quantized">;
def StableHLO_Element : AnyTypeOf<[StableHLO_Pred, StableHLO_Int, StableHLO_Float, StableHLO_ComplexType,
                                   StableHLO_Quantized]>;

def StableHLO_PlainTensor : RankedTensorOf<[StableHLO_PlainElement]>;
def StableHLO_Tensor : RankedTensorOf<[StableHLO_Element]>;
// Each slice along one dimension has a scale and a zero point of its own.
def StableHLO_PerAxisTensor : Type<And<[IsRankedTensorTypePred,
    CPred<"::latewood::stablehlo::isPerAxisQuantized(::llvm::cast<::mlir::RankedTensorType>($_self))">]>,
    "ranked tensor of per-axis quantized values with a scale for each slice", "::mlir::RankedTensorType">;
def StableHLO_TensorOrPerAxis : AnyTypeOf<[StableHLO_Tensor, StableHLO_PerAxisTensor], "", "::mlir::RankedTensorType">;
def StableHLO_QuantizedTensor : AnyTypeOf<[RankedTensorOf<[StableHLO_Quantized]>, StableHLO_PerAxisTensor], "",
                                          "::mlir::RankedTensorType">;
def StableHLO_FloatOrQuantizedTensor : AnyTypeOf<[RankedTensorOf<[StableHLO_Float]>, StableHLO_QuantizedTensor], "",
                                                 "::mlir::RankedTensorType">;
def StableHLO_PredTensor : RankedTensorOf<[StableHLO_Pred]>;
def StableHLO_IntTensor : RankedTensorOf<[StableHLO_Int]>;
def StableHLO_FloatTensor : RankedTensorOf<[StableHLO_Float]>;
def StableHLO_ComplexTensor : RankedTensorOf<[StableHLO_ComplexType]>;
def StableHLO_Float32Or64Tensor : RankedTensorOf<[F32, F64]>;
def StableHLO_PredOrIntTensor : RankedTensorOf<[StableHLO_Pred, StableHLO_Int]>;
def StableHLO_FloatOrComplexTensor : RankedTensorOf<[StableHLO_Float, StableHLO_ComplexType]>;
// What has a name with Real in it takes quantized numbers too.
def StableHLO_RealTensor : RankedTensorOf<[StableHLO_Float, StableHLO_Quantized]>;
def StableHLO_RealOrComplexTensor : RankedTensorOf<[StableHLO_Float, StableHLO_ComplexType, StableHLO_Quantized]>;
def StableHLO_IntRealOrComplexTensor : RankedTensorOf<[StableHLO_Int, StableHLO_Float, StableHLO_ComplexType,
                                                       StableHLO_Quantized]>;
def StableHLO_SIntRealOrComplexTensor : RankedTensorOf<[StableHLO_SInt, StableHLO_Float, StableHLO_ComplexType,
                                                        StableHLO_Quantized]>;
def StableHLO_IntOrFloatTensor : RankedTensorOf<[StableHLO_Int, StableHLO_Float]>;
def StableHLO_PredIntOrFloatTensor : RankedTensorOf<[StableHLO_Pred, StableHLO_Int, StableHLO_Float]>;

// 0-dimensional and 1-dimensional operands, and the vectors of extents that dynamic ops take.
def StableHLO_ScalarTensor : 0DTensorOf<[StableHLO_Element]>;
def StableHLO_ScalarPredTensor : 0DTensorOf<[StableHLO_Pred]>;
def StableHLO_ScalarIntTensor : 0DTensorOf<[StableHLO_Int]>;
def StableHLO_ScalarI32Tensor : 0DTensorOf<[I32]>;
def StableHLO_ScalarUI32Tensor : 0DTensorOf<[UI32]>;
def StableHLO_ScalarPredIntOrFloatTensor : 0DTensorOf<[StableHLO_Pred, StableHLO_Int, StableHLO_Float]>;
def StableHLO_RealVector : 1DTensorOf<[StableHLO_Float, StableHLO_Quantized]>;
def StableHLO_ExtentTensor : 1DTensorOf<[StableHLO_Int, Index]>;

// Values that control flow, calls and barriers pass along.
def StableHLO_Value : AnyTypeOf<[StableHLO_TensorOrPerAxis, StableHLO_TokenType, AnyTuple],
                                "tensor, token or tuple">;

//===----------------------------------------------------------------------===//
// Base classes of ops
//===----------------------------------------------------------------------===//

// Carried by ops whose result element at an index depends on the operands' elements at that index only (a 0-dimensional
// `pred`, `min` or `max` counts as broadcast). Upstream's trait of this name is not used: its verifier runs before ours and
// its message names no constraint.
def StableHLO_Elementwise : NativeOpTrait<"ElementwiseTrait"> { let cppNamespace = "::latewood::stablehlo"; }

class StableHLO_Op<string mnemonic, list<Trait> traits = []> : Op<StableHLO_Dialect, mnemonic, traits>;

// Type inference on an op's adaptor. Upstream's trait reports a second error, without any reason, after each that inference
// reports; so the interface's own check is switched off here, and InferredTypesTrait does it with one error.
def StableHLO_InferredTypesTrait : NativeOpTrait<"InferredTypesTrait"> {
  let cppNamespace = "::latewood::stablehlo";
}
def StableHLO_InferredTypes : TraitList<[
  InferTypeOpAdaptorBase<[{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r);
    static ::llvm::LogicalResult refineReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }]>,
  StableHLO_InferredTypesTrait
]>;

// An op whose result types follow from its operands and attributes. The written type may differ from the inferred one
// where a `?` meets an extent, and may always be the more or the less precise of the two.
class StableHLO_InferOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_Op<mnemonic, !listconcat([StableHLO_InferredTypes], traits)> {
  string sameTypes = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
  // For ops whose result may be quantized differently from the operands.
  string sameBaselines = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::haveCompatibleBaselines(l, r);
    }
  }];
  // For ops whose element type may be wider than the operands' (accumulation), so that only shapes are compared.
  string sameShapes = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::haveCompatibleShapes(l, r);
    }
  }];
  let extraClassDefinition = sameTypes;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_STABLEHLODIALECT_TD
