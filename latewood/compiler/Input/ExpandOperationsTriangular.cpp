// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Triangular systems and Cholesky factors. Large matrices are split in halves, so that nearly all work is in matrix
// products, and blocks are done by a loop over rows or columns, each of which updates the rest by an outer product.
//
// What stands in the triangle that an operation does not use is never read: it is masked before anything is multiplied
// with it.

#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

/// The extent of blocks that loops do. Each block is code of its own, so a large matrix has larger ones.
int64_t getBlockExtent(int64_t extent) { return extent <= 128 ? 32 : extent <= 512 ? 64 : 128; }

int64_t getHalf(int64_t extent, int64_t block) { return llvm::divideCeil(extent / 2, block) * block; }

enum class Part { lower, strictlyLower, strictlyUpper };

/// `a` in one part, zero elsewhere.
Tensor keepPart(const Tensor &a, Part part) {
  Builder &b = a.builder();
  SmallVector<int64_t> matrix(a.shape().take_back(2));
  Tensor row = iota(b, matrix, b.getI32Type(), 0), column = iota(b, matrix, b.getI32Type(), 1);
  Tensor mask = part == Part::lower ? row >= column : part == Part::strictlyLower ? row > column : row < column;
  mask = broadcast(mask, a.shape(), {a.rank() - 2, a.rank() - 1});
  return select(mask, a, a.like(0.0));
}

Tensor block(const Tensor &a, int64_t row, int64_t rowLimit, int64_t column, int64_t columnLimit) {
  return slice(slice(a, -2, row, rowLimit), -1, column, columnLimit);
}

Tensor conjugate(const Tensor &x) {
  auto complex = dyn_cast<ComplexType>(x.element());
  if (!complex)
    return x;
  Builder &b = x.builder();
  Type part = x.type().clone(complex.getElementType());
  Tensor real(b, stablehlo::RealOp::create(b, part, x)), imaginary(b, stablehlo::ImagOp::create(b, part, x));
  return Tensor(b, stablehlo::ComplexOp::create(b, x.type(), real, -imaginary));
}

/// The root of numbers that are real.
Tensor realRoot(const Tensor &x) {
  auto complex = dyn_cast<ComplexType>(x.element());
  if (!complex)
    return sqrt(x);
  Builder &b = x.builder();
  Tensor root = sqrt(Tensor(b, stablehlo::RealOp::create(b, x.type().clone(complex.getElementType()), x)));
  return Tensor(b, stablehlo::ComplexOp::create(b, x.type(), root, root.like(0.0)));
}

/// One block, row by row: each solved row is subtracted from those that depend on it. `strict` is `a` without its
/// diagonal.
Tensor solveBlock(const Tensor &a, const Tensor &strict, const Tensor &b, bool lower, bool unitDiagonal) {
  int64_t extent = a.extent(-1);
  auto step = [&](const Tensor &number, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    const Tensor &x = state[0];
    Tensor i = lower ? number : number.likeInteger(extent - 1) - number;
    Tensor row = dynamicSlice(x, -2, i);
    if (!unitDiagonal) {
      Tensor pivot = dynamicSlice(dynamicSlice(a, -2, i), -1, i);
      row = row / broadcastLeading(pivot, row.shape());
    }
    Tensor column = dynamicSlice(strict, -1, i);
    Tensor rest = x - broadcastLeading(column, x.shape()) * broadcastLeading(row, x.shape());
    return {dynamicUpdate(rest, row, -2, i)};
  };
  return forLoop(a.builder(), 0, extent, {b}, step)[0];
}

Tensor solve(const Tensor &a, const Tensor &strict, const Tensor &b, bool lower, bool unitDiagonal,
             int64_t blockExtent) {
  int64_t extent = a.extent(-1);
  if (extent <= blockExtent)
    return solveBlock(a, strict, b, lower, unitDiagonal);
  int64_t half = getHalf(extent, blockExtent);
  auto part = [&](int64_t begin, int64_t end, const Tensor &side) {
    return solve(block(a, begin, end, begin, end), block(strict, begin, end, begin, end), side, lower, unitDiagonal,
                 blockExtent);
  };
  Tensor top = slice(b, -2, 0, half), bottom = slice(b, -2, half, extent);
  if (lower) {
    Tensor first = part(0, half, top);
    Tensor second = part(half, extent, bottom - multiplyMatrices(block(a, half, extent, 0, half), first));
    return concatenate({first, second}, -2);
  }
  Tensor second = part(half, extent, bottom);
  Tensor first = part(0, half, top - multiplyMatrices(block(a, 0, half, half, extent), second));
  return concatenate({first, second}, -2);
}

