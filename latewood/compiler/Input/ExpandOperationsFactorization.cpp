// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factorizations that frameworks call LAPACK for: LU with row exchanges, QR by Householder reflections, tridiagonal
// systems. Operands and results are LAPACK's, packed factors and statuses included, since the program unpacks them
// itself. All dimensions before the last two are a batch. What needs iterations until convergence (eigenvalues,
// singular values) is refused by name.

#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

SmallVector<int64_t> shapeOfColumn(const Tensor &a) {
  SmallVector<int64_t> shape(a.shape());
  shape.back() = 1;
  return shape;
}

SmallVector<int64_t> shapeOfRow(const Tensor &a) {
  SmallVector<int64_t> shape(a.shape());
  shape[a.rank() - 2] = 1;
  return shape;
}

/// The numbers of the rows, as a column of each matrix; and of the columns, as a row.
Tensor numberRows(const Tensor &a) {
  return iota(a.builder(), shapeOfColumn(a), a.builder().getI32Type(), a.rank() - 2);
}
Tensor numberColumns(const Tensor &a) {
  return iota(a.builder(), shapeOfRow(a), a.builder().getI32Type(), a.rank() - 1);
}

Tensor spread(const Tensor &number, const Tensor &like) { return broadcast(number, like.shape(), {}); }
Tensor stretch(const Tensor &x, ArrayRef<int64_t> shape) { return broadcastLeading(x, shape); }

/// column * row, for each matrix.
Tensor outerProduct(const Tensor &column, const Tensor &row) {
  SmallVector<int64_t> shape(column.shape());
  shape.back() = row.extent(-1);
  return stretch(column, shape) * stretch(row, shape);
}

/// Sums over the rows of each matrix, and keeps the dimension.
Tensor sumRows(const Tensor &a) { return reshape(sum(a, {a.rank() - 2}), shapeOfRow(a)); }

bool areTensorsOfRank(int64_t least, TypeRange types) {
  return llvm::all_of(types, [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() >= least;
  });
}

bool isRealTensor(Type type) { return isa<Float32Type, Float64Type>(getElementTypeOrSelf(type)); }

//===----------------------------------------------------------------------===//
// LU
//===----------------------------------------------------------------------===//

struct LU {
  Tensor packed, pivots, info;
};

/// What pivots are compared by; of complex numbers the sum of the parts' absolute values, as in LAPACK.
Tensor getMagnitude(const Tensor &x) {
  auto complex = dyn_cast<ComplexType>(x.element());
  if (!complex)
    return abs(x);
  Builder &b = x.builder();
  Type part = x.type().clone(complex.getElementType());
  Tensor real(b, stablehlo::RealOp::create(b, part, x)), imaginary(b, stablehlo::ImagOp::create(b, part, x));
  return abs(real) + abs(imaginary);
}

/// In step k, the row with the largest element of column k goes to row k, and its multiples are subtracted from the
/// rows below.
LU factorLU(const Tensor &a) {
  Builder &b = a.builder();
  Type i32 = b.getI32Type();
  int64_t rows = a.extent(-2), steps = std::min(rows, a.extent(-1));
  SmallVector<int64_t> batch(a.shape().drop_back(2)), pivotShape(batch), one(batch);
  pivotShape.push_back(steps);
  one.append({1, 1});
  bool isSingle = multiplyExtents(batch) == 1;
  Tensor pivots = splat(b, RankedTensorType::get(pivotShape, i32), 0.0);
  Tensor info = splat(b, RankedTensorType::get(one, i32), 0.0);
  auto step = [&](const Tensor &k, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    Tensor matrix = state[0];
    Tensor number = numberRows(matrix);
    Tensor magnitude = getMagnitude(dynamicSlice(matrix, -1, k));
    magnitude = select(number >= spread(k, number), magnitude, magnitude.like(-1.0));
    // The first of the largest, as LAPACK takes it.
    Tensor largest = reshape(maximumAlong(magnitude, -2), one);
    Tensor rank =
        select(magnitude == stretch(largest, magnitude.shape()), number.likeInteger(rows) - number, number.like(0.0));
    Tensor best = reshape(maximumAlong(rank, -2), one);
    // Nothing equals a NaN: the row stays where it is.
    Tensor place = select(best == 0.0, spread(k, best), best.likeInteger(rows) - best);

    Tensor current = dynamicSlice(matrix, -2, k), pivotRow;
    if (isSingle) {
      Tensor row = reshape(place, {});
      pivotRow = dynamicSlice(matrix, -2, row);
      matrix = dynamicUpdate(matrix, current, -2, row);
    } else {
      // The rows differ from matrix to matrix: they are taken and put by masks.
      Tensor isPivot = stretch(number == stretch(place, number.shape()), matrix.shape());
      pivotRow = sumRows(select(isPivot, matrix, matrix.like(0.0)));
      matrix = select(isPivot, stretch(current, matrix.shape()), matrix);
    }
    matrix = dynamicUpdate(matrix, pivotRow, -2, k);

    Tensor pivot = dynamicSlice(pivotRow, -1, k), column = dynamicSlice(matrix, -1, k);
    Tensor divisor = stretch(select(pivot == 0.0, pivot.like(1.0), pivot), column.shape());
    Tensor isBelow = number > spread(k, number);
    Tensor factors = select(isBelow, column / divisor, column.like(0.0));
    Tensor isRight = numberColumns(matrix) > spread(k, numberColumns(matrix));
    Tensor rest = select(isRight, pivotRow, pivotRow.like(0.0));
    matrix = matrix - outerProduct(factors, rest);
    matrix = dynamicUpdate(matrix, select(isBelow, factors, column), -1, k);

    SmallVector<int64_t> entry(batch);
    entry.push_back(1);
    Tensor nextPivots = dynamicUpdate(state[1], reshape(place + place.likeInteger(1), entry), -1, k);
    Tensor failsFirst = (pivot == 0.0) & (state[2] == 0.0);
    Tensor nextInfo = select(failsFirst, spread(k + k.likeInteger(1), state[2]), state[2]);
    return {matrix, nextPivots, nextInfo};
  };
  SmallVector<Tensor> results = forLoop(b, 0, steps, {a, pivots, info}, step);
  return {results[0], results[1], reshape(results[2], batch)};
}

