// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executable, RuntimeSession and the call. A call turns each argument into a value of the runtime (a window, never a
// copy, unless it was asked for), runs without the interpreter lock, and gives a list of values back. All that could be
// wrong with an argument is the runtime's to say, so that C++ and Python say it in the same words.

#include "latewood/python/Handles.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace latewood::python {

using namespace nb::literals;
using runtime::Executable;
using runtime::FunctionSignature;
using runtime::MemRefValue;
using runtime::Ref;
using runtime::Session;
using runtime::Value;

namespace {

// --- Executable ----------------------------------------------------------------------------------

runtime::LoadOptions loadOptions(bool verify, bool inspect) { return {.verifyFully = verify, .inspectOnly = inspect}; }

/// From the bytes of a file (a copy, which a Python `bytes` cannot promise to be aligned for), or from its path
/// (mapped).
void makeExecutable(PyExecutable *self, nb::handle data, nb::handle path, bool verify, bool inspect) {
  if (data.is_none() == path.is_none())
    raise(runtime::invalidArgument("Executable: expected either the bytes of a file or path="));
  if (!path.is_none()) {
    std::string name = pathOf(path, "Executable");
    runtime::StatusOr<Ref<Executable>> loaded = runtime::internalError("not loaded");
    {
      nb::gil_scoped_release unlocked;
      loaded = Executable::load(name, loadOptions(verify, inspect));
    }
    new (self) PyExecutable{check(std::move(loaded))};
    return;
  }
  Py_buffer buffer;
  if (PyObject_GetBuffer(data.ptr(), &buffer, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    raise(runtime::invalidArgument("Executable: expected the bytes of a file, not " + describe(data)));
  }
  runtime::StatusOr<Ref<Executable>> loaded = runtime::internalError("not loaded");
  {
    nb::gil_scoped_release unlocked;
    loaded = Executable::fromBytes({static_cast<const uint8_t *>(buffer.buf), static_cast<size_t>(buffer.len)},
                                   loadOptions(verify, inspect));
  }
  PyBuffer_Release(&buffer);
  new (self) PyExecutable{check(std::move(loaded))};
}

nb::bytes serialize(const PyExecutable &self) {
  std::span<const uint8_t> file = self.ref->file();
  return nb::bytes(reinterpret_cast<const char *>(file.data()), file.size());
}

/// (name, size in bytes) of each raw part of the file.
nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::int_>> dataSegments(const PyExecutable &self) {
  nb::typed<nb::list, nb::typed<nb::tuple, nb::str, nb::int_>> list;
  for (const Executable::Segment &segment : self.ref->segments())
    list.append(nb::make_tuple(segment.name, segment.bytes.size()));
  return list;
}

nb::typed<nb::list, nb::str> functionNames(const PyExecutable &self) {
  nb::typed<nb::list, nb::str> list;
  for (const FunctionSignature &function : self.ref->functions())
    list.append(function.name);
  return list;
}

// --- The call ------------------------------------------------------------------------------------

/// Items of a Python list or tuple of any length without an allocation for short ones.
class Items {
public:
  Items(nb::handle sequence, const char *what) {
    if (!isText(sequence) && !isArray(sequence))
      fast = nb::steal(PySequence_Fast(sequence.ptr(), ""));
    if (!fast.is_valid()) {
      PyErr_Clear();
      raise(runtime::invalidArgument(std::string(what) + ": expected a list of values, not " + describe(sequence)));
    }
  }
  size_t size() const { return PySequence_Fast_GET_SIZE(fast.ptr()); }
  nb::handle operator[](size_t index) const { return PySequence_Fast_GET_ITEM(fast.ptr(), index); }

private:
  // Sequences to Python, but nobody means their items: `x` was written where `[x]` was meant.
  static bool isText(nb::handle object) { return PyUnicode_Check(object.ptr()) || PyDict_Check(object.ptr()); }
  static bool isArray(nb::handle object) {
    bool isSequence = PyList_CheckExact(object.ptr()) || PyTuple_CheckExact(object.ptr());
    return !isSequence && (PyObject_CheckBuffer(object.ptr()) || nb::hasattr(object, "__dlpack__"));
  }

  nb::object fast;
};

std::string position(const FunctionSignature &function, const char *what, size_t index) {
  return "function '" + function.name + "', " + what + " " + std::to_string(index);
}

[[noreturn]] void raiseAt(const FunctionSignature &function, const char *what, size_t index, runtime::Status status) {
  raise(std::move(status).withContext(position(function, what, index)));
}

/// What `work` gives; what it finds wrong is said with the place of the argument or result that it works on.
template <typename Work>
auto at(const FunctionSignature &function, const char *what, size_t index, Work &&work) {
  try {
    return work();
  } catch (nb::python_error &error) {
    // Ours (an InvalidArgumentError), or what a producer says of a value that it cannot give.
    if (!error.matches(PyExc_ValueError))
      throw;
    raiseAt(function, what, index, runtime::invalidArgument(nb::cast<std::string>(nb::str(error.value()))));
  }
}

/// The value for argument `index`: ours as it is, an array as a window on it, a Python number as a scalar of the
/// argument's type. `mayCopy`: arrays that are not row-major without gaps are copied instead of refused.
Ref<Value> argumentOf(const FunctionSignature &function, size_t index, nb::handle object, bool mayCopy) {
  if (nb::isinstance<PyMemRef>(object))
    return nb::inst_ptr<PyMemRef>(object)->ref;
  if (nb::isinstance<PyScalar>(object))
    return nb::inst_ptr<PyScalar>(object)->ref;
  bool isNumber = PyLong_Check(object.ptr()) || PyFloat_Check(object.ptr()) || PyComplex_Check(object.ptr());
  if (isNumber && index < function.arguments.size()) {
    const auto &type = function.arguments[index];
    if (type.rank() != 0)
      raiseAt(function, "argument", index, runtime::invalidArgument("expected " + type.str() + ", not a number"));
    return at(function, "argument", index, [&] { return scalarOf(object, type.elementType); });
  }
  Ref<MemRefValue> view = at(function, "argument", index, [&] { return viewOf(object, /*isWritable=*/false); });
  if (!view)
    raiseAt(
        function, "argument", index,
        runtime::invalidArgument(
            (index < function.arguments.size() ? "expected " + function.arguments[index].str() + ": " : std::string()) +
            "an array (NumPy, DLPack, the buffer protocol), a MemRefValue or a ScalarValue, not " + describe(object)));
  if (mayCopy && !view->hasCanonicalStrides()) {
    runtime::StatusOr<Ref<MemRefValue>> copy = runtime::internalError("not copied");
    {
      nb::gil_scoped_release unlocked;
      copy = defaultClient()->copyToHost(*view);
    }
    return check(std::move(copy));
  }
  return view;
}

/// The array that result `index` is to be written to, or null where the runtime is to allocate.
Ref<Value> outputOf(const FunctionSignature &function, size_t index, nb::handle object) {
  if (object.is_none())
    return nullptr;
  if (nb::isinstance<PyMemRef>(object))
    return nb::inst_ptr<PyMemRef>(object)->ref;
  Ref<MemRefValue> view = at(function, "result", index, [&] { return viewOf(object, /*isWritable=*/true); });
  if (!view)
    raiseAt(function, "result", index,
            runtime::invalidArgument("expected a writable array, a MemRefValue or None, not " + describe(object)));
  return view;
}

nb::list call(const PySession &self, const FunctionSignature &function, const Items &arguments, nb::handle outputs,
              Ref<runtime::Stream> stream, bool mayCopy) {
  // Values are held here, and released with the lock held: a window gives a Python object back.
  std::vector<Ref<Value>> held(arguments.size());
  std::vector<Value *> values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    held[i] = argumentOf(function, i, arguments[i], mayCopy);
    values[i] = held[i].get();
  }
  std::vector<Ref<Value>> results(function.results.size());
  nb::list given;
  if (!outputs.is_none()) {
    Items targets(outputs, "out_args");
    if (targets.size() != 0 && targets.size() != results.size())
      raise(runtime::invalidArgument("function '" + function.name + "': expected " + std::to_string(results.size()) +
                                     " out_args, one for each result (None: to be allocated), not " +
                                     std::to_string(targets.size())));
    for (size_t i = 0; i < targets.size(); ++i)
      results[i] = outputOf(function, i, targets[i]);
  }
  runtime::Status status;
  {
    nb::gil_scoped_release unlocked;
    status = stream ? self.ref->enqueue(function, values, results, *stream) : self.ref->call(function, values, results);
  }
  check(status);
  nb::list list;
  for (Ref<Value> &result : results) {
    if (MemRefValue *memref = runtime::asMemRef(result.get()))
      list.append(PyMemRef{Ref<MemRefValue>::share(memref)});
    else
      list.append(PyScalar{Ref<runtime::ScalarValue>::share(runtime::asScalar(result.get()))});
  }
  return list;
}

nb::list executeFunction(const PySession &self, const std::string &name, nb::handle inArgs, nb::handle outArgs,
                         nb::handle stream, nb::handle client) {
  if (!client.is_none() && !nb::isinstance<PyClient>(client))
    raise(runtime::invalidArgument("client: expected a RuntimeClient, not " + describe(client)));
  const FunctionSignature *function = check(self.ref->executable()->getFunction(name));
  return call(self, *function, Items(inArgs, "in_args"), outArgs, streamOf(stream), /*mayCopy=*/false);
}

/// The shapes of the results that a call would have, one tuple for each; None stands for an extent that only the call
/// finds out.
nb::list outputShapes(const PySession &self, const std::string &name, nb::handle inArgs) {
  const FunctionSignature *function = check(self.ref->executable()->getFunction(name));
  Items items(inArgs, "in_args");
  std::vector<Ref<Value>> values;
  for (size_t i = 0; i < items.size(); ++i)
    values.push_back(argumentOf(*function, i, items[i], /*mayCopy=*/false));
  runtime::StatusOr<std::vector<std::vector<int64_t>>> shapes = runtime::internalError("not computed");
  {
    nb::gil_scoped_release unlocked;
    shapes = self.ref->outputShapes(name, values);
  }
  nb::list list;
  for (const std::vector<int64_t> &shape : check(std::move(shapes))) {
    nb::list extents;
    for (int64_t extent : shape)
      extents.append(extent == runtime::dynamicExtent ? nb::object(nb::none()) : nb::object(nb::int_(extent)));
    list.append(nb::tuple(extents));
  }
  return list;
}

/// An attribute of a module, looked up once and kept: what is on the path of every call.
nb::handle kept(PyObject *&place, const char *module, const char *name) {
  if (!place)
    place = nb::object(nb::module_::import_(module).attr(name)).release().ptr();
  return place;
}

/// Calls with arrays of any kind; results have the kind of the first array. NumPy in, NumPy out is the short way.
nb::list callArrays(const PySession &self, nb::handle name, nb::handle arguments) {
  static PyObject *ndarray, *asarray, *likeArguments;
  if (!nb::isinstance<nb::str>(name))
    raise(runtime::invalidArgument("function: expected the name of a function, not " + describe(name)));
  const FunctionSignature *function = check(self.ref->executable()->getFunction(nb::cast<std::string>(name)));
  Items items(arguments, "arguments");
  nb::list results = call(self, *function, items, nb::none(), nullptr, /*mayCopy=*/true);
  bool isNumPy = items.size() != 0 &&
                 Py_TYPE(items[0].ptr()) == reinterpret_cast<PyTypeObject *>(kept(ndarray, "numpy", "ndarray").ptr());
  for (const runtime::ValueSignature &result : function->results)
    isNumPy &= hasBufferFormat(result.elementType);
  if (!isNumPy)
    return nb::cast<nb::list>(kept(likeArguments, "latewood._arrays", "like_arguments")(results, arguments));
  nb::list arrays;
  for (nb::handle result : results)
    arrays.append(kept(asarray, "numpy", "asarray")(result));
  return arrays;
}

nb::dict toDict(const runtime::AllocationCounter &counter) {
  nb::dict result;
  result["count"] = counter.count;
  result["bytes"] = counter.bytes;
  result["live_bytes"] = counter.liveBytes;
  result["peak_bytes"] = counter.peakBytes;
  return result;
}

nb::dict statistics(const PySession &self) {
  runtime::SessionStatistics all = self.ref->statistics();
  nb::dict result, system, engines;
  result["calls"] = all.calls;
  result["failed_calls"] = all.failedCalls;
  result["call_nanoseconds"] = all.callNanoseconds;
  result["longest_call_nanoseconds"] = all.longestCallNanoseconds;
  result["argument_bytes"] = all.argumentBytes;
  result["result_bytes"] = all.resultBytes;
  result["results"] = toDict(all.results);
  result["temporaries"] = toDict(all.temporaries);
  result["staging"] = toDict(all.staging);
  result["workspace_bytes"] = all.workspaceBytes;
  result["scratch_bytes_per_thread"] = all.scratchBytesPerThread;
  system["allocations"] = all.system.allocations;
  system["releases"] = all.system.releases;
  system["live_bytes"] = all.system.liveBytes;
  system["peak_bytes"] = all.system.peakBytes;
  result["system"] = system;
  result["cached_bytes"] = all.cachedBytes;
  engines["runs"] = all.engines.runs;
  engines["uploads"] = all.engines.uploads;
  engines["uploaded_bytes"] = all.engines.uploadedBytes;
  engines["downloads"] = all.engines.downloads;
  engines["downloaded_bytes"] = all.engines.downloadedBytes;
  engines["live_bytes"] = all.engines.liveBytes;
  engines["peak_bytes"] = all.engines.peakBytes;
  result["engines"] = engines;
  return result;
}

void makeSession(PySession *self, const Ref<runtime::Client> &client, const runtime::RuntimeSessionOptions &options,
                 const PyExecutable &executable) {
  new (self) PySession{check(Session::create(client, executable.ref, options))};
}

} // namespace

