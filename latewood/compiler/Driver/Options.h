// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options of a compilation from StableHLO to an executable.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace latewood::driver {

/// How engines of TensorRT are made.
struct TensorRTOptions {
  /// Folder that engines are kept in; empty: none.
  std::string engines;
  /// Folder that networks are written to, as programs; empty: none.
  std::string exportTo;
  std::string timingCache;
  int level = -1;
  /// The GPUs that engines are for: 86 is 8.6; 0: all that the library supports, or the one here.
  int capability = 0;
  int64_t workspace = 0;
  bool stripWeights = false;
  bool refit = false;
  /// Engines allocate their results, also where extents are known before.
  bool allocate = false;

  /// From `name=value` parts, separated by commas: `engines=DIR,level=3,refit`.
  static llvm::Expected<TensorRTOptions> parse(llvm::StringRef text);
  /// What decides what an engine is, in the form that `parse` reads; empty if nothing was chosen.
  std::string canonical() const;
  /// All of it, in that form: folders and files, too.
  std::string text() const;
};

struct StableHLOToExecutableOptions {
  /// The machine that code is made for: `native`, a level (`x86-64-v3`, `x86-64-v4`), the LLVM name of a CPU, or a
  /// canonical target.
  std::string target = "native";
  /// Engines that the program is divided among.
  std::vector<std::string> engines = {"cpu"};
  /// The dialect that the program is written in: `stablehlo`, or `tensorrt`.
  std::string input = "stablehlo";
  /// Limits of arguments' extents (BoundsOption.h); empty: none but those in the program.
  std::string bounds;
  /// What the host program becomes: `native` code, or `lua` source that the runtime interprets.
  std::string host = "native";
  TensorRTOptions tensorrt;

  /// Reads `--name=value` strings on top of the defaults. Fails on an unknown name, with the closest known ones, and on
  /// a value that the option cannot have.
  static llvm::Expected<StableHLOToExecutableOptions> parse(llvm::ArrayRef<std::string> arguments);

  /// The options as `--name=value` strings, in a fixed order, with the target resolved: equal texts compile equally on
  /// every machine.
  llvm::Expected<std::vector<std::string>> canonical() const;
};

/// One documented option, for help texts and the Python class.
struct OptionDescription {
  llvm::StringLiteral name;
  llvm::StringLiteral value;
  llvm::StringLiteral help;
};
llvm::ArrayRef<OptionDescription> getOptionDescriptions();

/// Candidates whose spelling is close to `name`, best first: what an error about an unknown name offers.
std::vector<std::string> findCloseMatches(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> candidates);

} // namespace latewood::driver
