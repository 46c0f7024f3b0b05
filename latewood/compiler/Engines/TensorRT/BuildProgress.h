// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far a build is: TensorRT tells a monitor of phases, which have steps and further phases inside; here this becomes
// one number, and the time that each outer phase took.
//
// Whoever wants to see builds of a context while they run sets `onBuildProgress` of its TensorRTDialect; afterwards
// there is a remark at each network. TensorRT calls from threads of its own.
#pragma once

#include "latewood/compiler/Dialect/TensorRT/TensorRT.h"

#include <NvInfer.h>
#include <chrono>
#include <mutex>

namespace latewood::tensorrt {
namespace LATEWOOD_TENSORRT_ABI {

class BuildProgress final : public nvinfer1::IProgressMonitor {
public:
  using Listener = std::function<void(llvm::StringRef network, llvm::StringRef phase, int percent)>;

  BuildProgress(llvm::StringRef network, Listener listener)
      : network(network), listener(std::move(listener)), begin(std::chrono::steady_clock::now()) {}

  void phaseStart(char const *name, char const *parent, int32_t steps) noexcept override {
    std::lock_guard lock(mutex);
    unsigned depth = 0;
    for (const Phase &phase : active)
      if (parent && phase.name == parent)
        depth = phase.depth + 1;
    active.push_back({name, parent ? parent : "", std::max(steps, 1), 0, depth, std::chrono::steady_clock::now()});
    tell(name);
  }

  bool stepComplete(char const *name, int32_t step) noexcept override {
    std::lock_guard lock(mutex);
    for (Phase &phase : active)
      if (phase.name == name)
        phase.done = std::max(phase.done, step + 1);
    tell(name);
    return true;
  }

  void phaseFinish(char const *name) noexcept override {
    std::lock_guard lock(mutex);
    auto *phase = llvm::find_if(active, [&](const Phase &phase) { return phase.name == name; });
    if (phase == active.end())
      return;
    // The outermost phase is the build itself.
    if (phase->depth == 1)
      finished.emplace_back(phase->name, since(phase->start));
    active.erase(phase);
  }

  double seconds() const { return since(begin); }

  /// The outer phases, in order, with their seconds.
  llvm::ArrayRef<std::pair<std::string, double>> phases() const { return finished; }

private:
  using Time = std::chrono::steady_clock::time_point;
  struct Phase {
    std::string name, parent;
    int32_t steps, done;
    unsigned depth;
    Time start;
  };

  static double since(Time start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  /// What is done of a phase: its steps, and of the step that runs what the phases in it have done.
  double share(const Phase &phase) const {
    double inside = 0;
    for (const Phase &other : active)
      if (other.parent == phase.name && other.depth == phase.depth + 1)
        inside = std::max(inside, share(other));
    return std::min(1.0, (phase.done + inside) / phase.steps);
  }

  void tell(llvm::StringRef phase) {
    if (listener && !active.empty())
      listener(network, phase, static_cast<int>(100 * share(active.front())));
  }

  std::string network;
  Listener listener;
  Time begin;
  std::mutex mutex;
  llvm::SmallVector<Phase> active;
  std::vector<std::pair<std::string, double>> finished;
};

} // namespace LATEWOOD_TENSORRT_ABI
} // namespace latewood::tensorrt
