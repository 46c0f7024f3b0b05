// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an engine must answer to take part in clustering. An engine is an attribute that implements EngineAttrInterface; the
// implementation is attached beside the engine's passes (Engines/<engine>/Engine.cpp), so that this dialect knows no engine's
// code.

#ifndef LATEWOOD_COMPILER_DIALECT_PLAN_PLANINTERFACES
#define LATEWOOD_COMPILER_DIALECT_PLAN_PLANINTERFACES

include "mlir/IR/OpBase.td"

def Plan_EngineAttrInterface : AttrInterface<"EngineAttrInterface"> {
  let cppNamespace = "::latewood::plan";
  let description = [{
    An engine turns clusters of tensor operations into an artifact that the runtime can start. The clustering passes ask it,
    operation by operation, what it takes and how good it is at it.
  }];
  let methods = [
    InterfaceMethod<"The engine's short name: `cpu`, `tensorrt`.", "::llvm::StringRef", "getEngineName">,
    InterfaceMethod<[{
      Whether the engine can compile `op`. When it cannot, `reason` says why in a sentence that a user understands.
    }], "bool", "takes", (ins "::mlir::Operation *":$op, "std::string &":$reason)>,
    InterfaceMethod<[{
      How much the engine is preferred for the operations that it takes; of several engines the highest one wins.
    }], "int64_t", "getBenefit">,
    InterfaceMethod<[{
      Whether clusters should write into destinations that the host provides wherever these can be made. Otherwise they
      allocate their results themselves.
    }], "bool", "prefersDestinations">,
    InterfaceMethod<[{
      The largest constant, in bytes, that may lie inside a cluster. Larger ones that are no splats become operands, so that
      they are stored once in the executable file and used in place.
    }], "int64_t", "getMaxInlineConstantBytes">
  ];
}

#endif // LATEWOOD_COMPILER_DIALECT_PLAN_PLANINTERFACES
