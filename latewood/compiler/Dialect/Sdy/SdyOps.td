// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of the `sdy` dialect that frameworks write into programs: device meshes, shardings of values, and computations per
// device. Their attributes are kept as text (Sdy.h says why); their structure is real, so that passes can drop or inline them.

#ifndef LATEWOOD_COMPILER_DIALECT_SDY_SDYOPS_TD
#define LATEWOOD_COMPILER_DIALECT_SDY_SDYOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sdy_Dialect : Dialect {
  let name = "sdy";
  let cppNamespace = "::latewood::sdy";
  let summary = "How tensors are spread over devices, as frameworks annotate it";
  let extraClassDeclaration = [{
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
  }];
}

// An attribute of this dialect, kept as text.
def Sdy_TextAttr : Attr<CPred<"::llvm::isa<::mlir::OpaqueAttr>($_self) && "
                              "::llvm::cast<::mlir::OpaqueAttr>($_self).getDialectNamespace() == \"sdy\"">,
                        "sdy attribute"> {
  let storageType = "::mlir::OpaqueAttr";
  let returnType = "::mlir::OpaqueAttr";
  let convertFromStorage = "$_self";
}

def Sdy_MeshOp : Op<Sdy_Dialect, "mesh", [Symbol]> {
  let summary = "names an arrangement of devices";
  let description = "Example: `sdy.mesh @mesh = <[\"x\"=2, \"y\"=2]>`";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_TextAttr:$mesh);
  let assemblyFormat = "$sym_name `=` custom<Mesh>($mesh) attr-dict";
}

def Sdy_ShardingConstraintOp : Op<Sdy_Dialect, "sharding_constraint", [Pure, SameOperandsAndResultType]> {
  let summary = "asks for a sharding of a value";
  let description = "Example: `%r = sdy.sharding_constraint %x <@mesh, [{\"x\"}, {}]> : tensor<4x8xf32>`";
  let arguments = (ins AnyRankedTensor:$input, Sdy_TextAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input custom<Sharding>($sharding) attr-dict `:` type($result)";
}

def Sdy_ManualComputationOp : Op<Sdy_Dialect, "manual_computation", [
    IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a computation that every device does on its part of the operands";
  let arguments = (ins Variadic<AnyRankedTensor>:$tensors, Sdy_TextAttr:$in_shardings, Sdy_TextAttr:$out_shardings,
                       Sdy_TextAttr:$manual_axes);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
}

def Sdy_ReturnOp : Op<Sdy_Dialect, "return", [Pure, ReturnLike, Terminator, HasParent<"ManualComputationOp">]> {
  let summary = "ends a computation per device and gives its results";
  let arguments = (ins Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // LATEWOOD_COMPILER_DIALECT_SDY_SDYOPS_TD