/// One block, column by column. Only the lower triangle counts.
Tensor factorBlock(const Tensor &a) {
  Builder &b = a.builder();
  int64_t extent = a.extent(-1);
  SmallVector<int64_t> column(a.shape());
  column.back() = 1;
  Tensor number = iota(b, column, b.getI32Type(), a.rank() - 2);
  auto step = [&](const Tensor &j, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    const Tensor &rest = state[0];
    Tensor current = dynamicSlice(rest, -1, j);
    Tensor root = broadcastLeading(realRoot(dynamicSlice(current, -2, j)), column);
    Tensor place = broadcast(j, column, {});
    Tensor below = select(number > place, current / root, current.like(0.0));
    Tensor factor = select(number == place, root, below);
    Tensor product =
        broadcastLeading(below, a.shape()) * broadcastLeading(conjugate(transposeMatrix(below)), a.shape());
    return {dynamicUpdate(rest - product, factor, -1, j)};
  };
  return keepPart(forLoop(b, 0, extent, {a}, step)[0], Part::lower);
}

Tensor factor(const Tensor &a, int64_t blockExtent) {
  int64_t extent = a.extent(-1);
  if (extent <= blockExtent)
    return factorBlock(a);
  int64_t half = getHalf(extent, blockExtent);
  Tensor first = factor(block(a, 0, half, 0, half), blockExtent);
  // below first^H = a21, solved for the adjoint of `below`.
  Tensor adjoint = solveTriangular(first, conjugate(transposeMatrix(block(a, half, extent, 0, half))), /*lower=*/true,
                                   /*unitDiagonal=*/false);
  Tensor below = conjugate(transposeMatrix(adjoint));
  Tensor second = factor(block(a, half, extent, half, extent) - multiplyMatrices(below, adjoint), blockExtent);
  return concatenate({padZeros(first, -1, 0, extent - half), concatenate({below, second}, -1)}, -2);
}

Tensor cholesky(const Tensor &a, bool lower) {
  if (isKnownEmpty(a.type()))
    return a;
  Type element = isa<ComplexType>(a.element()) ? a.element() : getComputeElement(a.element());
  Tensor wide = isa<ComplexType>(element) ? a : convert(a, element);
  if (!lower)
    wide = conjugate(transposeMatrix(wide));
  Tensor result = factor(wide, getBlockExtent(wide.extent(-1)));
  if (!lower)
    result = conjugate(transposeMatrix(result));
  return isa<ComplexType>(element) ? result : convert(result, a.element());
}

/// Solves op(a) x = b, or x op(a) = b.
Tensor solveSystem(Tensor a, Tensor b, bool left, bool lower, bool unitDiagonal, bool transposes, bool conjugates) {
  Type element = b.element();
  bool isComplex = isa<ComplexType>(element);
  if (isKnownEmpty(b.type()))
    return b;
  if (!isComplex) {
    a = convert(a, getComputeElement(element));
    b = convert(b, getComputeElement(element));
  }
  if (conjugates)
    a = conjugate(a);
  // x op(a) = b is op(a)^T x^T = b^T.
  if (transposes == left) {
    a = transposeMatrix(a);
    lower = !lower;
  }
  Tensor x = solveTriangular(a, left ? b : transposeMatrix(b), lower, unitDiagonal);
  x = left ? x : transposeMatrix(x);
  return isComplex ? x : convert(x, element);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Results expandCholesky(Builder &b, Operation *op) {
  return SmallVector<Value>{cholesky(Tensor(b, op->getOperand(0)), cast<stablehlo::CholeskyOp>(op).getLower())};
}

Results expandTriangularSolve(Builder &b, Operation *op) {
  auto system = cast<stablehlo::TriangularSolveOp>(op);
  stablehlo::Transpose transpose = system.getTransposeA();
  return SmallVector<Value>{
      solveSystem(Tensor(b, system.getA()), Tensor(b, system.getB()), system.getLeftSide(), system.getLower(),
                  system.getUnitDiagonal(),
                  transpose == stablehlo::Transpose::TRANSPOSE || transpose == stablehlo::Transpose::ADJOINT,
                  transpose == stablehlo::Transpose::ADJOINT)};
}

/// A letter among the options of a LAPACK call, or 0.
char getLetter(Operation *op, StringRef name) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto letter = config ? config.getAs<IntegerAttr>(name) : nullptr;
  return letter ? static_cast<char>(letter.getValue().getZExtValue()) : 0;
}

