// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that know of other processes. `replica_groups` is a table of process numbers, one row a group; what the numbers mean
// follows from `channel_handle` and `use_global_device_ids`.

#ifndef LATEWOOD_COMPILER_DIALECT_STABLEHLO_COLLECTIVEOPS_TD
#define LATEWOOD_COMPILER_DIALECT_STABLEHLO_COLLECTIVEOPS_TD

include "latewood/compiler/Dialect/StableHLO/ReductionOps.td"

def StableHLO_ReplicaIdOp : StableHLO_InferOp<"replica_id", [Pure]> {
  let summary = "number of the running replica";
  let results = (outs StableHLO_ScalarUI32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_PartitionIdOp : StableHLO_InferOp<"partition_id", [Pure]> {
  let summary = "number of the running partition";
  let results = (outs StableHLO_ScalarUI32Tensor:$result);
  let assemblyFormat = "attr-dict `:` type(results)";
}

def StableHLO_AllReduceOp : StableHLO_Op<"all_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines the operands of a group's processes, element by element";
  let description = [{
    Constraints: (C1)-(C3) the groups hold each number once, from 0 up; (C4) global ids need a channel; (C5) the computation's
    type; (C6), (C7) the results' types.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_ReduceScatterOp : StableHLO_Op<"reduce_scatter", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "all_reduce, of which each process keeps its part";
  let description = [{
    Constraints: (C1) the extent divides by the group's size; (C2) `scatter_dimension` is a dimension; (C3)-(C5) the groups
    hold each number once, from 0 up; (C6) global ids need a channel; (C7) the computation's type; (C8), (C9) the result's type.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, I64Attr:$scatter_dimension, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_AllGatherOp : StableHLO_Op<"all_gather"> {
  let summary = "concatenates the operands of a group's processes";
  let description = [{
    Constraints: (C1) `all_gather_dim` is a dimension; (C2)-(C4) the groups hold each number once, from 0 up; (C5) global ids
    need a channel; (C6) the results' types.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64Attr:$all_gather_dim, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_AllToAllOp : StableHLO_Op<"all_to_all"> {
  let summary = "sends a part of the operands to each process of a group";
  let description = [{
    Constraints: (C1), (C3) the dimensions are in range; (C2) the extent divides by `split_count`; (C4) which is positive;
    (C5)-(C7) the groups hold each number once, from 0 up; (C8) their size is `split_count`; (C9) the results' types.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64Attr:$split_dimension, I64Attr:$concat_dimension,
                       I64Attr:$split_count, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectiveBroadcastOp : StableHLO_Op<"collective_broadcast"> {
  let summary = "gives a group the operand of its first process";
  let description = [{
    With `has_dynamic_root`, the last operand says for each other one which process of the group gives it.

    Constraints: (C1), (C2) the groups hold different numbers, none negative; (C3) there are operands, and the results have
    their types; (C4) or, with a dynamic root, those of all operands but the last, which has one i32 for each; (C5) as many results.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$has_dynamic_root);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
}

def StableHLO_CollectivePermuteOp : StableHLO_InferOp<"collective_permute"> {
  let summary = "sends the operand from source to target processes";
  let description = [{
    Constraints: (C1) pairs; (C2), (C3) sources and targets each once; (C4) none negative; (C5) the result's type.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$source_target_pairs,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_CollectiveReduceOp : StableHLO_Op<"collective_reduce", [SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "combines the operands of a group's processes at one of them";
  let description = [{
    The others get zeros. With `has_dynamic_root`, the last operand says for each other one which process of the group gets the
    result; else the first does.

    Constraints: (C1), (C2) the groups hold different numbers, none negative; (C3) the results have the types of the operands,
    with a dynamic root those of all but the last, which has one i32 for each; (C4) the computation's type.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands, I64ElementsAttr:$replica_groups,
                       OptionalAttr<StableHLO_ChannelHandle>:$channel_handle, UnitAttr:$use_global_device_ids,
                       UnitAttr:$has_dynamic_root);
  let regions = (region SizedRegion<1>:$computation);
  let results = (outs Variadic<StableHLO_Tensor>);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def StableHLO_CrossReplicaSumOp : StableHLO_InferOp<"cross-replica-sum", [Pure]> {
  let summary = "the sum of the operands of a group's processes";
  let description = [{
    An older form of `all_reduce`.

    Constraints: (C1) the groups hold each number once, from 0 up; (C2) operand and result have the same type.
  }];
  let arguments = (ins StableHLO_Tensor:$operand, I64ElementsAttr:$replica_groups);
  let results = (outs StableHLO_Tensor:$result);
  let hasVerifier = 1;
}

def StableHLO_AsyncStartOp : StableHLO_InferOp<"async_start", [SingleBlockImplicitTerminator<"ReturnOp">,
    RecursivelySpeculatable, RecursiveMemoryEffects]> {
  let summary = "starts an operation that may run beside what follows";
  let description = [{
    Example:
    ```mlir
    %f = "stablehlo.async_start"(%x) ({
    ^bb0(%y: tensor<8x2xf32>):
      %1 = stablehlo.slice %y [0:4, 0:2] : (tensor<8x2xf32>) -> tensor<4x2xf32>
      stablehlo.return %1 : tensor<4x2xf32>
    }) : (tensor<8x2xf32>) -> !stablehlo.future<tensor<4x2xf32>>
    ```

    Constraints: (C1) the body is one operation and a return; (C2) that operation is a collective or a slice; (C3) it takes the
    operands; (C4) the result is a future of its results.
  }];
  let arguments = (ins Variadic<StableHLO_Tensor>:$operands);
  let regions = (region SizedRegion<1>:$body);
  let results = (outs StableHLO_FutureType:$result);
  let hasRegionVerifier = 1;
}

def StableHLO_AsyncDoneOp : StableHLO_InferOp<"async_done"> {
  let summary = "waits for an operation that was started, and gives its results";
  let description = "Constraints: (C1) the results have the types of the future.";
  let arguments = (ins StableHLO_FutureType:$operand);
  let results = (outs Variadic<StableHLO_Tensor>:$results);
}

#endif // LATEWOOD_COMPILER_DIALECT_STABLEHLO_COLLECTIVEOPS_TD
