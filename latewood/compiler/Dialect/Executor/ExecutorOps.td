// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect: the host program. It says which memory a call uses and which engine functions it starts, in the order
// in which they happen, and computes nothing but addresses and sizes. Two backends read it: native code and (later) Lua.
//
// A public function takes its arguments as buffers. It has no results: each result goes through an *output slot*. A slot is
// asked for memory (`executor.request`), which is the caller's buffer or memory that the runtime allocates, and the function
// sees no difference.
//
//   func.func @main(%a: memref<4xf32>) attributes {executor.results = [memref<4xf32>]} {
//     %0 = executor.request 0 : memref<4xf32>
//     %w = executor.workspace at 0 : memref<1024xi8>
//     executor.launch @cpu::@main_cluster_0(%a, %0) workspace(%w : memref<1024xi8>) : memref<4xf32>, memref<4xf32>
//     return
//   }

#ifndef LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS
#define LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS

include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Executor_Dialect : Dialect {
  let name = "executor";
  let cppNamespace = "::latewood::executor";
  let summary = "The host program of an executable";
  let extraClassDeclaration = [{
    /// On a public function: the types of its results, an array of memref types. Result i is output slot i.
    static constexpr ::llvm::StringLiteral getResultsAttrName() { return "executor.results"; }
    /// On a public function: one dictionary per result with the attributes that the result had (`jax.result_info`).
    static constexpr ::llvm::StringLiteral getResultAttrsAttrName() { return "executor.result_attrs"; }
    /// On a public function: the bytes of workspace that a call needs.
    static constexpr ::llvm::StringLiteral getWorkspaceBytesAttrName() { return "executor.workspace_bytes"; }
  }];
}

class Executor_Op<string opMnemonic, list<Trait> traits = []> : Op<Executor_Dialect, opMnemonic, traits>;

def Executor_RequestOp : Executor_Op<"request", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferize", "getBufferType", "resultBufferizesToMemoryWrite", "bufferizesToAllocation"]>]> {
  let summary = "Asks output slot `slot` for memory";
  let description = [{
    The memory has undefined contents and the identity layout. As a tensor (before bufferization) the op stands for that memory as the
    destination of the operation that computes the result. There is one request per slot.
    ```mlir
    %0 = executor.request 0 : memref<4xf32>
    ```
    Constraints:
    - (C1) The type is a ranked tensor, or a memref with the identity layout.
    - (C2) `slot` is not negative.
    - (C3) There is one operand in `sizes` per dynamic dimension.
  }];
  let arguments = (ins I64Attr:$slot, Variadic<Index>:$sizes);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyRankedOrUnrankedMemRef]>:$result);
  let assemblyFormat = "$slot (`[` $sizes^ `]`)? attr-dict `:` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::bufferization::AliasingValueList getAliasingValues(::mlir::OpOperand &,
        const ::mlir::bufferization::AnalysisState &) { return {}; }
    bool bufferizesToMemoryRead(::mlir::OpOperand &, const ::mlir::bufferization::AnalysisState &) { return false; }
    bool bufferizesToMemoryWrite(::mlir::OpOperand &, const ::mlir::bufferization::AnalysisState &) { return false; }
  }];
}

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
    `bytes` bytes at `offset` of the memory that the runtime keeps for calls of this function. The contents are undefined when a call
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

def Executor_CopyOp : Executor_Op<"copy", [SameTypeOperands]> {
  let summary = "Copies a whole buffer";
  let description = [{
    Both have the same shape and element type, the identity layout, and do not overlap.
    ```mlir
    executor.copy %a to %0 : memref<4xf32>
    ```
    Constraints:
    - (C1) The type has a static shape and the identity layout.
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$source, Arg<AnyMemRef, "", [MemWrite]>:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source)";
  let hasVerifier = 1;
}

def Executor_LaunchOp : Executor_Op<"launch", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a function of an image";
  let description = [{
    The function gets the call frame, the address of each operand, and its scratch memory. It reads and writes memory, and has
    finished when the next operation begins.
    ```mlir
    executor.launch @cpu::@main_cluster_0(%a, %0) workspace(%w : memref<1024xi8>) : memref<4xf32>, memref<4xf32>
    ```
    Constraints:
    - (C1) `callee` is an LLVM function whose arguments are as many pointers as there are operands, and two more.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<AnyMemRef>:$buffers, Optional<AnyMemRef>:$workspace);
  let assemblyFormat = [{
    $callee `(` $buffers `)` (`workspace` `(` $workspace^ `:` type($workspace) `)`)? attr-dict `:` type($buffers)
  }];
}

#endif // LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTOROPS
