// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers from counters: J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3". The bits of element i
// are a mixing function of key and counter + i, so that all elements are computed at once. Which counter belongs to
// which element, and how the state moves on, is not in the specification; it is as in XLA, whose keys programs carry
// over.
//
// `rng` has no state to go on from, and a compiled program keeps none between calls: its key is its place among the
// program's `rng` operations. So different operations give different numbers, and a program gives the same ones each
// time it runs. A program that wants others carries a state, with rng_bit_generator.

#include "latewood/compiler/Dialect/CHLO/CHLO.h"
#include "latewood/compiler/Input/ExpandOperations.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <array>
#include <numbers>

using namespace mlir;

namespace latewood::input {

using Results = FailureOr<SmallVector<Value>>;
using Builder = ImplicitLocOpBuilder;

namespace {

Type getUnsigned(Builder &b, unsigned width) { return b.getIntegerType(width, /*isSigned=*/false); }

Tensor low32(const Tensor &x) { return convert(x, getUnsigned(x.builder(), 32)); }
Tensor high32(const Tensor &x) { return convert(x >> 32, getUnsigned(x.builder(), 32)); }
Tensor join64(const Tensor &low, const Tensor &high) {
  Type wide = getUnsigned(low.builder(), 64);
  return convert(low, wide) | (convert(high, wide) << 32);
}

//===----------------------------------------------------------------------===//
// Mixing functions
//===----------------------------------------------------------------------===//

using Pair = std::array<Tensor, 2>;
using Quad = std::array<Tensor, 4>;

Tensor rotateLeft(const Tensor &x, unsigned bits) { return (x << bits) | (x >> (32 - bits)); }

/// Threefry-2x32, 20 rounds. Key and counter have one shape.
Pair threefry(Pair x, const Pair &key) {
  constexpr unsigned rotations[8] = {13, 15, 26, 6, 17, 29, 16, 24};
  Tensor keys[3] = {key[0], key[1], key[0] ^ key[1] ^ key[0].likeInteger(0x1BD11BDA)};
  x = {x[0] + keys[0], x[1] + keys[1]};
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned i = 0; i < 4; ++i) {
      x[0] = x[0] + x[1];
      x[1] = x[0] ^ rotateLeft(x[1], rotations[4 * (group % 2) + i]);
    }
    x[0] = x[0] + keys[(group + 1) % 3];
    x[1] = x[1] + keys[(group + 2) % 3] + x[1].likeInteger(group + 1);
  }
  return x;
}

/// Philox-4x32, 10 rounds.
Quad philox(Quad x, Pair key) {
  auto multiply = [](const Tensor &factor, uint64_t constant) {
    Tensor wide = convert(factor, getUnsigned(factor.builder(), 64));
    Tensor product = wide * wide.likeInteger(constant);
    return Pair{low32(product), high32(product)};
  };
  for (unsigned round = 0; round < 10; ++round) {
    if (round > 0)
      key = {key[0] + key[0].likeInteger(0x9E3779B9), key[1] + key[1].likeInteger(0xBB67AE85)};
    Pair first = multiply(x[0], 0xD2511F53), second = multiply(x[2], 0xCD9E8D57);
    x = {second[1] ^ x[1] ^ key[0], second[0], first[1] ^ x[3] ^ key[1], first[0]};
  }
  return x;
}

//===----------------------------------------------------------------------===//
// Tensors of bits
//===----------------------------------------------------------------------===//

Tensor spread(const Tensor &number, ArrayRef<int64_t> shape) { return broadcast(number, shape, {}); }

/// `counter` + 0, 1, 2... in row-major order.
Tensor countUp(const Tensor &counter, ArrayRef<int64_t> shape) {
  int64_t count = ShapedType::getNumElements(shape);
  Tensor numbers = iota(counter.builder(), {count}, counter.element(), 0);
  return reshape(spread(counter, {count}) + numbers, shape);
}

struct Bits {
  Tensor bits, state;
};

