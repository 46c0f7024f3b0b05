// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sort by one key: a radix sort, byte by byte from the last one.
//
//   for each byte of the key, the lowest first
//     for each block of the row: count how often each of the 256 values occurs in the block
//     make of the counts the places where the elements of a block with a value begin
//     for each block: move each element to the next place of its value
//
// Each pass keeps the order of elements whose byte is equal; so what earlier passes did is kept, and the sort is
// stable. Blocks write to places of their own: all threads work on them. The first pass reads the row itself, and the
// last one writes the result; between them elements go back and forth between two sets of buffers. Keys are not stored:
// each pass computes them from the elements.
//
// A comparator qualifies if it is a strict comparison of the same function of either side: `a < b`, or what frameworks
// write for floats, where -0 is made 0 and all NaN one NaN in front of a comparison in total order. A key becomes an
// unsigned integer that orders as the comparison does. Under a comparison of floats that has no place for NaN, these
// are where a total order has them.

#include "latewood/compiler/Engines/CPU/StableHLOToLinalgRadixSort.h"
#include "latewood/compiler/Engines/CPU/StableHLOToLinalgLoops.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace latewood;

namespace {

using Builder = ImplicitLocOpBuilder;

constexpr unsigned digitBits = 8;
constexpr int64_t digits = 1 << digitBits;
/// Elements of a block: many more than there are counts.
constexpr int64_t blockLength = 1 << 15;

/// Whether two values of a block are the same function of its arguments, where those of `x` are all first ones of a
/// pair (or all second ones, if `swapped`), and those of `y` the others.
bool isSameOfOtherSide(Value x, Value y, bool swapped, unsigned depth = 0) {
  if (auto argument = dyn_cast<BlockArgument>(x)) {
    auto other = dyn_cast<BlockArgument>(y);
    unsigned number = argument.getArgNumber();
    return other && other.getOwner() == argument.getOwner() &&
           isa<stablehlo::SortOp>(argument.getOwner()->getParentOp()) && (number % 2 == 1) == swapped &&
           other.getArgNumber() == (number ^ 1);
  }
  Operation *left = x.getDefiningOp(), *right = y.getDefiningOp();
  // Comparators are short.
  if (depth > 16 || !left || !right)
    return false;
  if (left == right)
    return left->hasTrait<OpTrait::ConstantLike>();
  if (left->getName() != right->getName() || left->getAttrDictionary() != right->getAttrDictionary() ||
      left->getNumOperands() != right->getNumOperands() || left->getNumResults() != 1 || left->getNumRegions() != 0 ||
      left->getResultTypes() != right->getResultTypes())
    return false;
  return llvm::all_of(llvm::zip_equal(left->getOperands(), right->getOperands()), [&](auto pair) {
    return isSameOfOtherSide(std::get<0>(pair), std::get<1>(pair), swapped, depth + 1);
  });
}

class RadixSortBuilder {
public:
  RadixSortBuilder(Builder &b, const cpu::RadixSort &sort, function_ref<SmallVector<Value>(Value)> inRow)
      : b(b), sort(sort), inRow(inRow), zero(index(0)), one(index(1)), length(cpu::toValue(b, sort.extent)),
        digitCount(index(digits)) {
    // The comparator, but that it returns the key.
    IRMapping mapping;
    this->sort.op.getComparator().cloneInto(&comparator, mapping);
    comparator.front().getTerminator()->setOperands(mapping.lookup(sort.key.value));
  }

  SmallVector<Value> build(ValueRange results);

private:
  using Position = function_ref<SmallVector<Value>(Value)>;

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  SmallVector<Value> makeBuffers() {
    SmallVector<Value> buffers;
    for (Value input : sort.inputs)
      buffers.push_back(cpu::makeBuffer(b, cpu::getTypeOf(sort.extent, cpu::getElement(input)), sort.extent));
    return buffers;
  }

  SmallVector<Value> loopOverBlocks(ValueRange carried, cpu::LoopBody body) {
    return sort.inBlocks ? cpu::makeIndependentLoop(b, zero, blocks, one, carried, body)
                         : cpu::makeLoop(b, zero, blocks, one, carried, body);
  }

  /// Where a block begins and ends, and where its counts begin.
  struct Block {
    Value begin, end, counts;
  };
  Block getBlock(Builder &at, Value number) {
    if (!sort.inBlocks)
      return {zero, length, zero};
    Value size = arith::ConstantIndexOp::create(at, blockLength);
    Value begin = arith::MulIOp::create(at, number, size);
    return {begin, arith::MinUIOp::create(at, arith::AddIOp::create(at, begin, size), length),
            arith::MulIOp::create(at, number, digitCount)};
  }

