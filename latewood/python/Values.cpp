// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MemRefValue and ScalarValue: the values that go into a call and come out of it. A memref shares its memory with
// whatever was made from it (slices, NumPy arrays, DLPack tensors), each of which keeps the memory alive.

#include "latewood/python/Handles.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace latewood::python {

using namespace nb::literals;
using runtime::ElementType;
using runtime::MemRefValue;

namespace {

/// value[index]: integers (an error out of range), slices with any step (cut to the range, as Python's do), one
/// ellipsis.
PyMemRef subscript(const PyMemRef &self, nb::handle index) {
  const MemRefValue &value = *self.ref;
  std::vector<nb::object> items;
  if (nb::isinstance<nb::tuple>(index))
    for (nb::handle item : nb::borrow<nb::tuple>(index))
      items.push_back(nb::borrow(item));
  else
    items.push_back(nb::borrow(index));

  int64_t given = 0, ellipses = 0;
  for (const nb::object &item : items)
    item.ptr() == Py_Ellipsis ? ++ellipses : ++given;
  if (ellipses > 1)
    throw nb::index_error("more than one ellipsis in an index");
  if (given > value.rank())
    throw nb::index_error((std::to_string(given) + " indices into " + value.str()).c_str());

  std::vector<int64_t> shape, strides;
  int64_t offset = 0, dim = 0;
  auto keep = [&] {
    shape.push_back(value.shape()[dim]);
    strides.push_back(value.strides()[dim]);
    ++dim;
  };
  for (const nb::object &item : items) {
    if (item.ptr() == Py_Ellipsis) {
      for (int64_t skipped = value.rank() - given; skipped > 0; --skipped)
        keep();
      continue;
    }
    int64_t extent = value.shape()[dim], stride = value.strides()[dim];
    if (PySlice_Check(item.ptr())) {
      Py_ssize_t start, stop, step;
      if (PySlice_Unpack(item.ptr(), &start, &stop, &step) != 0)
        throw nb::python_error();
      int64_t count = PySlice_AdjustIndices(extent, &start, &stop, step);
      if (count > 0)
        offset += start * stride;
      shape.push_back(count);
      strides.push_back(stride * step);
    } else {
      int64_t position = PyNumber_AsSsize_t(item.ptr(), PyExc_IndexError);
      if (position == -1 && PyErr_Occurred())
        throw nb::python_error();
      if (position < -extent || position >= extent)
        throw nb::index_error(("index " + std::to_string(position) + " is out of range for dimension " +
                               std::to_string(dim) + " of " + value.str())
                                  .c_str());
      offset += (position < 0 ? position + extent : position) * stride;
    }
    ++dim;
  }
  while (dim < value.rank())
    keep();
  int64_t bytes = value.offsetInBytes() + offset * runtime::bytesOf(value.elementType());
  return {check(MemRefValue::create(value.storage(), bytes, value.elementType(), shape, strides))};
}

/// The name of a method as a template argument.
struct MethodName {
  template <size_t N>
  consteval MethodName(const char (&name)[N]) {
    std::copy_n(name, N, text);
  }
  char text[16] = {};
};

/// A method of NumPy's arrays that makes a number of the only element.
template <MethodName method>
nb::object numberOf(nb::handle self) {
  return nb::module_::import_("latewood._arrays").attr("to_numpy")(self).attr(method.text)();
}

nb::object scalarData(const PyScalar &self) {
  int32_t size = runtime::bytesOf(self.ref->elementType());
  nb::bytes bytes(static_cast<const char *>(self.ref->data()), size);
  return nb::module_::import_("latewood._arrays").attr("scalar_value")(bytes, nb::cast(self.ref->elementType()));
}

} // namespace

