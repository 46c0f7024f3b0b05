// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestExecutable.h"

#include "latewood/format/ElementTypes.h"
#include "latewood/format/abi.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <tuple>

namespace latewood::test {

std::vector<uint8_t> readImage(const std::string &name) {
  std::ifstream file(std::string(LATEWOOD_TEST_IMAGES) + "/" + name + ".img", std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

namespace {
/// "4x?xf32", or "f32" for rank 0.
std::unique_ptr<format::ValueT> value(std::string text) {
  auto result = std::make_unique<format::ValueT>();
  for (size_t x; (x = text.find('x')) != std::string::npos; text = text.substr(x + 1))
    result->shape.push_back(text[0] == '?' ? -1 : std::stoll(text.substr(0, x)));
  result->element_type = format::parseElementType(text);
  return result;
}

std::unique_ptr<format::FunctionT> function(const std::string &name, const std::vector<std::string> &arguments,
                                            const std::vector<std::string> &results) {
  auto result = std::make_unique<format::FunctionT>();
  result->name = name;
  result->symbol = "f_" + name;
  for (const std::string &text : arguments)
    result->arguments.push_back(value(text));
  for (const std::string &text : results)
    result->results.push_back(value(text));
  return result;
}
} // namespace

format::ExecutableT describeFunctions() {
  format::ExecutableT metadata;
  metadata.name = "functions";
  metadata.producer = "test";
  metadata.abi_version = LATEWOOD_ABI_VERSION;
  metadata.options = "--test";
  auto add = [&](const std::string &name, const std::vector<std::string> &arguments,
                 const std::vector<std::string> &results) -> format::FunctionT & {
    metadata.functions.push_back(function(name, arguments, results));
    return *metadata.functions.back();
  };
  add("add", {"4xf32", "4xf32"}, {"4xf32"});
  add("swap", {"4xf32", "4xf32"}, {"4xf32", "4xf32"});
  add("reverse", {"8xf32"}, {"8xf32"});
  auto same = std::make_unique<format::AliasT>();
  same->kind = format::AliasKind::same_address;
  add("double", {"8xf32"}, {"8xf32"}).aliases.push_back(std::move(same));
  // Donated and in place; donated, but not in place; donated and failing.
  for (auto [name, symbol, isInPlace] :
       {std::tuple("donate", "f_double", true), {"donate_aside", "f_reverse", false}}) {
    auto &donating = add(name, {"8xf32"}, {"8xf32"});
    donating.symbol = symbol;
    donating.aliases.push_back(std::make_unique<format::AliasT>());
    if (isInPlace) {
      donating.aliases.push_back(std::make_unique<format::AliasT>());
      donating.aliases.back()->kind = format::AliasKind::same_address;
    }
  }
  auto &first = add("donate_first", {"4xf32", "4xf32"}, {"4xf32", "4xf32"});
  first.symbol = "f_swap";
  first.aliases.push_back(std::make_unique<format::AliasT>());
  auto &failing = add("donate_check", {"i32"}, {"i32"});
  failing.symbol = "f_check";
  failing.aliases.push_back(std::make_unique<format::AliasT>());
  add("positive", {"?xf32"}, {"?xf32"});
  auto &negate = add("negate", {"?x2xf32"}, {"?x2xf32"});
  negate.arguments[0]->bounds = std::make_unique<format::BoundsT>();
  negate.arguments[0]->bounds->min = {1, 2};
  negate.arguments[0]->bounds->opt = {4, 2};
  negate.arguments[0]->bounds->max = {8, 2};
  add("grow", {"i64"}, {"?xi64"});
  add("scalars", {"f32", "i1"}, {"f32", "i1", "0xf32"});
  add("check", {"i32"}, {"i32"});
  add("forget", {}, {"f32"});
  add("short", {}, {"f32"});
  add("range", {}, {});
  add("temporaries", {"64xf32"}, {"64xf32"}).workspace_bytes = 256;
  add("generations", {"i64"}, {"?xi64"});
  add("multiply", {"f32", "f32"}, {"f32"});
  add("squares", {"1024x64xf32"}, {"1024x64xf32"});
  add("nested", {"1024x64xf32"}, {"1024x64xf32"});
  add("failing_tasks", {}, {});
  add("table", {"i32"}, {"i32"});
  add("nothing", {}, {});
  // With a shape function, and limits of a value.
  auto &limited = add("limited", {"i64"}, {"?xi64", "2xf32", "?xf32"});
  limited.symbol = "f_grow";
  limited.shape_function = "length";
  limited.results[2]->data_dependent = true;
  limited.arguments[0]->value_bounds = std::make_unique<format::BoundsT>();
  limited.arguments[0]->value_bounds->min = {-3};
  limited.arguments[0]->value_bounds->opt = {10};
  limited.arguments[0]->value_bounds->max = {1000};
  add("length", {"i64"}, {"1xi64"});

  auto constant = std::make_unique<format::ConstantT>();
  constant->element_type = format::ElementType::f32;
  constant->shape = {4};
  constant->segment = 0;
  metadata.constants.push_back(std::move(constant));
  auto image = std::make_unique<format::ImageT>();
  image->target = std::make_unique<format::TargetT>();
  image->target->triple = "x86_64-unknown-linux-gnu";
  image->target->cpu = "x86-64";
  image->target->features = {"sse2"};
  image->segment = 1;
  metadata.images.push_back(std::move(image));
  return metadata;
}

std::vector<uint8_t> writeFunctions(const format::ExecutableT &metadata, const std::string &imageName) {
  static const float constant[4] = {100, 200, 300, 400};
  std::vector<uint8_t> image = readImage(imageName);
  format::SegmentInput segments[2];
  segments[0] = {format::SegmentKind::constant, "bias", {reinterpret_cast<const uint8_t *>(constant), 16}, 0};
  segments[1] = {format::SegmentKind::image, "x86-64", image, 0};
  std::vector<uint8_t> bytes;
  if (std::string problem = format::write(metadata, segments, bytes); !problem.empty()) {
    std::fprintf(stderr, "cannot write the test executable: %s\n", problem.c_str());
    std::abort();
  }
  return bytes;
}

runtime::Ref<runtime::Session> openFunctions(int threads) {
  auto require = [](auto result) {
    if (!result.isOk()) {
      std::fprintf(stderr, "%s\n", result.status().str().c_str());
      std::abort();
    }
    return *std::move(result);
  };
  runtime::ClientOptions options;
  options.threadCount = threads;
  auto client = require(runtime::Client::create(options));
  auto executable = require(runtime::Executable::fromBytes(writeFunctions()));
  return require(runtime::Session::create(client, executable));
}

} // namespace latewood::test
