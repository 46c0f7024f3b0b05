// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formulas in C++ that become StableHLO.

#include "latewood/compiler/Input/TensorExpression.h"

using namespace mlir;

namespace latewood::input {

using Builder = ImplicitLocOpBuilder;
using stablehlo::ComparisonDirection;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static Tensor constant(Builder &b, DenseElementsAttr value) {
  return Tensor(b, stablehlo::ConstantOp::create(b, value.getType(), value));
}

static APFloat rounded(Type element, double number) {
  APFloat value(number);
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

Tensor splat(Builder &b, RankedTensorType type, double number) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    std::complex<APFloat> value(rounded(complex.getElementType(), number), rounded(complex.getElementType(), 0.0));
    return constant(b, DenseElementsAttr::get(type, value));
  }
  if (isa<FloatType>(type.getElementType()))
    return constant(b, DenseElementsAttr::get(type, rounded(type.getElementType(), number)));
  return splatInteger(b, type, static_cast<uint64_t>(static_cast<int64_t>(number)));
}

Tensor splatInteger(Builder &b, RankedTensorType type, uint64_t number) {
  APInt value(type.getElementType().getIntOrFloatBitWidth(), number, /*isSigned=*/false, /*implicitTrunc=*/true);
  return constant(b, DenseElementsAttr::get(type, value));
}

Tensor scalar(Builder &b, Type element, uint64_t number) {
  return splatInteger(b, RankedTensorType::get({}, element), number);
}

Tensor table(Builder &b, ArrayRef<int64_t> shape, Type element, ArrayRef<double> numbers) {
  SmallVector<APFloat> values = llvm::map_to_vector(numbers, [&](double number) { return rounded(element, number); });
  return constant(b, DenseElementsAttr::get(RankedTensorType::get(shape, element), values));
}

Tensor iota(Builder &b, ArrayRef<int64_t> shape, Type element, int64_t dim) {
  return Tensor(b, stablehlo::IotaOp::create(b, RankedTensorType::get(shape, element), dim));
}

Tensor Tensor::like(double number) const { return splat(*b, type(), number); }
Tensor Tensor::likeInteger(uint64_t number) const { return splatInteger(*b, type(), number); }

Tensor Tensor::likeInfinity() const {
  return constant(*b, DenseElementsAttr::get(type(), APFloat::getInf(cast<FloatType>(element()).getFloatSemantics())));
}

Tensor Tensor::likeNaN() const {
  return constant(*b, DenseElementsAttr::get(type(), APFloat::getQNaN(cast<FloatType>(element()).getFloatSemantics())));
}

