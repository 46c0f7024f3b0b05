// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect: the host program. It says which memory a call uses and which engine functions it starts, in the order
// in which they happen, and computes nothing but addresses, sizes and conditions. Two backends read it: native code and Lua.
//
// A public function takes its arguments as buffers. It has no results: each result goes through an *output slot*. A slot is
// asked for memory (`executor.request`), which is the caller's buffer or memory that the runtime allocates, and the function
// sees no difference. Where the shape is known only later, `executor.shape` gives it.
//
//   func.func @main(%a: memref<?xf32>) attributes {executor.results = [memref<?xf32>]} {
//     %n = executor.dim %a, 0 : memref<?xf32>
//     %0 = executor.request 0[%n] : memref<?xf32>
//     %w = executor.workspace at 0 : memref<1024xi8>
//     executor.launch @cpu::@main_cluster_0(%a, %0, %n) workspace(%w : memref<1024xi8>) : memref<?xf32>, memref<?xf32>, index
//     return
//   }
//
// Control flow is upstream's `scf.if`, `scf.index_switch`, `scf.while` and `scf.for`, over scalars and buffers. The host defines
// what scf leaves open: a `scf.for` counts signed, its step is a positive constant, and it visits lower, lower + step, … below
// upper as mathematical numbers, without wrapping. A buffer is an address and, where its shape is dynamic, the extents that it
// was made with. Control flow carries the address alone, and the extents as scalars beside it: `executor.view` of what has come
// out of it puts the two together, so that what makes a buffer is always visible to `executor.dim`.
//
// Scalars are in ScalarOps.td. All sizes are in elements, all offsets in bytes.

#ifndef LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS
#define LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS

include "latewood/compiler/Dialect/Executor/ExecutorBase.td"
include "latewood/compiler/Dialect/Executor/ScalarOps.td"
include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// Output slots
//===----------------------------------------------------------------------===//

def Executor_RequestOp : Executor_Op<"request", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferize", "getBufferType", "resultBufferizesToMemoryWrite", "bufferizesToAllocation"]>]> {
  let summary = "Asks output slot `slot` for memory";
  let description = [{
    The memory has undefined contents and the identity layout. As a tensor (before bufferization) the op stands for that memory as the
    destination of the operation that computes the result. `unshaped` says that the sizes are no more than an upper bound: the
    extents follow with `executor.shape`. Asking again gives other memory, and what the first held is lost. The call fails
    if there is no memory, if an extent is negative, or if the extents are not those of the caller's buffer.
    ```mlir
    %0 = executor.request 0 : memref<4xf32>
    %1 = executor.request 1[%n] : memref<?x4xf32>
    %2 = executor.request 2 unshaped[%most] : memref<?xf32>
    ```
    Constraints:
    - (C1) The type is a ranked tensor, or a memref with the identity layout.
    - (C2) `slot` is not negative.
    - (C3) There is one operand in `sizes` per dynamic dimension.
    - (C4) `unshaped` needs a dynamic dimension.
    - (C5) The element type has a form in memory.
  }];
  let arguments = (ins I64Attr:$slot, Variadic<Index>:$sizes, UnitAttr:$unshaped);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef]>:$result);
  let assemblyFormat = "$slot (`unshaped` $unshaped^)? (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "::mlir::IntegerAttr":$slot, "::mlir::ValueRange":$sizes),
                            [{ build($_builder, $_state, type, slot, sizes, false); }]>,
                  OpBuilder<(ins "::mlir::Type":$type, "int64_t":$slot, "::mlir::ValueRange":$sizes),
                            [{ build($_builder, $_state, type, slot, sizes, false); }]>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::bufferization::AliasingValueList getAliasingValues(::mlir::OpOperand &,
        const ::mlir::bufferization::AnalysisState &) { return {}; }
    bool bufferizesToMemoryRead(::mlir::OpOperand &, const ::mlir::bufferization::AnalysisState &) { return false; }
    bool bufferizesToMemoryWrite(::mlir::OpOperand &, const ::mlir::bufferization::AnalysisState &) { return false; }
  }];
}

