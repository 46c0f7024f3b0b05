// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The option `bounds`: from text to attributes of arguments.

#include "latewood/compiler/Driver/BoundsOption.h"
#include "latewood/compiler/Dialect/Plan/Profiles.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace latewood::driver {

namespace {
// One part of the option.
struct Limit {
  StringRef argument;
  bool isValue = false;
  /// The dimension, or the element.
  int64_t index = 0;
  /// Smallest, typical, largest; one for each profile.
  SmallVector<std::array<int64_t, 3>, 1> ranges;
};
} // namespace

static llvm::Expected<Limit> parseLimit(StringRef text) {
  auto refuse = [&](const Twine &why) {
    return llvm::createStringError("option '--bounds=" + text + "' " + why +
                                   "; it has the form ARGUMENT:DIMENSION=MIN:TYPICAL:MAX, or ARGUMENT:value=…, with "
                                   "several ranges separated by '|'");
  };
  Limit limit;
  auto [place, numbers] = text.split('=');
  StringRef what;
  std::tie(limit.argument, what) = place.rsplit(':');
  if (limit.argument.empty() || what.empty())
    return refuse("names no argument and dimension");
  if (what.consume_front("value")) {
    limit.isValue = true;
    if (!what.empty() && (!what.consume_front("[") || !what.consume_back("]") || what.getAsInteger(10, limit.index)))
      return refuse("names no element: value[NUMBER]");
  } else if (what.getAsInteger(10, limit.index)) {
    return refuse("has '" + what + "' as a dimension");
  }
  for (StringRef range : llvm::split(numbers, '|')) {
    SmallVector<StringRef> parts;
    range.split(parts, ':');
    auto &[min, opt, max] = limit.ranges.emplace_back();
    if (parts.size() != 3 || parts[0].getAsInteger(10, min) || parts[1].getAsInteger(10, opt) ||
        parts[2].getAsInteger(10, max))
      return refuse("needs three numbers");
    if (limit.index < 0 || min > opt || opt > max || (!limit.isValue && min < 0))
      return refuse("needs numbers in ascending order, not negative for extents");
  }
  return limit;
}

static llvm::Expected<SmallVector<Limit>> parseLimits(StringRef text) {
  SmallVector<Limit> limits;
  for (StringRef part : llvm::split(text, ',')) {
    auto limit = parseLimit(part);
    if (!limit)
      return limit.takeError();
    limits.push_back(*limit);
  }
  return limits;
}

llvm::Error checkBoundsOption(StringRef text) { return parseLimits(text).takeError(); }

static func::FuncOp findFunction(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return main;
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate() || function.isExternal())
      continue;
    if (only)
      return nullptr;
    only = function;
  }
  return only;
}

static std::optional<unsigned> findArgument(func::FuncOp function, StringRef name) {
  unsigned number;
  if (!name.getAsInteger(10, number))
    return number < function.getNumArguments() ? std::optional(number) : std::nullopt;
  for (BlockArgument argument : function.getArguments())
    if (auto loc = dyn_cast<NameLoc>(argument.getLoc()); loc && loc.getName() == name)
      return argument.getArgNumber();
  return std::nullopt;
}

// Sets entry `index` of the bounds `name` of an argument; the others begin as `initial`.
static void setLimit(func::FuncOp function, unsigned argument, StringRef name, ArrayRef<std::array<int64_t, 3>> initial,
                     const Limit &limit) {
  Attribute before = function.getArgAttr(argument, name);
  size_t profiles = std::max(limit.ranges.size(), plan::getProfiles(before).size());
  MLIRContext *context = function.getContext();
  SmallVector<plan::BoundsAttr> bounds;
  for (size_t profile = 0; profile < profiles; ++profile) {
    SmallVector<int64_t> lists[3];
    for (int i = 0; i < 3; ++i)
      for (const auto &entry : initial)
        lists[i].push_back(entry[i]);
    if (plan::BoundsAttr known = plan::getProfile(before, profile);
        known && known.getMin().size() == static_cast<int64_t>(initial.size())) {
      lists[0].assign(known.getMin().asArrayRef().begin(), known.getMin().asArrayRef().end());
      lists[1].assign(known.getOpt().asArrayRef().begin(), known.getOpt().asArrayRef().end());
      lists[2].assign(known.getMax().asArrayRef().begin(), known.getMax().asArrayRef().end());
    }
    const auto &range = limit.ranges[std::min(profile, limit.ranges.size() - 1)];
    for (int i = 0; i < 3; ++i)
      lists[i][limit.index] = range[i];
    bounds.push_back(plan::BoundsAttr::get(context, DenseI64ArrayAttr::get(context, lists[0]),
                                           DenseI64ArrayAttr::get(context, lists[1]),
                                           DenseI64ArrayAttr::get(context, lists[2])));
  }
  function.setArgAttr(argument, name, plan::makeProfiles(bounds));
}

LogicalResult applyBoundsOption(ModuleOp module, StringRef text) {
  if (text.empty())
    return success();
  auto limits = parseLimits(text);
  if (!limits)
    return module.emitError() << llvm::toString(limits.takeError());
  func::FuncOp function = findFunction(module);
  if (!function)
    return module.emitError("option '--bounds' is for the function 'main', or the only public one; there is neither");
  constexpr int64_t largest = std::numeric_limits<int64_t>::max();
  for (const Limit &limit : *limits) {
    std::optional<unsigned> argument = findArgument(function, limit.argument);
    if (!argument)
      return function.emitError() << "option '--bounds' names argument '" << limit.argument << "', which function '"
                                  << function.getName() << "' does not have";
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[*argument]);
    SmallVector<std::array<int64_t, 3>> initial;
    if (limit.isValue) {
      if (!type || !type.hasStaticShape() || !type.getElementType().isInteger() || type.getElementTypeBitWidth() < 8 ||
          limit.index >= type.getNumElements())
        return function.emitError() << "option '--bounds' limits element " << limit.index << " of argument '"
                                    << limit.argument << "', which has type " << function.getArgumentTypes()[*argument];
      initial.assign(type.getNumElements(), {std::numeric_limits<int64_t>::min(), 0, largest});
      setLimit(function, *argument, plan::PlanDialect::getValueBoundsAttrName(), initial, limit);
      continue;
    }
    if (!type || limit.index >= type.getRank() || !type.isDynamicDim(limit.index))
      return function.emitError() << "option '--bounds' limits dimension " << limit.index << " of argument '"
                                  << limit.argument << "', which is no dynamic dimension of "
                                  << function.getArgumentTypes()[*argument];
    for (int64_t extent : type.getShape())
      initial.push_back(ShapedType::isDynamic(extent) ? std::array<int64_t, 3>{0, 0, largest}
                                                      : std::array<int64_t, 3>{extent, extent, extent});
    setLimit(function, *argument, plan::PlanDialect::getBoundsAttrName(), initial, limit);
  }
  return success();
}

} // namespace latewood::driver
