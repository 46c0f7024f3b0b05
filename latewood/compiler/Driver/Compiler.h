// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler as a library: a program in, an executable out, in steps that a caller can take one by one.
//
//   auto module     = Module::parse(text, "model.mlir");          // phase 0: a verified module
//   auto pipeline   = Pipeline::stableHLOToExecutable(options);    // the passes, as an object with a textual form
//   pipeline.run(*module, runOptions);                            // phases import to lower
//   auto executable = translate(*module);                         // the bytes of an executable file
//
// `compile` is exactly that. Nothing prints: what there is to say comes back as diagnostics.
//
// Threads: functions may be called from any thread. One Module is used by one thread at a time; it has an MLIRContext
// of its own. Errors: llvm::Error; a failed compilation is a CompilationError.
#pragma once
#include "latewood/compiler/Driver/Diagnostics.h"
#include "latewood/compiler/Driver/Options.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class MLIRContext;
class ModuleOp;
} // namespace mlir

namespace latewood::driver {

using Bytes = std::vector<uint8_t>;

class Report;

enum class CodeForm;

/// A program and the context that it lives in.
class Module {
public:
  /// Parses text or MLIR bytecode, and verifies it. `name` is the file name that locations show.
  static llvm::Expected<Module> parse(llvm::StringRef textOrBytecode, llvm::StringRef name = "<input>");

  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;
  ~Module();

  mlir::ModuleOp get() const;
  mlir::MLIRContext *getContext() const;

  struct PrintOptions {
    bool locations = false;
    /// Elements beyond which a constant is shown as `dense_resource<__elided__>`; nothing is elided without it, and
    /// such text does not parse back to the same constants.
    std::optional<int64_t> elideLargerThan;
  };
  std::string str(const PrintOptions &options) const;
  std::string str() const { return str(PrintOptions()); }

  /// A copy in the same context.
  Module clone() const;

  /// Remarks and warnings of the runs so far.
  const std::vector<Diagnostic> &getDiagnostics() const;

private:
  friend class Pipeline;
  friend llvm::Expected<Bytes> translate(llvm::ArrayRef<Module *> variants, Report *report);
  friend llvm::Expected<std::string> translateToText(Module &module, CodeForm form);
  llvm::Error checkLowered() const;
  struct Impl;
  explicit Module(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Time that passes took.
struct PassStatistics {
  std::string pass;
  std::string phase;
  double milliseconds = 0;
};

/// A pass pipeline as a value: its text.
class Pipeline {
public:
  /// The pipeline that compiles StableHLO. Fails when the target cannot be resolved, and for several targets: each has
  /// a pipeline of its own.
  static llvm::Expected<Pipeline> stableHLOToExecutable(const StableHLOToExecutableOptions &options);

  /// The same by phases: `builtin.module(latewood-import{…},latewood-input,…)`, which `parse` reads.
  static llvm::Expected<std::string> phasesText(const StableHLOToExecutableOptions &options);

  /// Reads a pipeline as `str` writes it, or as a user wrote it. An unknown pass or phase is an error that offers close
  /// names.
  static llvm::Expected<Pipeline> parse(llvm::StringRef text);

  /// MLIR's textual form, which parses again and which latewood-opt runs: on one line, or indented.
  const std::string &str() const { return text; }
  std::string pretty() const;

  /// The passes in order, each as it stands in the text; those on functions and nested modules with what they are
  /// nested in.
  std::vector<std::string> passes() const;

  /// The phases in order.
  std::vector<std::string> phases() const;

  struct RunOptions {
    /// Stop after this phase; empty runs to the end.
    std::string until;
    /// Begin after this phase, which the module must have finished; empty begins at the start.
    std::string since;
    /// Where a numbered file with the module goes after each pass that changed it; empty: nowhere. The directory is
    /// made.
    std::string dumpDirectory;
    /// Where the module as it was before a failing phase goes, with the command that repeats the failure; empty:
    /// nowhere.
    std::string reproducer;
    /// Collects what the run did; not owned.
    Report *report = nullptr;
    /// Called before each phase with its name, for progress.
    std::function<void(llvm::StringRef phase)> onPhase;
  };

  /// Runs on the module; on failure the module is unchanged.
  llvm::Error run(Module &module, const RunOptions &options) const;
  llvm::Error run(Module &module) const { return run(module, RunOptions()); }

  /// Of the last run.
  const std::vector<PassStatistics> &getStatistics() const { return statistics; }

  bool operator==(const Pipeline &other) const { return text == other.text; }

private:
  explicit Pipeline(std::string text) : text(std::move(text)) {}
  std::string text;
  mutable std::vector<PassStatistics> statistics;
};

/// Translates a module that has finished phase lower. A report gets the time, the remarks, and what is in the file.
llvm::Expected<Bytes> translate(Module &module, Report *report = nullptr);

/// Translates variants of one program (clones that went through the pipelines of different targets) into one file, with
/// an image for each. The runtime takes the best that the machine can run.
llvm::Expected<Bytes> translate(llvm::ArrayRef<Module *> variants, Report *report = nullptr);

/// The options for each target that `options.target` lists, separated by commas.
std::vector<StableHLOToExecutableOptions> optionsPerTarget(const StableHLOToExecutableOptions &options);

/// The code of such a module for reading: the host program as Lua source, or everything as LLVM IR before it is
/// optimized.
enum class CodeForm { Lua, LLVM };
llvm::Expected<std::string> translateToText(Module &module, CodeForm form);

/// Parses, runs the pipeline (for several targets: one for each), and translates.
llvm::Expected<Bytes> compile(llvm::StringRef textOrBytecode, const StableHLOToExecutableOptions &options,
                              llvm::StringRef name = "<input>", Report *report = nullptr);

} // namespace latewood::driver
