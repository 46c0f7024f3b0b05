// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalars of the host program. The host computes i1 and integers only; floats stay in engine functions. A type is i1, i8, i16, i32,
// i64, or index, which is an integer of 64 bits. Types have no sign: the operations do.
//
// Every operation is defined for all operands, and has this one definition in both backends: nothing traps, nothing is
// undefined, and the results agree bit for bit. With w the width of the type in bits:
//
//   add sub mul        modulo 2^w
//   div_s rem_s        toward zero, the remainder has the sign of the dividend; minimum / -1 = minimum, remainder 0
//   div_u rem_u        of the numbers from 0 to 2^w - 1
//   x / 0, x rem 0     all bits set, x (for the signed and the unsigned operations)
//   shl shr_s shr_u    the count is unsigned; a count of w or more shifts every bit out: 0, or the sign for shr_s
//   cast_s cast_u      to a wider type: with the sign, or with zeros; to a narrower one: the low bits

#ifndef LATEWOOD_COMPILER_DIALECT_EXECUTOR_SCALAROPS
#define LATEWOOD_COMPILER_DIALECT_EXECUTOR_SCALAROPS

include "latewood/compiler/Dialect/Executor/ExecutorBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Executor_ScalarOp : Executor_Op<"scalar", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "A number";
  let description = [{
    ```mlir
    %0 = executor.scalar 4 : i64
    %1 = executor.scalar true
    ```
    Constraints:
    - (C1) `value` is an integer attribute of the result's type.
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Executor_Scalar:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
  let hasFolder = 1;
}

class Executor_BinaryOp<string opMnemonic, Type type, string text, list<Trait> traits = []>
    : Executor_Op<opMnemonic, [Pure, SameOperandsAndResultType] # traits> {
  let summary = text;
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Executor_AddOp : Executor_BinaryOp<"add", Executor_Integer, "lhs + rhs modulo 2^w", [Commutative]>;
def Executor_SubOp : Executor_BinaryOp<"sub", Executor_Integer, "lhs - rhs modulo 2^w">;
def Executor_MulOp : Executor_BinaryOp<"mul", Executor_Integer, "lhs * rhs modulo 2^w", [Commutative]>;
def Executor_DivSOp : Executor_BinaryOp<"div_s", Executor_Integer,
    "Signed quotient, rounded toward zero; x / 0 = -1, minimum / -1 = minimum">;
def Executor_DivUOp : Executor_BinaryOp<"div_u", Executor_Integer, "Unsigned quotient; x / 0 = 2^w - 1">;
def Executor_RemSOp : Executor_BinaryOp<"rem_s", Executor_Integer,
    "Signed remainder, with the sign of lhs; x rem 0 = x, minimum rem -1 = 0">;
def Executor_RemUOp : Executor_BinaryOp<"rem_u", Executor_Integer, "Unsigned remainder; x rem 0 = x">;
def Executor_MinSOp : Executor_BinaryOp<"min_s", Executor_Integer, "The signed minimum", [Commutative]>;
def Executor_MinUOp : Executor_BinaryOp<"min_u", Executor_Integer, "The unsigned minimum", [Commutative]>;
def Executor_MaxSOp : Executor_BinaryOp<"max_s", Executor_Integer, "The signed maximum", [Commutative]>;
def Executor_MaxUOp : Executor_BinaryOp<"max_u", Executor_Integer, "The unsigned maximum", [Commutative]>;
def Executor_ShlOp : Executor_BinaryOp<"shl", Executor_Integer,
    "lhs shifted left by rhs, which is unsigned; 0 for a count of w or more">;
def Executor_ShrSOp : Executor_BinaryOp<"shr_s", Executor_Integer,
    "lhs shifted right by rhs, which is unsigned, filled with the sign; all sign for a count of w or more">;
def Executor_ShrUOp : Executor_BinaryOp<"shr_u", Executor_Integer,
    "lhs shifted right by rhs, which is unsigned, filled with zeros; 0 for a count of w or more">;
def Executor_AndOp : Executor_BinaryOp<"and", Executor_Scalar, "Bitwise and", [Commutative]>;
def Executor_OrOp : Executor_BinaryOp<"or", Executor_Scalar, "Bitwise or", [Commutative]>;
def Executor_XorOp : Executor_BinaryOp<"xor", Executor_Scalar, "Bitwise exclusive or", [Commutative]>;

def Executor_NotOp : Executor_Op<"not", [Pure, SameOperandsAndResultType]> {
  let summary = "All bits inverted";
  let arguments = (ins Executor_Scalar:$operand);
  let results = (outs Executor_Scalar:$result);
  let assemblyFormat = "$operand attr-dict `:` type($result)";
}

def Executor_Predicate : I32EnumAttr<"Predicate", "how two integers are compared", [
    I32EnumAttrCase<"EQ", 0, "eq">, I32EnumAttrCase<"NE", 1, "ne">,
    I32EnumAttrCase<"LTS", 2, "lt_s">, I32EnumAttrCase<"LES", 3, "le_s">,
    I32EnumAttrCase<"GTS", 4, "gt_s">, I32EnumAttrCase<"GES", 5, "ge_s">,
    I32EnumAttrCase<"LTU", 6, "lt_u">, I32EnumAttrCase<"LEU", 7, "le_u">,
    I32EnumAttrCase<"GTU", 8, "gt_u">, I32EnumAttrCase<"GEU", 9, "ge_u">]> {
  let cppNamespace = "::latewood::executor";
}

def Executor_CmpOp : Executor_Op<"cmp", [Pure, SameTypeOperands]> {
  let summary = "Compares two integers";
  let description = [{
    `_s` compares signed numbers, `_u` unsigned ones.
    ```mlir
    %0 = executor.cmp lt_u %a, %b : i32
    ```
  }];
  let arguments = (ins Executor_Predicate:$predicate, Executor_Integer:$lhs, Executor_Integer:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "$predicate $lhs `,` $rhs attr-dict `:` type($lhs)";
}

def Executor_SelectOp : Executor_Op<"select", [Pure, AllTypesMatch<["onTrue", "onFalse", "result"]>]> {
  let summary = "One of two numbers";
  let description = [{
    ```mlir
    %0 = executor.select %condition, %a, %b : i64
    ```
  }];
  let arguments = (ins I1:$condition, Executor_Scalar:$onTrue, Executor_Scalar:$onFalse);
  let results = (outs Executor_Scalar:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($result)";
}

class Executor_CastOp<string opMnemonic, string text> : Executor_Op<opMnemonic, [Pure]> {
  let summary = text;
  let arguments = (ins Executor_Scalar:$operand);
  let results = (outs Executor_Scalar:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `to` type($result)";
}

def Executor_CastSOp : Executor_CastOp<"cast_s", "To a wider type with the sign, to a narrower one by its low bits">;
def Executor_CastUOp : Executor_CastOp<"cast_u", "To a wider type with zeros, to a narrower one by its low bits">;

#endif // LATEWOOD_COMPILER_DIALECT_EXECUTOR_SCALAROPS
