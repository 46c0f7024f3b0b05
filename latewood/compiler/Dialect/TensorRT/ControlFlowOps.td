// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditionals and loops. Regions use values from outside directly.

#ifndef LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTROLFLOWOPS_TD
#define LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTROLFLOWOPS_TD

include "latewood/compiler/Dialect/TensorRT/TensorRTAttributes.td"

def TensorRT_YieldOp : TensorRT_Op<"yield", [Pure, Terminator, ReturnLike, ParentOneOf<["IfOp", "WhileOp", "ForOp"]>]> {
  let summary = "the results of a region";
  let arguments = (ins Variadic<TensorRT_Tensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def TensorRT_ConditionOp : TensorRT_Op<"condition", [Pure, Terminator, HasParent<"WhileOp">]> {
  let summary = "whether a loop goes on, and the values that it goes on with";
  let arguments = (ins TensorRT_ScalarBool:$condition, Variadic<TensorRT_Tensor>:$args);
  let assemblyFormat = "`(` $condition `:` type($condition) `)` attr-dict ($args^ `:` type($args))?";
}

def TensorRT_IfOp : TensorRT_Op<"if", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "one of two computations (IIfConditional)";
  let description = [{
    ```mlir
    %r = tensorrt.if (%c : tensor<i1>) -> tensor<4xf32> {
      tensorrt.yield %a : tensor<4xf32>
    } else {
      tensorrt.yield %b : tensor<4xf32>
    }
    ```
    Constraints: (C1) both regions yield as many values as there are results, of compatible types; (C2) there is a result.
  }];
  let arguments = (ins TensorRT_ScalarBool:$condition);
  let results = (outs Variadic<TensorRT_Tensor>:$results);
  let regions = (region SizedRegion<1>:$trueRegion, SizedRegion<1>:$falseRegion);
  let assemblyFormat = [{
    `(` $condition `:` type($condition) `)` `->` type($results) $trueRegion `else` $falseRegion attr-dict
  }];
  let hasRegionVerifier = 1;
}

def TensorRT_WhileOp : TensorRT_Op<"while", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop with a condition (ILoop with TripLimit::kWHILE)";
  let description = [{
    `condRegion` ends with `condition`, whose other operands go to `bodyRegion`, or are the results when the loop ends.
    ```mlir
    %r = tensorrt.while (%i) : (tensor<i32>) -> tensor<i32> {
    ^bb0(%j: tensor<i32>):
      tensorrt.condition (%more : tensor<i1>) %j : tensor<i32>
    } do {
    ^bb0(%j: tensor<i32>):
      tensorrt.yield %next : tensor<i32>
    }
    ```
    Constraints: (C1) operands, arguments of both regions, yielded values, passed values and results agree in number and type; (C2) the
    first region ends with `condition`, the second with `yield`.
  }];
  let arguments = (ins Variadic<TensorRT_Tensor>:$operands);
  let results = (outs Variadic<TensorRT_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condRegion, SizedRegion<1>:$bodyRegion);
  let assemblyFormat = "`(` $operands `)` `:` functional-type(operands, results) $condRegion `do` $bodyRegion attr-dict";
  let hasRegionVerifier = 1;
}

def TensorRT_ForOp : TensorRT_Op<"for", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a loop with a trip count (ILoop with TripLimit::kCOUNT)";
  let description = [{
    The body's first argument runs from `lb` to `ub`, exclusively, by `step`; the others are carried values.

    Constraints: (C1) bounds, step and the first argument have one type; (C2) initial values, other arguments, yielded values and results
    agree in number and type; (C3) the body ends with `yield`.
  }];
  let arguments = (ins TensorRT_ScalarIndex:$lb, TensorRT_ScalarIndex:$ub, TensorRT_ScalarIndex:$step,
                       Variadic<TensorRT_Tensor>:$init);
  let results = (outs Variadic<TensorRT_Tensor>:$results);
  let regions = (region SizedRegion<1>:$bodyRegion);
  let assemblyFormat = [{
    $lb `to` $ub `step` $step `init` `(` $init `)` `:` functional-type(operands, results) $bodyRegion attr-dict
  }];
  let hasRegionVerifier = 1;
}

def TensorRT_AssertionOp : TensorRT_Op<"assertion"> {
  let summary = "fails the execution unless all elements are true (IAssertionLayer)";
  let arguments = (ins TensorRT_TensorOf<[I1]>:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

#endif // LATEWOOD_COMPILER_DIALECT_TENSORRT_CONTROLFLOWOPS_TD