  Value emitKey(Builder &at, ValueRange elements);
  Value emitDigit(Builder &at, ValueRange sources, Position from, Value place, unsigned shift);
  Value countDigits(Value counts, ValueRange sources, Position from, unsigned shift);
  Value sumCounts(Value counts);
  SmallVector<Value> moveElements(Value &counts, ValueRange sources, Position from, ValueRange targets, Position to,
                                  unsigned shift);

  Builder &b;
  cpu::RadixSort sort;
  function_ref<SmallVector<Value>(Value)> inRow;
  Region comparator;
  Value zero, one, length, digitCount, blocks;
};

/// The key as an unsigned integer.
Value RadixSortBuilder::emitKey(Builder &at, ValueRange elements) {
  SmallVector<Value> arguments;
  for (Value element : elements)
    arguments.append(2, element);
  Value key = cpu::emitScalarBlock(at, comparator.front(), arguments, [&](Value value) {
                return sort.captured.at(value);
              }).front();
  Type element = cpu::getElement(sort.key.value);
  Type type = at.getIntegerType(sort.key.getWidth());
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(at, at.getIntegerAttr(type, value));
  };
  APInt sign = APInt::getSignMask(sort.key.getWidth());
  if (isa<FloatType>(element)) {
    if (!sort.key.isTotal) // -0 and 0 are equal
      key = arith::AddFOp::create(at, key, arith::ConstantOp::create(at, at.getFloatAttr(key.getType(), 0)));
    key = arith::BitcastOp::create(at, type, key);
    // Negative numbers are ordered by their bits the other way round.
    Value isNegative =
        arith::CmpIOp::create(at, arith::CmpIPredicate::slt, key, constant(APInt::getZero(sign.getBitWidth())));
    Value flipped =
        arith::SelectOp::create(at, isNegative, constant(APInt::getAllOnes(sign.getBitWidth())), constant(sign));
    key = arith::XOrIOp::create(at, key, flipped);
  } else {
    bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
    if (key.getType() != type)
      key = isUnsigned ? Value(arith::ExtUIOp::create(at, type, key)) : arith::ExtSIOp::create(at, type, key);
    if (!isUnsigned)
      key = arith::XOrIOp::create(at, key, constant(sign));
  }
  if (sort.key.isDescending)
    key = arith::XOrIOp::create(at, key, constant(APInt::getAllOnes(sign.getBitWidth())));
  return key;
}

Value RadixSortBuilder::emitDigit(Builder &at, ValueRange sources, Position from, Value place, unsigned shift) {
  SmallVector<Value> elements;
  for (auto [source, original] : llvm::zip_equal(sources, sort.op.getInputs()))
    elements.push_back(
        cpu::loadElement(at, tensor::ExtractOp::create(at, source, from(place)), cpu::getElement(original)));
  Value key = emitKey(at, elements);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(at, at.getIntegerAttr(key.getType(), value));
  };
  if (shift != 0)
    key = arith::ShRUIOp::create(at, key, constant(shift));
  if (sort.key.getWidth() > digitBits)
    key = arith::AndIOp::create(at, key, constant(digits - 1));
  return arith::IndexCastUIOp::create(at, at.getIndexType(), key);
}

Value RadixSortBuilder::countDigits(Value counts, ValueRange sources, Position from, unsigned shift) {
  auto countBlock = [&](Builder &at, Value number, ValueRange carried) {
    Block block = getBlock(at, number);
    Value nothing = arith::ConstantOp::create(at, at.getI64IntegerAttr(0)),
          once = arith::ConstantOp::create(at, at.getI64IntegerAttr(1));
    SmallVector<Value> empty =
        cpu::makeLoop(at, zero, digitCount, one, carried, [&](Builder &inner, Value digit, ValueRange values) {
          Value place = arith::AddIOp::create(inner, block.counts, digit);
          return SmallVector<Value>{tensor::InsertOp::create(inner, nothing, values.front(), place)};
        });
    return cpu::makeLoop(at, block.begin, block.end, one, empty, [&](Builder &inner, Value element, ValueRange values) {
      Value digit = emitDigit(inner, sources, from, element, shift);
      Value place = arith::AddIOp::create(inner, block.counts, digit);
      Value count = tensor::ExtractOp::create(inner, values.front(), place);
      return SmallVector<Value>{
          tensor::InsertOp::create(inner, arith::AddIOp::create(inner, count, once), values.front(), place)};
    });
  };
  return loopOverBlocks(counts, countBlock).front();
}

/// From how many there are to where they begin: those of lower digits are in front, and those of earlier blocks.
Value RadixSortBuilder::sumCounts(Value counts) {
  Value none = arith::ConstantOp::create(b, b.getI64IntegerAttr(0));
  auto sumDigit = [&](Builder &at, Value digit, ValueRange carried) {
    return cpu::makeLoop(at, zero, blocks, one, carried, [&](Builder &inner, Value block, ValueRange values) {
      Value place = arith::AddIOp::create(inner, arith::MulIOp::create(inner, block, digitCount), digit);
      Value count = tensor::ExtractOp::create(inner, values[1], place);
      return SmallVector<Value>{arith::AddIOp::create(inner, values[0], count),
                                tensor::InsertOp::create(inner, values[0], values[1], place)};
    });
  };
  return cpu::makeLoop(b, zero, digitCount, one, {none, counts}, sumDigit).back();
}

