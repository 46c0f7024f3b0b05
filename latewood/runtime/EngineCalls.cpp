// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places for the results of an engine, and the call itself. Whatever fails is recorded in the call frame.

#include "latewood/runtime/EngineCalls.h"

#include "latewood/runtime/Exceptions.h"
#include "latewood/runtime/Signature.h"

#include <algorithm>
#include <vector>

namespace latewood::runtime {

namespace {
int32_t fail(lw_call *call, const Status &status) {
  return call->api->fail(call, static_cast<int32_t>(status.code()), status.message().data(),
                         static_cast<int64_t>(status.message().size()));
}

/// Destination style: the host program knows the extents, and the engine must agree.
class GivenResults final : public EngineResults {
public:
  GivenResults(EngineDevice &device, std::span<const lw_operand> outputs) : device(device), outputs(outputs) {}

  bool staysOnDevice(size_t index) const override { return device.owns(outputs[index].data); }
  void *deviceMemory(size_t index) const override { return outputs[index].data; }
  bool keep(size_t index, std::span<const int64_t> extents, void *) override { return place(index, extents, 0); }

  void *place(size_t index, std::span<const int64_t> extents, int64_t) override {
    const lw_operand &output = outputs[index];
    if (std::equal(extents.begin(), extents.end(), output.extents))
      return output.data;
    failure =
        internalError("an engine gives its result " + std::to_string(index) + " the shape " + shapeText(extents) +
                      " where the host program has memory of the shape " + shapeText({output.extents, extents.size()}));
    return nullptr;
  }

  Status failure;

private:
  EngineDevice &device;
  std::span<const lw_operand> outputs;
};

/// The callee allocates: memory comes from the output slot, where there is one, so that the caller's buffer is used.
class AllocatedResults final : public EngineResults {
public:
  AllocatedResults(lw_call *call, const int64_t *slots, std::span<lw_operand> results)
      : call(call), slots(slots), results(results) {}

  bool staysOnDevice(size_t index) const override { return slots[index] == LATEWOOD_ON_DEVICE; }
  void *deviceMemory(size_t) const override { return nullptr; }
  bool keep(size_t index, std::span<const int64_t> extents, void *memory) override {
    int64_t *kept = copyOf(extents);
    results[index] = {memory, kept};
    return kept != nullptr;
  }

  void *place(size_t index, std::span<const int64_t> extents, int64_t bytes) override {
    int64_t *kept = copyOf(extents);
    if (!kept)
      return nullptr;
    void *memory = slots[index] >= 0 ? call->api->request(call, slots[index], bytes, 1, kept)
                                     : call->api->allocate(call, std::max<int64_t>(bytes, 1), LATEWOOD_ALIGNMENT);
    results[index] = {memory, kept};
    return memory;
  }

private:
  /// Of the call: it outlives this object.
  int64_t *copyOf(std::span<const int64_t> extents) {
    auto *copy = static_cast<int64_t *>(
        call->api->allocate(call, static_cast<int64_t>(std::max<size_t>(extents.size(), 1) * sizeof(int64_t)), 8));
    if (copy)
      std::copy(extents.begin(), extents.end(), copy);
    return copy;
  }

  lw_call *call;
  const int64_t *slots;
  std::span<lw_operand> results;
};

Status run(const Engine &engine, EngineContext &context, std::span<const lw_operand> inputs, size_t resultCount,
           EngineResults &results) {
  if (inputs.size() != engine.inputCount() || resultCount != engine.resultCount())
    return dataCorruption("an engine has " + std::to_string(engine.inputCount()) + " inputs and " +
                          std::to_string(engine.resultCount()) + " results, but the host program calls it with " +
                          std::to_string(inputs.size()) + " and " + std::to_string(resultCount));
  std::vector<EngineInput> given;
  given.reserve(inputs.size());
  for (const lw_operand &input : inputs)
    given.push_back({input.data, input.extents});
  return context.run(given, results);
}
} // namespace

int32_t runEngine(lw_call *call, const Engine &engine, EngineContext &context, EngineDevice &device,
                  std::span<const lw_operand> inputs, std::span<const lw_operand> outputs) noexcept {
  Status status = withoutExceptions([&] {
    GivenResults results(device, outputs);
    Status ran = run(engine, context, inputs, outputs.size(), results);
    return results.failure.isOk() ? std::move(ran) : std::move(results.failure);
  });
  return status.isOk() ? 0 : fail(call, status);
}

int32_t runAllocatingEngine(lw_call *call, const Engine &engine, EngineContext &context,
                            std::span<const lw_operand> inputs, const int64_t *slots,
                            std::span<lw_operand> results) noexcept {
  Status status = withoutExceptions([&] {
    AllocatedResults places(call, slots, results);
    return run(engine, context, inputs, results.size(), places);
  });
  // A place that could not be had is recorded already, and the first failure counts.
  return status.isOk() ? 0 : fail(call, status);
}

} // namespace latewood::runtime
