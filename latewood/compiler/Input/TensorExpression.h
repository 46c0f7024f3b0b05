// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas in C++ that become StableHLO.
//
// An expansion is a piece of mathematics; written with one `Op::create` a line it cannot be read. A Tensor is a value
// together with the builder that its expressions are written by, so that
//
//     Tensor t = z + 7.5;
//     return select(x < 0.5, -y, log1p(z / t));
//
// emits six operations where the builder stands. A number next to a tensor is a constant of the tensor's type. Operands
// of an operator have one type; nothing is broadcast or converted silently.
//
// Extents may be dynamic. A shape here is a list of numbers, in which `?` (ShapedType::kDynamic) stands for the extent
// of the tensor that something is made from: the first `?` of the result is the first of the operand, and so on. Where
// there is no such tensor (an iota, a constant, a broadcast of a number), the operation is left open: it has a dynamic
// type and no extents, which no other program has. An OpenShapes around the expressions closes them with the extents of
// a tensor.
#pragma once

#include "latewood/compiler/Dialect/StableHLO/StableHLO.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace latewood::input {

class Tensor {
public:
  Tensor() = default;
  Tensor(mlir::ImplicitLocOpBuilder &b, mlir::Value value) : b(&b), value(value) {}
  operator mlir::Value() const { return value; }

  mlir::ImplicitLocOpBuilder &builder() const { return *b; }
  mlir::RankedTensorType type() const { return llvm::cast<mlir::RankedTensorType>(value.getType()); }
  mlir::Type element() const { return type().getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  int64_t extent(int64_t dim) const { return type().getDimSize(dim < 0 ? dim + rank() : dim); }
  /// The width of the elements in bits.
  unsigned width() const { return element().getIntOrFloatBitWidth(); }

  /// A constant of this tensor's type. An integer is taken modulo the element's width.
  Tensor like(double number) const;
  Tensor likeInteger(uint64_t number) const;
  /// A constant of this tensor's float type: infinity, NaN, and the distance from 1 to the next number.
  Tensor likeInfinity() const;
  Tensor likeNaN() const;
  Tensor likeEpsilon() const;

private:
  mlir::ImplicitLocOpBuilder *b = nullptr;
  mlir::Value value;
};

/// While it exists, operations that a builder makes are watched; `close` gives the open ones the extents, `?` by `?`,
/// of the first of `references` that has as many.
class OpenShapes : public mlir::OpBuilder::Listener {
public:
  explicit OpenShapes(mlir::ImplicitLocOpBuilder &b);
  ~OpenShapes() override;
  /// Fails, with an error at `op`, where none has.
  llvm::LogicalResult close(mlir::Operation *op, mlir::ValueRange references);

private:
  void notifyOperationInserted(mlir::Operation *op, mlir::OpBuilder::InsertPoint previous) override;

  mlir::ImplicitLocOpBuilder &b;
  mlir::OpBuilder::Listener *outer;
  llvm::SmallVector<mlir::Operation *> open;
};

/// Whether a tensor of this type has no elements, as far as the type says.
inline bool isKnownEmpty(mlir::RankedTensorType type) { return llvm::is_contained(type.getShape(), 0); }
inline bool isDynamic(int64_t extent) { return mlir::ShapedType::isDynamic(extent); }
/// The product of extents; `?` when one is.
int64_t multiplyExtents(llvm::ArrayRef<int64_t> extents);

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// All elements `number`.
Tensor splat(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, double number);
Tensor splatInteger(mlir::ImplicitLocOpBuilder &b, mlir::RankedTensorType type, uint64_t number);
/// A 0-dimensional integer.
Tensor scalar(mlir::ImplicitLocOpBuilder &b, mlir::Type element, uint64_t number);
/// A table of numbers, rounded to the float type `element`.
Tensor table(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element,
             llvm::ArrayRef<double> numbers);
Tensor iota(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t dim);

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

Tensor operator+(const Tensor &x, const Tensor &y);
Tensor operator-(const Tensor &x, const Tensor &y);
Tensor operator*(const Tensor &x, const Tensor &y);
Tensor operator/(const Tensor &x, const Tensor &y);
Tensor operator-(const Tensor &x);
inline Tensor operator+(const Tensor &x, double y) { return x + x.like(y); }
inline Tensor operator-(const Tensor &x, double y) { return x - x.like(y); }
inline Tensor operator*(const Tensor &x, double y) { return x * x.like(y); }
inline Tensor operator/(const Tensor &x, double y) { return x / x.like(y); }
inline Tensor operator+(double x, const Tensor &y) { return y.like(x) + y; }
inline Tensor operator-(double x, const Tensor &y) { return y.like(x) - y; }
inline Tensor operator*(double x, const Tensor &y) { return y.like(x) * y; }
inline Tensor operator/(double x, const Tensor &y) { return y.like(x) / y; }

/// Logical for booleans, bitwise for integers.
Tensor operator&(const Tensor &x, const Tensor &y);
Tensor operator|(const Tensor &x, const Tensor &y);
Tensor operator^(const Tensor &x, const Tensor &y);
Tensor operator!(const Tensor &x);
/// Shifts by a number of bits; to the right, zeros come in.
Tensor operator<<(const Tensor &x, unsigned bits);
Tensor operator>>(const Tensor &x, unsigned bits);

Tensor compare(stablehlo::ComparisonDirection direction, const Tensor &x, const Tensor &y);
inline Tensor operator<(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::LT, x, y); }
inline Tensor operator<=(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::LE, x, y); }
inline Tensor operator>(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::GT, x, y); }
inline Tensor operator>=(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::GE, x, y); }
inline Tensor operator==(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::EQ, x, y); }
inline Tensor operator!=(const Tensor &x, const Tensor &y) { return compare(stablehlo::ComparisonDirection::NE, x, y); }
inline Tensor operator<(const Tensor &x, double y) { return x < x.like(y); }
inline Tensor operator<=(const Tensor &x, double y) { return x <= x.like(y); }
inline Tensor operator>(const Tensor &x, double y) { return x > x.like(y); }
inline Tensor operator>=(const Tensor &x, double y) { return x >= x.like(y); }
inline Tensor operator==(const Tensor &x, double y) { return x == x.like(y); }
inline Tensor operator!=(const Tensor &x, double y) { return x != x.like(y); }

