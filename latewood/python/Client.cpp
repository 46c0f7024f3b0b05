// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RuntimeClient, Device and Stream. A client makes buffers and copies them; methods that may take long release the
// interpreter lock.

#include "latewood/python/Handles.h"
#include "latewood/runtime/Trace.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace latewood::python {

using namespace nb::literals;
using runtime::Client;
using runtime::ElementType;
using runtime::MemRefValue;
using runtime::Ref;
using runtime::Stream;

// --- Streams -------------------------------------------------------------------------------------

Ref<Stream> streamOf(nb::handle object) {
  if (object.is_none())
    return nullptr;
  if (nb::isinstance<PyStream>(object))
    return nb::cast<PyStream &>(object).ref;
  nb::object handle = nb::borrow(object);
  if (!PyLong_Check(object.ptr()) && nb::hasattr(object, "ptr"))
    handle = object.attr("ptr");
  if (!PyLong_Check(handle.ptr()))
    raise(runtime::invalidArgument(
        "stream: expected a Stream, its integer handle, or an object with such a handle as `ptr`, "
        "not " +
        describe(object)));
  auto address = nb::cast<uintptr_t>(handle);
  if (address == 0)
    return nullptr;
  Ref<Stream> stream = Stream::find(address);
  if (!stream)
    raise(runtime::invalidArgument("stream: the handle " + std::to_string(address) +
                                   " is not that of a stream of a RuntimeClient (streams of other libraries need a "
                                   "device, and the host is the only one here)"));
  return stream;
}

const Ref<Client> &defaultClient() {
  // Never destroyed: threads of the pool may outlive static destruction.
  static const auto *client = new Ref<Client>(check(Client::create()));
  return *client;
}

// --- Buffers -------------------------------------------------------------------------------------

namespace {

bool isShape(nb::handle object) { return nb::isinstance<nb::tuple>(object) || nb::isinstance<nb::list>(object); }

std::vector<int64_t> shapeOf(nb::handle object) {
  std::vector<int64_t> shape;
  for (nb::handle extent : nb::borrow<nb::sequence>(object)) {
    int64_t value = PyNumber_AsSsize_t(extent.ptr(), PyExc_OverflowError);
    if (value == -1 && PyErr_Occurred())
      throw nb::python_error();
    if (value < 0)
      raise(runtime::invalidArgument("an extent of " + std::to_string(value) + " in the shape"));
    shape.push_back(value);
  }
  return shape;
}

void checkDevice(const PyClient &self, nb::handle device) {
  if (device.is_none())
    return;
  if (!nb::isinstance<PyDevice>(device))
    raise(
        runtime::invalidArgument("device: expected a Device of RuntimeClient.get_devices(), not " + describe(device)));
  const auto &given = nb::cast<PyDevice &>(device).ref;
  if (given->space() != runtime::MemorySpace::host)
    raise(runtime::unimplemented("memory of the device '" + given->name() + "'"));
}

void waitFor(nb::handle stream) {
  if (Ref<Stream> waited = streamOf(stream)) {
    runtime::Status status;
    {
      nb::gil_scoped_release unlocked;
      status = waited->sync();
    }
    check(status);
  }
}

/// A copy of an array, with another shape or another type of the same size on request.
PyMemRef copyOfArray(const PyClient &self, nb::handle array, nb::handle shape, nb::handle dtype) {
  Ref<MemRefValue> source;
  if (nb::isinstance<PyMemRef>(array))
    source = nb::cast<PyMemRef &>(array).ref;
  else
    source = viewOf(array, /*isWritable=*/false);
  if (!source)
    raise(runtime::invalidArgument(
        "create_memref: expected a shape (a tuple or a list) and a dtype, or an array, not " + describe(array)));
  ElementType type = dtype.is_none() ? source->elementType() : elementTypeOf(dtype);
  if (runtime::bytesOf(type) != runtime::bytesOf(source->elementType()))
    raise(runtime::invalidArgument(
        "create_memref: elements of " + std::string(runtime::elementTypeName(source->elementType())) +
        " cannot be read as " + std::string(runtime::elementTypeName(type)) + ": they differ in size"));
  runtime::StatusOr<Ref<MemRefValue>> copy = runtime::internalError("not copied");
  {
    nb::gil_scoped_release unlocked;
    copy = self.ref->createMemRef(source->data(), type, source->shape(), source->strides());
  }
  Ref<MemRefValue> value = check(std::move(copy));
  if (!shape.is_none())
    value = check(value->reshape(shapeOf(shape)));
  return {value};
}

PyMemRef createMemRef(const PyClient &self, nb::handle first, nb::handle second, nb::handle third, nb::handle shape,
                      nb::handle dtype, nb::handle device, nb::handle stream) {
  checkDevice(self, device);
  waitFor(stream);
  // (shape, dtype) or (array, shape, dtype), each by position or by name.
  nb::object array = nb::none(), extents = nb::borrow(shape), type = nb::borrow(dtype);
  std::vector<nb::handle> given;
  for (nb::handle argument : {first, second, third})
    if (!argument.is_none())
      given.push_back(argument);
  size_t next = 0;
  if (next < given.size() && !isShape(given[next]))
    array = nb::borrow(given[next++]);
  if (next < given.size() && isShape(given[next]) && extents.is_none())
    extents = nb::borrow(given[next++]);
  if (next < given.size() && type.is_none())
    type = nb::borrow(given[next++]);
  if (next < given.size())
    raise(runtime::invalidArgument("create_memref: expected (shape, dtype) or (array, shape=None, dtype=None)"));
  if (!array.is_none())
    return copyOfArray(self, array, extents, type);
  if (extents.is_none() || type.is_none())
    raise(runtime::invalidArgument("create_memref: a shape needs a dtype, and a dtype a shape"));
  return {check(self.ref->createMemRef(elementTypeOf(type), shapeOf(extents)))};
}

PyMemRef hostView(const PyClient &self, uintptr_t ptr, nb::handle shape, nb::handle dtype) {
  return {check(self.ref->createHostView(reinterpret_cast<void *>(ptr), elementTypeOf(dtype), shapeOf(shape)))};
}

PyMemRef deviceView(const PyClient &self, uintptr_t ptr, nb::handle shape, nb::handle dtype, const PyDevice &device) {
  return {check(
      self.ref->createDeviceView(reinterpret_cast<void *>(ptr), elementTypeOf(dtype), shapeOf(shape), *device.ref))};
}

PyMemRef copyToDevice(const PyClient &self, const PyMemRef &memref, const PyDevice &device, nb::handle stream) {
  Ref<Stream> after = streamOf(stream);
  runtime::StatusOr<Ref<MemRefValue>> copy = runtime::internalError("not copied");
  {
    nb::gil_scoped_release unlocked;
    copy = self.ref->copyToDevice(*memref.ref, *device.ref, after.get());
  }
  return {check(std::move(copy))};
}

/// (memref, stream=None) gives a copy; (memref, existing_memref, stream=None) writes the copy there.
nb::object copyToHost(const PyClient &self, const PyMemRef &memref, nb::handle existing, nb::handle stream) {
  if (!existing.is_none() && !nb::isinstance<PyMemRef>(existing)) {
    if (!stream.is_none())
      raise(runtime::invalidArgument("copy_to_host: expected a MemRefValue to copy into, not " + describe(existing)));
    return copyToHost(self, memref, nb::none(), existing);
  }
  Ref<Stream> after = streamOf(stream);
  if (existing.is_none()) {
    runtime::StatusOr<Ref<MemRefValue>> copy = runtime::internalError("not copied");
    {
      nb::gil_scoped_release unlocked;
      copy = self.ref->copyToHost(*memref.ref, after.get());
    }
    return nb::cast(PyMemRef{check(std::move(copy))});
  }
  Ref<MemRefValue> target = nb::cast<PyMemRef &>(existing).ref;
  runtime::Status status;
  {
    nb::gil_scoped_release unlocked;
    status = self.ref->copyInto(*memref.ref, *target, after.get());
  }
  check(status);
  return nb::none();
}

/// A recording of what the runtime does, from `with` to its end.
struct PyTrace {
  std::string path;

