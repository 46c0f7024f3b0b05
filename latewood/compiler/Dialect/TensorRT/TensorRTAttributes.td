// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerations of TensorRT's network definition. Names and numbers are those of the enumerations of the same name in nvinfer1,
// so that building a network casts one to the other.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTATTRIBUTES_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTATTRIBUTES_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTDialect.td"

// `names` in the order of their numbers, which start at 0.
class TensorRT_Enum<string name, string summary, list<string> names>
    : I32EnumAttr<name, summary, !foreach(i, !range(names), I32EnumAttrCase<names[i], i>)> {
  let cppNamespace = "::latewood::tensorrt";
  let genSpecializedAttr = 0;
}
class TensorRT_EnumAttr<TensorRT_Enum enum, string mnemonic> : EnumAttr<TensorRT_Dialect, enum, mnemonic>;

def TensorRT_ActivationType : TensorRT_Enum<"ActivationType", "function of an activation layer",
    ["kRELU", "kSIGMOID", "kTANH", "kLEAKY_RELU", "kELU", "kSELU", "kSOFTSIGN", "kSOFTPLUS", "kCLIP", "kHARD_SIGMOID",
     "kSCALED_TANH", "kTHRESHOLDED_RELU", "kGELU_ERF", "kGELU_TANH"]>;
def TensorRT_ActivationTypeAttr : TensorRT_EnumAttr<TensorRT_ActivationType, "activation_type">;

def TensorRT_UnaryOperation : TensorRT_Enum<"UnaryOperation", "operation of a unary layer",
    ["kEXP", "kLOG", "kSQRT", "kRECIP", "kABS", "kNEG", "kSIN", "kCOS", "kTAN", "kSINH", "kCOSH", "kASIN", "kACOS", "kATAN",
     "kASINH", "kACOSH", "kATANH", "kCEIL", "kFLOOR", "kERF", "kNOT", "kSIGN", "kROUND", "kISINF", "kISNAN"]>;
def TensorRT_UnaryOperationAttr : TensorRT_EnumAttr<TensorRT_UnaryOperation, "unary_operation">;

def TensorRT_ElementWiseOperation : TensorRT_Enum<"ElementWiseOperation", "operation of an elementwise layer",
    ["kSUM", "kPROD", "kMAX", "kMIN", "kSUB", "kDIV", "kPOW", "kFLOOR_DIV", "kAND", "kOR", "kXOR", "kEQUAL", "kGREATER",
     "kLESS"]>;
def TensorRT_ElementWiseOperationAttr : TensorRT_EnumAttr<TensorRT_ElementWiseOperation, "element_wise_operation">;

def TensorRT_MatrixOperation : TensorRT_Enum<"MatrixOperation", "how a matrix product reads an input",
    ["kNONE", "kTRANSPOSE", "kVECTOR"]>;
def TensorRT_MatrixOperationAttr : TensorRT_EnumAttr<TensorRT_MatrixOperation, "matrix_operation">;

def TensorRT_PoolingType : TensorRT_Enum<"PoolingType", "what a pooling layer keeps of a window",
    ["kMAX", "kAVERAGE", "kMAX_AVERAGE_BLEND"]>;
def TensorRT_PoolingTypeAttr : TensorRT_EnumAttr<TensorRT_PoolingType, "pooling_type">;

def TensorRT_ScaleMode : TensorRT_Enum<"ScaleMode", "for what a scale layer has one coefficient",
    ["kUNIFORM", "kCHANNEL", "kELEMENTWISE"]>;
def TensorRT_ScaleModeAttr : TensorRT_EnumAttr<TensorRT_ScaleMode, "scale_mode">;

def TensorRT_ReduceOperation : TensorRT_Enum<"ReduceOperation", "operation of a reduce layer",
    ["kSUM", "kPROD", "kMAX", "kMIN", "kAVG"]>;
def TensorRT_ReduceOperationAttr : TensorRT_EnumAttr<TensorRT_ReduceOperation, "reduce_operation">;

def TensorRT_CumulativeOperation : TensorRT_Enum<"CumulativeOperation", "operation of a cumulative layer", ["kSUM"]>;
def TensorRT_CumulativeOperationAttr : TensorRT_EnumAttr<TensorRT_CumulativeOperation, "cumulative_operation">;

