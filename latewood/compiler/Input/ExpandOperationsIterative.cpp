// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Eigenvalues of symmetric matrices and singular values, by C. Jacobi's rotations.
//
// A rotation makes one pair of rows (and columns) orthogonal; repeated over all pairs, it converges fast, and to high
// relative accuracy. Half as many pairs as there are rows are disjoint, and are rotated together: rows stand in two
// blocks, row i of the one forms a pair with row i of the other, and between rounds rows move on as players in a
// tournament do (R. Brent, F. Luk), so that after n - 1 rounds, a sweep, each has met each and stands where it stood.
// So all work is on whole blocks.
//
// Signs of vectors are not determined; these are not always LAPACK's. All dimensions before the last two are one batch
// here.

#include "latewood/compiler/Input/ExpandOperations.h"

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

// Convergence is quadratic; ten sweeps are many.
constexpr int64_t maxSweeps = 40;

struct Blocks {
  Tensor top, bottom;
};

Blocks split(const Tensor &x, int64_t dim) {
  int64_t half = x.extent(dim) / 2;
  return {slice(x, dim, 0, half), slice(x, dim, half, 2 * half)};
}
Tensor join(const Blocks &x, int64_t dim) { return concatenate({x.top, x.bottom}, dim); }

/// The next round: the first stays, all others go round.
Blocks moveOn(const Blocks &x, int64_t dim) {
  int64_t half = x.top.extent(dim);
  if (half == 1)
    return x;
  Tensor top = concatenate({slice(x.top, dim, 0, 1), slice(x.bottom, dim, 0, 1), slice(x.top, dim, 1, half - 1)}, dim);
  Tensor bottom = concatenate({slice(x.bottom, dim, 1, half), slice(x.top, dim, half - 1, half)}, dim);
  return {top, bottom};
}

struct Rotation {
  Tensor cosine, sine, tangent;
};

/// The smaller angle that makes (first, mixed; mixed, last) diagonal; all are [batch, pairs].
Rotation makeRotation(const Tensor &first, const Tensor &mixed, const Tensor &last) {
  Tensor isDiagonal = mixed == 0.0;
  Tensor ratio = (last - first) / (2.0 * select(isDiagonal, mixed.like(1.0), mixed));
  Tensor size = 1.0 / (abs(ratio) + sqrt(1.0 + ratio * ratio));
  Tensor tangent = select(isDiagonal, mixed.like(0.0), select(ratio < 0.0, -size, size));
  Tensor cosine = 1.0 / sqrt(1.0 + tangent * tangent);
  return {cosine, tangent * cosine, tangent};
}

/// Rotates each row of one block with that of the other (dim 1), or each column (dim 2).
Blocks rotate(const Blocks &x, const Rotation &rotation, int64_t dim) {
  auto spread = [&](const Tensor &factor) { return broadcast(factor, x.top.shape(), {0, dim}); };
  Tensor cosine = spread(rotation.cosine), sine = spread(rotation.sine);
  return {cosine * x.top - sine * x.bottom, sine * x.top + cosine * x.bottom};
}

Tensor isOnDiagonal(const Tensor &x) {
  SmallVector<int64_t> matrix(x.shape().take_back(2));
  Builder &b = x.builder();
  Tensor mask = iota(b, matrix, b.getI32Type(), 0) == iota(b, matrix, b.getI32Type(), 1);
  return broadcast(mask, x.shape(), {1, 2});
}

Tensor getDiagonal(const Tensor &x) { return sum(select(isOnDiagonal(x), x, x.like(0.0)), {2}); }
Tensor withDiagonal(const Tensor &x, const Tensor &diagonal) {
  return select(isOnDiagonal(x), broadcast(diagonal, x.shape(), {0, 1}), x);
}

Tensor makeIdentity(Builder &b, int64_t batch, int64_t extent, Type element) {
  Tensor zeros = splat(b, RankedTensorType::get({batch, extent, extent}, element), 0.0);
  return convert(isOnDiagonal(zeros), element);
}