/// Words of 32 bits in pairs: the first of a pair fills one half of the tensor, the second the other, alternating along
/// the first even dimension (or the longest one, of which one word is dropped).
Bits threefry32(const Tensor &key, const Tensor &counter, ArrayRef<int64_t> shape) {
  Builder &b = key.builder();
  SmallVector<int64_t> padded(shape);
  if (padded.empty())
    padded.push_back(1);
  unsigned dim = 0;
  const int64_t *even = llvm::find_if(padded, [](int64_t extent) { return extent % 2 == 0; });
  dim = even != padded.end() ? even - padded.begin() : std::max_element(padded.begin(), padded.end()) - padded.begin();
  SmallVector<int64_t> half(padded), column;
  half[dim] = llvm::divideCeil(padded[dim], 2);
  Tensor numbers = countUp(counter, half);
  Pair words = threefry({low32(numbers), high32(numbers)}, {spread(low32(key), half), spread(high32(key), half)});
  column = half;
  column.insert(column.begin() + dim + 1, 1);
  Tensor both = concatenate({reshape(words[0], column), reshape(words[1], column)}, dim + 1);
  SmallVector<int64_t> doubled(half);
  doubled[dim] *= 2;
  Tensor bits = shape.empty() ? reshape(slice(reshape(both, {2}), 0, 0, 1), {})
                              : slice(reshape(both, doubled), dim, 0, padded[dim]);
  uint64_t used = ShapedType::getNumElements(half);
  return {bits, counter + scalar(b, counter.element(), used)};
}

Bits threefry64(const Tensor &key, const Tensor &counter, ArrayRef<int64_t> shape) {
  Tensor numbers = countUp(counter, shape);
  Pair words = threefry({low32(numbers), high32(numbers)}, {spread(low32(key), shape), spread(high32(key), shape)});
  uint64_t used = ShapedType::getNumElements(shape);
  return {join64(words[0], words[1]), counter + scalar(key.builder(), counter.element(), used)};
}

/// `words` words of 32 bits, in groups of four. `counter` has 128 bits, lowest word first, or 64 bits: then the key is
/// its high half.
Bits philoxWords(const Tensor &key, const Tensor &counter, int64_t words) {
  int64_t groups = llvm::divideCeil(words, 4);
  Tensor low = reshape(slice(counter, 0, 0, 1), {});
  Tensor high = counter.extent(0) == 2 ? reshape(slice(counter, 0, 1, 2), {}) : key;
  // 128-bit additions: a sum that is below its summand has overflowed.
  Tensor lows = countUp(low, {groups}), highs = spread(high, {groups});
  highs = select(lows < spread(low, {groups}), highs + highs.likeInteger(1), highs);
  Tensor nextLow = low + low.likeInteger(groups);
  Tensor nextHigh = select(nextLow < low, high + high.likeInteger(1), high);
  Quad mixed = philox({low32(lows), high32(lows), low32(highs), high32(highs)},
                      {spread(low32(key), {groups}), spread(high32(key), {groups})});
  SmallVector<Tensor> columns;
  for (const Tensor &word : mixed)
    columns.push_back(reshape(word, {groups, 1}));
  Tensor bits = slice(reshape(concatenate(columns, 1), {4 * groups}), 0, 0, words);
  SmallVector<Tensor> next = {reshape(nextLow, {1})};
  if (counter.extent(0) == 2)
    next.push_back(reshape(nextHigh, {1}));
  return {bits, concatenate(next, 0)};
}

Bits philoxBits(const Tensor &key, const Tensor &counter, ArrayRef<int64_t> shape, bool is64) {
  int64_t count = ShapedType::getNumElements(shape);
  if (!is64) {
    Bits words = philoxWords(key, counter, count);
    return {reshape(words.bits, shape), words.state};
  }
  Bits words = philoxWords(key, counter, 2 * count);
  Tensor low = slice(words.bits, 0, 0, 2 * count, 2), high = slice(words.bits, 0, 1, 2 * count, 2);
  return {reshape(join64(low, high), shape), words.state};
}

//===----------------------------------------------------------------------===//
// Tensors of bits whose shape is known when the program runs
//===----------------------------------------------------------------------===//

/// The extents, and for each element its number in row-major order. What is spread over the elements has their shape
/// once an OpenShapes is closed with `numbers`.
struct Places {
  SmallVector<Tensor> extents;
  Tensor count, numbers;