Tensor abs(const Tensor &x);
Tensor cos(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor floor(const Tensor &x);
Tensor isFinite(const Tensor &x);
Tensor log(const Tensor &x);
Tensor log1p(const Tensor &x);
Tensor maximum(const Tensor &x, const Tensor &y);
Tensor minimum(const Tensor &x, const Tensor &y);
Tensor pow(const Tensor &x, const Tensor &y);
Tensor remainder(const Tensor &x, const Tensor &y);
Tensor rsqrt(const Tensor &x);
Tensor select(const Tensor &condition, const Tensor &yes, const Tensor &no);
Tensor sign(const Tensor &x);
Tensor sin(const Tensor &x);
Tensor sqrt(const Tensor &x);
inline Tensor isNaN(const Tensor &x) { return x != x; }

Tensor convert(const Tensor &x, mlir::Type element);
/// Between element types of one width.
Tensor bitcast(const Tensor &x, mlir::Type element);

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The extent of a dimension as a 0-dimensional i32.
Tensor extentOf(const Tensor &x, int64_t dim);
/// The extents of `shape` as a vector of i32, with those of `x` for `?`.
Tensor extentsOf(const Tensor &x, llvm::ArrayRef<int64_t> shape);

Tensor reshape(const Tensor &x, llvm::ArrayRef<int64_t> shape);
Tensor broadcast(const Tensor &x, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dims);
/// `x` in the shape of `like`.
Tensor broadcastLike(const Tensor &x, const Tensor &like, llvm::ArrayRef<int64_t> dims);
/// `x`, whose dimensions are the leading ones of `shape`.
Tensor broadcastLeading(const Tensor &x, llvm::ArrayRef<int64_t> shape);
Tensor transpose(const Tensor &x, llvm::ArrayRef<int64_t> permutation);
/// Exchanges the last two dimensions.
Tensor transposeMatrix(const Tensor &x);
Tensor reverse(const Tensor &x, llvm::ArrayRef<int64_t> dims);
/// The elements from `start` to before `limit` along one dimension (negative: from the end).
Tensor slice(const Tensor &x, int64_t dim, int64_t start, int64_t limit, int64_t stride = 1);
Tensor concatenate(llvm::ArrayRef<Tensor> parts, int64_t dim);
/// Surrounds with zeros along one dimension.
Tensor padZeros(const Tensor &x, int64_t dim, int64_t low, int64_t high);
/// The slice of extent `size` at a computed offset along one dimension, and a tensor with that slice replaced.
Tensor dynamicSlice(const Tensor &x, int64_t dim, const Tensor &start, int64_t size = 1);
Tensor dynamicUpdate(const Tensor &x, const Tensor &update, int64_t dim, const Tensor &start);

//===----------------------------------------------------------------------===//
// Sums, products, loops
//===----------------------------------------------------------------------===//

Tensor sum(const Tensor &x, llvm::ArrayRef<int64_t> dims);
/// The largest numbers along `dim`, which is dropped.
Tensor maximumAlong(const Tensor &x, int64_t dim);
/// The products of the matrices in the last two dimensions; all dimensions before are a batch. Computed as exactly as
/// floats are.
Tensor multiplyMatrices(const Tensor &x, const Tensor &y);
/// Whether any element of a boolean tensor is true.
Tensor isAny(const Tensor &x);
/// `x`, sorted along its last dimension: descending integers.
Tensor sortDescending(const Tensor &x);

/// Carries `state` through a loop that goes on while `goesOn`, a 0-dimensional boolean, holds.
llvm::SmallVector<Tensor> whileLoop(mlir::ImplicitLocOpBuilder &b, llvm::ArrayRef<Tensor> state,
                                    llvm::function_ref<Tensor(llvm::ArrayRef<Tensor> state)> goesOn,
                                    llvm::function_ref<llvm::SmallVector<Tensor>(llvm::ArrayRef<Tensor> state)> body);

/// Carries `state` through the loop `for i in [begin, end)`; `i` is a 0-dimensional i32.
llvm::SmallVector<Tensor>
forLoop(mlir::ImplicitLocOpBuilder &b, int64_t begin, int64_t end, llvm::ArrayRef<Tensor> state,
        llvm::function_ref<llvm::SmallVector<Tensor>(const Tensor &i, llvm::ArrayRef<Tensor> state)> body);

} // namespace latewood::input
