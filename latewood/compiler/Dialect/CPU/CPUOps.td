// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The `cpu` dialect: what the CPU engine knows beyond loops and vectors. It exists inside Engines/CPU only.
//
//   cpu.contract      a matrix product of any number of dimensions with a fused elementwise epilogue; on tensors it is formed
//                     from linalg, on buffers it becomes loops around register-tile kernels
//   cpu.library_call  a call of the device library on buffers; becomes a call on pointers just before LLVM
//   cpu.group         linalg operations that become one set of loops (GroupOps.td)
//   cpu.parallel_for  a parallel loop whose body is a function (GroupOps.td)

#ifndef LATEWOOD_COMPILER_DIALECT_CPU_CPUOPS
#define LATEWOOD_COMPILER_DIALECT_CPU_CPUOPS

include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def CPU_Dialect : Dialect {
  let name = "cpu";
  let cppNamespace = "::latewood::cpu";
  let summary = "Matrix products and calls of the device library";
}

class CPU_Op<string mnemonic, list<Trait> traits = []> : Op<CPU_Dialect, mnemonic, traits>;

def CPU_Shaped : AnyTypeOf<[AnyRankedTensor, AnyStridedMemRef], "ranked tensor or strided buffer">;

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def CPU_ContractOp : CPU_Op<"contract", [SingleBlock, DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<BufferizableOpInterface,
      ["bufferizesToMemoryRead", "bufferizesToMemoryWrite", "bufferizesToElementwiseAccess", "getAliasingValues",
       "bufferize"]>]> {
  let summary = "A matrix product with a fused elementwise epilogue";
  let description = [{
    Works on an iteration space of any number of dimensions. `indexing_maps` has one map per operand, in the order of the
    operands (lhs, rhs, extras, init), from that space to the operand's index. An index of lhs may be a sum of dimensions with
    factors, `2 * y + ky`: that is a convolution. Where a dimension occurs says what it is:

    | in lhs | in rhs | in init | kind |
    |---|---|---|---|
    | x | x | x | batch |
    | x |   | x | rows (m) |
    |   | x | x | columns (n) |
    | x | x |   | reduced (k) |

    For each point of the result, with acc = Σ over all k of convert(lhs) * convert(rhs) in the type of the region's first
    argument, `init[…] = epilogue(acc, extras[…])`. What `init` held before is not read. A sum is taken in any order; with
    floating point each product may be contracted into the sum. Integers wrap; they are extended with their sign, or with
    zeros if `lhs_unsigned` or `rhs_unsigned` says so.

    An extra operand is a buffer or tensor that is read at the point of the result, or a scalar with the map `(…) -> ()`. An extra
    with the map and type of `init` may be the same buffer: each element is read before it is written.

    ```mlir
    // relu(x W + b)
    %r = cpu.contract ins(%x, %w : tensor<32x784xf32>, tensor<784x512xf32>) extras(%b : tensor<512xf32>)
           outs(%o : tensor<32x512xf32>)
           maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                 affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>] {
    ^bb0(%acc: f32, %bias: f32):
      %zero = arith.constant 0.0 : f32
      %sum = arith.addf %acc, %bias : f32
      %y = arith.maximumf %sum, %zero : f32
      cpu.yield %y : f32
    } -> tensor<32x512xf32>
    ```

    Constraints:
    * (C1) lhs, rhs, init and the shaped extras are all tensors, with init's type as the result, or all buffers, without a result.
    * (C2) There is one map per operand, all over the same dimensions, without symbols, with as many results as the operand has
      dimensions. That of lhs is linear: each result is a sum of different dimensions times positive constants, and no dimension
      occurs twice. The others are projected permutations.
    * (C3) Two dimensions of operands that are indexed by the same dimension of the space have the same extent. Sums stay inside
      of lhs.
    * (C4) Each dimension is a batch, row, column or reduced dimension.
    * (C5) An extra is indexed by dimensions of init only.
    * (C6) The region's arguments are the accumulator and one element per extra; it yields one element of init.
    * (C7) lhs, rhs and accumulator are all floats or all integers, and neither lhs nor rhs is wider than the accumulator.
    * (C8) The region's operations are free of side effects and have no regions.
  }];
  let arguments = (ins CPU_Shaped:$lhs, CPU_Shaped:$rhs, Variadic<AnyType>:$extras, CPU_Shaped:$init,
                       AffineMapArrayAttr:$indexing_maps, UnitAttr:$lhs_unsigned, UnitAttr:$rhs_unsigned);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    (`extras` `(` $extras^ `:` type($extras) `)`)?
    `outs` `(` $init `:` type($init) `)` `maps` $indexing_maps
    attr-dict-with-keyword $epilogue (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let builders = [
    // The epilogue yields the accumulator, of type `accumulator`.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$init,
                   "::llvm::ArrayRef<::mlir::AffineMap>":$maps, "::mlir::Type":$accumulator)>
  ];
  let extraClassDeclaration = [{
    enum class DimKind { Batch, Row, Column, Reduced };

    ::mlir::MutableOperandRange getDpsInitsMutable() { return getInitMutable(); }

    /// The map of an operand, by its position among all operands.
    ::mlir::AffineMap getMap(unsigned operand) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[operand]).getValue();
    }
    ::mlir::AffineMap getLhsMap() { return getMap(0); }
    ::mlir::AffineMap getRhsMap() { return getMap(1); }
    ::mlir::AffineMap getExtraMap(unsigned extra) { return getMap(2 + extra); }
    ::mlir::AffineMap getInitMap() { return getMap(getNumOperands() - 1); }
    ::llvm::SmallVector<::mlir::AffineMap> getMaps();

    unsigned getNumDims() { return getLhsMap().getNumDims(); }
    /// What each dimension of the iteration space is.
    ::llvm::SmallVector<DimKind> getDimKinds();
    /// The extent of each dimension of the iteration space; dynamic ones as ShapedType::kDynamic.
    ::llvm::SmallVector<int64_t> getExtents();

    ::mlir::Block &getBody() { return getEpilogue().front(); }
    ::mlir::Type getAccumulatorType() { return getBody().getArgument(0).getType(); }
    /// Whether no index of lhs is a sum.
    bool hasPlainMaps() { return getLhsMap().isProjectedPermutation(); }
    /// Whether the epilogue is the accumulator itself.
    bool hasIdentityEpilogue();
  }];
}

