// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and signatures as Python sees them: what an element is, what an array is, what a function takes and gives. The
// names are those of the reference system's API, so that a client moves over with an import change.

#include "latewood/python/Handles.h"

#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace latewood::python {

using namespace nb::literals;
using runtime::ElementType;
using runtime::MemorySpace;
using runtime::MemRefType;
using runtime::ValueSignature;

namespace {

/// The enumerator's name in Python: complex_f32 has 32-bit parts and is called complex32; the rest is lower case.
std::string pythonName(std::string name) {
  if (name.starts_with("complex_f"))
    return "complex" + name.substr(9);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

struct Bounds {
  std::vector<int64_t> min, max;
};

const ValueSignature &entry(const std::vector<ValueSignature> &list, int64_t index, const char *what) {
  if (index < 0 || index >= static_cast<int64_t>(list.size()))
    throw nb::index_error(
        ("there is no " + std::string(what) + " " + std::to_string(index) + ", only " + std::to_string(list.size()))
            .c_str());
  return list[index];
}

Bounds boundsOf(const ValueSignature &value) {
  if (!value.min.empty())
    return {value.min, value.max};
  return {value.shape, value.shape};
}

MemRefType typeOf(const ValueSignature &value) { return value; }

void bindElementTypes(nb::module_ &module) {
  auto codes = nb::enum_<ElementType>(module, "ScalarTypeCode",
                                      "Element types, named as in StableHLO; complex32 and complex64 are named by the "
                                      "width of a part.");
  // The names must live as long as the type object, which is as long as the process.
  static std::vector<std::string> names;
  names.reserve(64);
#define LATEWOOD_BIND(name)                                                                                            \
  names.push_back(pythonName(#name));                                                                                  \
  codes.value(names.back().c_str(), ElementType::name);
  LATEWOOD_ELEMENT_TYPES(LATEWOOD_BIND)
#undef LATEWOOD_BIND
  codes.def_prop_ro(
      "spelling", [](ElementType type) { return std::string(runtime::elementTypeName(type)); },
      "StableHLO's spelling: \"f32\", \"ui8\", \"complex<f32>\".");
  codes.def_prop_ro(
      "bytes", [](ElementType type) { return runtime::bytesOf(type); },
      "Bytes of one element in a buffer; types below 8 bits take one.");

  nb::enum_<MemorySpace>(module, "PointerType", "Where memory is.")
      .value("host", MemorySpace::host)
      .value("pinned_host", MemorySpace::pinnedHost)
      .value("device", MemorySpace::device)
      .value("unified", MemorySpace::unified);
}

void bindArrayTypes(nb::module_ &module) {
  nb::class_<PyScalarType>(module, "ScalarType", "The type of a single number.")
      .def(
          "__init__", [](PyScalarType *self, nb::handle code) { new (self) PyScalarType{elementTypeOf(code)}; },
          "code"_a.none(), "As `get`.")
      .def_static(
          "get", [](nb::handle code) { return PyScalarType{elementTypeOf(code)}; }, "code"_a.none(),
          "From a ScalarTypeCode, a name ('f32', 'complex<f32>') or a NumPy type.")
      .def_prop_ro(
          "type", [](const PyScalarType &self) { return self.type; }, "The element type.")
      .def("__eq__",
           [](const PyScalarType &self, nb::handle other) {
             return nb::isinstance<PyScalarType>(other) && nb::cast<PyScalarType &>(other).type == self.type;
           })
      .def("__hash__", [](const PyScalarType &self) { return static_cast<size_t>(self.type); })
      .def("__repr__", [](const PyScalarType &self) { return std::string(runtime::elementTypeName(self.type)); });

  auto make = [](std::vector<int64_t> shape, nb::handle dtype, MemorySpace space) {
    for (int64_t extent : shape)
      if (extent < runtime::dynamicExtent)
        raise(runtime::invalidArgument("MemRefType: an extent of " + std::to_string(extent) + " in the shape"));
    return MemRefType{elementTypeOf(dtype), std::move(shape), space};
  };
  nb::class_<MemRefType>(module, "MemRefType",
                         "The type of an array: element type, extents (-1: known only when the program runs), memory "
                         "space. The layout is always row-major without gaps.")
      .def_static(
          "get", make, "shape"_a, "dtype"_a.none(), "address_space"_a = MemorySpace::host,
          "shape: extents, -1 for one that only the run knows. dtype: a ScalarTypeCode, a name ('f32'), a NumPy "
          "type.")
      .def_prop_ro(
          "shape", [](const MemRefType &self) { return toTuple(self.shape); }, "Extents in elements, or -1.")
      .def_prop_ro(
          "strides",
          [](const MemRefType &self) -> std::optional<IntegerTuple> {
            if (!self.hasStaticShape())
              return std::nullopt;
            return toTuple(runtime::canonicalStrides(self.shape));
          },
          "In elements; None while an extent is unknown.")
      .def_prop_ro(
          "dtype", [](const MemRefType &self) { return self.elementType; }, "The element type.")
      .def_prop_ro(
          "address_space", [](const MemRefType &self) { return self.space; }, "Where the memory is.")
      .def("__eq__",
           [](const MemRefType &self, nb::handle other) {
             if (!nb::isinstance<MemRefType>(other))
               return false;
             const auto &type = nb::cast<const MemRefType &>(other);
             return type.elementType == self.elementType && type.shape == self.shape && type.space == self.space;
           })
      .def("__hash__", [](const MemRefType &self) { return std::hash<std::string>()(self.str()); })
      .def("__repr__", [](const MemRefType &self) { return self.str(); });
}

void bindSignatures(nb::module_ &module) {
  nb::class_<Bounds>(
      module, "Bounds",
      "The range of an array's extents: one extent where the shape is static, -1 where there are no bounds.")
      .def(
          "min", [](const Bounds &self) { return self.min; }, "The least extent of each dimension.")
      .def(
          "max", [](const Bounds &self) { return self.max; }, "The largest extent of each dimension.")
      .def("__repr__", [](const Bounds &self) {
        return "Bounds(min=" + runtime::shapeText(self.min) + ", max=" + runtime::shapeText(self.max) + ")";
      });

  using Signature = PySignature;
  nb::class_<Signature>(module, "FunctionSignature",
                        "What a function takes and gives. Every result may be written to an array of the caller or be "
                        "allocated, chosen at each call: so results are not counted among the arguments, and "
                        "get_num_output_args() equals get_num_results().")
      .def_prop_ro(
          "name", [](const Signature &self) { return self.signature->name; }, "The function's name.")
      .def(
          "get_num_args", [](const Signature &self) { return self.signature->arguments.size(); },
          "The number of arguments.")
      .def(
          "get_num_input_args", [](const Signature &self) { return self.signature->arguments.size(); },
          "The number of arguments.")
      .def(
          "get_num_output_args", [](const Signature &self) { return self.signature->results.size(); },
          "The number of results: each may be written to an array of the caller.")
      .def(
          "get_num_results", [](const Signature &self) { return self.signature->results.size(); },
          "The number of results.")
      .def(
          "get_arg",
          [](const Signature &self, int64_t i) { return typeOf(entry(self.signature->arguments, i, "argument")); },
          "index"_a, "The type of an argument. IndexError: there is none with this number.")
      .def(
          "get_result",
          [](const Signature &self, int64_t i) { return typeOf(entry(self.signature->results, i, "result")); },
          "index"_a, "The type of a result. IndexError: there is none with this number.")
      .def(
          "get_arg_name",
          [](const Signature &self, int64_t i) { return entry(self.signature->arguments, i, "argument").name; },
          "index"_a, "The argument's name in the source program, or an empty text.")
      .def(
          "get_result_name",
          [](const Signature &self, int64_t i) { return entry(self.signature->results, i, "result").name; }, "index"_a,
          "The result's name in the source program, or an empty text.")
      .def(
          "get_arg_bound",
          [](const Signature &self, int64_t i) { return boundsOf(entry(self.signature->arguments, i, "argument")); },
          "index"_a, "The extents that an argument may have; each call checks them.")
      .def(
          "get_res_bound",
          [](const Signature &self, int64_t i) { return boundsOf(entry(self.signature->results, i, "result")); },
          "index"_a, "The extents that a result can have.")
      .def(
          "is_data_dependent",
          [](const Signature &self, int64_t i) { return entry(self.signature->results, i, "result").isDataDependent; },
          "index"_a, "Whether extents of the result are known only when it has been computed.")
      .def(
          "get_shape_func_name",
          [](const Signature &self) -> std::optional<std::string> {
            if (self.signature->shapeFunctionName.empty())
              return std::nullopt;
            return self.signature->shapeFunctionName;
          },
          "The function that computes the shapes of the results (RuntimeSession.output_shapes calls it), or None where "
          "the signature says them.")
      .def(
          "get_workspace_size", [](const Signature &self) { return self.signature->workspaceBytes; },
          "Bytes of temporary memory of one call; the session keeps them between calls.")
      .def("__repr__", [](const Signature &self) { return self.signature->str(); });
}

} // namespace

void bindTypes(nb::module_ &module) {
  bindElementTypes(module);
  bindArrayTypes(module);
  bindSignatures(module);
}

} // namespace latewood::python
