// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `plan` dialect: how a program is divided among engines. It exists from phase Cluster to phase Bufferize.
//
// A cluster goes through three forms:
//   plan.cluster        open: a region in the host function that uses the host's values directly
//   plan.dps_cluster    closed, in destination style: values come in by `ins`, results are written into `outs`
//   plan.alloc_cluster  closed, allocating: the engine makes the results when it knows their shapes
// and is then outlined into a function of the engine's module, called by plan.call or plan.call_alloc.

#ifndef LATEWOOD_COMPILER_DIALECT_PLAN_PLANOPS
#define LATEWOOD_COMPILER_DIALECT_PLAN_PLANOPS

include "latewood/compiler/Dialect/Plan/PlanInterfaces.td"
include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::latewood::plan";
  let summary = "Clusters of operations and the engines that compile them";
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 0;
  let extraClassDeclaration = [{
    /// On a nested module: the engine that compiles its functions.
    static constexpr ::llvm::StringLiteral getEngineAttrName() { return "plan.engine"; }
    /// On a module: the machine that code is made for (TargetAttr), resolved, never "native".
    static constexpr ::llvm::StringLiteral getTargetAttrName() { return "plan.target"; }
    /// On an argument of a cluster function: the destination of a result.
    static constexpr ::llvm::StringLiteral getOutAttrName() { return "plan.out"; }
    /// On an argument of a cluster function: its value is a constant of the program.
    static constexpr ::llvm::StringLiteral getConstantAttrName() { return "plan.constant"; }
    /// On an argument of a cluster function with dynamic dimensions: for each of them, in order, the number of the
    /// argument, of type index, that holds its extent (DenseI64ArrayAttr). Equal extents are one argument.
    static constexpr ::llvm::StringLiteral getExtentsAttrName() { return "plan.extents"; }
    /// On an argument or a result of a public function: limits of its extents, one entry per dimension (BoundsAttr).
    static constexpr ::llvm::StringLiteral getBoundsAttrName() { return "plan.bounds"; }
    /// On an argument of a public function that is a small integer tensor: limits of its elements, one entry per element
    /// (BoundsAttr).
    static constexpr ::llvm::StringLiteral getValueBoundsAttrName() { return "plan.value_bounds"; }
    /// On a public function: the function that computes its results' extents (FlatSymbolRefAttr).
    static constexpr ::llvm::StringLiteral getShapeFunctionAttrName() { return "plan.shape_function"; }
    /// On a result of a public function whose extents depend on data (UnitAttr).
    static constexpr ::llvm::StringLiteral getDataDependentAttrName() { return "plan.data_dependent"; }
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Plan_Attr<string name, string attrMnemonic, list<Trait> traits = []> : AttrDef<Plan_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Plan_TargetAttr : Plan_Attr<"Target", "target"> {
  let summary = "The machine that code is made for";
  let description = [{
    Resolved: a file that was compiled for `native` says which CPU that was. `features` is LLVM's comma-separated list
    (`+avx2,+fma`).
    ```mlir
    #plan.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", features = "+avx2,+fma">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$triple, StringRefParameter<>:$cpu, StringRefParameter<>:$features);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Plan_BoundsAttr : Plan_Attr<"Bounds", "bounds"> {
  let summary = "Limits of extents, or of small integers";
  let description = [{
    One entry per dimension (or element): the smallest, the typical and the largest one. A call with anything outside of `min` and `max`
    fails; `opt` is what code is tuned for.
    ```mlir
    #plan.bounds<min = [1, 64], opt = [32, 64], max = [512, 64]>
    ```
    Constraints:
    - (C1) The lists are of one length, and min <= opt <= max in each entry.
  }];
  let parameters = (ins "::mlir::DenseI64ArrayAttr":$min, "::mlir::DenseI64ArrayAttr":$opt, "::mlir::DenseI64ArrayAttr":$max);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Plan_MemorySpace : I32EnumAttr<"MemorySpace", "where memory is", [
    I32EnumAttrCase<"Host", 0, "host">, I32EnumAttrCase<"HostPinned", 1, "host_pinned">,
    I32EnumAttrCase<"Device", 2, "device">, I32EnumAttrCase<"Unified", 3, "unified">]> {
  let cppNamespace = "::latewood::plan";
  let genSpecializedAttr = 0;
}

def Plan_MemorySpaceAttr : EnumAttr<Plan_Dialect, Plan_MemorySpace, "memory_space"> {
  let summary = "Where a tensor's memory is: the encoding of its type";
  let description = [{
    Without one it is host memory.
    ```mlir
    tensor<4xf32, #plan.memory_space<device>>
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Plan_CPUEngineAttr : Plan_Attr<"CPUEngine", "cpu_engine"> {
  let summary = "The engine that generates code for the CPU";
}

def Plan_TensorRTEngineAttr : Plan_Attr<"TensorRTEngine", "tensorrt_engine"> {
  let summary = "The engine that builds networks with TensorRT";
}

def Plan_EngineAttr : Attr<CPred<"::llvm::isa<::latewood::plan::EngineAttrInterface>($_self)">, "an engine"> {
  let storageType = "::latewood::plan::EngineAttrInterface";
  let returnType = "::latewood::plan::EngineAttrInterface";
  let convertFromStorage = "$_self";
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

class Plan_Op<string opMnemonic, list<Trait> traits = []> : Op<Plan_Dialect, opMnemonic, traits>;

def Plan_YieldOp : Plan_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ClusterOp", "DPSClusterOp", "AllocClusterOp"]>]> {
  let summary = "Gives the results of a cluster";
  let arguments = (ins Variadic<AnyType>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Plan_ClusterOp : Plan_Op<"cluster", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "An open cluster: operations that one engine compiles together";
  let description = [{
    The region uses values of the enclosing function directly. Every operation in it is one that the engine takes.
    ```mlir
    %r = plan.cluster target(#plan.cpu_engine) -> tensor<4xf32> {
      %0 = stablehlo.add %a, %b : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    }
    ```
    Constraints:
    - (C1) The types of `plan.yield` equal the result types.
  }];
  let arguments = (ins Plan_EngineAttr:$target);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`target` `(` $target `)` (`->` type($results)^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

def Plan_DPSClusterOp : Plan_Op<"dps_cluster", [IsolatedFromAbove, RecursiveMemoryEffects, AttrSizedOperandSegments,
    DestinationStyleOpInterface, SingleBlock]> {
  let summary = "A closed cluster in destination style";
  let description = [{
    Isolated: the region's arguments are `ins`, then `outs`. Result i is written into `outs` i.
    ```mlir
    %r = plan.dps_cluster target(#plan.cpu_engine) ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%o : tensor<4xf32>) {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>, %out: tensor<4xf32>):
      %0 = stablehlo.add %x, %y : tensor<4xf32>
      plan.yield %0 : tensor<4xf32>
    } -> tensor<4xf32>
    ```
    Constraints:
    - (C1) The types of `plan.yield` equal the result types.
    - (C2) The region's argument types equal the types of `ins`, then of `outs`.
    - (C3) There is one destination per result, of the same type.
    - (C4) A result is not an argument of the region and not the same value as another result: the host copies those.
    - (C5) `extents`, if there, has one array per operand: the numbers of the operands, of type index, that hold its dynamic
      extents, in order.
  }];
  let arguments = (ins Plan_EngineAttr:$target, Variadic<AnyType>:$inputs, Variadic<AnyType>:$outs,
      OptionalAttr<ArrayAttr>:$extents);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `target` `(` $target `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)? (`outs` `(` $outs^ `:` type($outs) `)`)?
    $body attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def Plan_AllocClusterOp : Plan_Op<"alloc_cluster", [IsolatedFromAbove, RecursiveMemoryEffects,
    SingleBlock]> {
  let summary = "A closed cluster that allocates its results";
  let description = [{
    As plan.dps_cluster, without destinations: the engine allocates each result when its shape is known.
    Constraints:
    - (C1) The types of `plan.yield` equal the result types.
    - (C2) The region's argument types equal the types of `ins`.
    - (C5) as plan.dps_cluster.
  }];
  let arguments = (ins Plan_EngineAttr:$target, Variadic<AnyType>:$inputs, OptionalAttr<ArrayAttr>:$extents);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `target` `(` $target `)` (`ins` `(` $inputs^ `:` type($inputs) `)`)? $body attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Plan_CallOp : Plan_Op<"call", [AttrSizedOperandSegments, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>]> {
  let summary = "Calls an outlined cluster in destination style";
  let description = [{
    `callee` names a function in an engine's module: `@cpu::@main_cluster_0`. On tensors the results are the destinations
    after the call; on buffers there are no results.
    ```mlir
    %r = plan.call @cpu::@main_cluster_0(%a) outs(%o) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    plan.call @cpu::@main_cluster_0(%a) outs(%o) : (memref<4xf32>, memref<4xf32>) -> ()
    ```
    Constraints:
    - (C1) `callee` is a function of as many arguments as there are operands. (A lowered one has two more: the call frame
      and the workspace.)
    - (C2) On tensors there is one result per destination, of the same type; on buffers there is none.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<AnyType>:$inputs, Variadic<AnyType>:$outs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` (`outs` `(` $outs^ `)`)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def Plan_CallAllocOp : Plan_Op<"call_alloc", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls an outlined cluster that allocates its results";
  let description = [{
    As plan.call, without destinations.
    Constraints:
    - (C1) `callee` is a function of as many arguments as there are operands.
  }];
  let arguments = (ins SymbolRefAttr:$callee, Variadic<AnyType>:$inputs);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $inputs `)` attr-dict `:` functional-type(operands, results)";
}

def Plan_WithShapeOp : Plan_Op<"with_shape", [Pure, AllTypesMatch<["operand", "result"]>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>]> {
  let summary = "A tensor whose dynamic extents are known as scalars";
  let description = [{
    The result is the operand. Each dynamic dimension has a scalar, in order, as in `tensor.empty`. Two dimensions that are known to
    be equal have the same scalar: that is how everything behind `latewood-materialize-shapes` knows it. On buffers it says the
    same of what has come through control flow, which carries an address.
    ```mlir
    %y = plan.with_shape %x(%n) : tensor<?x64xf32>
    ```
    Constraints:
    - (C1) There are as many extents as dynamic dimensions.
  }];
  let arguments = (ins AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$operand, Variadic<Index>:$extents);
  let results = (outs AnyTypeOf<[AnyRankedTensor, AnyMemRef]>:$result);
  let assemblyFormat = "$operand `(` $extents `)` attr-dict `:` type($operand)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// One entry per dimension.
    ::llvm::SmallVector<::mlir::OpFoldResult> getMixedExtents();
  }];
}

def Plan_WithValuesOp : Plan_Op<"with_values", [Pure, AllTypesMatch<["operand", "result"]>]> {
  let summary = "A small integer tensor whose elements are known as scalars";
  let description = [{
    The result is the operand; its elements, row-major, are the scalars. Operands that are shapes and indices are given so.
    ```mlir
    %s = plan.with_values %shape(%n, %c64) : tensor<2xi64>
    ```
    Constraints:
    - (C1) The tensor is of static shape, its elements are integers or indices, and there is one scalar of the element type for each
      (signed and unsigned elements: a signless integer of their width).
  }];
  let arguments = (ins AnyStaticShapeTensor:$operand, Variadic<AnySignlessIntegerOrIndex>:$elements);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$operand `(` $elements `)` attr-dict `:` type($operand) (`,` type($elements)^)?";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Plan_AssertOp : Plan_Op<"assert", [
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "getAliasingValues", "bufferize"]>]> {
  let summary = "Fails the call unless a computed condition holds";
  let description = [{
    Done by the host. Scalars it has computed itself: then the call fails before anything is computed or allocated. What engines
    compute are 0-dimensional tensors (or buffers). The message is what the caller gets, with `{0}`, `{1}` … replaced by the
    values.
    ```mlir
    plan.assert %ok, "expected {0} rows"(%n) : i1, index
    plan.assert %met, "{0} iterations were not enough"(%i) : tensor<i1>, tensor<i64>
    ```
    Constraints:
    - (C1) The condition is an i1 or a 0-dimensional tensor of it, the values are integers, indices or 0-dimensional integer tensors.
  }];
  let arguments = (ins AnyType:$condition, StrAttr:$message, Variadic<AnyType>:$values);
  let assemblyFormat = "$condition `,` $message (`(` $values^ `)`)? attr-dict `:` type($condition) (`,` type($values)^)?";
  let hasVerifier = 1;
}

def Plan_TransferOp : Plan_Op<"transfer", [Pure]> {
  let summary = "The same tensor in another memory space";
  let description = [{
    ```mlir
    %1 = plan.transfer %0 : tensor<4xf32> to tensor<4xf32, #plan.memory_space<device>>
    ```
    Constraints:
    - (C1) The types differ in nothing but their encodings, which are memory spaces or none.
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Plan_OptimizationBarrierOp : Plan_Op<"optimization_barrier", [AllTypesMatch<["operand", "result"]>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "A tensor that is computed as it is written";
  let description = [{
    The result is the operand. Nothing is moved over it, merged with it or folded through it: what is before it and what is
    behind it are clusters of their own.
    ```mlir
    %1 = plan.optimization_barrier %0 : tensor<4xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$operand);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand)";
}

#endif // LATEWOOD_COMPILER_DIALECT_PLAN_PLANOPS
