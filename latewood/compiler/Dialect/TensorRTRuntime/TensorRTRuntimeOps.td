// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The `tensorrt_runtime` dialect: how a host program runs engines of TensorRT. It exists from phase Engines to phase Lower.
//
// An engine is a symbol with its serialized form. What a session needs to run it (the execution context, a stream, device memory) is
// the runtime's business (runtime/TensorRT): here there are only the two ways of running it, in destination style and allocating.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIMEOPS
#define LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIMEOPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TensorRTRuntime_Dialect : Dialect {
  let name = "tensorrt_runtime";
  let cppNamespace = "::latewood::tensorrt_runtime";
  let summary = "Engines of TensorRT, and the host's calls of them";
}

class TensorRTRuntime_Op<string mnemonic, list<Trait> traits = []> : Op<TensorRTRuntime_Dialect, mnemonic, traits>;

def TensorRTRuntime_EngineOp : TensorRTRuntime_Op<"engine", [Symbol]> {
  let summary = "A serialized engine";
  let description = [{
    `version` is that of the library that made it.
    ```mlir
    tensorrt_runtime.engine @main_cluster_0 (tensor<?x4xf32>) -> tensor<?x4xf32> version "TensorRT 11.1.0"
        serialized dense_resource<engine> : tensor<8192xi8>
    ```
    Constraints:
    - (C1) The elements of the serialized form are i8, in one dimension.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, StrAttr:$version,
      ElementsAttr:$serialized);
  let assemblyFormat = "$sym_name $function_type `version` $version `serialized` $serialized attr-dict";
  let hasVerifier = 1;
}

def TensorRTRuntime_EnqueueOp : TensorRTRuntime_Op<"enqueue", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>]> {
  let summary = "Runs an engine in destination style";
  let description = [{
    On tensors the results are the destinations after the run; on buffers there are none. All extents are known before the run.
    ```mlir
    %r = tensorrt_runtime.enqueue @main_cluster_0(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    Constraints:
    - (C1) `engine` is an engine with these inputs and results, but for extents that only the call or only the engine knows.
    - (C2) On tensors there is one result per destination, of the same type; on buffers there is none.
    - (C3) Buffers are row-major without gaps, with offset 0.
  }];
  let arguments = (ins FlatSymbolRefAttr:$engine, Variadic<AnyType>:$inputs, Variadic<AnyType>:$outs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$engine `(` $inputs `)` (`outs` `(` $outs^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def TensorRTRuntime_EnqueueAllocOp : TensorRTRuntime_Op<"enqueue_alloc", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "bufferizesToAllocation", "resultBufferizesToMemoryWrite",
       "getAliasingValues", "getBufferType", "bufferize"]>]> {
  let summary = "Runs an engine that allocates its results";
  let description = [{
    Each result gets memory when the engine knows its shape: that of output slot `slots[i]`, or, where this is -1, temporary memory
    of the call: on the host or, by the memory space of its type, on the device.
    ```mlir
    %r = tensorrt_runtime.enqueue_alloc @main_cluster_0(%a) slots [0] : (tensor<?xf32>) -> tensor<?xf32>
    ```
    Constraints:
    - (C1) as tensorrt_runtime.enqueue.
    - (C2) Buffers are row-major without gaps, with offset 0: TensorRT's linear format promises that, and nothing else.
    - (C3) There is one slot per result, -1 or a slot, and none twice.
  }];
  let arguments = (ins FlatSymbolRefAttr:$engine, Variadic<AnyType>:$inputs, DenseI64ArrayAttr:$slots);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$engine `(` $inputs `)` `slots` $slots attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRTRUNTIME_TENSORRTRUNTIMEOPS
