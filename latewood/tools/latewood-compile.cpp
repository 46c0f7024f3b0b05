// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// latewood-compile: StableHLO in, an executable file out.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/Report.h"
#include "latewood/compiler/Driver/WriteFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cstdio>
#include <optional>
#include <unistd.h>

using namespace latewood::driver;

namespace {

enum class PrintPipeline { No, Indented, OneLine, Phases };

struct Arguments {
  std::string input;
  std::string output;
  std::string report;
  bool remarks = false;
  bool timing = false;
  std::optional<CodeForm> emit;
  PrintPipeline printPipeline = PrintPipeline::No;
  Pipeline::RunOptions run;
  std::vector<std::string> options;
};

std::string helpText() {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "usage: latewood-compile INPUT -o OUTPUT.lwx [--option=value …]\n\n"
        "Compiles a StableHLO program (text or MLIR bytecode; '-' reads standard input) to an executable file.\n\n"
        "  -o FILE              where the executable goes ('-' for standard output)\n"
        "  --until=PHASE        stop after this phase and write the module as text\n"
        "  --since=PHASE        the input is a module that has finished this phase: go on behind it\n"
        "  --emit=lua|llvm      write the host program as Lua source, or all code as LLVM IR before it is\n"
        "                       optimized (to standard output without -o)\n"
        "  --print-pipeline     print the passes and stop; =one-line and =phases print other forms of it\n"
        "  --dump-dir=DIR       write the module into numbered files after each pass that changed it\n"
        "  --reproducer=FILE    when a pass fails, write what repeats the failure\n"
        "  --remarks            print what the compiler has to say about the program (standard error)\n"
        "  --target=…           of the options below; x86-64-v3,x86-64-v4 without it: the file has code for both, and "
        "the\n"
        "                       best that the machine can run is taken\n"
        "  --report=FILE        write a page (HTML) that shows passes and times, the program as a graph, memory, "
        "remarks\n"
        "                       and the parts of the executable; also of a compilation that fails\n"
        "  --timing             print the time of each phase and pass (standard error)\n"
        "  --help               this text\n\nOptions of the compilation:\n";
  for (const OptionDescription &option : getOptionDescriptions()) {
    std::string head = ("--" + option.name + "=" + option.value).str();
    os << "  " << head << std::string(head.size() < 20 ? 20 - head.size() : 1, ' ') << " " << option.help << "\n";
  }
  return text;
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
    } else if (argument.consume_front("--until=")) {
      result.run.until = argument.str();
    } else if (argument.consume_front("--since=")) {
      result.run.since = argument.str();
    } else if (argument.consume_front("--dump-dir=")) {
      result.run.dumpDirectory = argument.str();
    } else if (argument.consume_front("--report=")) {
      result.report = argument.str();
    } else if (argument == "--report") {
      if (++i == argc)
        return llvm::createStringError("--report needs a file name");
      result.report = argv[i];
    } else if (argument.consume_front("--reproducer=")) {
      result.run.reproducer = argument.str();
    } else if (argument == "--emit=lua") {
      result.emit = CodeForm::Lua;
    } else if (argument == "--emit=llvm") {
      result.emit = CodeForm::LLVM;
    } else if (argument.starts_with("--emit")) {
      return llvm::createStringError("unknown form '" + argument + "'; there are --emit=lua and --emit=llvm");
    } else if (argument == "--print-pipeline") {
      result.printPipeline = PrintPipeline::Indented;
    } else if (argument == "--print-pipeline=one-line") {
      result.printPipeline = PrintPipeline::OneLine;
    } else if (argument == "--print-pipeline=phases") {
      result.printPipeline = PrintPipeline::Phases;
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
  if (result.printPipeline != PrintPipeline::No)
    return result;
  if (result.input.empty())
    return llvm::createStringError("no input; see latewood-compile --help");
  if (result.emit && !result.run.until.empty())
    return llvm::createStringError("--emit needs the whole pipeline, and --until stops it");
  if (result.emit && result.output.empty())
    result.output = "-";
  if (result.output.empty())
    return llvm::createStringError("no output: give -o FILE.lwx");
  return result;
}

void printTiming(const std::vector<Pipeline> &pipelines, double translation) {
  std::string phase;
  double sum = 0, total = 0;
  auto finish = [&] {
    if (!phase.empty())
      llvm::errs() << llvm::format("%10.2f ms  phase ", sum) << phase << "\n";
    total += sum;
    sum = 0;
  };
  for (const Pipeline &pipeline : pipelines)
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

llvm::Error printPipeline(PrintPipeline form, const StableHLOToExecutableOptions &options) {
  if (form == PrintPipeline::Phases) {
    auto text = Pipeline::phasesText(options);
    if (!text)
      return text.takeError();
    return writeFile("-", *text + "\n");
  }
  auto pipeline = Pipeline::stableHLOToExecutable(options);
  if (!pipeline)
    return pipeline.takeError();
  return writeFile("-", (form == PrintPipeline::OneLine ? pipeline->str() : pipeline->pretty()) + "\n");
}

// What shows or takes a module on its way through a pipeline.
bool needsOneTarget(const Arguments &arguments) {
  const Pipeline::RunOptions &run = arguments.run;
  return arguments.emit || !run.until.empty() || !run.since.empty() || !run.dumpDirectory.empty() ||
         !run.reproducer.empty();
}

llvm::Error compileFile(const Arguments &arguments, const StableHLOToExecutableOptions &options, Progress &progress,
                        Report *report) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(arguments.input, /*IsText=*/false);
  if (!buffer)
    return llvm::createStringError("cannot read '" + arguments.input + "': " + buffer.getError().message());
  std::vector<Pipeline> pipelines;
  for (const StableHLOToExecutableOptions &each : optionsPerTarget(options)) {
    auto pipeline = Pipeline::stableHLOToExecutable(each);
    if (!pipeline)
      return pipeline.takeError();
    pipelines.push_back(std::move(*pipeline));
  }
  if (pipelines.size() > 1 && needsOneTarget(arguments))
    return llvm::createStringError("--until, --since, --emit, --dump-dir and --reproducer need one target, and '" +
                                   options.target + "' are several");
  progress.show("parse");
  auto module = Module::parse((*buffer)->getBuffer(), arguments.input == "-" ? "<stdin>" : arguments.input);
  if (!module)
    return module.takeError();
  Pipeline::RunOptions run = arguments.run;
  run.report = report;
  run.onPhase = [&](llvm::StringRef phase) { progress.show(phase); };
  std::vector<Module> variants;
  for (size_t i = 1; i < pipelines.size(); ++i)
    variants.push_back(module->clone());
  variants.push_back(std::move(*module));
  std::vector<Module *> pointers;
  for (size_t i = 0; i < pipelines.size(); ++i) {
    if (llvm::Error error = pipelines[i].run(variants[i], run))
      return error;
    pointers.push_back(&variants[i]);
  }
  Module &first = variants.front();

  double translation = 0;
  if (!run.until.empty()) {
    Module::PrintOptions print;
    print.locations = true;
    if (llvm::Error error = writeFile(arguments.output, first.str(print)))
      return error;
  } else if (arguments.emit) {
    progress.clear();
    auto source = translateToText(first, *arguments.emit);
    if (!source)
      return source.takeError();
    if (llvm::Error error = writeFile(arguments.output, *source))
      return error;
  } else {
    progress.show("translate");
    auto start = std::chrono::steady_clock::now();
    auto bytes = translate(pointers, report);
    if (!bytes)
      return bytes.takeError();
    translation = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    llvm::StringRef data(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    if (llvm::Error error = writeFile(arguments.output, data))
      return error;
  }
  progress.clear();
  if (arguments.remarks)
    for (const Diagnostic &diagnostic : first.getDiagnostics())
      llvm::errs() << diagnostic.str() << "\n";
  if (arguments.timing)
    printTiming(pipelines, translation);
  return llvm::Error::success();
}

// Compiles, and writes the report, if one is wanted, whatever came of it.
llvm::Error compileAndReport(const Arguments &arguments, const StableHLOToExecutableOptions &options,
                             Progress &progress) {
  Report report;
  llvm::Error error = compileFile(arguments, options, progress, arguments.report.empty() ? nullptr : &report);
  if (!arguments.report.empty())
    return llvm::joinErrors(std::move(error), writeFile(arguments.report, report.html()));
  return error;
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--help" || llvm::StringRef(argv[i]) == "-h") {
      llvm::Error error = writeFile("-", helpText());
      return error ? fail(llvm::toString(std::move(error))) : 0;
    }
  auto arguments = parseArguments(argc, argv);
  if (!arguments)
    return fail(llvm::toString(arguments.takeError()));
  auto options = StableHLOToExecutableOptions::parse(arguments->options);
  if (!options)
    return fail(llvm::toString(options.takeError()));
  bool hasTarget = false;
  for (llvm::StringRef option : arguments->options)
    hasTarget |= option.starts_with("--target=");
  // A file goes to other machines; what is shown of a pipeline is for this one.
  if (!hasTarget && arguments->printPipeline == PrintPipeline::No && !needsOneTarget(*arguments))
    options->target = "x86-64-v3,x86-64-v4";
  Progress progress;
  llvm::Error error = arguments->printPipeline == PrintPipeline::No ? compileAndReport(*arguments, *options, progress)
                                                                    : printPipeline(arguments->printPipeline, *options);
  progress.clear();
  return error ? fail(llvm::toString(std::move(error))) : 0;
}
