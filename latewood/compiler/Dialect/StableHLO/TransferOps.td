// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers between a device and the host or another device, which tokens order, and tuples, in which older programs pass
// several values as one.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_TRANSFEROPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_TRANSFEROPS_TD

include "latewood/compiler/Dialect/StableHLO/StableHLOAttributes.td"

def StableHLO_InfeedOp : StableHLO_Op<"infeed"> {
  let summary = "takes values from the host's queue";
  let description = "Constraints: (C1) there are results; (C2) all but the last are tensors; (C3) the last is a token.";
  let arguments = (ins StableHLO_TokenType:$token, DefaultValuedStrAttr<StrAttr, "">:$infeed_config,
                       OptionalAttr<ArrayAttr>:$layout);
  let results = (outs Variadic<StableHLO_Value>);
  let hasVerifier = 1;
}

def StableHLO_OutfeedOp : StableHLO_Op<"outfeed"> {
  let summary = "puts values into the host's queue";
  let description = "The token that comes out orders what follows after the transfer.";
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_TokenType:$token,
                       DefaultValuedStrAttr<StrAttr, "">:$outfeed_config);
  let results = (outs StableHLO_TokenType:$result);
}

def StableHLO_SendOp : StableHLO_Op<"send"> {
  let summary = "sends values over a channel";
  let description = [{
    Constraints: (C1) pairs of source and target; (C2), (C3) sources and targets each once; (C4) none negative; (C5) the
    channel's type is 2 to the host, 1 otherwise.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$inputs, StableHLO_TokenType:$token,
                       StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs StableHLO_TokenType:$result);
  let hasVerifier = 1;
}

def StableHLO_RecvOp : StableHLO_Op<"recv"> {
  let summary = "receives values over a channel";
  let description = [{
    Constraints: (C1) pairs of source and target; (C2), (C3) sources and targets each once; (C4) none negative; (C5) the
    channel's type is 3 from the host, 1 otherwise. The last result is a token.
  }];
  let arguments = (ins StableHLO_TokenType:$token, StableHLO_ChannelHandle:$channel_handle,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_host_transfer,
                       OptionalAttr<I64ElementsAttr>:$source_target_pairs);
  let results = (outs Variadic<StableHLO_Value>);
  let hasVerifier = 1;
}

def StableHLO_TupleOp : StableHLO_InferOp<"tuple", [Pure]> {
  let summary = "packs values into a tuple";
  let description = "Constraints: (C1) the result's element types are the operands' types.";
  let arguments = (ins Variadic<StableHLO_Value>:$val);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$val attr-dict `:` custom<TupleTypes>(type($val), type($result))";
}

def StableHLO_GetTupleElementOp : StableHLO_InferOp<"get_tuple_element", [Pure]> {
  let summary = "takes a value out of a tuple";
  let description = "Constraints: (C1) the index is in bounds; (C2) the result has the element's type.";
  let arguments = (ins AnyTuple:$operand, I32Attr:$index);
  let results = (outs StableHLO_Value:$result);
  let assemblyFormat = "$operand `[` $index `]` attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_TRANSFEROPS_TD