def TensorRT_TopKOperation : TensorRT_Enum<"TopKOperation", "which elements a top-k layer keeps", ["kMAX", "kMIN"]>;
def TensorRT_TopKOperationAttr : TensorRT_EnumAttr<TensorRT_TopKOperation, "top_k_operation">;

def TensorRT_SampleMode : TensorRT_Enum<"SampleMode", "what lies outside of a sampled tensor",
    ["kSTRICT_BOUNDS", "kWRAP", "kCLAMP", "kFILL", "kREFLECT"]>;
def TensorRT_SampleModeAttr : TensorRT_EnumAttr<TensorRT_SampleMode, "sample_mode">;

def TensorRT_InterpolationMode : TensorRT_Enum<"InterpolationMode", "how values between elements are found",
    ["kNEAREST", "kLINEAR", "kCUBIC"]>;
def TensorRT_InterpolationModeAttr : TensorRT_EnumAttr<TensorRT_InterpolationMode, "interpolation_mode">;

def TensorRT_ResizeCoordinateTransformation : TensorRT_Enum<"ResizeCoordinateTransformation",
    "from a result's coordinate to the input's", ["kALIGN_CORNERS", "kASYMMETRIC", "kHALF_PIXEL"]>;
def TensorRT_ResizeCoordinateTransformationAttr
    : TensorRT_EnumAttr<TensorRT_ResizeCoordinateTransformation, "resize_coordinate_transformation">;

def TensorRT_ResizeSelector : TensorRT_Enum<"ResizeSelector", "which element a result of extent 1 takes",
    ["kFORMULA", "kUPPER"]>;
def TensorRT_ResizeSelectorAttr : TensorRT_EnumAttr<TensorRT_ResizeSelector, "resize_selector">;

def TensorRT_ResizeRoundMode : TensorRT_Enum<"ResizeRoundMode", "how coordinates are rounded",
    ["kHALF_UP", "kHALF_DOWN", "kFLOOR", "kCEIL"]>;
def TensorRT_ResizeRoundModeAttr : TensorRT_EnumAttr<TensorRT_ResizeRoundMode, "resize_round_mode">;

def TensorRT_BoundingBoxFormat : TensorRT_Enum<"BoundingBoxFormat", "meaning of a box's four numbers",
    ["kCORNER_PAIRS", "kCENTER_SIZES"]>;
def TensorRT_BoundingBoxFormatAttr : TensorRT_EnumAttr<TensorRT_BoundingBoxFormat, "bounding_box_format">;

def TensorRT_AttentionNormalizationOp : TensorRT_Enum<"AttentionNormalizationOp", "normalization of attention's scores",
    ["kNONE", "kSOFTMAX"]>;
def TensorRT_AttentionNormalizationOpAttr
    : TensorRT_EnumAttr<TensorRT_AttentionNormalizationOp, "attention_normalization_op">;

def TensorRT_CausalMaskKind : TensorRT_Enum<"CausalMaskKind", "corner at which a causal mask begins",
    ["kNONE", "kUPPER_LEFT", "kLOWER_RIGHT"]>;
def TensorRT_CausalMaskKindAttr : TensorRT_EnumAttr<TensorRT_CausalMaskKind, "causal_mask_kind">;

def TensorRT_AttentionIOForm : TensorRT_Enum<"AttentionIOForm", "layout of attention's inputs",
    ["kPADDED_BHND", "kPACKED_NHD"]>;
def TensorRT_AttentionIOFormAttr : TensorRT_EnumAttr<TensorRT_AttentionIOForm, "attention_io_form">;

def TensorRT_KVCacheMode : TensorRT_Enum<"KVCacheMode", "order of a cache's positions", ["kLINEAR"]>;
def TensorRT_KVCacheModeAttr : TensorRT_EnumAttr<TensorRT_KVCacheMode, "kv_cache_mode">;

def TensorRT_MoEActType : TensorRT_Enum<"MoEActType", "activation of an expert", ["kNONE", "kSILU"]>;
def TensorRT_MoEActTypeAttr : TensorRT_EnumAttr<TensorRT_MoEActType, "moe_act_type">;

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_TENSORRTATTRIBUTES_TD
