// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice of an optimization profile: of those that all extents (and the values that shapes are computed from) lie
// in, the one whose typical extents are nearest. A profile is kept as long as neither change.

#include "latewood/runtime/TensorRT/Context.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace latewood::runtime;

namespace latewood::tensorrt {

namespace {
/// How far `given` is from what is typical; nothing if it is outside.
std::optional<double> distance(std::span<const int64_t> given, const std::vector<int64_t> &min,
                               const std::vector<int64_t> &typical, const std::vector<int64_t> &max) {
  double sum = 0;
  for (size_t i = 0; i < std::min({given.size(), min.size(), typical.size(), max.size()}); ++i) {
    if (given[i] < min[i] || given[i] > max[i])
      return std::nullopt;
    sum += std::abs(double(given[i]) - double(typical[i])) / std::max(double(typical[i]), 1.0);
  }
  return sum;
}

/// The values of a tensor of the host, which are of 4 or 8 bytes.
std::vector<int64_t> toValues(const std::vector<std::byte> &bytes, const Tensor &tensor) {
  std::vector<int64_t> values;
  for (size_t at = 0; at + tensor.elementBytes <= bytes.size(); at += tensor.elementBytes) {
    int64_t value = 0;
    int32_t narrow;
    if (tensor.elementBytes == 8) {
      std::memcpy(&value, bytes.data() + at, 8);
    } else if (tensor.elementBytes == 4) {
      std::memcpy(&narrow, bytes.data() + at, 4);
      value = narrow;
    } else {
      return {};
    }
    values.push_back(value);
  }
  return values;
}

std::string rangeText(const std::vector<int64_t> &min, const std::vector<int64_t> &max) {
  return min == max ? text(min) : text(min) + " to " + text(max);
}
} // namespace

std::optional<double> TensorRTContext::distanceTo(const Profile &profile, std::span<const EngineInput> given) const {
  double sum = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Range &range = profile[i];
    auto far = distance({given[i].extents, inputs[i].tensor->rank}, range.min, range.typical, range.max);
    if (!far)
      return std::nullopt;
    sum += *far;
    if (range.minValues.empty())
      continue;
    far =
        distance(toValues(inputs[i].onHost, *inputs[i].tensor), range.minValues, range.typicalValues, range.maxValues);
    if (!far)
      return std::nullopt;
    sum += *far;
  }
  return sum;
}

Status TensorRTContext::chooseProfile(std::span<const EngineInput> given) {
  bool hasChanged = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input &input = inputs[i];
    bool hasOtherValues = false;
    if (input.tensor->isOnHost)
      LATEWOOD_RETURN_IF_ERROR(readHostValues(i, given[i], hasOtherValues));
    hasChanged |=
        hasOtherValues || !input.isKnown || !std::equal(input.extents.begin(), input.extents.end(), given[i].extents);
  }
  if (!hasChanged || engine.profiles.empty())
    return okStatus();
  int32_t best = -1;
  double nearest = std::numeric_limits<double>::infinity();
  for (size_t candidate = 0; candidate < engine.profiles.size(); ++candidate)
    if (auto far = distanceTo(engine.profiles[candidate], given); far && *far < nearest) {
      best = static_cast<int32_t>(candidate);
      nearest = *far;
    }
  if (best < 0)
    return noProfile(given);
  if (best == profile)
    return okStatus();
  if (!context->setOptimizationProfileAsync(best, device.compute.handle))
    return failed("does not take its optimization profile " + std::to_string(best));
  profile = best;
  // The context has forgotten shapes and addresses.
  for (Input &input : inputs)
    input.isKnown = false, input.address = nullptr;
  for (Output &output : outputs)
    output.address = nullptr;
  return okStatus();
}

Status TensorRTContext::noProfile(std::span<const EngineInput> given) const {
  std::string shapes, ranges;
  for (size_t i = 0; i < inputs.size(); ++i) {
    shapes += (i ? ", " : "") + inputs[i].tensor->name + ": " + text({given[i].extents, inputs[i].tensor->rank});
    if (std::vector<int64_t> values = toValues(inputs[i].onHost, *inputs[i].tensor);
        !values.empty() && inputs[i].tensor->isOnHost)
      shapes += " with the values " + text(values);
  }
  for (size_t number = 0; number < engine.profiles.size(); ++number) {
    ranges += (number ? "; (" : " (") + std::to_string(number) + ") ";
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Range &range = engine.profiles[number][i];
      ranges += (i ? ", " : "") + inputs[i].tensor->name + ": " + rangeText(range.min, range.max);
      if (!range.minValues.empty())
        ranges += " with the values " + rangeText(range.minValues, range.maxValues);
    }
  }
  return invalidArgument("engine '" + engine.engineName + "' has no optimization profile for the shapes " + shapes +
                         "; it was made for" + ranges);
}

} // namespace latewood::tensorrt