  void start() const { check(runtime::Trace::start()); }
  void stop() const {
    runtime::Status status;
    {
      nb::gil_scoped_release unlocked;
      status = runtime::Trace::stop(path);
    }
    check(status);
  }
};

nb::dict statistics(const PyClient &self) {
  runtime::SystemCounter system = self.ref->statistics().system;
  nb::dict result;
  result["allocations"] = system.allocations;
  result["releases"] = system.releases;
  result["live_bytes"] = system.liveBytes;
  result["peak_bytes"] = system.peakBytes;
  return result;
}

} // namespace

void bindClient(nb::module_ &module) {
  nb::class_<PyStream>(module, "Stream", nb::is_weak_referenceable(),
                       "An ordered queue of work, made by RuntimeClient.create_stream. It keeps what the work needs.")
      .def_prop_ro(
          "ptr", [](const PyStream &self) { return self.ref->handle(); }, "Handle, for interfaces that pass integers.")
      .def(
          "sync",
          [](const PyStream &self) {
            runtime::Status status;
            {
              nb::gil_scoped_release unlocked;
              status = self.ref->sync();
            }
            check(status);
          },
          "Waits for everything enqueued so far; raises the first failure since the last sync.")
      .def("__repr__", [](const PyStream &self) { return "<Stream " + std::to_string(self.ref->handle()) + ">"; });

  nb::class_<PyDevice>(module, "Device",
                       "Something that runs code and has memory. The host is the first of every client.")
      .def(
          "get_name", [](const PyDevice &self) { return self.ref->name(); }, "\"host\".")
      .def_prop_ro(
          "index", [](const PyDevice &self) { return self.ref->index(); }, "Its place in get_devices().")
      .def_prop_ro(
          "stream", [](const PyDevice &self) { return PyStream(check(self.ref->stream())); },
          "The device's own stream.")
      .def("__repr__", [](const PyDevice &self) { return "<Device " + self.ref->name() + ">"; });

  nb::class_<PyTrace>(
      module, "Trace",
      "A recording for chrome://tracing and Perfetto, written at its end. The process has one at a time.")
      .def("start", &PyTrace::start, "Begins to record. FailedPreconditionError: the process is recording already.")
      .def("stop", &PyTrace::stop, "Ends the recording and writes it.")
      .def(
          "__enter__",
          [](const PyTrace &self) -> const PyTrace & {
            self.start();
            return self;
          },
          nb::rv_policy::reference)
      .def("__exit__", [](const PyTrace &self, nb::args) { self.stop(); })
      .def_ro("path", &PyTrace::path, "The file that is written.")
      .def("__repr__", [](const PyTrace &self) { return "<Trace '" + self.path + "'>"; });

  nb::class_<PyClient>(
      module, "RuntimeClient", nb::is_weak_referenceable(),
      "What a process holds once: devices, threads, and the making of buffers. Safe to use from several "
      "threads.")
      .def(
          "__init__",
          [](PyClient *self, int32_t threads) { new (self) PyClient{check(Client::create({.threadCount = threads}))}; },
          "num_threads"_a = 0,
          "num_threads: threads for parallel loops, the calling one included; 0: LATEWOOD_NUM_THREADS, or else the "
          "processors that the process may use.")
      .def_prop_ro(
          "num_threads", [](const PyClient &self) { return self.ref->threadCount(); },
          "Threads for parallel loops, the calling one included.")
      .def(
          "get_devices",
          [](const PyClient &self) {
            std::vector<PyDevice> devices;
            for (const Ref<runtime::Device> &device : self.ref->devices())
              devices.emplace_back(device);
            return devices;
          },
          "The devices; the host is the first.")
      .def("create_memref", createMemRef, nb::arg("first") = nb::none(), nb::arg("second") = nb::none(),
           nb::arg("third") = nb::none(), nb::kw_only(), "shape"_a = nb::none(), "dtype"_a = nb::none(),
           "device"_a = nb::none(), "stream"_a = nb::none(),
           R"(create_memref(shape, dtype): new memory, contents undefined, row-major without gaps.
create_memref(array, shape=None, dtype=None): a copy of an array, reshaped or read as another type of the same size on request.

shape: a tuple or list of extents. dtype: a ScalarTypeCode, a name ("f32"), a NumPy type. device: one of get_devices(). stream:
    what is enqueued there comes first. Each may be given by position or by name.)")
      .def(
          "create_host_memref_view", hostView, "ptr"_a, "shape"_a, "dtype"_a.none(),
          "A window on memory of somebody else at an address, which must be aligned for the type and outlive every use "
          "of the window.")
      .def("create_device_memref_view", deviceView, "ptr"_a, "shape"_a, "dtype"_a.none(), "device"_a,
           "As create_host_memref_view, for memory of a device. The host is the only device of this build: "
           "UnimplementedError for any other.")
      .def(
          "create_memref_view_from_dlpack",
          [](const PyClient &, nb::handle capsule, std::optional<bool> canonical) {
            return importDLPack(capsule, canonical.value_or(false));
          },
          "capsule"_a, "assert_canonical_strides"_a = nb::none(),
          "A window on the memory of a DLPack capsule, which is consumed. With assert_canonical_strides, strides other "
          "than row-major without gaps are an error.")
      .def(
          "from_dlpack", [](const PyClient &, nb::handle object) { return importDLPack(object, false); }, "object"_a,
          "A window on the memory of an object with __dlpack__, which it keeps alive.")
      .def("copy_to_device", copyToDevice, "memref"_a, "device"_a, "stream"_a = nb::none(),
           "A copy in the memory of a device, made when what is enqueued on the stream is done.")
      .def("copy_to_host", copyToHost, "memref"_a, "existing_memref"_a = nb::none(), "stream"_a = nb::none(),
           "A copy in host memory; with existing_memref, written there, and None is returned.")
      .def(
          "create_scalar",
          [](const PyClient &, nb::handle value, nb::handle type) {
            return PyScalar{scalarOf(value, elementTypeOf(type))};
          },
          "value"_a, "type"_a.none(),
          "A number as an element of a type. InvalidArgumentError: the type cannot hold it (floats are rounded).")
      .def(
          "create_stream", [](const PyClient &self) { return PyStream(check(self.ref->createStream())); },
          "A new queue, with a thread of its own.")
      .def(
          "trace", [](const PyClient &, nb::handle path) { return PyTrace{pathOf(path, "trace")}; }, "path"_a.none(),
          "with client.trace(path): records what the runtime does on all threads, and writes it as JSON in Chrome's "
          "trace event format.")
      .def("statistics", statistics,
           "What was taken from the system and given back: allocations, releases, live_bytes, peak_bytes.")
      .def("__repr__", [](const PyClient &self) {
        return "RuntimeClient(num_threads=" + std::to_string(self.ref->threadCount()) + ")";
      });

  module.def("default_client", [] { return PyClient{defaultClient()}; }, "The client that calls of an Executable use.");
}

} // namespace latewood::python
