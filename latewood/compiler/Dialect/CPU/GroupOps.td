// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the `cpu` dialect that stand for loops: groups of linalg operations, and parallel loops with an outlined body.
// Included at the end of CPUOps.td.

#ifndef LATEWOOD_COMPILER_DIALECT_CPU_GROUPOPS
#define LATEWOOD_COMPILER_DIALECT_CPU_GROUPOPS

include "mlir/IR/SymbolInterfaces.td"

def CPU_GroupOp : CPU_Op<"group", [IsolatedFromAbove, AttrSizedOperandSegments, SingleBlock, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "bufferizesToElementwiseAccess", "getAliasingValues",
       "hasTensorSemantics", "bufferize"]>]> {
  let summary = "linalg operations that are computed together, row by row";
  let description = [{
    The region holds `linalg.generic` operations on *tensors* (with `tensor.empty` destinations and constants) and says what is
    computed; how (loops, vectors, tasks, where intermediate values are kept) is decided when the group is lowered, as a
    whole. Intermediate tensors are never materialized: of each, only the part that belongs to the current row exists.

    The operations share *rows*: parallel loops that run over the same index space in each of them, such that a row of an
    operation's result depends only on the same row of intermediate tensors. Attribute `cpu.rows` of an operation lists
    its loops for the group's rows, in the order of the group.

    On tensors the results are the destinations after the computation. On buffers there are no results, and the region's
    arguments are still tensors: they stand for the contents of the operands.
    ```mlir
    %r = cpu.group ins(%a : tensor<8x64xf32>) outs(%o : tensor<8x64xf32>) {
    ^bb0(%x: tensor<8x64xf32>, %out: tensor<8x64xf32>):
      %0 = linalg.generic {…, cpu.rows = array<i64: 0>} ins(%x …) outs(…)     // sum over the second dimension
      %1 = linalg.generic {…, cpu.rows = array<i64: 0>} ins(%x, %0 …) outs(%out …)
      cpu.group_yield %1 : tensor<8x64xf32>
    } -> tensor<8x64xf32>
    ```
    Constraints:
    * (C1) The region's arguments have the types of `ins`, then of `outs` (tensors where those are buffers).
    * (C2) `cpu.group_yield` has one value per destination, of the type of the region's argument for it.
    * (C3) On tensors there is one result per destination, of its type; on buffers there is none.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, Variadic<CPU_Shaped>:$outs);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outs `:` type($outs) `)` $body attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// On an operation of a group: which of its loops are the rows of the group.
    static constexpr ::llvm::StringLiteral getRowsAttrName() { return "cpu.rows"; }
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def CPU_GroupYieldOp : CPU_Op<"group_yield", [Pure, Terminator, ReturnLike, HasParent<"GroupOp">]> {
  let summary = "The tensors that a group gives";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

def CPU_ParallelForOp : CPU_Op<"parallel_for", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a function over a range of tasks on the thread pool";
  let description = [{
    `body` is a function `(begin: index, end: index, args…)` that does tasks `[begin, end)`; the runtime calls it any
    number of times, on any threads, for ranges that cover `[0, tasks)`, and the operation ends when all are done. When
    memory has been planned, the function has a trailing argument, its scratch: `memref<Nxi8>`, or `memref<i8>` where its size is
    that of the operand `scratch`, in bytes.
    ```mlir
    cpu.parallel_for @softmax_body_0 tasks(%n) args(%x, %y : memref<64x64xf32>, memref<64x64xf32>)
    ```
    Constraints:
    * (C1) `body` is a function whose arguments are two of type index, then the types of `args`, then at most one more, its
      scratch.
  }];
  let arguments = (ins FlatSymbolRefAttr:$body, Index:$tasks, Optional<Index>:$scratch, Variadic<AnyType>:$captured);
  let assemblyFormat = [{
    $body `tasks` `(` $tasks `)` (`scratch` `(` $scratch^ `)`)? (`args` `(` $captured^ `:` type($captured) `)`)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// On a cluster function: the bytes of workspace that it needs; on a body: the bytes of scratch per thread.
    static constexpr ::llvm::StringLiteral getWorkspaceAttrName() { return "cpu.workspace_bytes"; }
  }];
}

def CPU_AllocateOp : CPU_Op<"allocate", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Memory whose size only the call knows";
  let description = [{
    Stands in the entry block of a cluster function, once: all buffers of dynamic shape are views of it. Where the runtime cannot give
    that much, the call has failed, and the function returns at once. Aligned like the workspace; contents are undefined.
    ```mlir
    %memory = cpu.allocate %bytes : memref<?xi8>
    ```
  }];
  let arguments = (ins Index:$bytes);
  let results = (outs Res<MemRefRankOf<[I8], [1]>, "", [MemAlloc]>:$memory);
  let assemblyFormat = "$bytes attr-dict `:` type($memory)";
}

def CPU_ReleaseOp : CPU_Op<"release"> {
  let summary = "Gives memory of cpu.allocate back; the runtime keeps it for the next call";
  let arguments = (ins Arg<MemRefRankOf<[I8], [1]>, "", [MemFree]>:$memory);
  let assemblyFormat = "$memory attr-dict `:` type($memory)";
}

#endif // LATEWOOD_COMPILER_DIALECT_CPU_GROUPOPS