SmallVector<Value> RadixSortBuilder::moveElements(Value &counts, ValueRange sources, Position from, ValueRange targets,
                                                  Position to, unsigned shift) {
  SmallVector<Value> carried = {counts};
  carried.append(targets.begin(), targets.end());
  auto moveBlock = [&](Builder &at, Value number, ValueRange values) {
    Block block = getBlock(at, number);
    Value once = arith::ConstantOp::create(at, at.getI64IntegerAttr(1));
    return cpu::makeLoop(at, block.begin, block.end, one, values, [&](Builder &inner, Value element, ValueRange state) {
      Value digit = emitDigit(inner, sources, from, element, shift);
      Value entry = arith::AddIOp::create(inner, block.counts, digit);
      Value count = tensor::ExtractOp::create(inner, state.front(), entry);
      Value place = arith::IndexCastOp::create(inner, inner.getIndexType(), count);
      SmallVector<Value> next = {
          tensor::InsertOp::create(inner, arith::AddIOp::create(inner, count, once), state.front(), entry)};
      for (auto [source, target] : llvm::zip_equal(sources, state.drop_front())) {
        Value value = tensor::ExtractOp::create(inner, source, from(element));
        next.push_back(tensor::InsertOp::create(inner, value, target, to(place)));
      }
      return next;
    });
  };
  SmallVector<Value> moved = loopOverBlocks(carried, moveBlock);
  counts = moved.front();
  return SmallVector<Value>(llvm::drop_begin(moved));
}

SmallVector<Value> RadixSortBuilder::build(ValueRange results) {
  unsigned passes = sort.key.getWidth() / digitBits;
  OpFoldResult count = b.getIndexAttr(1);
  if (sort.inBlocks)
    count = cpu::divIndices(b, cpu::addIndices(b, sort.extent, b.getIndexAttr(blockLength - 1)),
                            b.getIndexAttr(blockLength));
  blocks = cpu::toValue(b, count);
  OpFoldResult size = cpu::mulIndices(b, count, b.getIndexAttr(digits));
  Value counts = cpu::makeBuffer(b, cpu::getTypeOf({size}, b.getI64Type()), {size});
  SmallVector<Value> buffers[2], sources(sort.inputs);
  for (unsigned i = 0; i < std::min(passes - 1, 2u); ++i)
    buffers[i] = makeBuffers();
  auto inBuffer = [](Value place) { return SmallVector<Value>{place}; };
  for (unsigned pass = 0; pass < passes; ++pass) {
    Position from = pass == 0 ? Position(inRow) : Position(inBuffer);
    bool isLast = pass + 1 == passes;
    counts = sumCounts(countDigits(counts, sources, from, pass * digitBits));
    SmallVector<Value> &buffer = buffers[pass % 2];
    SmallVector<Value> moved = isLast ? moveElements(counts, sources, from, results, inRow, pass * digitBits)
                                      : moveElements(counts, sources, from, buffer, inBuffer, pass * digitBits);
    if (!isLast)
      buffer = moved;
    sources = moved;
  }
  return sources;
}

} // namespace

unsigned cpu::SortKey::getWidth() const { return std::max(8u, getElement(value).getIntOrFloatBitWidth()); }

std::optional<cpu::SortKey> cpu::matchSortKey(stablehlo::SortOp op) {
  auto compare = op.getComparator().front().getTerminator()->getOperand(0).getDefiningOp<stablehlo::CompareOp>();
  if (!compare || compare->getParentRegion() != &op.getComparator())
    return std::nullopt;
  using Direction = stablehlo::ComparisonDirection;
  Direction direction = compare.getComparisonDirection();
  Value left = compare.getLhs(), right = compare.getRhs();
  Type element = getElement(left);
  bool isKey = isa<IntegerType>(element) || element.isF16() || element.isBF16() || element.isF32() || element.isF64();
  if ((direction != Direction::LT && direction != Direction::GT) || !isKey)
    return std::nullopt;
  bool isTotal = compare.getEffectiveCompareType() == stablehlo::ComparisonType::TOTALORDER;
  for (bool swapped : {false, true})
    if (isSameOfOtherSide(left, right, swapped))
      return SortKey{left, (direction == Direction::GT) != swapped, isTotal};
  return std::nullopt;
}

SmallVector<Value> cpu::makeRadixSort(ImplicitLocOpBuilder &b, const RadixSort &sort, ValueRange results,
                                      function_ref<SmallVector<Value>(Value)> inRow) {
  return RadixSortBuilder(b, sort, inRow).build(results);
}