  Places(Builder &b, Operation *op, Value shape, RankedTensorType type) {
    Type word = getUnsigned(b, 64);
    auto numberAlong = [&](int64_t dim) {
      return Tensor(b, stablehlo::DynamicIotaOp::create(b, type.clone(word), shape, dim));
    };
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      extents.push_back(convert(reshape(slice(Tensor(b, shape), 0, dim, dim + 1), {}), word));
    count = extents.back();
    Tensor last = numberAlong(type.getRank() - 1);
    numbers = last;
    OpenShapes open(b);
    for (int64_t dim = type.getRank() - 2; dim >= 0; --dim) {
      numbers = numbers + numberAlong(dim) * spread(count);
      count = count * extents[dim];
    }
    (void)open.close(op, ValueRange{last});
  }

  Tensor spread(const Tensor &number) const { return latewood::input::spread(number, numbers.shape()); }
};

/// As for a shape that is known, but every element computes its pair of words.
Bits threefry32(const Tensor &key, const Tensor &counter, const Places &places) {
  Tensor one = scalar(key.builder(), key.element(), 1);
  auto isOdd = [&](const Tensor &extent) { return (extent & one) != 0.0; };
  // The dimension that is halved: its extent, and the products of those behind it and of all others.
  Tensor extent = places.extents.back(), behind = one, others = one, passed = extent;
  for (const Tensor &candidate : llvm::drop_begin(llvm::reverse(places.extents))) {
    Tensor isTaken = !isOdd(candidate) | (isOdd(extent) & (extent <= candidate));
    others = select(isTaken, passed, others * candidate);
    behind = select(isTaken, passed, behind);
    extent = select(isTaken, candidate, extent);
    passed = passed * candidate;
  }
  Tensor half = (extent + one) >> 1;
  Tensor rest = places.numbers / places.spread(behind), within = remainder(places.numbers, places.spread(behind));
  Tensor place = remainder(rest, places.spread(extent)), before = rest / places.spread(extent);
  Tensor pair = (before * places.spread(half) + (place >> 1)) * places.spread(behind) + within;
  Tensor numbers = pair + places.spread(counter);
  Pair words = threefry({low32(numbers), high32(numbers)}, {places.spread(low32(key)), places.spread(high32(key))});
  Tensor isFirst = (place & place.likeInteger(1)) == 0.0;
  return {select(isFirst, words[0], words[1]), counter + half * others};
}

Bits threefry64(const Tensor &key, const Tensor &counter, const Places &places) {
  Tensor numbers = places.numbers + places.spread(counter);
  Pair words = threefry({low32(numbers), high32(numbers)}, {places.spread(low32(key)), places.spread(high32(key))});
  return {join64(words[0], words[1]), counter + places.count};
}

