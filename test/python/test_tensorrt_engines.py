# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every layer of the `tensorrt` dialect, with every element type, becomes an engine by TensorRT's real builder, or is refused by our
verifier: what the one takes, the other takes, too. The builder needs no GPU; where there is none, these tests are skipped, one for each layer.

A case is a layer on operands %x0, %x1 …, in whose types T stands for the element type, and a list of those that it takes."""

import re

import pytest
from tensorrt_builder import LIBRARY, MISSING, Builder

pytestmark = pytest.mark.skipif(not LIBRARY, reason=MISSING)

FLOATS, INTS, BOOL = "f32 f16 bf16", "i32 i64", "i1"
NARROW = "i4 f8E4M3FN f4E2M1FN f8E8M0FNU"
ELEMENTS = f"{FLOATS} {INTS} {BOOL} i8 ui8 {NARROW}".split()
NUMBERS = f"{FLOATS} {INTS}"
MOVED = f"{FLOATS} {INTS} {BOOL} i8"
ALL = f"{MOVED} {NARROW}"


CASES = {}


def case(name, layer, operands, results, elements, before=""):
    assert name not in CASES
    CASES[name] = (layer, operands, results, elements.split(), before)


# fmt: off
# --- Elements ------------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "kRELU": ("", NUMBERS + " i8"),
    "kSIGMOID": ("", FLOATS),
    "kTANH": ("", FLOATS),
    "kLEAKY_RELU": (", alpha = 0.1 : f32", FLOATS),
    "kELU": (", alpha = 1.0 : f32", FLOATS),
    "kSELU": (", alpha = 1.6 : f32, beta = 1.05 : f32", FLOATS),
    "kSOFTSIGN": ("", FLOATS),
    "kSOFTPLUS": (", alpha = 1.0 : f32, beta = 1.0 : f32", FLOATS),
    "kCLIP": (", alpha = -1.0 : f32, beta = 1.0 : f32", FLOATS),
    "kHARD_SIGMOID": (", alpha = 0.2 : f32, beta = 0.5 : f32", FLOATS),
    "kSCALED_TANH": (", alpha = 1.7 : f32, beta = 0.6 : f32", FLOATS),
    "kTHRESHOLDED_RELU": (", alpha = 1.0 : f32", FLOATS),
    "kGELU_ERF": ("", FLOATS),
    "kGELU_TANH": ("", FLOATS),
}
for function, (parameters, elements) in FUNCTIONS.items():
    case(f"activation {function}", f"activation %x0 {{activationType = #tensorrt<activation_type {function}>{parameters}}}", "4x6xT", "4x6xT", elements)

for operation in "kEXP kLOG kSQRT kRECIP kSIN kCOS kTAN kSINH kCOSH kASIN kACOS kATAN kASINH kACOSH kATANH kCEIL kFLOOR kERF kROUND".split():
    case(f"unary {operation}", f"unary %x0 {{unaryOperation = #tensorrt<unary_operation {operation}>}}", "4x6xT", "4x6xT", FLOATS)
for operation in "kABS kNEG kSIGN".split():
    case(f"unary {operation}", f"unary %x0 {{unaryOperation = #tensorrt<unary_operation {operation}>}}", "4x6xT", "4x6xT", NUMBERS + " i8")
for operation in "kISINF kISNAN".split():
    case(f"unary {operation}", f"unary %x0 {{unaryOperation = #tensorrt<unary_operation {operation}>}}", "4x6xT", "4x6xi1", FLOATS)
case("unary kNOT", "unary %x0 {unaryOperation = #tensorrt<unary_operation kNOT>}", "4x6xT", "4x6xT", BOOL)

for operation in "kSUM kPROD kMAX kMIN kSUB kDIV kPOW kFLOOR_DIV".split():
    elements = NUMBERS if operation == "kPOW" else NUMBERS + " i8"
    case(f"element_wise {operation}", f"element_wise %x0, %x1 {{elementwiseOperation = #tensorrt<element_wise_operation {operation}>}}", "4x6xT 1x6xT", "4x6xT", elements)
for operation in "kAND kOR kXOR".split():
    case(f"element_wise {operation}", f"element_wise %x0, %x1 {{elementwiseOperation = #tensorrt<element_wise_operation {operation}>}}", "4x6xT 1x6xT", "4x6xT", BOOL)
for operation in "kEQUAL kGREATER kLESS".split():
    case(f"element_wise {operation}", f"element_wise %x0, %x1 {{elementwiseOperation = #tensorrt<element_wise_operation {operation}>}}", "4x6xT 1x6xT", "4x6xi1", NUMBERS + " i8" + (" i1" if operation == "kEQUAL" else ""))

case("select", "select %x0, %x1, %x2", "4x6xi1 4x6xT 1x1xT", "4x6xT", NUMBERS + " i8 i1")
for to in f"{FLOATS} {INTS} {BOOL} i8 ui8".split():
    byte = f"{FLOATS} ui8" if to == "ui8" else f"{NUMBERS} {BOOL} i8"
    case(f"cast to {to}", "cast %x0", "4x6xT", f"4x6x{to}", byte + (" ui8" if to in FLOATS.split() else ""))
case("identity", "identity %x0", "4x6xT", "4x6xT", ALL + " ui8")
case("parametric_relu", "parametric_relu %x0, %x1", "4x6xT 1x6xT", "4x6xT", FLOATS)
for mode, count in {"kUNIFORM": 1, "kCHANNEL": 3, "kELEMENTWISE": 48}.items():
    weights = f"dense<2.0> : tensor<{count}xT>"
    case(f"scale {mode}", f"scale %x0 {{mode = #tensorrt<scale_mode {mode}>, scale = {weights}, shift = {weights}, power = {weights}}}", "2x3x4x4xT", "2x3x4x4xT", FLOATS)
case("lrn", "lrn %x0 {window = 3 : i64, alpha = 0.5 : f32, beta = 0.75 : f32, k = 2.0 : f32}", "2x5x4x4xT", "2x5x4x4xT", FLOATS)
case("softmax", "softmax %x0 {axis = 1 : i64}", "4x6xT", "4x6xT", FLOATS)
case("ragged_softmax", "ragged_softmax %x0, %x1", "2x3x5xT 2x3x1xi32", "2x3x5xT", FLOATS)
case("normalization", "normalization %x0, %x1, %x2 {axis = array<i64: 1, 2>}", "2x4x6xT 1x4x6xT 1x4x6xT", "2x4x6xT", FLOATS)
case("normalization of groups", "normalization %x0, %x1, %x2 {axis = array<i64: 2, 3>, num_groups = 2 : i64}", "2x4x5x6xT 1x4x1x1xT 1x4x1x1xT", "2x4x5x6xT", FLOATS)
case("cumulative", "cumulative %x0 {axis = 1 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>}", "4x6xT", "4x6xT", NUMBERS)
case("cumulative backwards", "cumulative %x0 {axis = 0 : i64, cumulativeOperation = #tensorrt<cumulative_operation kSUM>, exclusive = true, reverse = true}", "4x6xT", "4x6xT", NUMBERS)

# --- Products ------------------------------------------------------------------------------------------------------------

MATRIX = "{op0 = #tensorrt<matrix_operation %s>, op1 = #tensorrt<matrix_operation %s>}"
case("matrix_multiply", "matrix_multiply %x0, %x1 " + MATRIX % ("kNONE", "kTRANSPOSE"), "2x4x6xT 1x3x6xT", "2x4x3xT", FLOATS)
case("matrix_multiply by a vector", "matrix_multiply %x0, %x1 " + MATRIX % ("kTRANSPOSE", "kVECTOR"), "4x6xT 4xT", "6xT", FLOATS)
case("einsum", 'einsum %x0, %x1 {equation = "bij,bjk->bik"}', "2x4x6xT 2x6x3xT", "2x4x3xT", FLOATS)
WINDOW = "stride = array<i64: 1, 2>, pre_padding = array<i64: 1, 0>, post_padding = array<i64: 0, 1>"
case("convolution", f"convolution in(%x0) kernel(%x1) bias(%x2) {{{WINDOW}, dilation = array<i64: 1, 1>}}", "1x4x8x8xT 6x4x3x3xT 6xT", "1x6x7x4xT", FLOATS)
case("convolution of constants", f"convolution in(%x0) kernel(%w) bias(%v) {{{WINDOW}, num_groups = 2 : i64}} : (tensor<1x4x8x8xT>, tensor<6x2x3x3xT>, tensor<6xT>) -> tensor<1x6x7x4xT>", "1x4x8x8xT", "1x6x7x4xT", FLOATS,
     before="%w = tensorrt.constant dense<1.0> : tensor<6x2x3x3xT>\n%v = tensorrt.constant dense<1.0> : tensor<6xT>")
case("convolution of volumes", "convolution in(%x0) kernel(%x1) {stride = array<i64: 1, 1, 1>, pre_padding = array<i64: 0, 0, 0>, post_padding = array<i64: 0, 0, 0>}", "1x4x5x5x5xT 6x4x3x3x3xT", "1x6x3x3x3xT", FLOATS)
case("deconvolution", f"deconvolution in(%x0) kernel(%x1) bias(%x2) {{{WINDOW}}}", "1x4x8x8xT 4x6x3x3xT 6xT", "1x6x9x16xT", "f32 f16")
case("deconvolution of constants", f"deconvolution in(%x0) kernel(%w) {{{WINDOW}, num_groups = 2 : i64}} : (tensor<1x4x8x8xT>, tensor<4x3x3x3xT>) -> tensor<1x6x9x16xT>", "1x4x8x8xT", "1x6x9x16xT", "f32 f16",
     before="%w = tensorrt.constant dense<1.0> : tensor<4x3x3x3xT>")
for kind in "kMAX kAVERAGE kMAX_AVERAGE_BLEND".split():
    blend = ", blendFactor = 0.5 : f32" if kind == "kMAX_AVERAGE_BLEND" else ""
    case(f"pooling {kind}", f"pooling %x0 {{windowSize = array<i64: 2, 3>, stride = array<i64: 2, 1>, prePadding = array<i64: 0, 1>, postPadding = array<i64: 0, 1>, poolingType = #tensorrt<pooling_type {kind}>{blend}}}", "1x2x8x8xT", "1x2x4x8xT", FLOATS + " i8")
case("pooling of volumes", "pooling %x0 {windowSize = array<i64: 2, 2, 2>, stride = array<i64: 2, 2, 2>, prePadding = array<i64: 0, 0, 0>, postPadding = array<i64: 0, 0, 0>, poolingType = #tensorrt<pooling_type kMAX>}", "1x2x4x4x4xT", "1x2x2x2x2xT", FLOATS)
case("attention", "attention %x0, %x1, %x2", "2x4x5x8xT 2x4x7x8xT 2x4x7x8xT", "2x4x5x8xT", FLOATS)
case("attention that decomposes", "attention %x0, %x1, %x2 {decomposable = true}", "2x4x5x8xT 2x4x7x8xT 2x4x7x8xT", "2x4x5x8xT", FLOATS)
case("attention with a mask", "attention %x0, %x1, %x2 mask(%x3)", "2x4x5x8xT 2x4x7x8xT 2x4x7x8xT 2x1x5x7xi1", "2x4x5x8xT", FLOATS)
case("attention with an added mask", "attention %x0, %x1, %x2 mask(%x3)", "2x4x5x8xT 2x4x7x8xT 2x4x7x8xT 1x4x5x7xT", "2x4x5x8xT", FLOATS)
case("causal attention", "attention %x0, %x1, %x2 {causalKind = #tensorrt<causal_mask_kind kUPPER_LEFT>}", "2x4x5x8xT 2x2x7x8xT 2x2x7x8xT", "2x4x5x8xT", FLOATS)
case("causal attention of the last tokens", "attention %x0, %x1, %x2 {causalKind = #tensorrt<causal_mask_kind kLOWER_RIGHT>}", "2x4x5x8xT 2x2x7x8xT 2x2x7x8xT", "2x4x5x8xT", FLOATS)
case("attention of packed sequences", "attention %x0, %x1, %x2 query_lengths(%x3) key_value_lengths(%x3) {queryForm = #tensorrt<attention_io_form kPACKED_NHD>, keyValueForm = #tensorrt<attention_io_form kPACKED_NHD>} : (tensor<12x4x8xT>, tensor<12x4x8xT>, tensor<12x4x8xT>, tensor<3xi32>, tensor<3xi32>) -> tensor<12x4x8xT>", "12x4x8xT 12x4x8xT 12x4x8xT 3xi32", "12x4x8xT", FLOATS)
case("rotary_embedding", "rotary_embedding %x0, %x1, %x2", "2x4x5x8xT 2x5x4xT 2x5x4xT", "2x4x5x8xT", FLOATS)
case("rotary_embedding of positions", "rotary_embedding %x0, %x1, %x2 positions(%x3) {interleaved = true, rotaryEmbeddingDim = 4 : i64}", "2x4x5x8xT 9x2xT 9x2xT 2x5xi64", "2x4x5x8xT", FLOATS)
case("kv_cache_update", "kv_cache_update %x0, %x1, %x2", "2x4x16x8xT 2x4x1x8xT 2xi32", "2x4x16x8xT", FLOATS)
case("moe", "moe %x0, %x1, %x2 weights(%x3, %x4, %x5)", "1x4x16xT 1x4x2xi32 1x4x2xT 4x16x32xT 4x16x32xT 4x32x16xT", "1x4x16xT", FLOATS)

# --- Reductions and choices ------------------------------------------------------------------------------------------------

for operation in "kSUM kPROD kMAX kMIN kAVG".split():
    case(f"reduce {operation}", f"reduce %x0 {{reduceAxes = array<i64: 0, 2>, reduceOperation = #tensorrt<reduce_operation {operation}>}}", "4x6x2xT", "6xT", NUMBERS + ("" if operation == "kAVG" else " i8"))
case("reduce that keeps dimensions", "reduce %x0 {reduceAxes = array<i64: 1>, keepDimensions = true, reduceOperation = #tensorrt<reduce_operation kSUM>}", "4x6xT", "4x1xT", NUMBERS + " i8")
for operation in "kMAX kMIN".split():
    case(f"top_k {operation}", f"top_k %x0 {{k = 2 : i64, axis = 1 : i64, topkOperation = #tensorrt<top_k_operation {operation}>}}", "4x6xT", "4x2xT 4x2xi32", NUMBERS)
case("top_k with positions of i64", "top_k %x0 {k = 2 : i64, axis = 1 : i64, topkOperation = #tensorrt<top_k_operation kMAX>}", "4x6xT", "4x2xT 4x2xi64", NUMBERS)
case("argmin", "argmin %x0 {axis = 0 : i64}", "4x6xT", "1x6xT 1x6xi32", NUMBERS)
case("argmax", "argmax %x0 {axis = 1 : i64}", "4x6xT", "4x1xT 4x1xi64", NUMBERS)
case("non_zero", "non_zero %x0", "4x6xT", "2x?xi32", FLOATS + " i32 i1")
case("nms", "nms %x0, %x1, %m iou(%t) score(%t) : (tensor<1x8x4xT>, tensor<1x8x3xT>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<?x3xi32>, tensor<i32>)", "1x8x4xT 1x8x3xT", "?x3xi32 i32", "f32 f16",
     before="%m = tensorrt.constant dense<4> : tensor<i32>\n%t = tensorrt.constant dense<0.5> : tensor<f32>")

# --- Shapes --------------------------------------------------------------------------------------------------------------

case("constant", "constant dense<1> : tensor<4x6xT>", "", "4x6xT", "i32 i64 i8 i1")
case("constant of floats", "constant dense<1.0> : tensor<4x6xT>", "", "4x6xT", f"{FLOATS} f8E8M0FNU")
case("constant for dequantize", "dequantize %w, %s : (tensor<4x16xT>, tensor<4x1xf32>) -> tensor<4x16xf32>", "", "4x16xf32", "i4",
     before="%w = tensorrt.constant dense<1> : tensor<4x16xT>\n%s = tensorrt.constant dense<1.0> : tensor<4x1xf32>")
case("constant of floats for dequantize", "dequantize %w, %s : (tensor<4x16xT>, tensor<f32>) -> tensor<4x16xf32>", "", "4x16xf32", "f8E4M3FN f4E2M1FN",
     before="%w = tensorrt.constant dense<1.0> : tensor<4x16xT>\n%s = tensorrt.constant dense<1.0> : tensor<f32>")
case("shape", "shape %x0", "4x6xT", "2xi64", ALL + " ui8")
case("shuffle", "shuffle %x0 {firstTranspose = array<i64: 1, 0>, reshape = array<i64: 3, -1, 2>, secondTranspose = array<i64: 1, 2, 0>}", "4x6xT", "4x2x3xT", ALL)
case("shuffle to a computed shape", "shuffle %x0 shape(%x1)", "4x6xT 2xi64@2,2:4,6:4,12", "?x?xT", ALL)
case("transpose", "transpose %x0 {permutation = array<i64: 1, 0>}", "4x6xT", "6x4xT", ALL)
case("reshape", "reshape %x0", "4x6xT", "2x12xT", ALL)
case("squeeze", "squeeze %x0 {axes = array<i64: 1>}", "4x1x6xT", "4x6xT", MOVED)
case("unsqueeze", "unsqueeze %x0 {axes = array<i64: 1>}", "4x6xT", "4x1x6xT", MOVED)
case("broadcast", "broadcast %x0 {broadcastDims = array<i64: 1, 2>}", "1x6xT", "2x4x6xT", MOVED)
case("slice", "slice %x0 {staticStart = array<i64: 1, 0>, staticSize = array<i64: 2, 3>, staticStride = array<i64: 1, 2>}", "4x6xT", "2x3xT", MOVED)
for mode in "kWRAP kCLAMP kREFLECT".split():
    case(f"slice {mode}", f"slice %x0 {{staticStart = array<i64: -1, 0>, staticSize = array<i64: 6, 6>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode {mode}>}}", "4x6xT", "6x6xT", MOVED)
case("slice kFILL", "slice %x0 fill(%x1) {staticStart = array<i64: -1, 0>, staticSize = array<i64: 6, 6>, staticStride = array<i64: 1, 1>, mode = #tensorrt<sample_mode kFILL>}", "4x6xT T", "6x6xT", MOVED)
case("slice at computed places", "slice %x0 start(%x1) size(%x2) stride(%x3)", "4x6xT 2xi64@0,0:1,1:1,2 2xi64@1,1:2,2:2,3 2xi64@1,1:1,1:2,1", "?x?xT", MOVED)
case("concatenation", "concatenation %x0, %x1 {axis = 1 : i64}", "4x6xT 4x2xT", "4x8xT", ALL)
case("padding", "padding %x0 {prePadding = array<i64: 1, -1>, postPadding = array<i64: 0, 2>}", "1x2x4x6xT", "1x2x5x7xT", FLOATS + " i8")
case("linspace", "linspace {staticStart = 2.0 : f64, staticStep = 3.0 : f64}", "", "6xT", "f32 i32 i64")
case("linspace of operands", "linspace start(%x0) step(%x1)", "T 2xT", "4x6xT", "f32 i32 i64")
case("random_uniform", "random_uniform {static_low = 0.0 : f64, static_high = 1.0 : f64}", "", "4x6xT", "f32 f16")
case("random_normal", "random_normal {static_mean = 0.0 : f64, static_std = 1.0 : f64}", "", "4x6xT", "f32 f16")
case("reverse_sequence", "reverse_sequence %x0, %x1 {batchAxis = 0 : i64, sequenceAxis = 1 : i64}", "4x6xT 4xi32", "4x6xT", MOVED)

# --- Places ----------------------------------------------------------------------------------------------------------------

case("gather", "gather %x0, %x1 {axis = 1 : i64}", "4x6xT 2x3xi32", "4x2x3xT", MOVED)
case("gather of a common dimension", "gather %x0, %x1 {axis = 1 : i64, numElementWiseDims = 1 : i64}", "4x6xT 4x3xi64", "4x3xT", MOVED)
case("gather_nd", "gather_nd %x0, %x1", "4x6xT 3x2xi32", "3xT", MOVED)
case("gather_elements", "gather_elements %x0, %x1 {axis = 0 : i64}", "4x6xT 2x6xi32", "2x6xT", MOVED)
case("scatter_nd", "scatter_nd %x0, %x1, %x2", "4x6xT 3x1xi32 3x6xT", "4x6xT", MOVED)
case("scatter_elements", "scatter_elements %x0, %x1, %x2 {axis = 1 : i64}", "4x6xT 4x2xi64 4x2xT", "4x6xT", MOVED)
case("one_hot", "one_hot %x0, %x1, %d {axis = -1 : i64} : (tensor<3xi32>, tensor<2xT>, tensor<i32>) -> tensor<3x5xT>", "3xi32 2xT", "3x5xT", MOVED,
     before="%d = tensorrt.constant dense<5> : tensor<i32>")

# --- Sampling --------------------------------------------------------------------------------------------------------------

SAMPLE = "selectorForSinglePixel = #tensorrt<resize_selector kFORMULA>"
for coordinates in "kALIGN_CORNERS kASYMMETRIC kHALF_PIXEL".split():
    at = f"coordinateTransformation = #tensorrt<resize_coordinate_transformation {coordinates}>, {SAMPLE}"
    case(f"resize_nearest {coordinates}", f"resize_nearest %x0 {{{at}, nearestRounding = #tensorrt<resize_round_mode kFLOOR>}}", "1x2x4x6xT", "1x2x8x9xT", FLOATS + " i8")
    case(f"resize_linear {coordinates}", f"resize_linear %x0 {{{at}}}", "1x2x4x6xT", "1x2x8x9xT", FLOATS + " i8")
    case(f"resize_cubic {coordinates}", f"resize_cubic %x0 {{{at}}}", "1x2x4x6xT", "1x2x8x9xT", FLOATS + " i8")
case("resize_nearest by scales", f"resize_nearest %x0 {{{at}, scales = array<f32: 1.0, 1.0, 2.0, 1.5>, nearestRounding = #tensorrt<resize_round_mode kHALF_UP>}}", "1x2x4x6xT", "1x2x8x9xT", FLOATS + " i8")
for interpolation in "kNEAREST kLINEAR kCUBIC".split():
    case(f"grid_sample {interpolation}", f"grid_sample %x0, %x1 {{interpolationMode = #tensorrt<interpolation_mode {interpolation}>}}", "1x2x4x6xT 1x3x3x2xT", "1x2x3x3xT", FLOATS)

# --- Quantization ----------------------------------------------------------------------------------------------------------

ONE = "%s = tensorrt.constant dense<1.0> : tensor<SCALE>"
for narrow in "i8 f8E4M3FN".split():
    case(f"quantize to {narrow}", f"quantize %x0, %s : (tensor<4x16xT>, tensor<f32>) -> tensor<4x16x{narrow}>", "4x16xT", f"4x16x{narrow}", FLOATS, before=ONE.replace("SCALE", "f32"))
    case(f"dequantize from {narrow}", f"dequantize %x0, %s : (tensor<4x16x{narrow}>, tensor<f32>) -> tensor<4x16xT>", f"4x16x{narrow}", "4x16xT", FLOATS, before=ONE.replace("SCALE", "f32"))
    case(f"quantize slices to {narrow}", f"quantize %x0, %s {{axis = 0 : i64}} : (tensor<4x16xT>, tensor<4xf32>) -> tensor<4x16x{narrow}>", "4x16xT", f"4x16x{narrow}", FLOATS, before=ONE.replace("SCALE", "4xf32"))
case("dequantize blocks of i4", "dequantize %x0, %s : (tensor<4x32xi4>, tensor<4x2xT>) -> tensor<4x32xT>", "4x32xi4", "4x32xT", FLOATS, before=ONE.replace("SCALE", "4x2xT"))
case("dequantize blocks of f4", "dequantize %x0, %s : (tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>) -> tensor<4x32xT>", "4x32xf4E2M1FN", "4x32xT", FLOATS, before=ONE.replace("SCALE", "4x2xf8E4M3FN"))
case("dynamic_quantize", "dynamic_quantize %x0 double_quant_scale(%s) {blockShape = array<i64: 1, 16>} : (tensor<4x32xT>, tensor<f32>) -> (tensor<4x32xf4E2M1FN>, tensor<4x2xf8E4M3FN>)", "4x32xT", "4x32xf4E2M1FN 4x2xf8E4M3FN", FLOATS, before=ONE.replace("SCALE", "f32"))
case("dynamic_quantize with powers of two", "dynamic_quantize %x0 {blockShape = array<i64: 1, 32>} : (tensor<4x32xT>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)", "4x32xT", "4x32xf8E4M3FN 4x1xf8E8M0FNU", FLOATS)

# --- Control flow ----------------------------------------------------------------------------------------------------------

SUM = "{elementwiseOperation = #tensorrt<element_wise_operation kSUM>}"
LESS = "{elementwiseOperation = #tensorrt<element_wise_operation kLESS>}"
case("if", f"""if (%x0 : tensor<i1>) -> tensor<4xT> {{
    %a = tensorrt.element_wise %x1, %x1 {SUM} : (tensor<4xT>, tensor<4xT>) -> tensor<4xT>
    tensorrt.yield %a : tensor<4xT>
  }} else {{
    tensorrt.yield %x1 : tensor<4xT>
  }}""", "i1 4xT", "4xT", NUMBERS + " i8")
LIMITS = "%zero = tensorrt.constant dense<0> : tensor<i32>\n%one = tensorrt.constant dense<1> : tensor<i32>\n%ten = tensorrt.constant dense<10> : tensor<i32>"
case("while", f"""while(%zero, %x0) : (tensor<i32>, tensor<4xT>) -> (tensor<i32>, tensor<4xT>) {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
    %more = tensorrt.element_wise %i, %ten {LESS} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tensorrt.condition(%more : tensor<i1>) %i, %v : tensor<i32>, tensor<4xT>
  }} do {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
    %next = tensorrt.element_wise %i, %one {SUM} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = tensorrt.element_wise %v, %x1 {SUM} : (tensor<4xT>, tensor<4xT>) -> tensor<4xT>
    tensorrt.yield %next, %w : tensor<i32>, tensor<4xT>
  }}""", "4xT 4xT", "i32 4xT", NUMBERS + " i8", before=LIMITS)
case("while with a product", f"""while(%zero, %x0) : (tensor<i32>, tensor<4xT>) -> (tensor<i32>, tensor<4xT>) {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
    %more = tensorrt.element_wise %i, %ten {LESS} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tensorrt.condition(%more : tensor<i1>) %i, %v : tensor<i32>, tensor<4xT>
  }} do {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
    %next = tensorrt.element_wise %i, %one {SUM} : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %w = tensorrt.matrix_multiply %x1, %v {MATRIX % ("kNONE", "kVECTOR")} : (tensor<4x4xT>, tensor<4xT>) -> tensor<4xT>
    tensorrt.yield %next, %w : tensor<i32>, tensor<4xT>
  }}""", "4xT 4x4xT", "i32 4xT", FLOATS, before=LIMITS)
case("for", f"""for %zero to %x1 step %one init(%x0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xT>) -> tensor<4xT> {{
  ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
    %w = tensorrt.element_wise %v, %v {SUM} : (tensor<4xT>, tensor<4xT>) -> tensor<4xT>
    tensorrt.yield %w : tensor<4xT>
  }}""", "4xT i32@0:5:10", "4xT", NUMBERS + " i8", before=LIMITS)
ATTENTION = "%%a = tensorrt.attention %s, %%x1, %%x1 {decomposable = true} : (tensor<2x4x5x8xT>, tensor<2x4x5x8xT>, tensor<2x4x5x8xT>) -> tensor<2x4x5x8xT>"
case("attention in a conditional", f"""if (%x0 : tensor<i1>) -> tensor<2x4x5x8xT> {{
    {ATTENTION % "%x1"}
    tensorrt.yield %a : tensor<2x4x5x8xT>
  }} else {{
    tensorrt.yield %x1 : tensor<2x4x5x8xT>
  }}""", "i1 2x4x5x8xT", "2x4x5x8xT", FLOATS)
case("attention in a loop", f"""for %zero to %ten step %one init(%x0) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2x4x5x8xT>) -> tensor<2x4x5x8xT> {{
  ^bb0(%i: tensor<i32>, %v: tensor<2x4x5x8xT>):
    {ATTENTION % "%v"}
    tensorrt.yield %a : tensor<2x4x5x8xT>
  }}""", "2x4x5x8xT 2x4x5x8xT", "2x4x5x8xT", FLOATS, before=LIMITS)
case("conditional in a loop in a conditional", f"""if (%x0 : tensor<i1>) -> tensor<4xT> {{
    %l = tensorrt.for %zero to %ten step %one init(%x1) : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<4xT>) -> tensor<4xT> {{
    ^bb0(%i: tensor<i32>, %v: tensor<4xT>):
      %c = tensorrt.element_wise %i, %one {LESS} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b = tensorrt.if(%c : tensor<i1>) -> tensor<4xT> {{
        %a = tensorrt.element_wise %v, %x2 {SUM} : (tensor<4xT>, tensor<4xT>) -> tensor<4xT>
        tensorrt.yield %a : tensor<4xT>
      }} else {{
        tensorrt.yield %v : tensor<4xT>
      }}
      tensorrt.yield %b : tensor<4xT>
    }}
    tensorrt.yield %l : tensor<4xT>
  }} else {{
    tensorrt.yield %x1 : tensor<4xT>
  }}""", "i1 4xT 4xT", "4xT", NUMBERS + " i8", before=LIMITS)
case("assertion", "identity %x0", "2xT@1,1:2,2:3,3", "2xT", INTS,
     before=f'%k = tensorrt.constant dense<9> : tensor<2xT>\n%c = tensorrt.element_wise %x0, %k {LESS} : (tensor<2xT>, tensor<2xT>) -> tensor<2xi1>\ntensorrt.assertion %c, "too many" : tensor<2xi1>')


# fmt: on


def bounded(limits=None):
    """The attribute that says between what the elements of a shape lie: `min:opt:max`."""
    if limits is None:
        return ""
    low, best, high = limits.split(":")
    return f" {{plan.value_bounds = #plan.bounds<min = [{low}], opt = [{best}], max = [{high}]>}}"


def network(name, element):
    """The case as a function; None where a constant cannot even be written."""
    layer, operands, results, _, before = CASES[name]
    places = [each.split("@") for each in operands.split()]
    operands = [f"tensor<{type}>" for type, *_ in places]
    results = [f"tensor<{each}>" for each in results.split()]
    # A layer with its own types, or a region, says them itself.
    if not re.search(r": \(|: tensor<[^{}]*>$", layer):
        arrow = results[0] if len(results) == 1 else f"({', '.join(results)})"
        layer += f" : ({', '.join(operands)}) -> {arrow}"
    outputs = "".join(f", {each}" for each in results)[2:]
    names = ", ".join(f"%r#{i}" if len(results) > 1 else "%r" for i in range(len(results)))
    count = f"%r:{len(results)} = " if len(results) > 1 else "%r = " if results else ""
    arguments = ", ".join(f"%x{i}: {each}{bounded(*places[i][1:])}" for i, each in enumerate(operands))
    text = f"""func.func @main({arguments}) -> ({outputs}) {{
  {before}
  {count}tensorrt.{layer}
  return {names + " : " + outputs if results else ""}
}}"""
    return re.sub(r"(?<=[x<])T(?=>)", element, text)


# What TensorRT-RTX 1.7.1 refuses though it is in order, by its own words: for these element types, or for all that the layer takes.
# When it learns to, these tests fail and this list gets shorter.
KERNEL = "Attention operation was not supported by a dedicated kernel"
RUNNERS = "has no runners that implement it"
UNKNOWN = "unknown input tensor or sequence name"
QUANTIZED = "is only allowed before DQ"
REFUSED = {
    "attention": (KERNEL, FLOATS),
    "attention with a mask": (KERNEL, FLOATS),
    "attention with an added mask": (KERNEL, FLOATS),
    "causal attention": (KERNEL, FLOATS),
    "causal attention of the last tokens": (KERNEL, FLOATS),
    "attention of packed sequences": ("", FLOATS),
    "attention in a conditional": (UNKNOWN, FLOATS),
    "attention in a loop": (UNKNOWN, FLOATS),
    "moe": ("Cannot decompose operation", FLOATS),
    "non_zero": (RUNNERS, FLOATS + " i32 i1"),
    "nms": (RUNNERS, "f32 f16"),
    "assertion": ("input shape tensors must have type INT32 or INT64", "i8"),
    "constant": (QUANTIZED, "i4"),
    "constant of floats": (QUANTIZED, "f8E4M3FN f4E2M1FN"),
}


@pytest.fixture(scope="module")
def builder():
    builder = Builder()
    yield builder
    builder.close()


@pytest.mark.parametrize("name", CASES)
def test_layer(builder, name):
    built, refused = set(), {}
    for element in ELEMENTS:
        answer = builder.build(network(name, element))
        if answer.built:
            built.add(element)
        elif not answer.invalid:
            refused[element] = answer.message
    said = "\n".join(f"{element}: {message}" for element, message in refused.items())
    message, elements = REFUSED.get(name, ("", ""))
    assert set(refused) == set(elements.split()), f"what TensorRT refuses and our verifier takes:\n{said}"
    assert all(message in each for each in refused.values()), said
    assert built == set(CASES[name][3]) - set(refused)