def Executor_ShapeOp : Executor_Op<"shape", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "The final extents of an output slot";
  let description = [{
    Says how much of the memory that the slot was given is the result: all extents, in order. The call fails if an extent is negative
    or contradicts the type of the result, or if the caller gave a buffer of another shape.
    ```mlir
    executor.shape 0[%n, %m]
    ```
    Constraints:
    - (C1) `slot` is not negative.
  }];
  let arguments = (ins I64Attr:$slot, Variadic<Index>:$extents);
  let assemblyFormat = "$slot `[` $extents `]` attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Executor_ConstantOp : Executor_Op<"constant", [Symbol]> {
  let summary = "A constant that is stored in the executable file";
  let description = [{
    Stored once, 64-byte aligned, and used in place. Sub-byte elements take a byte each.
    ```mlir
    executor.constant @weights = dense<1.0> : tensor<4x4xf32>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, ElementsAttr:$value);
  let assemblyFormat = "$sym_name `=` $value attr-dict";
}

def Executor_GetConstantOp : Executor_Op<"get_constant", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The memory of a constant; it must not be written";
  let description = [{
    ```mlir
    %0 = executor.get_constant @weights : memref<4x4xf32>
    ```
    Constraints:
    - (C1) `constant` names an executor.constant of the same shape and element type.
  }];
  let arguments = (ins FlatSymbolRefAttr:$constant);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "$constant attr-dict `:` type($result)";
}

def Executor_WorkspaceOp : Executor_Op<"workspace", [Pure]> {
  let summary = "A part of the call's workspace";
  let description = [{
    The memory at `offset` of what the runtime keeps for calls of this function. The contents are undefined when a call
    begins. The type is a buffer that lies there, or `memref<?xi8>`-like scratch for an engine function.
    ```mlir
    %0 = executor.workspace at 64 : memref<16xf32>
    ```
    Constraints:
    - (C1) `offset` is not negative and a multiple of 64.
    - (C2) The type has a static shape and the identity layout.
  }];
  let arguments = (ins I64Attr:$offset);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "`at` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Executor_AllocOp : Executor_Op<"alloc"> {
  let summary = "Allocates temporary memory";
  let description = [{
    For buffers whose size is not known before the call; others lie in the workspace. 64-byte aligned, contents undefined. Lives
    until `executor.free`, or until the function ends, also by a failure. The call fails if there is no memory or an extent is
    negative. In the memory space of the device it is memory there, which only engines read and write.
    ```mlir
    %0 = executor.alloc[%n] : memref<?x4xf32>
    ```
    Constraints:
    - (C1) The type has the identity layout, and its elements have a form in memory.
    - (C2) There is one operand in `sizes` per dynamic dimension.
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "(`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Executor_FreeOp : Executor_Op<"free"> {
  let summary = "Gives memory of executor.alloc back";
  let description = [{
    ```mlir
    executor.free %0 : memref<?x4xf32>
    ```
    Constraints:
    - (C1) The operand is a result of executor.alloc, or has come through control flow: who owns such a buffer is a matter of
      `latewood-own-buffers`.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemFree]>:$buffer);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let hasVerifier = 1;
}

def Executor_ViewOp : Executor_Op<"view", [Pure, AttrSizedOperandSegments]> {
  let summary = "Memory of a buffer under another type";
  let description = [{
    Begins `offset` bytes (default: 0) behind the start of `source` and must end within it. Covers reshapes, casts and parts.
    ```mlir
    %0 = executor.view %a : memref<4x4xf32> to memref<16xf32>
    %1 = executor.view %b at %offset[%n] : memref<1024xi8> to memref<?xf32>
    ```
    Constraints:
    - (C1) Both types have the identity layout, and their elements have a form in memory.
    - (C2) There is one operand in `sizes` per dynamic dimension of the result.
    - (C3) Without an offset and with static shapes, the result is not larger than the source.
  }];
  let arguments = (ins AnyMemRef:$source, Optional<Index>:$offset, Variadic<Index>:$sizes);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = [{
    $source (`at` $offset^)? (`[` $sizes^ `]`)? attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Executor_DimOp : Executor_Op<"dim", [Pure]> {
  let summary = "An extent of a buffer";
  let description = [{
    ```mlir
    %0 = executor.dim %a, 0 : memref<?x4xf32>
    ```
    Constraints:
    - (C1) `dimension` is one of the buffer's.
    - (C2) The buffer has a static shape there, is an argument of the function, or is made by an operation with sizes.
  }];
  let arguments = (ins AnyMemRef:$buffer, I64Attr:$dimension);
  let results = (outs Index:$result);
  let assemblyFormat = "$buffer `,` $dimension attr-dict `:` type($buffer)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Executor_LoadOp : Executor_Op<"load"> {
  let summary = "Reads an integer from a buffer";
  let description = [{
    Element number `position` in row-major order: a size or a condition that an engine function has computed. An i1 is true
    unless its byte is 0.
    ```mlir
    %0 = executor.load %a at 2 : memref<4xui32> to i32
    ```
    Constraints:
    - (C1) The buffer has a static shape and the identity layout.
    - (C2) `position` is one of its elements.
    - (C3) The result has the width of the elements, which are integers of whole bytes, or i1, or index.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$buffer, I64Attr:$position);
  let results = (outs Executor_Scalar:$result);
  let assemblyFormat = "$buffer `at` $position attr-dict `:` type($buffer) `to` type($result)";
  let hasVerifier = 1;
}

def Executor_StoreOp : Executor_Op<"store"> {
  let summary = "Writes an integer to a buffer";
  let description = [{
    Element number `position` in row-major order becomes `value`.
    ```mlir
    executor.store %n to %a at 2 : i32 to memref<4xui32>
    ```
    Constraints: as executor.load (C1), (C2), (C3).
  }];
  let arguments = (ins Executor_Scalar:$value, Arg<AnyMemRef, "", [MemWrite]>:$buffer, I64Attr:$position);
  let assemblyFormat = "$value `to` $buffer `at` $position attr-dict `:` type($value) `to` type($buffer)";
  let hasVerifier = 1;
}

def Executor_CopyOp : Executor_Op<"copy", [SameTypeOperands]> {
  let summary = "Copies a whole buffer";
  let description = [{
    Both have the same extents, element type and the identity layout. They begin at the same address or do not overlap.
    ```mlir
    executor.copy %a to %0 : memref<4xf32>
    ```
    Constraints:
    - (C1) The type has the identity layout, and its elements have a form in memory.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Arg<AnyMemRef, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Executor_FillOp : Executor_Op<"fill"> {
  let summary = "Writes one number to all elements of a buffer";
  let description = [{
    ```mlir
    executor.fill %0 with 0.0 : f32 to memref<?xf32>
    ```
    Constraints:
    - (C1) The type has the identity layout.
    - (C2) `value` is a number of the element type, of 1, 2, 4 or 8 bytes in memory.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemWrite]>:$buffer, TypedAttrInterface:$value);
  let assemblyFormat = "$buffer `with` $value attr-dict `to` type($buffer)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Engines and failures
//===----------------------------------------------------------------------===//

def Executor_LaunchOp : Executor_Op<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a function of an image";
  let description = [{
    The function gets the call frame, the address of each buffer and the value of each scalar, and its scratch memory. It reads and
    writes memory, and has finished when the next operation begins. A failure that it reports ends the call after the last
    operation of the function; where the host reads what engine functions have computed, or has control flow, it ends the call
    at once.
    ```mlir
    executor.launch @cpu::@main_cluster_0(%a, %0, %n) workspace(%w : memref<1024xi8>) : memref<?xf32>, memref<?xf32>, index
    ```
    Constraints:
    - (C1) `callee` is an LLVM function without a result that takes the call frame, the operands and a workspace: a pointer for a
      buffer, an integer of the same width for a scalar.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<AnyTypeOf<[AnyMemRef, Executor_Scalar]>>:$arguments,
      Optional<AnyMemRef>:$workspace);
  let assemblyFormat = [{
    $callee `(` $arguments `)` (`workspace` `(` $workspace^ `:` type($workspace) `)`)? attr-dict `:` type($arguments)
  }];
}

def Executor_EngineOp : Executor_Op<"engine", [Symbol]> {
  let summary = "A serialized engine of a vendor library, which is stored in the executable file";
  let description = [{
    Engines have numbers, in the order in which they stand in the module. `library` names the runtime's module that runs it.
    ```mlir
    executor.engine @main_cluster_0 of "tensorrt" version "TensorRT 11.1.0" serialized dense_resource<engine> : tensor<8192xi8>
    ```
    Constraints:
    - (C1) The elements of the serialized form are i8.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$library, StrAttr:$version, ElementsAttr:$serialized);
  let assemblyFormat = "$sym_name `of` $library `version` $version `serialized` $serialized attr-dict";
  let hasVerifier = 1;
}

def Executor_EnqueueOp : Executor_Op<"enqueue", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs an engine in destination style";
  let description = [{
    The engine reads the inputs, writes result i into `outs` i, and has finished when the next operation begins. A scalar is an input
    without dimensions. The call fails if the engine does, or if it gives a result of other extents.
    ```mlir
    executor.enqueue @main_cluster_0(%a, %n) outs(%0) : memref<?xf32>, index, memref<?xf32>
    ```
    Constraints:
    - (C1) `engine` names an executor.engine.
    - (C2) Buffers have the identity layout.
  }];
  let arguments = (ins FlatSymbolRefAttr:$engine, Variadic<AnyTypeOf<[AnyMemRef, Executor_Scalar]>>:$inputs,
      Variadic<AnyMemRef>:$outs);
  let assemblyFormat = "$engine `(` $inputs `)` `outs` `(` $outs `)` attr-dict `:` type(operands)";
  let hasVerifier = 1;
}

def Executor_EnqueueAllocOp : Executor_Op<"enqueue_alloc", [AttrSizedResultSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs an engine that allocates its results";
  let description = [{
    Result i gets memory when the engine knows its shape: that of output slot `slots[i]`, whose shape is then known, too, or, where
    this is -1, temporary memory of the call, on the host or, by the type's memory space, on the device. Behind the buffers come their dynamic extents, in order.
    ```mlir
    %0, %n = executor.enqueue_alloc @main_cluster_0(%a) slots [0] : (memref<?xf32>) -> (memref<?xf32>), (index)
    ```
    Constraints:
    - (C1) `engine` names an executor.engine.
    - (C2) Buffers have the identity layout.
    - (C3) There is one slot per buffer, and one extent per dynamic dimension.
  }];
  let arguments = (ins FlatSymbolRefAttr:$engine, Variadic<AnyTypeOf<[AnyMemRef, Executor_Scalar]>>:$inputs,
      DenseI64ArrayAttr:$slots);
  let results = (outs Variadic<AnyMemRef>:$buffers, Variadic<Index>:$extents);
  let assemblyFormat = "$engine `(` $inputs `)` `slots` $slots attr-dict `:` `(` type($inputs) `)` `->` `(` type($buffers) `)` `,` `(` type($extents) `)`";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The extents of the dynamic dimensions of buffer `index`.
    ::mlir::ValueRange getExtentsOf(unsigned index);
  }];
}

def Executor_AssertOp : Executor_Op<"assert"> {
  let summary = "Fails the call unless a condition holds";
  let description = [{
    The message is what the caller gets, with `{0}`, `{1}` … replaced by the values as signed decimal numbers (an i1 is 0 or
    1). Braces around anything else are text. Nothing after a failed assertion runs.
    ```mlir
    executor.assert %0, "expected {0} rows, got {1}"(%n, %m) : index, index
    ```
    Constraints:
    - (C1) A number in braces is that of a value.
  }];
  let arguments = (ins I1:$condition, StrAttr:$message, Variadic<Executor_Scalar>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)` `:` type($values))? attr-dict";
  let hasVerifier = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS
