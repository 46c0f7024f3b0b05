// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call costs, through the shared library, as an application pays it. Prints; decides nothing.

#include "TestExecutable.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace latewood::runtime;
using namespace latewood::test;

namespace {
/// Nanoseconds of one call of `run`: the best and the median of many short series.
template <typename Run>
void measure(const char *name, Run run) {
  constexpr int series = 201, length = 1000;
  std::vector<double> times;
  for (int s = 0; s < series; ++s) {
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < length; ++i)
      run();
    std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - begin;
    times.push_back(time.count() / length);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-44s min %7.1f ns  median %7.1f ns\n", name, times[0], times[series / 2]);
}
} // namespace

int main() {
  auto session = openFunctions();
  auto a = floats(*session->client(), {1, 2, 3, 4}), b = floats(*session->client(), {1, 2, 3, 4});
  const FunctionSignature &add = *session->executable()->findFunction("add");
  const FunctionSignature &nothing = *session->executable()->findFunction("nothing");
  Value *arguments[] = {a.get(), b.get()};
  Ref<Value> results[1] = {floats(*session->client(), {0, 0, 0, 0})};
  measure("nothing, no arguments", [&] { (void)session->call(nothing, {}, {}); });
  measure("add of 4 floats, result given", [&] { (void)session->call(add, arguments, results); });
  measure("add of 4 floats, result allocated and dropped", [&] {
    results[0].reset();
    (void)session->call(add, arguments, results);
  });
  const Ref<Value> references[] = {a, b};
  measure("add of 4 floats, execute by name", [&] { (void)session->execute("add", references); });
  auto parallel = openFunctions(2);
  auto in = memref<float>(*parallel->client(), ElementType::f32, {1024, 64}, std::vector<float>(65536, 1));
  const FunctionSignature &squares = *parallel->executable()->findFunction("squares");
  Value *large[] = {in.get()};
  Ref<Value> out[1];
  for (int warm = 0; warm < 10; ++warm)
    (void)parallel->call(squares, large, out);
  constexpr int calls = 2000;
  std::vector<double> times;
  for (int i = 0; i < calls; ++i) {
    auto begin = std::chrono::steady_clock::now();
    (void)parallel->call(squares, large, out);
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  std::printf("%-44s min %7.1f us  median %7.1f us\n", "64 Ki squares on two threads", times[0], times[calls / 2]);
  return 0;
}