/// As for a number of words that is known, but every element computes its group of four.
Bits philoxBits(const Tensor &key, const Tensor &counter, const Places &places, bool is64) {
  Tensor low = reshape(slice(counter, 0, 0, 1), {});
  Tensor high = counter.extent(0) == 2 ? reshape(slice(counter, 0, 1, 2), {}) : key;
  unsigned perGroup = is64 ? 1 : 2; // the logarithm
  Tensor lows = places.spread(low) + (places.numbers >> perGroup), highs = places.spread(high);
  highs = select(lows < places.spread(low), highs + highs.likeInteger(1), highs);
  Quad mixed = philox({low32(lows), high32(lows), low32(highs), high32(highs)},
                      {places.spread(low32(key)), places.spread(high32(key))});
  auto isBit = [&](uint64_t bit) { return (places.numbers & places.numbers.likeInteger(bit)) != 0.0; };
  Tensor bits = is64 ? select(isBit(1), join64(mixed[2], mixed[3]), join64(mixed[0], mixed[1]))
                     : select(isBit(2), select(isBit(1), mixed[3], mixed[2]), select(isBit(1), mixed[1], mixed[0]));
  Tensor groups = (places.count + places.count.likeInteger((1 << perGroup) - 1)) >> perGroup;
  Tensor nextLow = low + groups, nextHigh = select(nextLow < low, high + high.likeInteger(1), high);
  SmallVector<Tensor> next = {reshape(nextLow, {1})};
  if (counter.extent(0) == 2)
    next.push_back(reshape(nextHigh, {1}));
  return {bits, concatenate(next, 0)};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The low bits of `bits` as elements of any integer or float type.
Tensor reinterpret(const Tensor &bits, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return bitcast(convert(bits, getUnsigned(bits.builder(), width)), element);
}

/// Bits of `type`; where it is dynamic, `shape` gives the extents.
Results generateBits(Builder &b, Operation *op, stablehlo::RngAlgorithm algorithm, Value shape) {
  Tensor initial(b, op->getOperand(0));
  auto type = cast<RankedTensorType>(op->getResult(1).getType());
  Tensor state = initial;
  if (state.width() == 32 && state.rank() == 1 && state.extent(0) % 2 == 0) {
    Tensor words = bitcast(state, getUnsigned(b, 32));
    int64_t count = state.extent(0);
    state = join64(slice(words, 0, 0, count, 2), slice(words, 0, 1, count, 2));
  }
  if (state.rank() != 1 || state.width() != 64 || state.extent(0) < 2 || state.extent(0) > 3)
    return op->emitError() << "a random state of 2 or 3 numbers of 64 bits is supported, but got " << initial.type();
  state = bitcast(state, getUnsigned(b, 64));
  bool is64 = type.getElementTypeBitWidth() == 64;
  if (isKnownEmpty(type))
    return SmallVector<Value>{initial, splat(b, type, 0.0)};

  Tensor key = reshape(slice(state, 0, 0, 1), {});
  // The default is the algorithm of XLA on CPUs.
  bool isThreefry = algorithm == stablehlo::RngAlgorithm::THREE_FRY;
  if (isThreefry && state.extent(0) != 2)
    return op->emitError() << "THREE_FRY has a state of 128 bits, but got " << initial.type();
  Tensor counter = isThreefry ? reshape(slice(state, 0, 1, 2), {}) : slice(state, 0, 1, state.extent(0));
  auto generate = [&](const auto &places) {
    if (!isThreefry)
      return philoxBits(key, counter, places, is64);
    Bits bits = is64 ? threefry64(key, counter, places) : threefry32(key, counter, places);
    bits.state = reshape(bits.state, {1});
    return bits;
  };
  Bits bits;
  if (type.hasStaticShape()) {
    bits = generate(type.getShape());
  } else {
    if (!shape)
      return op->emitError() << "random bits of type " << type << ", and nothing says of which extents";
    Places places(b, op, shape, type);
    OpenShapes open(b);
    bits = generate(places);
    if (failed(open.close(op, ValueRange{places.numbers})))
      return failure();
  }
  Tensor next = concatenate({reshape(key, {1}), bits.state}, 0);
  if (initial.width() == 32) {
    int64_t count = next.extent(0);
    next = reshape(concatenate({reshape(low32(next), {count, 1}), reshape(high32(next), {count, 1})}, 1), {2 * count});
  }
  return SmallVector<Value>{bitcast(next, initial.element()), reinterpret(bits.bits, type.getElementType())};
}

Results expandBitGenerator(Builder &b, Operation *op) {
  return generateBits(b, op, cast<stablehlo::RngBitGeneratorOp>(op).getRngAlgorithm(), nullptr);
}

/// Uniform in [0, 1), with all the digits of the type.
Tensor unitInterval(const Tensor &bits, Type element) {
  unsigned digits = cast<FloatType>(element).getFPMantissaWidth();
  return convert(bits >> (bits.width() - digits), element) * std::ldexp(1.0, -static_cast<int>(digits));
}

/// Numbers of a distribution, of bits.
Tensor distribute(Builder &b, stablehlo::RngOp rng, const Tensor &bits, Type compute) {
  Type element = cast<RankedTensorType>(rng.getType()).getElementType();
  auto operand = [&](Value value) { return spread(convert(Tensor(b, value), compute), bits.shape()); };
  Tensor low = operand(rng.getA()), high = operand(rng.getB());
  if (rng.getRngDistribution() == stablehlo::RngDistribution::NORMAL) {
    // The inverse of the distribution function, at the middle of each of 2^digits intervals: neither end gives
    // infinity.
    Tensor unit = unitInterval(bits, compute);
    Tensor half = unit.like(std::ldexp(1.0, -static_cast<int>(cast<FloatType>(compute).getFPMantissaWidth()) - 1));
    Tensor inverse(b, chlo::ErfInvOp::create(b, unit.type(), 2.0 * (unit + half) - 1.0));
    Tensor normal = low + high * (std::numbers::sqrt2 * inverse);
    return convert(normal, element);
  }
  if (isa<FloatType>(element)) {
    // Rounding may reach the upper end, which does not belong to the interval.
    Tensor uniform = convert(low + (high - low) * unitInterval(bits, compute), element);
    Tensor first = spread(Tensor(b, rng.getA()), bits.shape()), limit = spread(Tensor(b, rng.getB()), bits.shape());
    return select(uniform < limit, uniform, first);
  }
  if (element.isInteger(1)) {
    Tensor coin = (bits & bits.likeInteger(1)) != 0.0;
    return select(low == high, low, coin);
  }
  Type unsignedElement = getUnsigned(b, compute.getIntOrFloatBitWidth());
  Tensor range = bitcast(high - low, unsignedElement);
  Tensor offset = remainder(convert(bits, unsignedElement), range);
  return low + bitcast(select(range == 0.0, range, offset), element);
}

Results expandRng(Builder &b, Operation *op) {
  auto rng = cast<stablehlo::RngOp>(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  if (isKnownEmpty(type))
    return SmallVector<Value>{splat(b, type, 0.0)};
  // Those that stand before have been expanded; those behind it count.
  uint64_t place = 0;
  Operation *root = op;
  while (Operation *parent = root->getParentOp())
    root = parent;
  root->walk([&](stablehlo::RngOp other) { place += other != op; });
  Type word = getUnsigned(b, 64);
  Tensor key = scalar(b, word, 0x9E3779B97F4A7C15 * (place + 1)),
         counter = splat(b, RankedTensorType::get({2}, word), 0.0);

  bool isNarrow = isa<FloatType>(element) && !element.isF64();
  Type compute = isNarrow ? b.getF32Type() : element;
  bool is64 = compute.getIntOrFloatBitWidth() == 64;
  std::optional<Places> places;
  if (!type.hasStaticShape())
    places.emplace(b, op, rng.getShape(), type);
  OpenShapes open(b);
  Tensor bits =
      places ? philoxBits(key, counter, *places, is64).bits : philoxBits(key, counter, type.getShape(), is64).bits;
  Tensor result = distribute(b, rng, bits, compute);
  if (places && failed(open.close(op, ValueRange{places->numbers})))
    return failure();
  return SmallVector<Value>{result};
}

/// The bits of a shape that is an operand.
Results expandDynamicBitGenerator(Builder &b, Operation *op) {
  auto algorithm = op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  if (op->getNumOperands() != 2 || op->getNumResults() != 2 || !algorithm ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return op->emitError("a dynamic bit generator takes a state and a shape, gives a state and bits, and has an "
                         "'rng_algorithm'");
  auto shape = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  auto type = dyn_cast<RankedTensorType>(op->getResult(1).getType());
  if (!shape || !type || shape.getRank() != 1 || shape.getShape() != ArrayRef(type.getRank()) ||
      !shape.getElementType().isIntOrIndex() || !type.getElementType().isIntOrFloat())
    return op->emitError() << "a dynamic bit generator has a shape with one integer per dimension, but got "
                           << op->getOperand(1).getType() << " for " << op->getResult(1).getType();
  return generateBits(b, op, algorithm.getValue(), op->getOperand(1));
}

} // namespace

void addRandomExpansions(ExpansionTable &table) {
  table.add<stablehlo::RngBitGeneratorOp>(expandBitGenerator, Dynamic::All);
  table.add<stablehlo::RngOp>(expandRng, Dynamic::All);
  table.addCall("stablehlo.dynamic_rng_bit_generator", expandDynamicBitGenerator, Dynamic::All);
}

} // namespace latewood::input
