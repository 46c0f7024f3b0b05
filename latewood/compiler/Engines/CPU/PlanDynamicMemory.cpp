// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slots are filled from the largest guess down: each buffer goes into the slot whose size differs least from its own,
// among those that are free while it lives.

#include "latewood/compiler/Engines/CPU/PlanDynamicMemory.h"
#include "latewood/compiler/Engines/CPU/BufferExtents.h"
#include "latewood/compiler/Engines/CPU/SymbolicShapes.h"
#include "latewood/format/abi.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include <numeric>

using namespace mlir;

namespace latewood::cpu {

namespace {

/// No buffer is that large, and the sum of many such sizes is no overflow.
constexpr int64_t mostBytes = int64_t(1) << 48;

/// The bytes of a buffer: a constant times values, which are multiplied one by one to notice an overflow.
struct Size {
  int64_t constant = 1;
  SmallVector<Value> factors;
  SymbolicSize bytes;

  bool operator==(const Size &other) const { return bytes == other.bytes; }
  double guess() const { return double(bytes.typical()); }
};

struct Slot {
  SmallVector<const DynamicLifetime *> users;
  SmallVector<Size> sizes; // different ones
  double guess = 0;

  bool isFree(const DynamicLifetime &lifetime) const {
    return llvm::none_of(users, [&](const DynamicLifetime *user) {
      return user->range.first <= lifetime.range.last && lifetime.range.first <= user->range.last;
    });
  }
};

std::optional<Size> sizeOf(memref::AllocOp op) {
  std::optional<int64_t> bytes = elementBytes(op.getType().getElementType());
  if (!bytes || !op.getType().getLayout().isIdentity())
    return std::nullopt;
  Size size;
  size.bytes = product(*getSymbolicShape(op)) * *bytes;
  double known = double(*bytes);
  size.constant = *bytes;
  auto scale = [&](int64_t extent) {
    known *= double(extent);
    size.constant = known > double(mostBytes) ? mostBytes : size.constant * extent;
  };
  for (int64_t extent : op.getType().getShape())
    if (!ShapedType::isDynamic(extent))
      scale(extent);
  for (Value extent : op.getDynamicSizes()) {
    if (std::optional<int64_t> constant = getConstantIntValue(extent))
      scale(*constant);
    else
      size.factors.push_back(extent);
  }
  return size;
}

/// The bytes of a slot for `size`, aligned; `mostBytes` instead of more.
Value computeBytes(OpBuilder &builder, Location loc, const Size &size, const IRMapping &values) {
  auto constant = [&](int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value).getResult(); };
  Value bytes = constant(size.constant), high;
  for (Value factor : size.factors) {
    auto product = arith::MulUIExtendedOp::create(builder, loc, bytes, values.lookupOrDefault(factor));
    bytes = product.getLow();
    high = high ? arith::OrIOp::create(builder, loc, high, product.getHigh()).getResult() : product.getHigh();
  }
  Value most = constant(mostBytes);
  if (high) {
    bytes = arith::MinUIOp::create(builder, loc, bytes, most);
    Value overflows = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, high, constant(0));
    bytes = arith::SelectOp::create(builder, loc, overflows, most, bytes);
  }
  Value rounded = arith::AddIOp::create(builder, loc, bytes, constant(LATEWOOD_ALIGNMENT - 1));
  return arith::AndIOp::create(builder, loc, rounded, constant(-LATEWOOD_ALIGNMENT));
}

} // namespace

FailureOr<SmallVector<Value>> placeDynamic(OpBuilder &builder, func::FuncOp function,
                                           ArrayRef<DynamicLifetime> lifetimes, int64_t begin) {
  // Sizes that are computed in the middle of the function are computed again at its beginning.
  IRMapping values;
  llvm::SetVector<Operation *> arithmetic;
  SmallVector<Size> sizes;
  for (const DynamicLifetime &lifetime : lifetimes) {
    memref::AllocOp op = lifetime.op;
    std::optional<Size> size = sizeOf(op);
    if (!size)
      return op.emitError("cannot plan memory for ") << op.getType() << ": its elements have no fixed size in memory";
    for (Value extent : op.getDynamicSizes())
      if (!collectArithmetic(
              extent,
              [&](Value value) {
                auto argument = dyn_cast<BlockArgument>(value);
                return argument && argument.getOwner() == &function.front();
              },
              arithmetic))
        return op.emitError("cannot plan memory for ")
               << op.getType() << ": an extent is not known when the function begins";
    sizes.push_back(std::move(*size));
  }
  for (Operation *op : arithmetic)
    builder.clone(*op, values);

  SmallVector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::stable_sort(order, [&](size_t a, size_t b) { return sizes[a].guess() > sizes[b].guess(); });
  SmallVector<Slot> slots;
  SmallVector<size_t> slotOf(lifetimes.size());
  for (size_t i : order) {
    const DynamicLifetime &lifetime = lifetimes[i];
    Slot *best = nullptr;
    auto isBetter = [&](const Slot &slot) {
      if (!best)
        return true;
      bool isEqual = llvm::is_contained(slot.sizes, sizes[i]), wasEqual = llvm::is_contained(best->sizes, sizes[i]);
      return isEqual != wasEqual ? isEqual : slot.guess < best->guess;
    };
    for (Slot &slot : slots)
      if (slot.isFree(lifetime) && isBetter(slot))
        best = &slot;
    if (!best)
      best = &slots.emplace_back();
    best->users.push_back(&lifetime);
    best->guess = std::max(best->guess, sizes[i].guess());
    if (!llvm::is_contained(best->sizes, sizes[i]))
      best->sizes.push_back(sizes[i]);
    slotOf[i] = best - slots.begin();
  }

  Location loc = function.getLoc();
  SmallVector<Value> places;
  Value end = arith::ConstantIndexOp::create(builder, loc, begin);
  for (const Slot &slot : slots) {
    places.push_back(end);
    Value bytes;
    for (const Size &size : slot.sizes) {
      Value needed = computeBytes(builder, loc, size, values);
      bytes = bytes ? arith::MaxUIOp::create(builder, loc, bytes, needed).getResult() : needed;
    }
    end = arith::AddIOp::create(builder, loc, end, bytes);
  }
  SmallVector<Value> result = llvm::map_to_vector(slotOf, [&](size_t slot) { return places[slot]; });
  result.push_back(end);
  return result;
}

Value computeInCaller(OpBuilder &builder, Operation *op, Value value, function_ref<Value(BlockArgument)> arguments) {
  IRMapping mapping;
  llvm::SetVector<Operation *> arithmetic;
  bool isKnown = collectArithmetic(
      value,
      [&](Value leaf) {
        auto argument = dyn_cast<BlockArgument>(leaf);
        Value passed = argument ? arguments(argument) : Value();
        if (passed)
          mapping.map(argument, passed);
        return bool(passed);
      },
      arithmetic);
  if (!isKnown) {
    op->emitError("needs memory whose size is not known here");
    return {};
  }
  for (Operation *copied : arithmetic)
    builder.clone(*copied, mapping);
  return mapping.lookupOrDefault(value);
}

} // namespace latewood::cpu