Results expandGetrf(Builder &b, Operation *op) {
  Type operand = op->getNumOperands() == 1 ? op->getOperand(0).getType() : Type();
  if (!operand || op->getNumResults() != 3 || !areTensorsOfRank(2, op->getOperandTypes()) ||
      !isRealTensor(stablehlo::getRealType(getElementTypeOrSelf(operand))) || op->getResult(0).getType() != operand)
    return op->emitError("an LU call takes matrices and gives factors, pivots and a status");
  LU lu = factorLU(Tensor(b, op->getOperand(0)));
  return SmallVector<Value>{lu.packed, lu.pivots, lu.info};
}

//===----------------------------------------------------------------------===//
// QR
//===----------------------------------------------------------------------===//

/// Column j of the reflection's vector: 1 at j, `below` after it, 0 before.
Tensor makeReflector(const Tensor &column, const Tensor &number, const Tensor &j) {
  Tensor place = spread(j, number);
  return select(number > place, column, select(number == place, column.like(1.0), column.like(0.0)));
}

Results expandGeqrf(Builder &b, Operation *op) {
  Type operand = op->getNumOperands() == 1 ? op->getOperand(0).getType() : Type();
  if (!operand || op->getNumResults() != 2 || !areTensorsOfRank(2, op->getOperandTypes()) || !isRealTensor(operand) ||
      op->getResult(0).getType() != operand)
    return op->emitError("a QR call takes matrices of f32 or f64 and gives packed factors and scales");
  PackedQR qr = factorQR(Tensor(b, op->getOperand(0)));
  return SmallVector<Value>{qr.packed, qr.tau};
}

/// The first columns of the product of the reflections.
Results expandOrgqr(Builder &b, Operation *op) {
  Type operand = op->getNumOperands() == 2 ? op->getOperand(0).getType() : Type();
  if (!operand || op->getNumResults() != 1 || !areTensorsOfRank(1, op->getOperandTypes()) || !isRealTensor(operand) ||
      !areTensorsOfRank(2, operand) || op->getResult(0).getType() != operand)
    return op->emitError("a call for Q takes packed reflections of f32 or f64 and their scales");
  Tensor a(b, op->getOperand(0)), tau(b, op->getOperand(1));
  return SmallVector<Value>{makeQ({a, tau}, a.extent(-1))};
}

//===----------------------------------------------------------------------===//
// Tridiagonal systems
//===----------------------------------------------------------------------===//