Tensor Tensor::likeEpsilon() const {
  return like(std::ldexp(1.0, 1 - static_cast<int>(cast<FloatType>(element()).getFPMantissaWidth())));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Tensor unary(const Tensor &x) {
  return Tensor(x.builder(), OpTy::create(x.builder(), x.type(), x));
}

template <typename OpTy>
static Tensor binary(const Tensor &x, const Tensor &y) {
  return Tensor(x.builder(), OpTy::create(x.builder(), x.type(), x, y));
}

Tensor operator+(const Tensor &x, const Tensor &y) { return binary<stablehlo::AddOp>(x, y); }
Tensor operator-(const Tensor &x, const Tensor &y) { return binary<stablehlo::SubtractOp>(x, y); }
Tensor operator*(const Tensor &x, const Tensor &y) { return binary<stablehlo::MulOp>(x, y); }
Tensor operator/(const Tensor &x, const Tensor &y) { return binary<stablehlo::DivOp>(x, y); }
Tensor operator-(const Tensor &x) { return unary<stablehlo::NegOp>(x); }
Tensor operator&(const Tensor &x, const Tensor &y) { return binary<stablehlo::AndOp>(x, y); }
Tensor operator|(const Tensor &x, const Tensor &y) { return binary<stablehlo::OrOp>(x, y); }
Tensor operator^(const Tensor &x, const Tensor &y) { return binary<stablehlo::XorOp>(x, y); }
Tensor operator!(const Tensor &x) { return unary<stablehlo::NotOp>(x); }
Tensor operator<<(const Tensor &x, unsigned bits) { return binary<stablehlo::ShiftLeftOp>(x, x.likeInteger(bits)); }
Tensor operator>>(const Tensor &x, unsigned bits) {
  return binary<stablehlo::ShiftRightLogicalOp>(x, x.likeInteger(bits));
}

Tensor compare(ComparisonDirection direction, const Tensor &x, const Tensor &y) {
  Builder &b = x.builder();
  Type type = x.type().clone(b.getI1Type());
  return Tensor(b, stablehlo::CompareOp::create(b, type, x, y, direction, /*compare_type=*/nullptr));
}

Tensor abs(const Tensor &x) { return unary<stablehlo::AbsOp>(x); }
Tensor cos(const Tensor &x) { return unary<stablehlo::CosineOp>(x); }
Tensor exp(const Tensor &x) { return unary<stablehlo::ExpOp>(x); }
Tensor floor(const Tensor &x) { return unary<stablehlo::FloorOp>(x); }
Tensor log(const Tensor &x) { return unary<stablehlo::LogOp>(x); }
Tensor log1p(const Tensor &x) { return unary<stablehlo::Log1pOp>(x); }
Tensor maximum(const Tensor &x, const Tensor &y) { return binary<stablehlo::MaxOp>(x, y); }
Tensor minimum(const Tensor &x, const Tensor &y) { return binary<stablehlo::MinOp>(x, y); }
Tensor pow(const Tensor &x, const Tensor &y) { return binary<stablehlo::PowOp>(x, y); }
Tensor remainder(const Tensor &x, const Tensor &y) { return binary<stablehlo::RemOp>(x, y); }
Tensor rsqrt(const Tensor &x) { return unary<stablehlo::RsqrtOp>(x); }
Tensor sign(const Tensor &x) { return unary<stablehlo::SignOp>(x); }
Tensor sin(const Tensor &x) { return unary<stablehlo::SineOp>(x); }
Tensor sqrt(const Tensor &x) { return unary<stablehlo::SqrtOp>(x); }

Tensor isFinite(const Tensor &x) {
  Builder &b = x.builder();
  return Tensor(b, stablehlo::IsFiniteOp::create(b, x.type().clone(b.getI1Type()), x));
}

Tensor select(const Tensor &condition, const Tensor &yes, const Tensor &no) {
  Builder &b = condition.builder();
  return Tensor(b, stablehlo::SelectOp::create(b, yes.type(), condition, yes, no));
}

Tensor convert(const Tensor &x, Type element) {
  if (x.element() == element)
    return x;
  return Tensor(x.builder(), stablehlo::ConvertOp::create(x.builder(), x.type().clone(element), x));
}

Tensor bitcast(const Tensor &x, Type element) {
  if (x.element() == element)
    return x;
  return Tensor(x.builder(), stablehlo::BitcastConvertOp::create(x.builder(), x.type().clone(element), x));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Tensor reshape(const Tensor &x, ArrayRef<int64_t> shape) {
  if (x.shape() == shape)
    return x;
  return Tensor(x.builder(), stablehlo::ReshapeOp::create(x.builder(), x.type().clone(shape), x));
}

Tensor broadcast(const Tensor &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (x.shape() == shape)
    return x;
  return Tensor(x.builder(), stablehlo::BroadcastInDimOp::create(x.builder(), x.type().clone(shape), x, dims));
}

Tensor broadcastLeading(const Tensor &x, ArrayRef<int64_t> shape) {
  return broadcast(x, shape, llvm::to_vector(llvm::seq<int64_t>(0, x.rank())));
}

Tensor transpose(const Tensor &x, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape = llvm::map_to_vector(permutation, [&](int64_t dim) { return x.extent(dim); });
  return Tensor(x.builder(), stablehlo::TransposeOp::create(x.builder(), x.type().clone(shape), x, permutation));
}

Tensor transposeMatrix(const Tensor &x) {
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  std::swap(permutation[x.rank() - 1], permutation[x.rank() - 2]);
  return transpose(x, permutation);
}

Tensor reverse(const Tensor &x, ArrayRef<int64_t> dims) {
  return Tensor(x.builder(), stablehlo::ReverseOp::create(x.builder(), x.type(), x, dims));
}

Tensor slice(const Tensor &x, int64_t dim, int64_t start, int64_t limit, int64_t stride) {
  dim = dim < 0 ? dim + x.rank() : dim;
  if (start == 0 && limit == x.extent(dim) && stride == 1)
    return x;
  SmallVector<int64_t> starts(x.rank(), 0), limits(x.shape()), strides(x.rank(), 1), shape(x.shape());
  starts[dim] = start;
  limits[dim] = limit;
  strides[dim] = stride;
  shape[dim] = llvm::divideCeil(limit - start, stride);
  return Tensor(x.builder(),
                stablehlo::SliceOp::create(x.builder(), x.type().clone(shape), x, starts, limits, strides));
}

Tensor concatenate(ArrayRef<Tensor> parts, int64_t dim) {
  const Tensor &first = parts.front();
  if (parts.size() == 1)
    return first;
  dim = dim < 0 ? dim + first.rank() : dim;
  SmallVector<int64_t> shape(first.shape());
  shape[dim] = 0;
  for (const Tensor &part : parts)
    shape[dim] += part.extent(dim);
  SmallVector<Value> values(parts.begin(), parts.end());
  Builder &b = first.builder();
  return Tensor(b, stablehlo::ConcatenateOp::create(b, first.type().clone(shape), values, dim));
}

Tensor padZeros(const Tensor &x, int64_t dim, int64_t low, int64_t high) {
  if (low == 0 && high == 0)
    return x;
  dim = dim < 0 ? dim + x.rank() : dim;
  SmallVector<int64_t> lows(x.rank(), 0), highs(x.rank(), 0), interior(x.rank(), 0), shape(x.shape());
  lows[dim] = low;
  highs[dim] = high;
  shape[dim] += low + high;
  Builder &b = x.builder();
  Tensor zero = splat(b, RankedTensorType::get({}, x.element()), 0.0);
  return Tensor(b, stablehlo::PadOp::create(b, x.type().clone(shape), x, zero, lows, highs, interior));
}

// One start index a dimension: `start` for `dim`, 0 for the others.
static SmallVector<Value> startIndices(const Tensor &x, int64_t dim, const Tensor &start) {
  SmallVector<Value> starts(x.rank(), scalar(x.builder(), start.element(), 0));
  starts[dim] = start;
  return starts;
}

Tensor dynamicSlice(const Tensor &x, int64_t dim, const Tensor &start, int64_t size) {
  dim = dim < 0 ? dim + x.rank() : dim;
  SmallVector<int64_t> sizes(x.shape());
  sizes[dim] = size;
  return Tensor(x.builder(), stablehlo::DynamicSliceOp::create(x.builder(), x.type().clone(sizes), x,
                                                               startIndices(x, dim, start), sizes));
}

Tensor dynamicUpdate(const Tensor &x, const Tensor &update, int64_t dim, const Tensor &start) {
  dim = dim < 0 ? dim + x.rank() : dim;
  return Tensor(x.builder(),
                stablehlo::DynamicUpdateSliceOp::create(x.builder(), x.type(), x, update, startIndices(x, dim, start)));
}

//===----------------------------------------------------------------------===//
// Sums, products, loops
//===----------------------------------------------------------------------===//

template <typename OpTy>
static Tensor reduce(const Tensor &x, const Tensor &init, ArrayRef<int64_t> dims) {
  Builder &b = x.builder();
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(x.extent(dim));
  Type element = init.type();
  auto reduction =
      stablehlo::ReduceOp::create(b, TypeRange{x.type().clone(shape)}, ValueRange{x}, ValueRange{init}, dims);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&reduction.getBody(), {}, {element, element}, {b.getLoc(), b.getLoc()});
  Value combined = OpTy::create(b, element, body->getArgument(0), body->getArgument(1));
  stablehlo::ReturnOp::create(b, combined);
  return Tensor(b, reduction->getResult(0));
}

static Tensor zeroOf(const Tensor &x) { return splat(x.builder(), RankedTensorType::get({}, x.element()), 0.0); }

Tensor sum(const Tensor &x, ArrayRef<int64_t> dims) { return reduce<stablehlo::AddOp>(x, zeroOf(x), dims); }

Tensor maximumAlong(const Tensor &x, int64_t dim) {
  dim = dim < 0 ? dim + x.rank() : dim;
  if (isa<FloatType>(x.element()))
    return reduce<stablehlo::MaxOp>(x, -zeroOf(x).likeInfinity(), {dim});
  APInt least = x.element().isUnsignedInteger() ? APInt::getZero(x.width()) : APInt::getSignedMinValue(x.width());
  return reduce<stablehlo::MaxOp>(x, scalar(x.builder(), x.element(), least.getZExtValue()), {dim});
}

Tensor isAny(const Tensor &x) {
  return reduce<stablehlo::OrOp>(x, scalar(x.builder(), x.element(), 0),
                                 llvm::to_vector(llvm::seq<int64_t>(0, x.rank())));
}

Tensor multiplyMatrices(const Tensor &x, const Tensor &y) {
  Builder &b = x.builder();
  int64_t batch = x.rank() - 2;
  SmallVector<int64_t> batching = llvm::to_vector(llvm::seq<int64_t>(0, batch));
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), batching, batching, {batch + 1}, {batch});
  auto highest = stablehlo::PrecisionAttr::get(b.getContext(), stablehlo::Precision::HIGHEST);
  SmallVector<int64_t> shape(x.shape());
  shape.back() = y.shape().back();
  return Tensor(b, stablehlo::DotGeneralOp::create(b, x.type().clone(shape), x, y, numbers,
                                                   b.getArrayAttr({highest, highest}),
                                                   /*algorithm=*/nullptr));
}