/// Values along the last dimension in order, and rows in the same order.
std::pair<Tensor, Tensor> sortRows(const Tensor &values, const Tensor &rows, stablehlo::ComparisonDirection direction) {
  Builder &b = values.builder();
  int64_t extent = values.extent(1);
  Tensor position = iota(b, values.shape(), b.getI32Type(), 1);
  auto sort = stablehlo::SortOp::create(b, TypeRange{values.type(), position.type()}, ValueRange{values, position}, 1,
                                        /*is_stable=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    auto value = RankedTensorType::get({}, values.element()), index = RankedTensorType::get({}, b.getI32Type());
    Block *body =
        b.createBlock(&sort.getComparator(), {}, {value, value, index, index}, SmallVector<Location>(4, b.getLoc()));
    Value comesFirst = compare(direction, Tensor(b, body->getArgument(0)), Tensor(b, body->getArgument(1)));
    stablehlo::ReturnOp::create(b, comesFirst);
  }
  // A product with a permutation matrix moves rows, whatever the batch.
  SmallVector<int64_t> shape = {values.extent(0), extent, extent};
  Tensor from = broadcast(Tensor(b, sort->getResult(1)), shape, {0, 1});
  Tensor permutation = convert(from == iota(b, shape, b.getI32Type(), 2), values.element());
  return {Tensor(b, sort->getResult(0)), multiplyMatrices(permutation, rows)};
}

/// The largest number of each matrix, or 1 if that is 0: what divides away overflow.
Tensor getScale(const Tensor &a) {
  Tensor largest = maximumAlong(maximumAlong(abs(a), 2), 1);
  return select(largest > 0.0, largest, largest.like(1.0));
}
Tensor spreadScale(const Tensor &scale, const Tensor &like) { return broadcast(scale, like.shape(), {0}); }

//===----------------------------------------------------------------------===//
// Symmetric eigenvalues
//===----------------------------------------------------------------------===//

struct Eigen {
  Tensor values, rows, hasConverged;
};

/// `a`: [batch, n, n], symmetric. Values ascend; rows are the vectors.
Eigen decomposeSymmetric(Tensor a) {
  Builder &b = a.builder();
  int64_t batch = a.extent(0), extent = a.extent(1);
  Tensor scale = getScale(a);
  a = a / spreadScale(scale, a);
  // One more row of zeros is orthogonal already, and comes back to its place.
  int64_t even = extent + extent % 2;
  a = padZeros(padZeros(a, 1, 0, even - extent), 2, 0, even - extent);
  auto [upper, lower] = split(a, 1);
  auto [topLeft, topRight] = split(upper, 2);
  auto [bottomLeft, bottomRight] = split(lower, 2);
  auto [topVectors, bottomVectors] = split(makeIdentity(b, batch, even, a.element()), 1);

  auto round = [&](const Tensor &, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    Tensor first = getDiagonal(state[0]), mixed = getDiagonal(state[1]), last = getDiagonal(state[3]);
    Rotation rotation = makeRotation(first, mixed, last);
    Blocks left = rotate({state[0], state[2]}, rotation, 1), right = rotate({state[1], state[3]}, rotation, 1);
    Blocks top = rotate({left.top, right.top}, rotation, 2), bottom = rotate({left.bottom, right.bottom}, rotation, 2);
    Tensor zero = first.like(0.0);
    top = {withDiagonal(top.top, first - rotation.tangent * mixed), withDiagonal(top.bottom, zero)};
    bottom = {withDiagonal(bottom.top, zero), withDiagonal(bottom.bottom, last + rotation.tangent * mixed)};
    top = moveOn(top, 2);
    bottom = moveOn(bottom, 2);
    left = moveOn({top.top, bottom.top}, 1);
    right = moveOn({top.bottom, bottom.bottom}, 1);
    Blocks vectors = moveOn(rotate({state[4], state[5]}, rotation, 1), 1);
    return {left.top, right.top, left.bottom, right.bottom, vectors.top, vectors.bottom};
  };
  // What is off the diagonals counts against all.
  auto isFar = [&](ArrayRef<Tensor> state) {
    Tensor off = state[0].like(0.0), all = off;
    for (unsigned i = 0; i < 4; ++i) {
      Tensor square = state[i] * state[i];
      all = all + square;
      off = off + (i == 0 || i == 3 ? select(isOnDiagonal(square), square.like(0.0), square) : square);
    }
    Tensor tolerance = all.likeEpsilon();
    return sum(off, {1, 2}) > sum(all * (tolerance * tolerance), {1, 2});
  };
  auto goesOn = [&](ArrayRef<Tensor> state) {
    return (state[0] < scalar(b, b.getI32Type(), maxSweeps)) & isAny(isFar(state.drop_front()));
  };
  auto sweep = [&](ArrayRef<Tensor> state) {
    SmallVector<Tensor> next = {state[0] + state[0].likeInteger(1)};
    next.append(forLoop(b, 0, even - 1, state.drop_front(), round));
    return next;
  };
  SmallVector<Tensor> state = {
      scalar(b, b.getI32Type(), 0), topLeft, topRight, bottomLeft, bottomRight, topVectors, bottomVectors};
  state = whileLoop(b, state, goesOn, sweep);
  Tensor values = slice(concatenate({getDiagonal(state[1]), getDiagonal(state[4])}, 1), 1, 0, extent);
  Tensor rows = slice(slice(join({state[5], state[6]}, 1), 1, 0, extent), 2, 0, extent);
  auto [sorted, vectors] =
      sortRows(values * broadcast(scale, values.shape(), {0}), rows, stablehlo::ComparisonDirection::LT);
  // A NaN is neither far nor near.
  Tensor total = sum(values, {1});
  return {sorted, vectors, (!isFar(ArrayRef(state).drop_front())) & isFinite(total)};
}

//===----------------------------------------------------------------------===//
// Singular values
//===----------------------------------------------------------------------===//

struct Singular {
  /// `left`: [batch, m, n or m] in columns, `right`: [batch, n, n] in rows.
  Tensor values, left, right, hasConverged;
};

/// `a`: [batch, m, n], m >= n. M. Hestenes' one-sided method: columns are rotated until they are orthogonal; their
/// norms are the values.
Singular decomposeTall(const Tensor &matrix, int64_t leftColumns) {
  Builder &b = matrix.builder();
  int64_t batch = matrix.extent(0), rows = matrix.extent(1), extent = matrix.extent(2);
  Tensor scale = getScale(matrix);
  // Columns stand in rows, where they are contiguous.
  int64_t even = extent + extent % 2;
  Tensor columns = padZeros(transposeMatrix(matrix / spreadScale(scale, matrix)), 1, 0, even - extent);
  auto [topColumns, bottomColumns] = split(columns, 1);
  auto [topVectors, bottomVectors] = split(makeIdentity(b, batch, even, matrix.element()), 1);
  double digits = static_cast<double>(std::max<int64_t>(rows, 16));

  auto round = [&](const Tensor &, ArrayRef<Tensor> state) -> SmallVector<Tensor> {
    const Tensor &top = state[1], &bottom = state[2];
    Tensor first = sum(top * top, {2}), last = sum(bottom * bottom, {2}), mixed = sum(top * bottom, {2});
    // A cosine that is no more than rounding is left.
    Tensor bound = sqrt(first) * sqrt(last) * (std::sqrt(digits) * mixed.likeEpsilon());
    Tensor isFar = abs(mixed) > bound;
    Rotation rotation = makeRotation(first, select(isFar, mixed, mixed.like(0.0)), last);
    Blocks turned = moveOn(rotate({top, bottom}, rotation, 1), 1);
    Blocks vectors = moveOn(rotate({state[3], state[4]}, rotation, 1), 1);
    return {state[0] | isAny(isFar), turned.top, turned.bottom, vectors.top, vectors.bottom};
  };
  auto goesOn = [&](ArrayRef<Tensor> state) { return (state[0] < scalar(b, b.getI32Type(), maxSweeps)) & state[1]; };
  auto sweep = [&](ArrayRef<Tensor> state) {
    SmallVector<Tensor> next = {state[0] + state[0].likeInteger(1)};
    SmallVector<Tensor> carried = {scalar(b, b.getI1Type(), 0)};
    carried.append(state.begin() + 2, state.end());
    next.append(forLoop(b, 0, even - 1, carried, round));
    return next;
  };
  SmallVector<Tensor> state = {
      scalar(b, b.getI32Type(), 0), scalar(b, b.getI1Type(), 1), topColumns, bottomColumns, topVectors, bottomVectors};
  state = whileLoop(b, state, goesOn, sweep);
  Tensor turned = slice(join({state[2], state[3]}, 1), 1, 0, extent);
  Tensor vectors = slice(slice(join({state[4], state[5]}, 1), 1, 0, extent), 2, 0, extent);
  Tensor norms = sqrt(sum(turned * turned, {2}));
  auto [values, both] = sortRows(norms, concatenate({turned, vectors}, 2), stablehlo::ComparisonDirection::GT);
  Tensor leftRows = slice(both, 2, 0, rows), right = slice(both, 2, rows, rows + extent);
  Tensor divisor = select(values > 0.0, values, values.like(1.0));
  leftRows = leftRows / broadcast(divisor, leftRows.shape(), {0, 1});
  // Q of orthonormal columns is these columns up to signs; where a column is zero, or there is none, it completes the
  // basis.
  PackedQR qr = factorQR(transposeMatrix(leftRows));
  Tensor q = makeQ(qr, leftColumns);
  Tensor diagonal = getDiagonal(slice(qr.packed, 1, 0, extent));
  Tensor signs = select(diagonal < 0.0, diagonal.like(-1.0), diagonal.like(1.0));
  if (leftColumns > extent)
    signs = concatenate({signs, splat(b, signs.type().clone({batch, leftColumns - extent}), 1.0)}, 1);
  Tensor left = q * broadcast(signs, q.shape(), {0, 2});
  Tensor hasConverged = isFinite(sum(values, {1})) & broadcast(!state[1], {batch}, {});
  return {values * broadcast(scale, values.shape(), {0}), left, right, hasConverged};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The matrices of a call as [batch, m, n], or nothing when the call has other types.
std::optional<Tensor> getMatrices(Builder &b, Operation *op, unsigned results) {
  auto type = op->getNumOperands() == 1 ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : nullptr;
  if (!type || type.getRank() < 2 || op->getNumResults() != results ||
      !isa<Float32Type, Float64Type>(type.getElementType()) ||
      llvm::any_of(op->getResultTypes(), [](Type result) { return !isa<RankedTensorType>(result); }))
    return std::nullopt;
  // A dynamic batch is one dimension already: its extent is that of the operand.
  int64_t batch = multiplyExtents(type.getShape().drop_back(2));
  if (isDynamic(batch) && type.getRank() != 3)
    return std::nullopt;
  return reshape(Tensor(b, op->getOperand(0)), {batch, type.getShape().end()[-2], type.getShape().end()[-1]});
}

Value asResult(const Tensor &x, Operation *op, unsigned number) {
  return reshape(x, cast<RankedTensorType>(op->getResult(number).getType()).getShape());
}

Tensor getStatus(const Tensor &hasConverged) { return convert(!hasConverged, hasConverged.builder().getI32Type()); }

char getLetter(Operation *op, StringRef name) {
  auto config = op->getAttrOfType<DictionaryAttr>("mhlo.backend_config");
  auto letter = config ? config.getAs<IntegerAttr>(name) : nullptr;
  return letter ? static_cast<char>(letter.getValue().getZExtValue()) : 0;
}

SmallVector<Value> makeZeroResults(Builder &b, Operation *op) {
  return llvm::map_to_vector(op->getResultTypes(),
                             [&](Type type) -> Value { return splat(b, cast<RankedTensorType>(type), 0.0); });
}

Results expandSyevd(Builder &b, Operation *op) {
  std::optional<Tensor> operand = getMatrices(b, op, 3);
  char triangle = getLetter(op, "uplo");
  if (!operand || operand->extent(1) != operand->extent(2) ||
      op->getResult(0).getType() != op->getOperand(0).getType() || (triangle != 'L' && triangle != 'U'))
    return op->emitError("a call for eigenvalues takes symmetric matrices of f32 or f64 (with one dimension of batch "
                         "where that is dynamic), with option 'uplo', and gives vectors, "
                         "values and a status");
  const Tensor &a = *operand;
  if (isKnownEmpty(a.type()))
    return makeZeroResults(b, op);
  // Only one triangle is given.
  SmallVector<int64_t> matrix(a.shape().take_back(2));
  Tensor row = iota(b, matrix, b.getI32Type(), 0), column = iota(b, matrix, b.getI32Type(), 1);
  Tensor isGiven = broadcast(triangle == 'L' ? row >= column : row <= column, a.shape(), {1, 2});
  Eigen eigen = decomposeSymmetric(select(isGiven, a, transposeMatrix(a)));
  return SmallVector<Value>{asResult(transposeMatrix(eigen.rows), op, 0), asResult(eigen.values, op, 1),
                            asResult(getStatus(eigen.hasConverged), op, 2)};
}

Results expandGesdd(Builder &b, Operation *op) {
  std::optional<Tensor> operand = getMatrices(b, op, 5);
  if (!operand || op->getResult(0).getType() != op->getOperand(0).getType())
    return op->emitError("a call for singular values takes matrices of f32 or f64 (with one dimension of batch where "
                         "that is dynamic) and gives a workspace, values, left and right "
                         "vectors, and a status");
  const Tensor &a = *operand;
  if (isKnownEmpty(a.type()))
    return makeZeroResults(b, op);
  auto left = cast<RankedTensorType>(op->getResult(2).getType()),
       right = cast<RankedTensorType>(op->getResult(3).getType());
  bool isTall = a.extent(1) >= a.extent(2);
  bool wantsVectors = getLetter(op, "mode") != 'N';
  int64_t count = std::min(a.extent(1), a.extent(2));
  int64_t columns = !wantsVectors ? count : isTall ? left.getShape().back() : right.getShape().end()[-2];
  Singular singular = decomposeTall(isTall ? a : transposeMatrix(a), columns);
  SmallVector<Value> results = makeZeroResults(b, op);
  results[0] = op->getOperand(0);
  results[1] = asResult(singular.values, op, 1);
  results[4] = asResult(getStatus(singular.hasConverged), op, 4);
  if (wantsVectors) {
    results[2] = asResult(isTall ? singular.left : transposeMatrix(singular.right), op, 2);
    results[3] = asResult(isTall ? singular.right : transposeMatrix(singular.left), op, 3);
  }
  return results;
}

} // namespace

void addIterativeExpansions(ExpansionTable &table) {
  for (StringRef type : {"s", "d"}) {
    table.addCall(("lapack_" + type + "gesdd_ffi").str(), expandGesdd, Dynamic::AllButTwo);
    table.addCall(("lapack_" + type + "gesvd_ffi").str(), expandGesdd, Dynamic::AllButTwo);
    table.addCall(("lapack_" + type + "syevd_ffi").str(), expandSyevd, Dynamic::AllButTwo);
  }
}

} // namespace latewood::input
