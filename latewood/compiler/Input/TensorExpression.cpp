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

/// All elements `number`. A dynamic type is that of `like`; without it, the broadcast is open.
template <typename Number>
static Tensor uniform(Builder &b, RankedTensorType type, const Number &number, const Tensor *like = nullptr) {
  if (type.hasStaticShape())
    return constant(b, DenseElementsAttr::get(type, number));
  Tensor scalar = constant(b, DenseElementsAttr::get(RankedTensorType::get({}, type.getElementType()), number));
  if (like)
    return Tensor(b, stablehlo::DynamicBroadcastInDimOp::create(b, type, scalar, extentsOf(*like, like->shape()),
                                                                ArrayRef<int64_t>(), nullptr, nullptr));
  return Tensor(b, stablehlo::BroadcastInDimOp::create(b, type, scalar, ArrayRef<int64_t>()));
}

static APFloat rounded(Type element, double number) {
  APFloat value(number);
  bool losesInfo;
  value.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

static Tensor uniformInteger(Builder &b, RankedTensorType type, uint64_t number, const Tensor *like) {
  APInt value(type.getElementType().getIntOrFloatBitWidth(), number, /*isSigned=*/false, /*implicitTrunc=*/true);
  return uniform(b, type, value, like);
}

static Tensor uniformNumber(Builder &b, RankedTensorType type, double number, const Tensor *like) {
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    std::complex<APFloat> value(rounded(complex.getElementType(), number), rounded(complex.getElementType(), 0.0));
    return uniform(b, type, value, like);
  }
  if (isa<FloatType>(type.getElementType()))
    return uniform(b, type, rounded(type.getElementType(), number), like);
  return uniformInteger(b, type, static_cast<uint64_t>(static_cast<int64_t>(number)), like);
}

Tensor splat(Builder &b, RankedTensorType type, double number) { return uniformNumber(b, type, number, nullptr); }

Tensor splatInteger(Builder &b, RankedTensorType type, uint64_t number) {
  return uniformInteger(b, type, number, nullptr);
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

Tensor Tensor::like(double number) const { return uniformNumber(*b, type(), number, this); }
Tensor Tensor::likeInteger(uint64_t number) const { return uniformInteger(*b, type(), number, this); }

Tensor Tensor::likeInfinity() const {
  return uniform(*b, type(), APFloat::getInf(cast<FloatType>(element()).getFloatSemantics()), this);
}

Tensor Tensor::likeNaN() const {
  return uniform(*b, type(), APFloat::getQNaN(cast<FloatType>(element()).getFloatSemantics()), this);
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

int64_t multiplyExtents(ArrayRef<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (isDynamic(extent))
      return ShapedType::kDynamic;
    product *= extent;
  }
  return product;
}

Tensor extentOf(const Tensor &x, int64_t dim) {
  Builder &b = x.builder();
  dim = dim < 0 ? dim + x.rank() : dim;
  if (!isDynamic(x.extent(dim)))
    return scalar(b, b.getI32Type(), x.extent(dim));
  return Tensor(b, stablehlo::GetDimensionSizeOp::create(b, RankedTensorType::get({}, b.getI32Type()), x, dim));
}

/// A vector of 0-dimensional tensors of i32.
static Tensor toVector(Builder &b, ArrayRef<Tensor> numbers) {
  auto one = RankedTensorType::get({1}, b.getI32Type());
  SmallVector<Tensor> parts = llvm::map_to_vector(
      numbers, [&](const Tensor &number) { return Tensor(b, stablehlo::ReshapeOp::create(b, one, number)); });
  return concatenate(parts, 0);
}

Tensor extentsOf(const Tensor &x, ArrayRef<int64_t> shape) {
  Builder &b = x.builder();
  int64_t next = 0;
  SmallVector<Tensor> extents;
  for (int64_t extent : shape) {
    if (!isDynamic(extent)) {
      extents.push_back(scalar(b, b.getI32Type(), extent));
      continue;
    }
    while (!isDynamic(x.extent(next)))
      ++next;
    extents.push_back(extentOf(x, next++));
  }
  return toVector(b, extents);
}

static int64_t multiplyKnown(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= isDynamic(extent) ? 1 : extent;
  return product;
}

Tensor reshape(const Tensor &x, ArrayRef<int64_t> shape) {
  if (x.shape() == shape)
    return x;
  Builder &b = x.builder();
  RankedTensorType type = x.type().clone(shape);
  int64_t from = llvm::count_if(x.shape(), isDynamic), to = llvm::count_if(shape, isDynamic);
  int64_t fromKnown = multiplyKnown(x.shape()), toKnown = multiplyKnown(shape);
  if (to == from && to > 0 && fromKnown == toKnown)
    return Tensor(b, stablehlo::DynamicReshapeOp::create(b, type, x, extentsOf(x, shape)));
  if (to != 1 || from == 0 || toKnown == 0) // static, or open
    return Tensor(b, stablehlo::ReshapeOp::create(b, type, x));
  // One extent makes up for all others.
  std::optional<Tensor> product;
  for (int64_t dim = 0; dim < x.rank(); ++dim)
    if (isDynamic(x.extent(dim)))
      product = product ? *product * extentOf(x, dim) : extentOf(x, dim);
  Tensor extent = *product;
  if (fromKnown % toKnown == 0) {
    if (fromKnown != toKnown)
      extent = extent * extent.likeInteger(fromKnown / toKnown);
  } else {
    if (fromKnown != 1)
      extent = extent * extent.likeInteger(fromKnown);
    extent = extent / extent.likeInteger(toKnown);
  }
  SmallVector<Tensor> extents = llvm::map_to_vector(
      shape, [&](int64_t known) { return isDynamic(known) ? extent : scalar(b, b.getI32Type(), known); });
  return Tensor(b, stablehlo::DynamicReshapeOp::create(b, type, x, toVector(b, extents)));
}

Tensor broadcast(const Tensor &x, ArrayRef<int64_t> shape, ArrayRef<int64_t> dims) {
  if (x.shape() == shape)
    return x;
  return Tensor(x.builder(), stablehlo::BroadcastInDimOp::create(x.builder(), x.type().clone(shape), x, dims));
}

Tensor broadcastLike(const Tensor &x, const Tensor &like, ArrayRef<int64_t> dims) {
  if (like.type().hasStaticShape() || x.shape() == like.shape())
    return broadcast(x, like.shape(), dims);
  return Tensor(x.builder(),
                stablehlo::DynamicBroadcastInDimOp::create(x.builder(), x.type().clone(like.shape()), x,
                                                           extentsOf(like, like.shape()), dims, nullptr, nullptr));
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
  if (llvm::any_of(shape, isDynamic)) {
    // The other dimensions are taken as a whole.
    Builder &b = x.builder();
    auto vector = [&](ArrayRef<int64_t> numbers) {
      return toVector(b,
                      llvm::map_to_vector(numbers, [&](int64_t number) { return scalar(b, b.getI32Type(), number); }));
    };
    return Tensor(b, stablehlo::RealDynamicSliceOp::create(b, x.type().clone(shape), x, vector(starts),
                                                           extentsOf(x, limits), vector(strides)));
  }
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
    shape[dim] =
        isDynamic(shape[dim]) || isDynamic(part.extent(dim)) ? ShapedType::kDynamic : shape[dim] + part.extent(dim);
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
  if (llvm::any_of(sizes, isDynamic)) {
    // A gather of one slice, whose sizes may be values.
    Builder &b = x.builder();
    auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
        b.getContext(), llvm::to_vector(llvm::seq<int64_t>(0, x.rank())), /*collapsedSliceDims=*/{},
        /*operandBatchingDims=*/{}, /*startIndicesBatchingDims=*/{}, /*startIndexMap=*/{dim}, /*indexVectorDim=*/0);
    Tensor index(b, stablehlo::ReshapeOp::create(b, RankedTensorType::get({1}, start.element()), start));
    return Tensor(b,
                  stablehlo::DynamicGatherOp::create(b, x.type().clone(sizes), x, index, extentsOf(x, sizes), numbers));
  }
  return Tensor(x.builder(), stablehlo::DynamicSliceOp::create(x.builder(), x.type().clone(sizes), x,
                                                               startIndices(x, dim, start), sizes));
}

