// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the fuzzers of programs do with an input: everything that happens to a program before engines get it.
#pragma once
#include "latewood/compiler/Driver/Compiler.h"
#include "mlir/IR/BuiltinOps.h"

/// Reads and verifies the program and, where that works, runs the pipeline up to its clusters and prints the result.
/// Errors must have something to say; anything else is for the sanitizers to find.
inline void compileUpToClusters(llvm::StringRef program) {
  using namespace latewood::driver;
  static const Pipeline pipeline = [] {
    StableHLOToExecutableOptions options;
    options.target = "x86-64-v3";
    return llvm::cantFail(Pipeline::stableHLOToExecutable(options));
  }();
  auto check = [](llvm::Error error) {
    if (llvm::toString(std::move(error)).empty())
      abort();
  };
  auto module = Module::parse(program);
  if (!module)
    return check(module.takeError());
  Pipeline::RunOptions run;
  run.until = "cluster";
  if (llvm::Error error = pipeline.run(*module, run))
    return check(std::move(error));
  (void)module->str();
}
