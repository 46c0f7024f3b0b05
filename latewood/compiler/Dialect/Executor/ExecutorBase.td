// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `executor` dialect itself and the types that its operations work on. ExecutorOps.td says what it is for.

#ifndef LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTORBASE
#define LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTORBASE

include "mlir/IR/OpBase.td"

def Executor_Dialect : Dialect {
  let name = "executor";
  let cppNamespace = "::latewood::executor";
  let summary = "The host program of an executable";
  let hasOperationAttrVerify = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// On a module: "lua" if the host program is to be written as Lua source; without it, native code is made.
    static constexpr ::llvm::StringLiteral getHostAttrName() { return "executor.host"; }
    /// On a public function: the types of its results, an array of memref types with the identity layout. Result i is output
    /// slot i.
    static constexpr ::llvm::StringLiteral getResultsAttrName() { return "executor.results"; }
    /// On a public function: one dictionary per result with the attributes that the result had (`jax.result_info`).
    static constexpr ::llvm::StringLiteral getResultAttrsAttrName() { return "executor.result_attrs"; }
    /// On a public function: pairs of an argument and a result that may lie at the same address, [argument, result, …].
    static constexpr ::llvm::StringLiteral getSameAddressAttrName() { return "executor.same_address"; }
    /// On a public function: pairs of an argument that is given up by the caller and the result that may have its memory.
    static constexpr ::llvm::StringLiteral getDonatedAttrName() { return "executor.donated"; }
    /// On a public function: the bytes of workspace that a call needs.
    static constexpr ::llvm::StringLiteral getWorkspaceBytesAttrName() { return "executor.workspace_bytes"; }
  }];
}

class Executor_Op<string opMnemonic, list<Trait> traits = []> : Op<Executor_Dialect, opMnemonic, traits>;

def Executor_Integer : AnyTypeOf<[I8, I16, I32, I64, Index], "an integer of 8, 16, 32 or 64 bits, or index">;
def Executor_Scalar : AnyTypeOf<[I1, I8, I16, I32, I64, Index], "i1, an integer of 8, 16, 32 or 64 bits, or index">;

#endif // LATEWOOD_COMPILER_DIALECT_EXECUTOR_EXECUTORBASE
