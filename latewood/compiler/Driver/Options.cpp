// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options: parsing, canonical form, and helpful errors.

#include "latewood/compiler/Driver/Options.h"
#include "latewood/compiler/Driver/BoundsOption.h"
#include "latewood/compiler/Engines/Registry.h"
#include "latewood/compiler/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace latewood::driver {

ArrayRef<OptionDescription> getOptionDescriptions() {
  static constexpr OptionDescription descriptions[] = {
      {"bounds", "ARGUMENT:DIMENSION=MIN:TYPICAL:MAX[,…]",
       "limits of arguments' extents, which each call checks; ARGUMENT:value=… of a small integer"},
      {"engines", "NAME[,NAME…]", "engines that the program is divided among (default: cpu)"},
      {"host", "native|lua",
       "form of the host program: machine code (default), or Lua source that the runtime interprets"},
      {"tensorrt", "NAME=VALUE[,…]",
       "how engines of TensorRT are made: engines=DIR (kept there), export=DIR (networks, as programs), level=0…5, "
       "capability=CC (GPUs of compute capability 86 is 8.6), workspace=BYTES, timing-cache=FILE, strip-weights, "
       "refit, allocate (results, in each run)"},
      {"input", "stablehlo|tensorrt",
       "dialect that the program is written in: StableHLO (default), or TensorRT's layers"},
      {"target", "NAME", "machine that code is made for: native (default), x86-64-v3, x86-64-v4, or the name of a CPU"},
  };
  return descriptions;
}

std::vector<std::string> findCloseMatches(StringRef name, ArrayRef<StringRef> candidates) {
  SmallVector<std::pair<unsigned, StringRef>> scored;
  for (StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate);
    if (distance <= std::max<size_t>(2, name.size() / 3) || (!name.empty() && candidate.contains(name)))
      scored.push_back({distance, candidate});
  }
  llvm::stable_sort(scored, llvm::less_first());
  std::vector<std::string> result;
  for (auto &[distance, candidate] : ArrayRef(scored).take_front(3))
    result.push_back(candidate.str());
  return result;
}

static Error unknownOption(StringRef name) {
  SmallVector<StringRef> names(
      map_range(getOptionDescriptions(), [](auto &option) -> StringRef { return option.name; }));
  std::vector<std::string> close = findCloseMatches(name, names);
  std::string hint =
      close.empty() ? "the options are --" + join(names, ", --") : "did you mean --" + join(close, ", --") + "?";
  return createStringError("unknown option '--" + name + "'; " + hint);
}

Expected<TensorRTOptions> TensorRTOptions::parse(StringRef text) {
  TensorRTOptions options;
  for (StringRef part : split(text, ',')) {
    auto [name, value] = part.split('=');
    auto refuse = [&](const Twine &why) { return createStringError("option '--tensorrt=" + part + "' " + why); };
    bool isFlag = name == "strip-weights" || name == "refit" || name == "allocate";
    if (isFlag != value.empty())
      return refuse(isFlag ? "takes no value" : "needs a value: name=value");
    if (name == "engines")
      options.engines = value.str();
    else if (name == "export")
      options.exportTo = value.str();
    else if (name == "timing-cache")
      options.timingCache = value.str();
    else if (name == "strip-weights")
      options.stripWeights = true;
    else if (name == "refit")
      options.refit = true;
    else if (name == "allocate")
      options.allocate = true;
    else if (name == "level") {
      if (value.getAsInteger(10, options.level) || options.level < 0 || options.level > 5)
        return refuse("needs a level from 0 to 5");
    } else if (name == "capability") {
      if (value.getAsInteger(10, options.capability) || options.capability < 10)
        return refuse("needs a compute capability without its point: 86 is 8.6");
    } else if (name == "workspace") {
      if (value.getAsInteger(10, options.workspace) || options.workspace < 0)
        return refuse("needs a number of bytes");
    } else {
      return refuse("is unknown; there are allocate, capability, engines, export, level, refit, strip-weights, "
                    "timing-cache, workspace");
    }
  }
  return options;
}

std::string TensorRTOptions::canonical() const {
  SmallVector<std::string> parts;
  if (level >= 0)
    parts.push_back("level=" + std::to_string(level));
  if (capability != 0)
    parts.push_back("capability=" + std::to_string(capability));
  if (workspace != 0)
    parts.push_back("workspace=" + std::to_string(workspace));
  if (stripWeights)
    parts.push_back("strip-weights");
  if (refit)
    parts.push_back("refit");
  if (allocate)
    parts.push_back("allocate");
  return join(parts, ",");
}

std::string TensorRTOptions::text() const {
  SmallVector<std::string> parts;
  for (auto [name, value] :
       {std::pair("engines=", &engines), std::pair("export=", &exportTo), std::pair("timing-cache=", &timingCache)})
    if (!value->empty())
      parts.push_back(name + *value);
  if (std::string others = canonical(); !others.empty())
    parts.push_back(others);
  return join(parts, ",");
}

Expected<StableHLOToExecutableOptions> StableHLOToExecutableOptions::parse(ArrayRef<std::string> arguments) {
  StableHLOToExecutableOptions options;
  for (const std::string &argument : arguments) {
    StringRef text = argument;
    if (!text.consume_front("--"))
      return createStringError("option '" + argument + "' is not of the form --name=value");
    auto [name, value] = text.split('=');
    bool hasValue = text.contains('=');
    if (!is_contained(map_range(getOptionDescriptions(), [](auto &option) -> StringRef { return option.name; }), name))
      return unknownOption(name);
    if (!hasValue || value.empty())
      return createStringError("option '--" + name + "' needs a value: --" + name + "=…");
    if (name == "target") {
      options.target = value.str();
    } else if (name == "host") {
      if (value != "native" && value != "lua")
        return createStringError("unknown host '" + value + "'; the hosts are native, lua");
      options.host = value.str();
    } else if (name == "input") {
      if (value != "stablehlo" && value != "tensorrt")
        return createStringError("unknown input '" + value + "'; programs are written in stablehlo or tensorrt");
      options.input = value.str();
    } else if (name == "tensorrt") {
      auto parsed = TensorRTOptions::parse(value);
      if (!parsed)
        return parsed.takeError();
      options.tensorrt = *parsed;
    } else if (name == "bounds") {
      if (Error error = checkBoundsOption(value))
        return error;
      options.bounds = value.str();
    } else if (name == "engines") {
      options.engines.clear();
      for (StringRef engine : split(value, ',')) {
        if (!is_contained(engines::getNames(), engine))
          return createStringError("unknown engine '" + engine + "'; the engines are " +
                                   join(engines::getNames(), ", "));
        options.engines.push_back(engine.str());
      }
    }
  }
  return options;
}

Expected<std::vector<std::string>> StableHLOToExecutableOptions::canonical() const {
  auto resolved = target::Target::resolve(target);
  if (!resolved)
    return resolved.takeError();
  std::vector<std::string> texts;
  if (!bounds.empty())
    texts.push_back("--bounds=" + bounds);
  texts.push_back("--engines=" + join(engines, ","));
  texts.push_back("--host=" + host);
  if (input != "stablehlo")
    texts.push_back("--input=" + input);
  if (std::string chosen = tensorrt.canonical(); !chosen.empty())
    texts.push_back("--tensorrt=" + chosen);
  texts.push_back("--target=" + resolved->str());
  return texts;
}

} // namespace latewood::driver
