// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The extension module latewood._runtime: the runtime library for Python, without any part of the compiler, so that a
// process that only runs files loads neither LLVM nor MLIR.

#include "latewood/python/Handles.h"

#include <nanobind/stl/string.h>

namespace latewood::python {

void raise(const runtime::Status &status) {
  nb::object make = nb::module_::import_("latewood.errors").attr("from_code");
  nb::object error = make(std::string(runtime::statusCodeName(status.code())), std::string(status.message()));
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

} // namespace latewood::python

NB_MODULE(_runtime, module) {
  module.doc() = "The runtime: see latewood.runtime.";
  // Objects that live until the interpreter ends (a session in a global) are no leaks.
  nanobind::set_leak_warnings(false);
  latewood::python::bindTypes(module);
  latewood::python::bindValues(module);
  latewood::python::bindClient(module);
  latewood::python::bindSession(module);
}