void bindValues(nb::module_ &module) {
  nb::class_<PyMemRef>(
      module, "MemRefValue", nb::type_slots(memRefSlots), nb::is_weak_referenceable(),
      "An array: a typed, shaped window on memory that it keeps alive. np.asarray(value), memoryview(value) and "
      "from_dlpack(value) share the memory and keep it alive in turn. Made by RuntimeClient.create_memref and by "
      "calls.")
      .def_prop_ro(
          "ptr", [](const PyMemRef &self) { return reinterpret_cast<uintptr_t>(self.ref->data()); },
          "Address of the first element.")
      .def_prop_ro(
          "shape", [](const PyMemRef &self) { return toTuple(self.ref->shape()); }, "Extents in elements.")
      .def_prop_ro(
          "strides", [](const PyMemRef &self) { return toTuple(self.ref->strides()); }, "In elements.")
      .def_prop_ro(
          "dtype", [](const PyMemRef &self) { return self.ref->elementType(); }, "The element type.")
      .def_prop_ro(
          "address_space", [](const PyMemRef &self) { return self.ref->space(); }, "Where the memory is.")
      .def_prop_ro(
          "nbytes", [](const PyMemRef &self) { return self.ref->sizeInBytes(); },
          "Bytes of the elements, without gaps between them.")
      .def_prop_ro(
          "read_only", [](const PyMemRef &self) { return self.ref->isReadOnly(); },
          "Whether it cannot be a call's output: a window on memory that its owner does not let others change.")
      .def(
          "ref_count", [](const PyMemRef &self) { return self.ref->storage()->referenceCount(); },
          "How many values, NumPy arrays and DLPack tensors share the memory.")
      .def(
          "is_ready", [](const PyMemRef &self) { return self.ref->isReady(); },
          "False while a call on a stream is still going to write it.")
      .def(
          "wait", [](const PyMemRef &self) { waitUntilReady(*self.ref); },
          "Waits for a call on a stream that is going to write it, and raises its failure. Looking at the elements "
          "does that, too; only an array that was given as an output needs it, or Stream.sync().")
      .def(
          "numpy", [](nb::handle self) { return nb::module_::import_("latewood._arrays").attr("to_numpy")(self); },
          "A NumPy array on the same memory; element types that NumPy does not have are those of ml_dtypes.")
      .def(
          "__array__",
          [](nb::handle self, nb::handle dtype, nb::handle copy) {
            return nb::module_::import_("latewood._arrays").attr("as_array")(self, dtype, copy);
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none(), "NumPy's protocol: np.asarray(value) and np.array(value).")
      .def("item", numberOf<"item">, nb::sig("def item(self) -> bool | int | float | complex"),
           "The only element as a Python number. ValueError: there are more.")
      .def("__int__", numberOf<"__int__">, nb::sig("def __int__(self) -> int"))
      .def("__float__", numberOf<"__float__">, nb::sig("def __float__(self) -> float"))
      .def("__complex__", numberOf<"__complex__">, nb::sig("def __complex__(self) -> complex"))
      .def("__bool__", numberOf<"__bool__">, nb::sig("def __bool__(self) -> bool"))
      .def(
          "_with_dtype",
          [](const PyMemRef &self, ElementType type) {
            const MemRefValue &value = *self.ref;
            if (runtime::bytesOf(type) != runtime::bytesOf(value.elementType()))
              raise(runtime::invalidArgument("elements of another size"));
            return PyMemRef{check(
                MemRefValue::create(value.storage(), value.offsetInBytes(), type, value.shape(), value.strides()))};
          },
          "dtype"_a)
      .def("__getitem__", subscript, "index"_a.none(),
           "Part of the array, on the same memory: integers, slices with any step, and one ellipsis.")
      .def("__len__",
           [](const PyMemRef &self) -> int64_t {
             if (self.ref->rank() == 0)
               throw nb::type_error("len() of an array of rank 0");
             return self.ref->shape()[0];
           })
      .def("__dlpack__", exportDLPack, nb::kw_only(), "stream"_a = nb::none(), "max_version"_a = nb::none(),
           "dl_device"_a = nb::none(), "copy"_a = nb::none())
      .def("__dlpack_device__", exportDLPackDevice)
      .def("__repr__", [](const PyMemRef &self) { return self.ref->str(); });

  nb::class_<PyScalar>(module, "ScalarValue",
                       "One number with a type; accepted where a function takes an array of rank 0. Made by "
                       "RuntimeClient.create_scalar.")
      .def_prop_ro(
          "type", [](const PyScalar &self) { return self.ref->elementType(); }, "The element type.")
      .def_prop_ro("data", scalarData, "The number as Python's int, float, bool or complex.")
      .def("__repr__", [](const PyScalar &self) {
        return nb::cast<std::string>(nb::str(scalarData(self))) + " : " +
               std::string(runtime::elementTypeName(self.ref->elementType()));
      });
}

} // namespace latewood::python