/// Elimination with exchanges of neighbours, which makes a second upper diagonal; then substitution from the end.
Results expandGtsv(Builder &b, Operation *op) {
  if (op->getNumOperands() != 4 || op->getNumResults() != 5 || !areTensorsOfRank(1, op->getOperandTypes()) ||
      !areTensorsOfRank(2, op->getOperand(3).getType()) || !isRealTensor(op->getOperand(3).getType()))
    return op->emitError("a call for a tridiagonal system takes three diagonals and the right side of f32 or f64");
  Tensor side(b, op->getOperand(3));
  int64_t extent = side.extent(-2);
  Type i32 = b.getI32Type();
  // Diagonals as columns, so that all have the rank of the right side.
  SmallVector<int64_t> column = shapeOfColumn(side), one(column);
  one[side.rank() - 2] = 1;
  auto asColumn = [&](Value value) { return reshape(Tensor(b, value), column); };
  Tensor lower = asColumn(op->getOperand(0)), diagonal = asColumn(op->getOperand(1)),
         upper = asColumn(op->getOperand(2));
  // The last entry lies outside of the matrix.
  Tensor number = iota(b, column, i32, side.rank() - 2);
  upper = select(number == number.like(static_cast<double>(extent - 1)), upper.like(0.0), upper);
  auto at = [&](const Tensor &x, const Tensor &i) { return dynamicSlice(x, -2, i); };
  auto eliminate = [&](const Tensor &i, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    Tensor d = state[0], u = state[1], second = state[2], x = state[3], next = i + i.likeInteger(1);
    Tensor pivot = at(d, i), below = at(lower, next), right = at(u, i), nextPivot = at(d, next),
           nextRight = at(u, next);
    Tensor row = at(x, i), nextRow = at(x, next);
    Tensor exchanges = abs(below) > abs(pivot);
    auto choose = [&](const Tensor &yes, const Tensor &no) { return select(exchanges, yes, no); };
    Tensor top = choose(below, pivot), factor = choose(pivot, below) / select(top == 0.0, top.like(1.0), top);
    Tensor rightTop = choose(nextPivot, right), secondTop = choose(nextRight, nextRight.like(0.0));
    Tensor newPivot = choose(right, nextPivot) - factor * rightTop;
    Tensor newRight = choose(-(factor * nextRight), nextRight);
    Tensor rowExchanges = stretch(exchanges, row.shape());
    Tensor rowTop = select(rowExchanges, nextRow, row);
    Tensor newRow = select(rowExchanges, row, nextRow) - stretch(factor, row.shape()) * rowTop;
    auto put = [&](const Tensor &to, const Tensor &first, const Tensor &then) {
      return dynamicUpdate(dynamicUpdate(to, first, -2, i), then, -2, next);
    };
    return {put(d, top, newPivot), put(u, rightTop, newRight), dynamicUpdate(second, secondTop, -2, i),
            put(x, rowTop, newRow)};
  };
  SmallVector<Tensor> state = {diagonal, upper, diagonal.like(0.0), side};
  if (extent > 1)
    state = forLoop(b, 0, extent - 1, state, eliminate);
  Tensor d = state[0], u = state[1], second = state[2];
  // The first pivot of zero is where the matrix is singular.
  Tensor rank = select(d == 0.0, number.likeInteger(extent) - number, number.like(0.0));
  Tensor first = reshape(maximumAlong(rank, -2), one);
  Tensor status = select(first == 0.0, first, first.likeInteger(extent + 1) - first);
  // Two rows of zeros behind the end stand for the unknowns that do not exist.
  Tensor padded = padZeros(state[3], -2, 0, 2);
  auto substitute = [&](const Tensor &i, ArrayRef<Tensor> carried) -> SmallVector<Tensor> {
    const Tensor &x = carried[0];
    Tensor row = i.likeInteger(extent - 1) - i;
    Tensor known = dynamicSlice(x, -2, row, 3);
    Tensor current = slice(known, -2, 0, 1);
    Tensor solved = current - stretch(at(u, row), current.shape()) * slice(known, -2, 1, 2) -
                    stretch(at(second, row), current.shape()) * slice(known, -2, 2, 3);
    return {dynamicUpdate(x, solved / stretch(at(d, row), current.shape()), -2, row)};
  };
  Tensor x = slice(forLoop(b, 0, extent, {padded}, substitute)[0], -2, 0, extent);
  auto as = [&](const Tensor &value, unsigned result) -> Value {
    return reshape(value, cast<RankedTensorType>(op->getResult(result).getType()).getShape());
  };
  return SmallVector<Value>{as(second, 0), as(d, 1), as(u, 2), x, as(status, 4)};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

Results refuse(Builder &, Operation *op) {
  StringRef target = cast<stablehlo::CustomCallOp>(op).getCallTargetName();
  StringRef what = target.contains("gees") || target.contains("trsyl")    ? "Schur factors"
                   : target.contains("geev") || target.contains("heevd")  ? "complex eigenvalues"
                   : target.contains("gesdd") || target.contains("gesvd") ? "complex singular vectors"
                                                                          : "Hessenberg or tridiagonal form";
  return op->emitError() << "the decomposition of matrices into " << what << " (custom call '" << target
                         << "') is not supported";
}

} // namespace

