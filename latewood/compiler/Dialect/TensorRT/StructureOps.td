// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Around the layers: networks in a module of their own, the calls of the host program, and plugins.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_STRUCTUREOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_STRUCTUREOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_ModuleOp : TensorRT_Op<"module", [IsolatedFromAbove, SymbolTable, Symbol, SingleBlock, NoTerminator,
    NoRegionArguments]> {
  let summary = "networks: each function in it becomes an engine";
  let description = [{
    A function's arguments and results are the network's inputs and outputs, its body the layers.
    ```mlir
    tensorrt.module @tensorrt {
      func.func @main_cluster_0(%x: tensor<4xf32>) -> tensor<4xf32> { ... }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $bodyRegion";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name)>];
  let skipDefaultBuilders = 1;
}

// A tensor, or a scalar of the host, which the network has as an input without dimensions.
def TensorRT_CallInput : AnyTypeOf<[AnyRankedTensor, AnySignlessIntegerOrIndex]>;

def TensorRT_CallOp : TensorRT_Op<"call", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an engine in destination style";
  let description = [{
    ```mlir
    %r = tensorrt.call @tensorrt::@main_cluster_0(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    All extents of the results are known before the run: the destinations have them. Becomes `tensorrt_runtime.enqueue`.

    Constraints: (C1) `callee` is a function in a tensorrt.module; (C2) its argument types agree with `inputs`, pair by pair; (C3) so do
    its result types with `outs` and the results; (C4) there is one result a destination, of the same type.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<TensorRT_CallInput>:$inputs, Variadic<AnyRankedTensor>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` (`outs` `(` $outs^ `)`)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def TensorRT_CallAllocOp : TensorRT_Op<"call_alloc", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "runs an engine that allocates its results";
  let description = [{
    Extents of results become known while it runs; the results lie row-major without gaps, with offset 0: as tensors here, as buffers
    with the identity layout in `tensorrt_runtime.enqueue_alloc`, which it becomes and which refuses any other.
    ```mlir
    %r = tensorrt.call_alloc @tensorrt::@main_cluster_0(%a) : (tensor<4x6xi1>) -> tensor<2x?xi32>
    ```
    Constraints: (C1) to (C3) as for tensorrt.call, without destinations.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<TensorRT_CallInput>:$inputs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type(operands, results)";
}

def TensorRT_OpaquePluginOp : TensorRT_Op<"opaque_plugin", [Pure]> {
  let summary = "a layer of somebody else (IPluginV3Layer)";
  let description = [{
    The plugin is made by the creator that is registered under name, version and namespace (`dsoPath` is a library to open first),
    with `creatorParams` as its fields: numbers, strings, and dense arrays or elements. The last `numShapeInputs` inputs are shape
    tensors. What types the results have is the writer's to know: the builder compares.

    Constraints: (C1) the name is not empty; (C2) fields are integers, floats, strings, types, dense arrays or dense elements; (C3)
    `numShapeInputs` is at most the number of inputs, and these are vectors or scalars of integers.
  }];
  let arguments = (ins StrAttr:$pluginName, StrAttr:$pluginVersion, StrAttr:$pluginNamespace, OptionalAttr<StrAttr>:$dsoPath,
                       OptionalAttr<StrAttr>:$creatorFunc, DictionaryAttr:$creatorParams, Variadic<TensorRT_Tensor>:$inputs,
                       DefaultValuedAttr<I64Attr, "0">:$numShapeInputs);
  let results = (outs Variadic<TensorRT_Tensor>:$results);
  let assemblyFormat = "`(` $inputs `)` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_STRUCTUREOPS_TD
