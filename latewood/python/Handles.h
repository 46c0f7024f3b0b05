// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the Python objects hold. The runtime counts references inside its objects; a Python object is a handle with one
// such reference. So an object of the runtime lives as long as Python or the runtime needs it, in whatever order the
// two let go, and no keep-alive rule of the binding generator is needed. A handle is never empty.
//
// Invariant: no exception of C++ leaves a binding but Python's own. A failed Status becomes one of the classes of
// latewood/errors.py, with the code and the full message (raise()).

#ifndef LATEWOOD_PYTHON_HANDLES_H
#define LATEWOOD_PYTHON_HANDLES_H

#include "latewood/runtime/Client.h"
#include "latewood/runtime/Executable.h"
#include "latewood/runtime/Session.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace latewood::python {

namespace nb = nanobind;

/// Drops a reference without the interpreter lock: the last one on a stream waits for work that may need the lock to
/// give Python objects back.
template <typename T>
void dropUnlocked(runtime::Ref<T> &ref) {
  if (!ref)
    return;
  nb::gil_scoped_release unlocked;
  ref.reset();
}

struct PyMemRef {
  runtime::Ref<runtime::MemRefValue> ref;
};
struct PyScalar {
  runtime::Ref<runtime::ScalarValue> ref;
};
struct PyDevice {
  runtime::Ref<runtime::Device> ref;

  explicit PyDevice(runtime::Ref<runtime::Device> ref) : ref(std::move(ref)) {}
  PyDevice(PyDevice &&) = default;
  ~PyDevice() { dropUnlocked(ref); }
};
struct PyStream {
  runtime::Ref<runtime::Stream> ref;

  explicit PyStream(runtime::Ref<runtime::Stream> ref) : ref(std::move(ref)) {}
  PyStream(PyStream &&) = default;
  ~PyStream() { dropUnlocked(ref); }
};
struct PyClient {
  runtime::Ref<runtime::Client> ref;

  explicit PyClient(runtime::Ref<runtime::Client> ref) : ref(std::move(ref)) {}
  PyClient(PyClient &&) = default;
  ~PyClient() { dropUnlocked(ref); }
};
struct PyExecutable {
  runtime::Ref<runtime::Executable> ref;
};
struct PySession {
  runtime::Ref<runtime::Session> ref;

  explicit PySession(runtime::Ref<runtime::Session> ref) : ref(std::move(ref)) {}
  PySession(PySession &&) = default;
  ~PySession() { dropUnlocked(ref); }
};

/// The type of a number without extents, for argument and result types that users spell.
struct PyScalarType {
  runtime::ElementType type = runtime::ElementType::invalid;
};

/// A function's signature with the executable that owns it.
struct PySignature {
  runtime::Ref<runtime::Executable> executable;
  const runtime::FunctionSignature *signature;
};

/// Raises the Python exception for a failure. Does not return.
[[noreturn]] void raise(const runtime::Status &status);

inline void check(const runtime::Status &status) {
  if (!status.isOk())
    raise(status);
}
template <typename T>
T check(runtime::StatusOr<T> value) {
  if (!value.isOk())
    raise(value.status());
  return *std::move(value);
}

// --- Arrays.cpp ----------------------------------------------------------------------------------

/// A window on the memory of a Python object that has the buffer protocol, is a NumPy array of one of ml_dtypes' types,
/// or has __dlpack__; the window keeps the object alive. Null with no Python error set when it is none of these. With
/// `isWritable` the memory must be writable.
runtime::Ref<runtime::MemRefValue> viewOf(nb::handle object, bool isWritable);

/// Whether the buffer protocol can say this element type.
bool hasBufferFormat(runtime::ElementType type);

/// Waits, without the interpreter lock, for a call on a stream that is going to write the value; raises its failure.
void waitUntilReady(const runtime::MemRefValue &value);

/// The slots that give MemRefValue the buffer protocol.
extern PyType_Slot memRefSlots[];

nb::object exportDLPack(const PyMemRef &self, nb::handle stream, nb::handle maxVersion, nb::handle device,
                        nb::handle copy);
nb::object exportDLPackDevice(const PyMemRef &self);
/// From a capsule, or from an object that gives one.
PyMemRef importDLPack(nb::handle object, bool assertCanonicalStrides);

/// An element type from what people write: a ScalarTypeCode, a ScalarType, a NumPy type, or a name.
runtime::ElementType elementTypeOf(nb::handle object);
/// One element from a Python number, converted to `type`; fails when it does not fit.
runtime::Ref<runtime::ScalarValue> scalarOf(nb::handle number, runtime::ElementType type);
/// "an array of float32 with shape (3,)", or "a value of type" and the Python type: for messages.
std::string describe(nb::handle object);
/// A path as the file system spells it, from a str, bytes or os.PathLike. `what` names it in messages.
std::string pathOf(nb::handle path, const char *what);
/// Extents or strides as a Python tuple.
using IntegerTuple = nb::typed<nb::tuple, int64_t, nb::ellipsis>;
IntegerTuple toTuple(std::span<const int64_t> values);

/// The client of everything that is not given one; made when first asked for.
const runtime::Ref<runtime::Client> &defaultClient();

// --- Streams -------------------------------------------------------------------------------------

/// A stream of ours, its integer handle, an object whose `ptr` is one, or None. Null for None and for the handle 0.
runtime::Ref<runtime::Stream> streamOf(nb::handle object);

// --- The parts of the module ---------------------------------------------------------------------

void bindTypes(nb::module_ &module);
void bindValues(nb::module_ &module);
void bindClient(nb::module_ &module);
void bindSession(nb::module_ &module);

} // namespace latewood::python

#endif // LATEWOOD_PYTHON_HANDLES_H