void bindSession(nb::module_ &module) {
  nb::class_<PyExecutable>(
      module, "Executable", nb::is_weak_referenceable(), nb::dynamic_attr(),
      "A compiled program, verified and ready to run. Immutable and safe to share. An executable is "
      "code: load only files that you trust.")
      .def("__init__", makeExecutable, "data"_a = nb::none(), "path"_a = nb::none(), nb::kw_only(), "verify"_a = false,
           "inspect"_a = false,
           "From the bytes of a file (copied) or its path (mapped). verify: check the checksums of constants, too, "
           "which reads the whole file. inspect: load no code, so that a file for another machine opens as well.")
      .def("serialize", serialize, "The bytes of the file.")
      .def(
          "get_signature",
          [](const PyExecutable &self, const std::string &name) {
            return PySignature{self.ref, check(self.ref->getFunction(name))};
          },
          "name"_a = "main", "What a function takes and gives. NotFoundError: there is no such function.")
      .def("get_data_segments", dataSegments, "(name, size in bytes) of each raw part of the file.")
      .def_prop_ro("functions", functionNames, "Names of the public functions.")
      .def_prop_ro(
          "name", [](const PyExecutable &self) { return self.ref->name(); }, "The program's name, or an empty text.")
      .def_prop_ro(
          "producer", [](const PyExecutable &self) { return self.ref->producer(); }, "The compiler and its version.")
      .def_prop_ro(
          "options", [](const PyExecutable &self) { return self.ref->options(); },
          "The canonical options that it was compiled with.")
      .def(
          "describe", [](const PyExecutable &self) { return self.ref->describe(); },
          "For a person: signatures, images, constants, segments, provenance.");

  using Options = runtime::RuntimeSessionOptions;
  nb::class_<Options>(module, "RuntimeSessionOptions", "How a session takes part in a group of devices.")
      .def(
          "__init__",
          [](Options *self, int32_t count, int32_t id, std::string uuid,
             std::optional<std::vector<std::string>> features) {
            new (self) Options{count, id, std::move(uuid), features.value_or(std::vector<std::string>())};
          },
          "num_devices"_a = 1, "device_id"_a = 0, "nccl_uuid"_a = "", "features"_a = nb::none())
      .def_rw("num_devices", &Options::deviceCount, "How many devices the group has.")
      .def_rw("device_id", &Options::deviceId, "This session's place in the group, from 0.")
      .def_rw("nccl_uuid", &Options::ncclUuid, "What the members of the group have in common, or an empty text.")
      .def_rw("features", &Options::features,
              "Modules that host programs may use, of \"core\" and \"cpu\"; empty: all.")
      .def("__repr__", [](const Options &self) {
        return "RuntimeSessionOptions(num_devices=" + std::to_string(self.deviceCount) +
               ", device_id=" + std::to_string(self.deviceId) + ")";
      });

  nb::class_<PySession>(
      module, "RuntimeSession", nb::is_weak_referenceable(),
      "Calls the functions of one executable, one call at a time (a second thread waits), and keeps what "
      "makes repeated calls cheap. It holds its executable and its client; results hold neither.")
      .def(
          "__init__",
          [](PySession *self, const PyClient &client, const Options &options, const PyExecutable &executable) {
            makeSession(self, client.ref, options, executable);
          },
          "client"_a, "options"_a, "executable"_a)
      .def(
          "__init__",
          [](PySession *self, const Options &options, const PyExecutable &executable) {
            makeSession(self, defaultClient(), options, executable);
          },
          "options"_a, "executable"_a)
      .def(
          "__init__",
          [](PySession *self, const PyExecutable &executable) { makeSession(self, defaultClient(), {}, executable); },
          "executable"_a)
      .def("output_shapes", outputShapes,
           nb::sig("def output_shapes(self, name: str, in_args: Sequence[object]) -> list[tuple[int | None, ...]]"),
           "name"_a, "in_args"_a.none(),
           "The shapes that the results of a call with these arguments would have, without the call: from the "
           "arguments' extents and small integers in them. None stands for an extent that only the call itself finds "
           "out.")
      .def("execute_function", executeFunction,
           nb::sig("def execute_function(self, name: str, in_args: Sequence[object], "
                   "out_args: Sequence[object | None] | None = None, stream: Stream | int | object | None = None, "
                   "client: RuntimeClient | None = None) -> list[MemRefValue | ScalarValue]"),
           "name"_a, "in_args"_a.none(), "out_args"_a = nb::none(), "stream"_a = nb::none(), "client"_a = nb::none(),
           R"(Calls a function.

name: the function, "main" in most programs.
in_args: values or arrays with the argument's element type, shape and row-major layout without gaps. They are not copied.
out_args: for each result the array to write, which the returned value aliases, or None to have it allocated.
stream: the call takes its place on the stream and this returns at once. What is wrong with arguments is raised here; a
    failure of the call itself is raised where the results are looked at, and by Stream.sync(). Arrays of the caller that are
    outputs may be read after Stream.sync() or result.wait(); none may be changed before.

client: taken for the sake of older programs; the session has its own.

Returns the results as a list. Without a stream they are complete. After an error the session works on.

Raises InvalidArgumentError where an argument or an output is not what the signature says (the text names it by number),
NotFoundError where there is no such function, and what the program itself finds wrong.)")
      .def("_call_arrays", callArrays, "name"_a.none(), "arguments"_a)
      .def("statistics", statistics,
           "Calls, their time and bytes, what they allocated by purpose, what the system was asked for, and what\n"
           "engines of vendor libraries ran and copied.")
      .def(
          "release_cached_memory", [](const PySession &self) { self.ref->releaseCachedMemory(); },
          "Gives the memory of dropped results back to the system.")
      .def("__repr__", [](const PySession &self) {
        std::string text;
        for (const FunctionSignature &function : self.ref->executable()->functions())
          text += (text.empty() ? "<RuntimeSession of " : ", ") + function.name;
        return text + ">";
      });
}

} // namespace latewood::python