bool areMatrices(TypeRange types) {
  return llvm::all_of(types, [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() >= 2;
  });
}

/// Factor, and per matrix the number of the first pivot that is not positive, or 0.
Results expandPotrf(Builder &b, Operation *op) {
  char triangle = getLetter(op, "uplo");
  auto info = op->getNumResults() == 2 ? dyn_cast<RankedTensorType>(op->getResult(1).getType()) : nullptr;
  if (op->getNumOperands() != 1 || !info || !info.getElementType().isInteger(32) ||
      !areMatrices(op->getOperandTypes()) || op->getResult(0).getType() != op->getOperand(0).getType() ||
      (triangle != 'L' && triangle != 'U'))
    return op->emitError(
        "a Cholesky call takes matrices and gives their factors and a status, with option 'uplo' L or U");
  Tensor result = cholesky(Tensor(b, op->getOperand(0)), triangle == 'L');
  int64_t extent = result.extent(-1);
  if (isKnownEmpty(result.type()))
    return SmallVector<Value>{result, splat(b, info, 0.0)};
  Type part = stablehlo::getRealType(result.element());
  Tensor real =
      part == result.element() ? result : Tensor(b, stablehlo::RealOp::create(b, result.type().clone(part), result));
  Tensor row = iota(b, real.shape(), b.getI32Type(), real.rank() - 2);
  Tensor column = iota(b, real.shape(), b.getI32Type(), real.rank() - 1);
  // The largest of "extent + 1 - number" belongs to the first.
  Tensor isBad = (row == column) & !(real > 0.0);
  Tensor rank = select(isBad, row.likeInteger(extent) - row, row.like(0.0));
  Tensor first = maximumAlong(maximumAlong(rank, -1), -1);
  Tensor status = select(first == 0.0, first, first.likeInteger(extent + 1) - first);
  return SmallVector<Value>{result, reshape(status, info.getShape())};
}

Results expandTrsm(Builder &b, Operation *op) {
  char side = getLetter(op, "side"), triangle = getLetter(op, "uplo"), diagonal = getLetter(op, "diag");
  char transpose = getLetter(op, "trans_x");
  if (op->getNumOperands() != 2 || op->getNumResults() != 1 || !areMatrices(op->getOperandTypes()) ||
      op->getResult(0).getType() != op->getOperand(1).getType() || (side != 'L' && side != 'R') ||
      (triangle != 'L' && triangle != 'U') || (diagonal != 'N' && diagonal != 'U') ||
      (transpose != 'N' && transpose != 'T' && transpose != 'C'))
    return op->emitError(
        "a triangular solve call takes the matrix and the right side, with options 'side', 'uplo', 'diag', "
        "'trans_x'");
  return SmallVector<Value>{solveSystem(Tensor(b, op->getOperand(0)), Tensor(b, op->getOperand(1)), side == 'L',
                                        triangle == 'L', diagonal == 'U', transpose != 'N', transpose == 'C')};
}

} // namespace

Tensor solveTriangular(const Tensor &a, const Tensor &b, bool lower, bool unitDiagonal) {
  if (isKnownEmpty(b.type()))
    return b;
  Tensor strict = keepPart(a, lower ? Part::strictlyLower : Part::strictlyUpper);
  return solve(a, strict, b, lower, unitDiagonal, getBlockExtent(a.extent(-1)));
}

void addTriangularExpansions(ExpansionTable &table) {
  table.add<stablehlo::CholeskyOp>(expandCholesky, Dynamic::AllButTwo);
  table.add<stablehlo::TriangularSolveOp>(expandTriangularSolve, Dynamic::AllButTwo);
  for (StringRef type : {"s", "d", "c", "z"}) {
    table.addCall(("lapack_" + type + "potrf_ffi").str(), expandPotrf, Dynamic::AllButTwo);
    table.addCall(("lapack_" + type + "trsm_ffi").str(), expandTrsm, Dynamic::AllButTwo);
  }
}

} // namespace latewood::input
