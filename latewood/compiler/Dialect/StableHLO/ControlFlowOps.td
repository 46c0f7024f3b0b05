// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow, calls out of the program, and what orders or names parts of it.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTROLFLOWOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTROLFLOWOPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator, ReturnLike]> {
  let summary = "ends a region and gives its results";
  let description = "The op around it says which types it must return.";
  let arguments = (ins Variadic<StableHLO_Value>:$results);
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

def StableHLO_WhileOp : StableHLO_InferOp<"while", [RecursivelySpeculatable, RecursiveMemoryEffects,
    SingleBlockImplicitTerminator<"ReturnOp">,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "repeats body while cond holds";
  let description = [{
    Both regions take the carried values; `cond` returns a 0-dimensional boolean, `body` the next values.

    Constraints: (C1) `cond`'s type; (C2) `body`'s type; (C3) the results have the operands' types.
  }];
  let arguments = (ins Variadic<StableHLO_Value>:$operand);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let results = (outs Variadic<StableHLO_Value>);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_IfOp : StableHLO_Op<"if", [RecursivelySpeculatable, RecursiveMemoryEffects,
                                         SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "executes one of two regions";
  let description = [{
    Constraints: (C1) the regions take no arguments; (C2) they return the same types; (C3) which are the results'.
  }];
  let arguments = (ins StableHLO_ScalarPredTensor:$pred);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let results = (outs Variadic<StableHLO_Value>);
  let hasRegionVerifier = 1;
}

def StableHLO_CaseOp : StableHLO_Op<"case", [RecursivelySpeculatable, RecursiveMemoryEffects,
                                             SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "executes the region with the given number, or the last one";
  let description = [{
    Constraints: (C1) there is a region; (C2) the regions take no arguments; (C3) they return the same types; (C4) which are
    the results'.
  }];
  let arguments = (ins StableHLO_ScalarI32Tensor:$index);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let results = (outs Variadic<StableHLO_Value>);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_InferOp<"optimization_barrier", [Pure]> {
  let summary = "keeps what computes the operands before, and what uses the results after";
  let description = "Constraints: (C1) the results have the operands' types.";
  let arguments = (ins Variadic<StableHLO_Value>:$operand);
  let results = (outs Variadic<StableHLO_Value>:$result);
  let assemblyFormat = [{
    attr-dict ($operand^ `:` custom<PairwiseTypes>(type($operand), type($result))) : (`(` `)`)?
  }];
}

def StableHLO_CompositeOp : StableHLO_Op<"composite", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "an op defined by a function";
  let description = [{
    Stands for a call of `decomposition`, under a name that a consumer may know how to do better.

    Constraints: (C1) `name` has a namespace; (C2) `decomposition` is a function of the module; (C3), (C4) operand and result
    types are the function's.
  }];
  let arguments = (ins Variadic<StableHLO_Value>:$inputs, StrAttr:$name,
                       DefaultValuedOptionalAttr<DictionaryAttr, "{}">:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition, DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let regions = (region VariadicRegion<AnyRegion>:$composite_regions);
  let results = (outs Variadic<StableHLO_Value>);
  let assemblyFormat = [{
    $name $inputs (` ` `(` $composite_regions^ `)`)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
                                                          DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "a call of something that this specification does not define";
  let description = [{
    `call_target_name` and `api_version` say what is called and how; `backend_config` is passed to it.

    Example: `%r = stablehlo.custom_call @foo(%x) {backend_config = "bar"} : (tensor<f32>) -> tensor<f32>`

    Constraints: layouts, if given, are given for all operands and results, and each is a permutation of its tensor's
    dimensions; aliases name an operand and a result of one type; called computations are functions of the module.
  }];
  let arguments = (ins Variadic<StableHLO_Value>:$inputs, StrAttr:$call_target_name,
    DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
    OptionalAttr<AnyAttrOf<[StrAttr, DictionaryAttr]>>:$backend_config,
    DefaultValuedOptionalAttr<StableHLO_CustomCallApiVersion,
      "::latewood::stablehlo::CustomCallApiVersion::API_VERSION_ORIGINAL">:$api_version,
    DefaultValuedOptionalAttr<StableHLO_SymbolArray, "{}">:$called_computations,
    OptionalAttr<StableHLO_LayoutArray>:$operand_layouts, OptionalAttr<StableHLO_LayoutArray>:$result_layouts,
    DefaultValuedOptionalAttr<StableHLO_AliasArray, "{}">:$output_operand_aliases);
  let results = (outs Variadic<StableHLO_Value>);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_AfterAllOp : StableHLO_Op<"after_all", [Pure]> {
  let summary = "a token that comes after all given tokens";
  let arguments = (ins Variadic<StableHLO_TokenType>:$inputs);
  let results = (outs StableHLO_TokenType:$result);
  let assemblyFormat = "$inputs attr-dict `:` custom<TokenTypes>(ref($inputs), type($inputs), type($result))";
}

def StableHLO_CreateTokenOp : StableHLO_Op<"create_token", [Pure]> {
  let summary = "a token that comes after nothing";
  let results = (outs StableHLO_TokenType:$output);
  let assemblyFormat = "attr-dict `:` type(results)";
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_CONTROLFLOWOPS_TD
