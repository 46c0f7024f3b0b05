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
// Operations
//===----------------------------------------------------------------------===//

/// The low bits of `bits` as elements of any integer or float type.
Tensor reinterpret(const Tensor &bits, Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return bitcast(convert(bits, getUnsigned(bits.builder(), width)), element);
}

Results expandBitGenerator(Builder &b, Operation *op) {
  auto generator = cast<stablehlo::RngBitGeneratorOp>(op);
  Tensor initial(b, generator.getInitialState());
  auto type = cast<RankedTensorType>(generator.getOutput().getType());
  Tensor state = initial;
  if (state.width() == 32 && state.rank() == 1 && state.extent(0) % 2 == 0) {
    Tensor words = bitcast(state, getUnsigned(b, 32));
    int64_t count = state.extent(0);
    state = join64(slice(words, 0, 0, count, 2), slice(words, 0, 1, count, 2));
  }
  if (state.rank() != 1 || state.width() != 64 || state.extent(0) < 2 || state.extent(0) > 3)
    return op->emitError() << "a random state of 2 or 3 numbers of 64 bits is supported, but got " << initial.type();
  state = bitcast(state, getUnsigned(b, 64));
  unsigned width = type.getElementTypeBitWidth();
  if (type.getNumElements() == 0)
    return SmallVector<Value>{initial, splat(b, type, 0.0)};

  Tensor key = reshape(slice(state, 0, 0, 1), {});
  Bits bits;
  // The default is the algorithm of XLA on CPUs.
  if (generator.getRngAlgorithm() == stablehlo::RngAlgorithm::THREE_FRY) {
    if (state.extent(0) != 2)
      return op->emitError() << "THREE_FRY has a state of 128 bits, but got " << initial.type();
    Tensor counter = reshape(slice(state, 0, 1, 2), {});
    bits = width == 64 ? threefry64(key, counter, type.getShape()) : threefry32(key, counter, type.getShape());
    bits.state = reshape(bits.state, {1});
  } else {
    bits = philoxBits(key, slice(state, 0, 1, state.extent(0)), type.getShape(), width == 64);
  }
  Tensor next = concatenate({reshape(key, {1}), bits.state}, 0);
  if (initial.width() == 32) {
    int64_t count = next.extent(0);
    next = reshape(concatenate({reshape(low32(next), {count, 1}), reshape(high32(next), {count, 1})}, 1), {2 * count});
  }
  return SmallVector<Value>{bitcast(next, initial.element()), reinterpret(bits.bits, type.getElementType())};
}

/// Uniform in [0, 1), with all the digits of the type.
Tensor unitInterval(const Tensor &bits, Type element) {
  unsigned digits = cast<FloatType>(element).getFPMantissaWidth();
  return convert(bits >> (bits.width() - digits), element) * std::ldexp(1.0, -static_cast<int>(digits));
}

Results expandRng(Builder &b, Operation *op) {
  auto rng = cast<stablehlo::RngOp>(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Type element = type.getElementType();
  if (type.getNumElements() == 0)
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
  Tensor bits = philoxBits(key, counter, type.getShape(), is64).bits;
  auto operand = [&](Value value) { return spread(convert(Tensor(b, value), compute), type.getShape()); };
  Tensor low = operand(rng.getA()), high = operand(rng.getB());
  if (rng.getRngDistribution() == stablehlo::RngDistribution::NORMAL) {
    // The inverse of the distribution function, at the middle of each of 2^digits intervals: neither end gives
    // infinity.
    Tensor unit = unitInterval(bits, compute);
    Tensor half = unit.like(std::ldexp(1.0, -static_cast<int>(cast<FloatType>(compute).getFPMantissaWidth()) - 1));
    Tensor inverse(b, chlo::ErfInvOp::create(b, unit.type(), 2.0 * (unit + half) - 1.0));
    Tensor normal = low + high * (std::numbers::sqrt2 * inverse);
    return SmallVector<Value>{convert(normal, element)};
  }
  if (isa<FloatType>(element)) {
    // Rounding may reach the upper end, which does not belong to the interval.
    Tensor uniform = convert(low + (high - low) * unitInterval(bits, compute), element);
    return SmallVector<Value>{select(uniform < spread(Tensor(b, rng.getB()), type.getShape()), uniform,
                                     spread(Tensor(b, rng.getA()), type.getShape()))};
  }
  if (element.isInteger(1)) {
    Tensor coin = (bits & bits.likeInteger(1)) != 0.0;
    return SmallVector<Value>{select(low == high, low, coin)};
  }
  Type unsignedElement = getUnsigned(b, compute.getIntOrFloatBitWidth());
  Tensor range = bitcast(high - low, unsignedElement);
  Tensor offset = remainder(convert(bits, unsignedElement), range);
  return SmallVector<Value>{low + bitcast(select(range == 0.0, range, offset), element)};
}

/// The bits of a shape that is an operand; where it is constant, the result's type says it.
Results expandDynamicBitGenerator(Builder &b, Operation *op) {
  auto algorithm = op->getAttrOfType<stablehlo::RngAlgorithmAttr>("rng_algorithm");
  if (op->getNumOperands() != 2 || op->getNumResults() != 2 || !algorithm ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return op->emitError("a dynamic bit generator takes a state and a shape, gives a state and bits, and has an "
                         "'rng_algorithm'");
  auto bits = stablehlo::RngBitGeneratorOp::create(b, op->getResultTypes(), algorithm.getValue(), op->getOperand(0));
  return SmallVector<Value>(bits.getResults());
}

Results refuseDynamic(Builder &, Operation *op) {
  return op->emitError() << "random numbers of a dynamic shape are not supported: " << op->getResultTypes();
}

/// An expansion of operations with static results.
template <Results (*expand)(Builder &, Operation *)>
Results expandStatic(Builder &b, Operation *op) {
  bool isStatic = llvm::all_of(op->getResultTypes(), [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return !shaped || shaped.hasStaticShape();
  });
  return isStatic ? expand(b, op) : refuseDynamic(b, op);
}

} // namespace

void addRandomExpansions(ExpansionTable &table) {
  table.add<stablehlo::RngBitGeneratorOp>(expandStatic<expandBitGenerator>, Dynamic::All);
  table.add<stablehlo::RngOp>(expandStatic<expandRng>, Dynamic::All);
  table.addCall("stablehlo.dynamic_rng_bit_generator", expandStatic<expandDynamicBitGenerator>, Dynamic::All);
}

} // namespace latewood::input