def CPU_YieldOp : CPU_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"ContractOp">]> {
  let summary = "The element that an epilogue computes";
  let arguments = (ins AnyType:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// The device library
//===----------------------------------------------------------------------===//

def CPU_LibraryCallOp : CPU_Op<"library_call", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Calls a function of the device library on buffers";
  let description = [{
    A function of the library takes pointers and 64-bit integers. Here a pointer is written as two operands, a buffer and an index:
    the address of the element that lies that many elements after the buffer's first one. So analyses see which buffers a
    call uses, and it becomes a call on pointers only when buffers do.

    The first buffer is read and written, all others are read only.

    ```mlir
    // lw_mk_f32(acc, a + %i, 768, 1, b, 32, 768)
    cpu.library_call "lw_mk_f32"(%acc, %c0, %a, %i, %c768, %c1, %b, %c0, %c32, %c768)
      : memref<12x32xf32>, index, memref<128x768xf32>, index, index, index, memref<?xf32>, index, index, index
    ```

    Constraints:
    * (C1) The first operand is a buffer.
    * (C2) Each buffer is followed by an index.
    * (C3) All other operands are indices.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyTypeOf<[AnyStridedMemRef, Index]>>:$arguments);
  let assemblyFormat = "$callee `(` $arguments `)` attr-dict `:` type($arguments)";
  let hasVerifier = 1;
}

include "latewood/compiler/Dialect/CPU/GroupOps.td"

#endif // LATEWOOD_COMPILER_DIALECT_CPU_CPUOPS
