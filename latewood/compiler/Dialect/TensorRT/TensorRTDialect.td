// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tensorrt` dialect: its definition, its tensor types and the base classes of its ops.
//
// One op stands for one layer of TensorRT's network definition (INetworkDefinition), with the layer's parameters as
// attributes; enumerations have the names and the numbers of nvinfer1. Verifiers refuse what the builder would refuse, so
// that a network is known to be well formed on machines that have no TensorRT. What is written in this dialect can be built
// into an engine, and also be compiled for the CPU (latewood-convert-tensorrt-to-stablehlo).

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTDIALECT_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TensorRT_Dialect : Dialect {
  let name = "tensorrt";
  let cppNamespace = "::latewood::tensorrt";
  let summary = "Layers of TensorRT's network definition";
  let description = [{
    Ops on ranked tensors of at most 8 dimensions with value semantics. Element types never mix implicitly, as in a strongly
    typed network: `cast` converts. Tensors broadcast along dimensions of extent 1 only, and have equal ranks.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Told how far builds of engines are, by several threads at once.
    std::function<void(::llvm::StringRef network, ::llvm::StringRef phase, int percent)> onBuildProgress;
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class TensorRT_TensorOf<list<Type> types>
    : RankedTensorOf<types, [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() <= 8">],
                     "ranked tensor of at most 8 dimensions">;

// A tensor that must have a dimension.
class TensorRT_NonScalarOf<list<Type> types>
    : RankedTensorOf<types, [CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() <= 8">,
                             CPred<"::llvm::cast<::mlir::RankedTensorType>($_self).getRank() >= 1">],
                     "ranked tensor of 1 to 8 dimensions">;

def TensorRT_I4 : I<4>;

// What layers compute with; what shuffles and concatenations only move; what values may be at all. Other layers that move elements
// take no quantized ones but i8.
defvar TensorRT_Floats = [F32, F16, BF16];
defvar TensorRT_Ints = [I32, I64];
defvar TensorRT_Numbers = !listconcat(TensorRT_Floats, TensorRT_Ints, [I8]);
defvar TensorRT_NumbersOrBool = !listconcat(TensorRT_Numbers, [I1]);
defvar TensorRT_Quantized = [I8, TensorRT_I4, F8E4M3FN, F4E2M1FN];
defvar TensorRT_Movable = !listconcat(TensorRT_Floats, TensorRT_Ints, TensorRT_Quantized, [F8E8M0FNU, I1]);
defvar TensorRT_All = !listconcat(TensorRT_Floats, TensorRT_Ints, TensorRT_Quantized, [F8E8M0FNU, UI8, I1]);

def TensorRT_FloatTensor : TensorRT_TensorOf<TensorRT_Floats>;
def TensorRT_NumberTensor : TensorRT_TensorOf<TensorRT_Numbers>;
def TensorRT_NumberOrBoolTensor : TensorRT_TensorOf<TensorRT_NumbersOrBool>;
def TensorRT_BoolTensor : TensorRT_TensorOf<[I1]>;
def TensorRT_IndexTensor : TensorRT_TensorOf<TensorRT_Ints>;
def TensorRT_MovableTensor : TensorRT_TensorOf<TensorRT_Movable>;
def TensorRT_Tensor : TensorRT_TensorOf<TensorRT_All>;

// A vector of extents, starts, strides: computed by the host of the engine.
def TensorRT_ShapeTensor : 1DTensorOf<TensorRT_Ints>;
def TensorRT_ScalarIndex : 0DTensorOf<TensorRT_Ints>;
def TensorRT_ScalarBool : 0DTensorOf<[I1]>;
def TensorRT_ScalarFloat : 0DTensorOf<[F32]>;

//===----------------------------------------------------------------------===//
// Base classes of ops
//===----------------------------------------------------------------------===//

class TensorRT_Op<string mnemonic, list<Trait> traits = []> : Op<TensorRT_Dialect, mnemonic, traits>;

// As for StableHLO: inference on the op's adaptor, checked against the written types by one error of its own.
def TensorRT_InferredTypesTrait : NativeOpTrait<"InferredTypesTrait"> { let cppNamespace = "::latewood::stablehlo"; }
def TensorRT_InferredTypes : TraitList<[
  InferTypeOpAdaptorBase<[{
    static bool isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r);
    static ::llvm::LogicalResult refineReturnTypes(::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::mlir::success();
    }
  }]>,
  TensorRT_InferredTypesTrait
]>;

// A layer whose result types follow from its operands and attributes. A written extent may be known where the inferred one is
// not, and the other way round.
class TensorRT_InferOp<string mnemonic, list<Trait> traits = []>
    : TensorRT_Op<mnemonic, !listconcat([Pure, TensorRT_InferredTypes], traits)> {
  string sameTypes = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::areCompatible(l, r);
    }
  }];
  // For layers whose indices are i32 or i64, as the writer likes.
  string sameShapes = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange l, ::mlir::TypeRange r) {
      return ::latewood::stablehlo::haveCompatibleShapes(l, r);
    }
  }];
  let extraClassDefinition = sameTypes;
}

// A layer whose result type is partly the writer's choice: it has a verifier.
class TensorRT_LayerOp<string mnemonic, list<Trait> traits = []> : TensorRT_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTDIALECT_TD
