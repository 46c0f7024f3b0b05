// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops with a region that combines or compares elements: reduce, reduce_window, select_and_scatter, map, sort. A region takes
// and returns 0-dimensional tensors; its type is checked after its own ops were (ReductionOps.cpp). The order in which a
// reduction combines elements is free.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_REDUCTIONOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_REDUCTIONOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

class StableHLO_RegionOp<string mnemonic, list<Trait> traits = []>
    : StableHLO_InferOp<mnemonic, !listconcat([RecursivelySpeculatable, RecursiveMemoryEffects,
                                               SingleBlockImplicitTerminator<"ReturnOp">], traits)> {
  let hasRegionVerifier = 1;
}

def StableHLO_ReduceOp : StableHLO_RegionOp<"reduce", [SameVariadicOperandSize]> {
  let summary = "combines all elements along dimensions";
  let description = [{
    The compact form stands for a body of one op of this dialect on the two block arguments, in order, at the op's location.

    Example:
    ```mlir
    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    ```
    Constraints: (C1) the inputs have one shape; (C2) inputs and init values agree in element type; (C3) as many inputs as
    init values and results, and at least one; (C4) dimensions in range; (C5) and different; (C6) the body's type; (C7), (C8) the
    results' types.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = sameShapes;
}

def StableHLO_ReduceWindowOp : StableHLO_RegionOp<"reduce_window", [SameVariadicOperandSize]> {
  let summary = "combines the elements of each window of a tensor";
  let description = [{
    Constraints: (C1) as many inputs as init values and results, and at least one; (C2) the inputs have one shape; (C3) inputs
    and init values agree in element type; (C4)-(C12) one window extent, stride, dilation and padding pair a dimension, the
    first four positive; (C13) the body's type; (C14)-(C16) the results' types.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, Variadic<StableHLO_Tensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions, OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations, OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Tensor>);
  let extraClassDefinition = sameShapes;
}

def StableHLO_SelectAndScatterOp : StableHLO_RegionOp<"select_and_scatter"> {
  let summary = "adds each source element to the element that its window selects";
  let description = [{
    Constraints: (C1) operand and source agree in element type; (C2) source's shape is the number of windows; (C3) the init
    value agrees in element type; (C4)-(C8) one window extent, stride and padding pair a dimension, the first two positive;
    (C9), (C10) the types of `select` and `scatter`; (C11), (C12) the result's type.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, StableHLO_Tensor:$source, StableHLO_ScalarTensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides, OptionalAttr<I64ElementsAttr>:$padding);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let results = (outs StableHLO_Tensor:$result);
  let extraClassDefinition = sameShapes;
}

def StableHLO_MapOp : StableHLO_Op<"map", [RecursivelySpeculatable, RecursiveMemoryEffects,
                                           SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "applies a region to each element";
  let description = [{
    Constraints: (C1) inputs and result have one shape; (C2) there is an input; (C3) `dimensions` are all dimensions, in order;
    (C4) the computation's type.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_SortOp : StableHLO_RegionOp<"sort"> {
  let summary = "sorts tensors together along a dimension";
  let description = [{
    `comparator` takes an element pair of each input and says whether the first comes before the second.

    Constraints: (C1) there is an input; (C2) each result has its input's type; (C3) all have one shape; (C4) `dimension` is
    in [-R, R); (C5) the comparator's type.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let regions = (region SizedRegion<1>:$comparator);
  let results = (outs Variadic<StableHLO_Tensor>);
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_REDUCTIONOPS_TD
