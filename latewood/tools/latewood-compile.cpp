// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// latewood-compile: StableHLO in, an executable file out.

#include "latewood/compiler/Driver/Compiler.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdio>
#include <unistd.h>

using namespace latewood::driver;

namespace {

struct Arguments {
  std::string input;
  std::string output;
  bool remarks = false;
  bool timing = false;
  std::vector<std::string> options;
};

void printHelp() {
  llvm::outs() << "usage: latewood-compile INPUT -o OUTPUT.lwx [--option=value …]\n\n"
                  "Compiles a StableHLO program (text or MLIR bytecode; '-' reads standard input) to an executable file.\n\n"
                  "  -o FILE              where the executable goes ('-' for standard output)\n"
                  "  --remarks            print what the compiler has to say about the program (standard error)\n"
                  "  --timing             print the time of each phase and pass (standard error)\n"
                  "  --help               this text\n\nOptions of the compilation:\n";
  for (const OptionDescription &option : getOptionDescriptions()) {
    std::string head = ("--" + option.name + "=" + option.value).str();
    llvm::outs() << "  " << head << std::string(head.size() < 20 ? 20 - head.size() : 1, ' ') << " " << option.help << "\n";
  }
}

int fail(const llvm::Twine &message) {
  llvm::errs() << "latewood-compile: " << message << "\n";
  return 1;
}

// Shows on a terminal which phase is running; silent elsewhere.
class Progress {
public:
  Progress() : visible(isatty(STDERR_FILENO) != 0) {}
  ~Progress() { clear(); }
  void show(llvm::StringRef what) {
    if (!visible)
      return;
    clear();
    llvm::errs() << "\r[" << what << "] …";
    shown = what.size() + 4;
  }
  void clear() {
    if (visible && shown != 0)
      llvm::errs() << "\r" << std::string(shown + 2, ' ') << "\r";
    shown = 0;
  }

private:
  bool visible;
  size_t shown = 0;
};

llvm::Expected<Arguments> parseArguments(int argc, char **argv) {
  Arguments result;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "-o") {
      if (++i == argc)
        return llvm::createStringError("-o needs a file name");
      result.output = argv[i];
    } else if (argument == "--remarks") {
      result.remarks = true;
    } else if (argument == "--timing") {
      result.timing = true;
    } else if (argument.starts_with("--")) {
      result.options.push_back(argument.str());
    } else if (argument.starts_with("-") && argument != "-") {
      return llvm::createStringError("unknown option '" + argument + "'; see latewood-compile --help");
    } else if (result.input.empty()) {
      result.input = argument.str();
    } else {
      return llvm::createStringError("more than one input: '" + result.input + "' and '" + argument + "'");
    }
  }
  if (result.input.empty())
    return llvm::createStringError("no input; see latewood-compile --help");
  if (result.output.empty())
    return llvm::createStringError("no output: give -o FILE.lwx");
  return result;
}

// Writes beside the target and renames, so that a file is whole or not there.
llvm::Error writeFile(llvm::StringRef path, const Bytes &bytes) {
  llvm::StringRef data(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  if (path == "-") {
    llvm::outs() << data;
    llvm::outs().flush();
    return llvm::Error::success();
  }
  auto file = llvm::sys::fs::TempFile::create(path + ".%%%%%%", llvm::sys::fs::all_read | llvm::sys::fs::owner_write);
  if (!file)
    return llvm::createStringError("cannot write '" + path + "': " + llvm::toString(file.takeError()));
  {
    llvm::raw_fd_ostream os(file->FD, /*shouldClose=*/false);
    os << data;
    os.flush();
    if (std::error_code error = os.error()) {
      os.clear_error();
      llvm::consumeError(file->discard());
      return llvm::createStringError("cannot write '" + path + "': " + error.message());
    }
  }
  return file->keep(path);
}

void printTiming(const Pipeline &pipeline, double translation) {
  std::string phase;
  double sum = 0, total = 0;
  auto finish = [&] {
    if (!phase.empty())
      llvm::errs() << llvm::format("%10.2f ms  phase ", sum) << phase << "\n";
    total += sum;
    sum = 0;
  };
  for (const PassStatistics &pass : pipeline.getStatistics()) {
    if (pass.phase != phase) {
      finish();
      phase = pass.phase;
    }
    sum += pass.milliseconds;
    llvm::errs() << llvm::format("%10.2f ms    ", pass.milliseconds) << pass.pass << "\n";
  }
  finish();
  llvm::errs() << llvm::format("%10.2f ms  translation\n%10.2f ms  in all\n", translation, total + translation);
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--help" || llvm::StringRef(argv[i]) == "-h") {
      printHelp();
      return 0;
    }
  auto arguments = parseArguments(argc, argv);
  if (!arguments)
    return fail(llvm::toString(arguments.takeError()));
  auto options = StableHLOToExecutableOptions::parse(arguments->options);
  if (!options)
    return fail(llvm::toString(options.takeError()));
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(arguments->input, /*IsText=*/false);
  if (!buffer)
    return fail("cannot read '" + arguments->input + "': " + buffer.getError().message());

  Progress progress;
  auto pipeline = Pipeline::stableHLOToExecutable(*options);
  if (!pipeline)
    return fail(llvm::toString(pipeline.takeError()));
  progress.show("parse");
  auto module = Module::parse((*buffer)->getBuffer(), arguments->input == "-" ? "<stdin>" : arguments->input);
  if (!module) {
    progress.clear();
    return fail(llvm::toString(module.takeError()));
  }
  Pipeline::RunOptions run;
  run.onPhase = [&](llvm::StringRef phase) { progress.show(phase); };
  if (llvm::Error error = pipeline->run(*module, run)) {
    progress.clear();
    return fail(llvm::toString(std::move(error)));
  }
  progress.show("translate");
  auto start = std::chrono::steady_clock::now();
  auto bytes = translate(*module);
  progress.clear();
  if (!bytes)
    return fail(llvm::toString(bytes.takeError()));
  std::chrono::duration<double, std::milli> translation = std::chrono::steady_clock::now() - start;
  if (llvm::Error error = writeFile(arguments->output, *bytes))
    return fail(llvm::toString(std::move(error)));
  if (arguments->remarks)
    for (const Diagnostic &diagnostic : module->getDiagnostics())
      llvm::errs() << diagnostic.str() << "\n";
  if (arguments->timing)
    printTiming(*pipeline, translation.count());
  return 0;
}
