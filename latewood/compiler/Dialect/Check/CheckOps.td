// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `check` dialect: programs that test themselves. Its operations and their syntax are those of StableHLO's conformance programs, so
// that these run as they are. Phase Input expands a check into StableHLO that counts the elements that differ, and an assertion
// of the host program.

#ifndef LATEWOOD_COMPILER_DIALECT_CHECK_CHECKOPS
#define LATEWOOD_COMPILER_DIALECT_CHECK_CHECKOPS

include "mlir/Bytecode/BytecodeOpInterface.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::latewood::check";
  let summary = "Expectations on tensors, for programs that test themselves";
}

// Without declared effects, checks are never removed.
class Check_Op<string opMnemonic, list<Trait> traits = []> : Op<Check_Dialect, opMnemonic, traits>;

def Check_FloatOrComplexTensor : TensorOf<[AnyFloat, AnyComplex]>;

def Check_ExpectEqOp : Check_Op<"expect_eq", [SameTypeOperands]> {
  let summary = "Expects equal elements";
  let description = [{
    As `stablehlo.compare EQ`, except that a NaN equals every NaN. The zeros are equal.
    ```mlir
    check.expect_eq %0, %1 : tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Check_ExpectEqConstOp : Check_Op<"expect_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Expects the elements of a constant";
  let description = [{
    ```mlir
    check.expect_eq_const %0, dense<[1, 2]> : tensor<2xi32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$lhs, ElementsAttr:$value);
  let assemblyFormat = "$lhs `,` $value attr-dict";
}

def Check_ExpectAlmostEqOp : Check_Op<"expect_almost_eq", [SameTypeOperands]> {
  let summary = "Expects elements that differ by no more than `tolerance`";
  let description = [{
    Equal elements, two NaNs, or finite elements whose absolute difference is at most the tolerance; of complex elements both parts.
    ```mlir
    check.expect_almost_eq %0, %1, tolerance = 1.0e-3 : tensor<2xf32>
    ```
  }];
  let arguments = (ins Check_FloatOrComplexTensor:$lhs, Check_FloatOrComplexTensor:$rhs,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $rhs (`,` `tolerance` `=` $tolerance^)? attr-dict `:` type($lhs)";
}

def Check_ExpectAlmostEqConstOp : Check_Op<"expect_almost_eq_const", [AllTypesMatch<["lhs", "value"]>]> {
  let summary = "Expects the elements of a constant, up to `tolerance`";
  let description = [{
    ```mlir
    check.expect_almost_eq_const %0, dense<[0.5, 2.0]> : tensor<2xf32>, tolerance = 1.0e-3
    ```
  }];
  let arguments = (ins Check_FloatOrComplexTensor:$lhs, ElementsAttr:$value,
                       DefaultValuedOptionalAttr<F64Attr, "1e-4">:$tolerance);
  let assemblyFormat = "$lhs `,` $value (`,` `tolerance` `=` $tolerance^)? attr-dict";
}

def Check_ExpectCloseOp : Check_Op<"expect_close", [AllTypesMatch<["actual", "expected"]>]> {
  let summary = "Expects a distance in units in the last place";
  let description = [{
    The distance of two finite elements is the number of values of the type that lie between them (the zeros are one value); equal
    bits and two NaNs have distance 0, any other pair with an infinity or a NaN the largest number. Of complex elements the
    larger distance of the parts counts.
    ```mlir
    check.expect_close %0, %1, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
    ```
  }];
  let arguments = (ins Check_FloatOrComplexTensor:$actual, Check_FloatOrComplexTensor:$expected,
                       DefaultValuedAttr<UI64Attr, "1">:$max_ulp_difference,
                       DefaultValuedOptionalAttr<UI64Attr, "0">:$min_ulp_difference);
  let assemblyFormat = [{
    $actual `,` $expected `,` `max_ulp_difference` `=` $max_ulp_difference
    (`,` `min_ulp_difference` `=` $min_ulp_difference^)? `:` attr-dict type($actual) `,` type($expected)
  }];
}

#endif // LATEWOOD_COMPILER_DIALECT_CHECK_CHECKOPS
