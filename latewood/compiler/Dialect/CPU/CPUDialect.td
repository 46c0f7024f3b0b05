// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `cpu` dialect itself, and the classes that its operations derive from. The operations are in CPUOps.td.

#ifndef LATEWOOD_COMPILER_DIALECT_CPU_CPUDIALECT
#define LATEWOOD_COMPILER_DIALECT_CPU_CPUDIALECT

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CPU_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::latewood::cpu";
  let summary = "What the CPU engine decides before it writes loops";
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// On a function: the bytes of workspace that it needs; on a parallel body: the bytes of scratch per thread.
    static constexpr ::llvm::StringLiteral getWorkspaceAttrName() { return "cpu.workspace_bytes"; }
    /// On an operation of a group: which of its loops are the rows of the group.
    static constexpr ::llvm::StringLiteral getRowsAttrName() { return "cpu.rows"; }
  }];
}

class CPU_Op<string opMnemonic, list<Trait> traits = []> : Op<CPU_Dialect, opMnemonic, traits>;

#endif // LATEWOOD_COMPILER_DIALECT_CPU_CPUDIALECT