Tensor dynamicUpdate(const Tensor &x, const Tensor &update, int64_t dim, const Tensor &start) {
  dim = dim < 0 ? dim + x.rank() : dim;
  return Tensor(x.builder(),
                stablehlo::DynamicUpdateSliceOp::create(x.builder(), x.type(), x, update, startIndices(x, dim, start)));
}

//===----------------------------------------------------------------------===//
// Open shapes
//===----------------------------------------------------------------------===//

OpenShapes::OpenShapes(Builder &b) : b(b), outer(b.getListener()) { b.setListener(this); }
OpenShapes::~OpenShapes() { b.setListener(outer); }

void OpenShapes::notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) {
  if (isa<stablehlo::BroadcastInDimOp, stablehlo::IotaOp, stablehlo::ReshapeOp>(op) &&
      !cast<RankedTensorType>(op->getResult(0).getType()).hasStaticShape())
    open.push_back(op);
}

LogicalResult OpenShapes::close(Operation *op, ValueRange references) {
  auto countDynamic = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? llvm::count_if(tensor.getShape(), isDynamic) : 0;
  };
  for (Operation *maker : open) {
    auto type = cast<RankedTensorType>(maker->getResult(0).getType());
    auto reference =
        llvm::find_if(references, [&](Value value) { return countDynamic(value.getType()) == countDynamic(type); });
    if (reference == references.end())
      return op->emitError() << "'" << op->getName() << "' is not supported with these dynamic dimensions: " << type
                             << " is needed on the way, and no operand has its extents";
    Builder at(maker->getLoc(), maker);
    Tensor extents = extentsOf(Tensor(at, *reference), type.getShape());
    Value closed;
    if (auto broadcast = dyn_cast<stablehlo::BroadcastInDimOp>(maker))
      closed = stablehlo::DynamicBroadcastInDimOp::create(at, type, broadcast.getOperand(), extents,
                                                          broadcast.getBroadcastDimensions(), nullptr, nullptr);
    else if (auto iota = dyn_cast<stablehlo::IotaOp>(maker))
      closed = stablehlo::DynamicIotaOp::create(at, type, extents, iota.getIotaDimension());
    else
      closed = stablehlo::DynamicReshapeOp::create(at, type, maker->getOperand(0), extents);
    maker->getResult(0).replaceAllUsesWith(closed);
    maker->erase();
  }
  open.clear();
  return success();
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