Tensor sortDescending(const Tensor &x) {
  Builder &b = x.builder();
  auto sort = stablehlo::SortOp::create(b, TypeRange{x.type()}, ValueRange{x}, x.rank() - 1, /*is_stable=*/false);
  OpBuilder::InsertionGuard guard(b);
  auto element = RankedTensorType::get({}, x.element());
  Block *body = b.createBlock(&sort.getComparator(), {}, {element, element}, {b.getLoc(), b.getLoc()});
  Value comesFirst = Tensor(b, body->getArgument(0)) > Tensor(b, body->getArgument(1));
  stablehlo::ReturnOp::create(b, comesFirst);
  return Tensor(b, sort->getResult(0));
}

SmallVector<Tensor> whileLoop(Builder &b, ArrayRef<Tensor> state, function_ref<Tensor(ArrayRef<Tensor>)> goesOn,
                              function_ref<SmallVector<Tensor>(ArrayRef<Tensor>)> body) {
  SmallVector<Value> inits(state.begin(), state.end());
  SmallVector<Type> types = llvm::to_vector(ValueRange(inits).getTypes());
  SmallVector<Location> locations(types.size(), b.getLoc());
  auto wrap = [&](ValueRange values) {
    return llvm::map_to_vector(values, [&](Value value) { return Tensor(b, value); });
  };
  auto loop = stablehlo::WhileOp::create(b, types, inits);
  OpBuilder::InsertionGuard guard(b);
  Block *cond = b.createBlock(&loop.getCond(), {}, types, locations);
  Value condition = goesOn(wrap(cond->getArguments()));
  stablehlo::ReturnOp::create(b, condition);
  Block *block = b.createBlock(&loop.getBody(), {}, types, locations);
  SmallVector<Tensor> next = body(wrap(block->getArguments()));
  stablehlo::ReturnOp::create(b, SmallVector<Value>(next.begin(), next.end()));
  return wrap(loop->getResults());
}

SmallVector<Tensor> forLoop(Builder &b, int64_t begin, int64_t end, ArrayRef<Tensor> state,
                            function_ref<SmallVector<Tensor>(const Tensor &, ArrayRef<Tensor>)> body) {
  SmallVector<Tensor> carried = {scalar(b, b.getI32Type(), begin)};
  carried.append(state.begin(), state.end());
  auto goesOn = [&](ArrayRef<Tensor> values) { return values[0] < scalar(b, b.getI32Type(), end); };
  auto step = [&](ArrayRef<Tensor> values) {
    SmallVector<Tensor> next = {values[0] + values[0].likeInteger(1)};
    next.append(body(values[0], values.drop_front()));
    return next;
  };
  SmallVector<Tensor> results = whileLoop(b, carried, goesOn, step);
  results.erase(results.begin());
  return results;
}

} // namespace latewood::input
