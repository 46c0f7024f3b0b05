// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The extension module latewood._compiler: compilation in steps that a caller can take one by one, each an object. It
// gives the bytes of an executable file and takes nothing of the runtime: latewood/compiler.py joins the two.
//
// Nothing prints. A failure becomes latewood.errors.CompilationError with the text that shows location, source line and
// pass, and with the diagnostics as objects; a wrong option or pipeline becomes an InvalidArgumentError.

#include "latewood/compiler/Driver/Compiler.h"
#include "latewood/compiler/Driver/Report.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/raw_ostream.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

namespace nb = nanobind;
using namespace nb::literals;
using namespace latewood::driver;

namespace {

/// Text for Python. What a damaged file calls its ops need not be UTF-8, and an error must still be an error.
nb::object toText(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

nb::object errorClass(const char *name) { return nb::module_::import_("latewood.errors").attr(name); }

[[noreturn]] void raiseObject(const nb::object &error) {
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

[[noreturn]] void raise(llvm::Error error) {
  std::string text;
  std::vector<Diagnostic> diagnostics;
  bool isCompilation = false;
  auto add = [&](const llvm::ErrorInfoBase &failure) { text += (text.empty() ? "" : "\n") + failure.message(); };
  llvm::handleAllErrors(
      std::move(error),
      [&](const CompilationError &failure) {
        isCompilation = true;
        add(failure);
        diagnostics = failure.getDiagnostics();
      },
      add);
  if (!isCompilation)
    raiseObject(errorClass("InvalidArgumentError")(toText(text)));
  nb::object failure = errorClass("CompilationError")(toText(text));
  failure.attr("diagnostics") = nb::cast(diagnostics);
  raiseObject(failure);
}

void check(llvm::Error error) {
  if (error)
    raise(std::move(error));
}

template <typename T>
T check(llvm::Expected<T> value) {
  if (!value)
    raise(value.takeError());
  return std::move(*value);
}

/// Runs `work`, which returns an Expected, without the interpreter lock.
template <typename Work>
auto unlocked(Work &&work) {
  nb::gil_scoped_release release;
  return work();
}

/// The characters of a str or of bytes, which live as long as the object.
std::string_view charactersOf(nb::handle source) {
  Py_ssize_t size = 0;
  if (nb::isinstance<nb::bytes>(source)) {
    auto bytes = nb::borrow<nb::bytes>(source);
    return {bytes.c_str(), bytes.size()};
  }
  const char *text = PyUnicode_Check(source.ptr()) ? PyUnicode_AsUTF8AndSize(source.ptr(), &size) : nullptr;
  if (!text) {
    if (PyErr_Occurred())
      throw nb::python_error();
    throw nb::type_error("expected the text (str) or the bytecode (bytes) of a module");
  }
  return {text, static_cast<size_t>(size)};
}

/// A path as the file system spells it; empty for None.
std::string pathOf(nb::handle path) {
  if (path.is_none())
    return {};
  nb::object os = nb::module_::import_("os");
  return nb::cast<std::string>(os.attr("fsdecode")(os.attr("fspath")(path)));
}

nb::bytes toBytes(const Bytes &bytes) { return nb::bytes(reinterpret_cast<const char *>(bytes.data()), bytes.size()); }

// --- Modules --------------------------------------------------------------------------------------

/// Name and type of each public function.
std::vector<std::pair<std::string, std::string>> functionsOf(const Module &module) {
  std::vector<std::pair<std::string, std::string>> functions;
  for (auto function : module.get().getOps<mlir::FunctionOpInterface>()) {
    if (!mlir::cast<mlir::SymbolOpInterface>(function.getOperation()).isPublic())
      continue;
    std::string type;
    llvm::raw_string_ostream(type) << function.getFunctionType();
    functions.emplace_back(function.getName().str(), std::move(type));
  }
  return functions;
}

llvm::Error verify(const Module &module) {
  DiagnosticCollector collector(module.getContext(), "", "");
  if (mlir::succeeded(mlir::verify(module.get())))
    return llvm::Error::success();
  return llvm::make_error<CompilationError>("the module is not valid", collector.take());
}

// --- Bindings ------------------------------------------------------------------------------------

void bindDiagnostics(nb::module_ &module) {
  nb::class_<Diagnostic>(module, "Diagnostic", "Something that the compiler said about a place in the program.")
      .def_prop_ro(
          "severity", [](const Diagnostic &self) { return stringifySeverity(self.severity).str(); },
          "\"error\", \"warning\", \"remark\" or \"note\".")
      .def_prop_ro(
          "message", [](const Diagnostic &self) { return toText(self.message); }, "What was said.")
      .def_prop_ro(
          "location", [](const Diagnostic &self) { return toText(self.location); },
          "file:line:column, or MLIR's text of a location without one.")
      .def_prop_ro(
          "source_line", [](const Diagnostic &self) { return toText(self.sourceLine); },
          "The line of the program at the location, or an empty text.")
      .def_ro("column", &Diagnostic::column, "Counted from 1 in source_line; 0: unknown.")
      .def_ro("pass_name", &Diagnostic::pass, "The pass that was running, or an empty text.")
      .def_ro("notes", &Diagnostic::notes, "What was said with it, each with a location of its own.")
      .def("__str__", [](const Diagnostic &self) { return toText(self.str()); })
      .def("__repr__", [](const Diagnostic &self) { return toText(self.str()); });
}

void bindOptions(nb::module_ &module) {
  using Options = StableHLOToExecutableOptions;
  auto parse = [](const std::vector<std::string> &arguments) { return check(Options::parse(arguments)); };
  auto options = nb::class_<Options>(module, "StableHLOToExecutableOptions",
                                     "How a program is compiled. From `--name=value` strings, or field by field.");
  options
      .def(
          "__init__",
          [parse](Options *self, const std::optional<std::vector<std::string>> &arguments,
                  std::optional<std::string> target, std::optional<std::vector<std::string>> engines,
                  std::optional<std::string> host) {
            Options values = parse(arguments.value_or(std::vector<std::string>()));
            if (target)
              values.target = *target;
            if (engines)
              values.engines = *engines;
            if (host)
              values.host = *host;
            new (self) Options(std::move(values));
          },
          "arguments"_a = nb::none(), nb::kw_only(), "target"_a = nb::none(), "engines"_a = nb::none(),
          "host"_a = nb::none())
      .def_rw("target", &Options::target,
              "'native', 'x86-64-v3', 'x86-64-v4', or a CPU as LLVM knows it: what the code may use.")
      .def_rw("engines", &Options::engines,
              "The engines that are asked for each operation, in this order: 'cpu', 'tensorrt'.")
      .def_rw("host", &Options::host, "The form of the host program: 'native' or 'lua'.")
      .def(
          "canonical", [](const Options &self) { return check(self.canonical()); },
          "The options as `--name=value` strings in a fixed order, with the target resolved.")
      .def("__repr__", [](const Options &self) {
        std::string text = "StableHLOToExecutableOptions(target='" + self.target + "', engines=[";
        for (size_t i = 0; i < self.engines.size(); ++i)
          text += (i ? ", '" : "'") + self.engines[i] + "'";
        return text + "], host='" + self.host + "')";
      });
  nb::list descriptions;
  for (const OptionDescription &option : getOptionDescriptions())
    descriptions.append(nb::make_tuple(option.name.str(), option.value.str(), option.help.str()));
  options.attr("descriptions") = nb::tuple(descriptions);
}

void bindModule(nb::module_ &module) {
  nb::class_<Module>(module, "Module", "A program. Used by one thread at a time.")
      .def_static(
          "parse",
          [](nb::handle source, const std::string &name) {
            std::string_view text = charactersOf(source);
            return check(unlocked([&] { return Module::parse({text.data(), text.size()}, name); }));
          },
          "source"_a, "name"_a = "<input>",
          "Parses text or MLIR bytecode and verifies it. `name` is the file name that locations show.")
      .def(
          "to_text",
          [](const Module &self, bool locations, std::optional<int64_t> elide) {
            return toText(unlocked([&] { return self.str({.locations = locations, .elideLargerThan = elide}); }));
          },
          nb::kw_only(), "locations"_a = false, "elide_larger_than"_a = nb::none(),
          "Prints it. elide_larger_than: constants with more elements are left out, and the text does not parse back "
          "to the same program.")
      .def("clone", &Module::clone, "A copy, which other runs do not change.")
      .def(
          "verify", [](const Module &self) { check(verify(self)); },
          "Raises a CompilationError unless the module is valid.")
      .def("functions", functionsOf, "(name, type) of each public function.")
      .def_prop_ro(
          "diagnostics", [](const Module &self) { return self.getDiagnostics(); },
          "Remarks and warnings of the runs so far.")
      .def("__str__", [](const Module &self) { return toText(self.str()); })
      .def("__repr__", [](const Module &self) {
        std::string text = "<Module";
        for (const auto &[name, type] : functionsOf(self))
          text += " " + name + type;
        return toText(text + ">");
      });
}

void bindReport(nb::module_ &module) {
  nb::class_<Report>(module, "Report",
                     "What one compilation did: passes and times, the program as graphs, memory, remarks, the parts of "
                     "the executable. Filled by Pipeline.run and translate; also by those that fail.")
      .def(nb::init<>())
      .def(
          "html", [](const Report &self) { return toText(self.html()); }, "A page that needs no other file.")
      .def(
          "json", [](const Report &self) { return toText(self.json()); }, "What the page shows, as JSON (text).")
      .def("__repr__",
           [](const Report &self) { return "<Report of " + std::to_string(self.json().size()) + " bytes of JSON>"; });
}

void bindPipeline(nb::module_ &module) {
  nb::class_<PassStatistics>(module, "PassStatistics", "Time that one pass took.")
      .def_ro("pass_name", &PassStatistics::pass, "The pass as pipelines name it.")
      .def_ro("phase", &PassStatistics::phase, "The phase that it ran in.")
      .def_ro("milliseconds", &PassStatistics::milliseconds, "Elapsed time.")
      .def("__repr__", [](const PassStatistics &self) {
        return self.phase + ": " + self.pass + ": " + std::to_string(self.milliseconds) + " ms";
      });

  nb::class_<Pipeline>(module, "Pipeline", "A pass pipeline as a value: its text.")
      .def_static(
          "for_options",
          [](const StableHLOToExecutableOptions &options) { return check(Pipeline::stableHLOToExecutable(options)); },
          "options"_a, "The passes that compile StableHLO with these options.")
      .def_static(
          "parse", [](const std::string &text) { return check(Pipeline::parse(text)); }, "text"_a,
          "From text: builtin.module(PASS, …), as str(pipeline) gives it. InvalidArgumentError: it is none.")
      .def_static(
          "phases_text",
          [](const StableHLOToExecutableOptions &options) { return check(Pipeline::phasesText(options)); }, "options"_a,
          "The same pipeline as text that names whole phases; parse reads it.")
      .def("passes", &Pipeline::passes, "The passes in order, each as it stands in the text.")
      .def("phases", &Pipeline::phases, "The names of the phases in order.")
      .def(
          "run",
          [](const Pipeline &self, nb::object target, const std::string &until, const std::string &since,
             nb::handle dumpDir, nb::handle reproducer, nb::object onPhase, Report *report) {
            if (!nb::isinstance<Module>(target))
              throw nb::type_error("Pipeline.run: expected a Module");
            Pipeline::RunOptions options;
            options.until = until;
            options.since = since;
            options.dumpDirectory = pathOf(dumpDir);
            options.reproducer = pathOf(reproducer);
            options.report = report;
            // An exception must not pass through the compiler: it waits until the run has ended.
            std::optional<nb::python_error> raised;
            if (!onPhase.is_none())
              options.onPhase = [&](llvm::StringRef phase) {
                nb::gil_scoped_acquire lock;
                if (raised)
                  return;
                try {
                  onPhase(phase.str());
                } catch (nb::python_error &error) {
                  raised.emplace(std::move(error));
                }
              };
            auto &program = nb::cast<Module &>(target);
            llvm::Error failure = unlocked([&] { return self.run(program, options); });
            if (raised) {
              llvm::consumeError(std::move(failure));
              throw std::move(*raised);
            }
            check(std::move(failure));
            return target;
          },
          "module"_a.none(), nb::kw_only(), "until"_a = "", "since"_a = "", "dump_dir"_a = nb::none(),
          "reproducer"_a = nb::none(), "on_phase"_a = nb::none(), "report"_a = nb::none(),
          R"(Runs on the module, which is unchanged on failure, and returns it.

until: stop after this phase.
since: begin after this phase, which the module must have finished.
dump_dir: a folder for one numbered file after each pass that changed something.
reproducer: a file for the module before a phase that fails.
on_phase: called with the name of each phase before it.
report: a Report that collects what the run does.

Raises CompilationError where the program is wrong or no engine takes part of it, InvalidArgumentError for an unknown phase.)")
      .def(
          "statistics", [](const Pipeline &self) { return self.getStatistics(); }, "Time of each pass of the last run.")
      .def_prop_ro(
          "one_line", [](const Pipeline &self) { return self.str(); }, "The text on one line.")
      .def("__str__", [](const Pipeline &self) { return self.pretty(); })
      .def("__repr__",
           [](const Pipeline &self) { return "<Pipeline of " + std::to_string(self.passes().size()) + " passes>"; })
      .def("__eq__",
           [](const Pipeline &self, nb::handle other) {
             return nb::isinstance<Pipeline>(other) && nb::cast<Pipeline &>(other) == self;
           })
      .def("__hash__", [](const Pipeline &self) { return std::hash<std::string>()(self.str()); });
}

} // namespace

NB_MODULE(_compiler, module) {
  module.doc() = "The compiler: see latewood.compiler.";
  nb::set_leak_warnings(false);
  bindDiagnostics(module);
  bindOptions(module);
  bindModule(module);
  bindReport(module);
  bindPipeline(module);
  module.def(
      "translate",
      [](Module &program, Report *report) {
        return toBytes(check(unlocked([&] { return translate(program, report); })));
      },
      "module"_a, "report"_a = nb::none(),
      "The bytes of an executable file, from a module that has finished the last phase.");
  module.def(
      "compile",
      [](nb::handle source, const StableHLOToExecutableOptions &options, const std::string &name, Report *report) {
        std::string_view text = charactersOf(source);
        return toBytes(check(unlocked([&] { return compile({text.data(), text.size()}, options, name, report); })));
      },
      "source"_a, "options"_a, "name"_a = "<input>", "report"_a = nb::none(),
      "Parses, runs the pipeline, and translates.");
}