PackedQR factorQR(const Tensor &a) {
  Builder &b = a.builder();
  int64_t steps = std::min(a.extent(-2), a.extent(-1));
  SmallVector<int64_t> tauShape(a.shape().drop_back());
  tauShape.back() = steps;
  Tensor tau = splat(b, a.type().clone(tauShape), 0.0);
  auto step = [&](const Tensor &j, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    const Tensor &matrix = state[0];
    Tensor number = numberRows(matrix), column = dynamicSlice(matrix, -1, j);
    Tensor alpha = dynamicSlice(column, -2, j);
    Tensor isBelow = number > spread(j, number);
    Tensor below = select(isBelow, column, column.like(0.0));
    // Scaled, so that squares neither overflow nor vanish.
    Tensor scale = maximum(reshape(maximumAlong(abs(below), -2), alpha.shape()), abs(alpha));
    Tensor safeScale = select(scale > 0.0, scale, scale.like(1.0));
    Tensor scaled = below / stretch(safeScale, below.shape());
    Tensor squares = sumRows(scaled * scaled), scaledAlpha = alpha / safeScale;
    Tensor norm = safeScale * sqrt(squares + scaledAlpha * scaledAlpha);
    Tensor isIdentity = squares == 0.0;
    Tensor beta = select(alpha >= 0.0, -norm, norm);
    Tensor tau = select(isIdentity, alpha.like(0.0), (beta - alpha) / select(isIdentity, beta.like(1.0), beta));
    Tensor divisor = select(isIdentity, alpha.like(1.0), alpha - beta);
    Tensor tail = below / stretch(divisor, below.shape());
    Tensor vector = makeReflector(tail, number, j);
    // H A = A - tau v (v^T A), on the columns to the right.
    Tensor products = sumRows(stretch(vector, matrix.shape()) * matrix) * stretch(tau, shapeOfRow(matrix));
    Tensor isRight = numberColumns(matrix) > spread(j, numberColumns(matrix));
    Tensor rest = matrix - outerProduct(vector, select(isRight, products, products.like(0.0)));
    Tensor diagonal = stretch(select(isIdentity, alpha, beta), column.shape());
    Tensor packed = select(isBelow, tail, select(number == spread(j, number), diagonal, dynamicSlice(rest, -1, j)));
    SmallVector<int64_t> entry(tauShape);
    entry.back() = 1;
    return {dynamicUpdate(rest, packed, -1, j), dynamicUpdate(state[1], reshape(tau, entry), -1, j)};
  };
  SmallVector<Tensor> results = forLoop(b, 0, steps, {a, tau}, step);
  return {results[0], results[1]};
}

Tensor makeQ(const PackedQR &qr, int64_t columns) {
  Builder &b = qr.packed.builder();
  int64_t steps = qr.tau.extent(-1), rank = qr.packed.rank();
  SmallVector<int64_t> shape(qr.packed.shape()), one(shape);
  shape.back() = columns;
  one[rank - 1] = one[rank - 2] = 1;
  ArrayRef<int64_t> matrix = ArrayRef(shape).take_back(2);
  Tensor isDiagonal = iota(b, matrix, b.getI32Type(), 0) == iota(b, matrix, b.getI32Type(), 1);
  Tensor identity = broadcast(convert(isDiagonal, qr.packed.element()), shape, {rank - 2, rank - 1});
  // The last reflection acts first.
  auto step = [&](const Tensor &i, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    const Tensor &q = state[0];
    Tensor j = i.likeInteger(steps - 1) - i;
    Tensor vector = makeReflector(dynamicSlice(qr.packed, -1, j), numberRows(qr.packed), j);
    Tensor scale = reshape(dynamicSlice(qr.tau, -1, j), one);
    Tensor products = sumRows(stretch(vector, q.shape()) * q) * stretch(scale, shapeOfRow(q));
    return {q - outerProduct(vector, products)};
  };
  return forLoop(b, 0, steps, {identity}, step)[0];
}

void addFactorizationExpansions(ExpansionTable &table) {
  for (StringRef type : {"s", "d", "c", "z"})
    table.addCall(("lapack_" + type + "getrf_ffi").str(), expandGetrf, Dynamic::AllButTwo);
  for (StringRef type : {"s", "d"}) {
    table.addCall(("lapack_" + type + "geqrf_ffi").str(), expandGeqrf, Dynamic::AllButTwo);
    table.addCall(("lapack_" + type + "orgqr_ffi").str(), expandOrgqr, Dynamic::AllButTwo);
    table.addCall(("lapack_" + type + "gtsv_ffi").str(), expandGtsv, Dynamic::AllButTwo);
  }
  for (StringRef name : {"sgees",  "dgees",  "cgees",  "zgees",  "sgeev",  "dgeev",  "cgeev",  "zgeev",  "cheevd",
                         "zheevd", "cgesdd", "zgesdd", "cgesvd", "zgesvd", "sgehrd", "dgehrd", "cgehrd", "zgehrd",
                         "ssytrd", "dsytrd", "chetrd", "zhetrd", "strsyl", "dtrsyl", "ctrsyl", "ztrsyl"})
    table.addCall(("lapack_" + name + "_ffi").str(), refuse);
}

} // namespace latewood::input
