// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays in and out without a copy. Two protocols carry them: Python's buffer protocol (NumPy, JAX on the CPU, array,
// memoryview), which is the fastest to ask, and DLPack, which knows more element types. NumPy arrays of ml_dtypes'
// types have neither; they are taken as integers of the same width, with their type remembered (latewood/_arrays.py).
//
// Lifetime: a window holds the Py_buffer or the DLPack tensor and gives it back under the interpreter lock, from
// whatever thread drops it. When the interpreter has already ended, memory of its objects is left to the process.

#include "latewood/python/Handles.h"

#include "latewood/runtime/DLPack.h"

#include <nanobind/stl/string.h>

#include <bit>
#include <cstring>

namespace latewood::python {

using runtime::ElementType;
using runtime::MemRefValue;
using runtime::Ref;

// --- Element types -------------------------------------------------------------------------------

namespace {

static_assert(std::endian::native == std::endian::little, "formats with an explicit byte order are read as native");

/// The element type of a format of the struct module (with NumPy's Z for complex), or `invalid`.
ElementType parseFormat(const char *format, Py_ssize_t itemSize) {
  if (!format)
    return itemSize == 1 ? ElementType::ui8 : ElementType::invalid;
  if (*format == '@' || *format == '=' || *format == '<')
    ++format;
  bool isComplex = *format == 'Z';
  char code = isComplex ? format[1] : format[0];
  if (!code || format[isComplex ? 2 : 1])
    return ElementType::invalid;
  if (isComplex)
    return code == 'f' ? ElementType::complex_f32 : code == 'd' ? ElementType::complex_f64 : ElementType::invalid;
  switch (code) {
  case '?':
    return ElementType::i1;
  case 'e':
    return ElementType::f16;
  case 'f':
    return ElementType::f32;
  case 'd':
    return ElementType::f64;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
  case 'n':
    return itemSize == 1   ? ElementType::i8
           : itemSize == 2 ? ElementType::i16
           : itemSize == 4 ? ElementType::i32
           : itemSize == 8 ? ElementType::i64
                           : ElementType::invalid;
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
  case 'N':
    return itemSize == 1   ? ElementType::ui8
           : itemSize == 2 ? ElementType::ui16
           : itemSize == 4 ? ElementType::ui32
           : itemSize == 8 ? ElementType::ui64
                           : ElementType::invalid;
  default:
    return ElementType::invalid;
  }
}

/// The format of an element type, or null where the buffer protocol has none.
const char *formatOf(ElementType type) {
  switch (type) {
  case ElementType::i1:
    return "?";
  case ElementType::i8:
    return "b";
  case ElementType::i16:
    return "h";
  case ElementType::i32:
    return "i";
  case ElementType::i64:
    return "q";
  case ElementType::ui8:
    return "B";
  case ElementType::ui16:
    return "H";
  case ElementType::ui32:
    return "I";
  case ElementType::ui64:
    return "Q";
  case ElementType::f16:
    return "e";
  case ElementType::f32:
    return "f";
  case ElementType::f64:
    return "d";
  case ElementType::complex_f32:
    return "Zf";
  case ElementType::complex_f64:
    return "Zd";
  default:
    return nullptr;
  }
}

nb::object arraysModule() { return nb::module_::import_("latewood._arrays"); }

} // namespace

bool hasBufferFormat(ElementType type) { return formatOf(type) != nullptr; }

ElementType elementTypeOf(nb::handle object) {
  if (nb::isinstance<ElementType>(object))
    return nb::cast<ElementType>(object);
  if (nb::isinstance<PyScalarType>(object))
    return nb::cast<PyScalarType &>(object).type;
  return nb::cast<ElementType>(arraysModule().attr("code_of")(object));
}

Ref<runtime::ScalarValue> scalarOf(nb::handle number, ElementType type) {
  auto bytes = nb::cast<nb::bytes>(arraysModule().attr("scalar_bytes")(number, nb::cast(type)));
  if (static_cast<int32_t>(bytes.size()) != runtime::bytesOf(type))
    raise(runtime::internalError("a scalar of the wrong size"));
  return check(runtime::ScalarValue::create(type, bytes.c_str()));
}

std::string describe(nb::handle object) { return nb::cast<std::string>(arraysModule().attr("describe")(object)); }

std::string pathOf(nb::handle path, const char *what) {
  bool isPath = nb::isinstance<nb::str>(path) || nb::isinstance<nb::bytes>(path) || nb::hasattr(path, "__fspath__");
  if (!isPath)
    raise(runtime::invalidArgument(std::string(what) + ": expected a path, not " + describe(path)));
  auto bytes = nb::cast<nb::bytes>(nb::module_::import_("os").attr("fsencode")(path));
  std::string text(bytes.c_str(), bytes.size());
  if (text.find('\0') != std::string::npos)
    raise(runtime::invalidArgument(std::string(what) + ": a path cannot have a null character"));
  return text;
}

IntegerTuple toTuple(std::span<const int64_t> values) {
  nb::list list;
  for (int64_t value : values)
    list.append(value);
  return nb::tuple(list);
}

// --- The buffer protocol, in ---------------------------------------------------------------------

namespace {

/// A Py_buffer that is given back once, under the interpreter lock.
class HeldBuffer {
public:
  explicit HeldBuffer(const Py_buffer &buffer) : buffer(buffer) {}
  void operator()() {
    if (!Py_IsInitialized())
      return;
    nb::gil_scoped_acquire lock;
    PyBuffer_Release(&buffer);
  }

private:
  Py_buffer buffer;
};

/// `type` says what the elements are where the buffer itself shows integers.
Ref<MemRefValue> viewOfBuffer(nb::handle object, bool isWritable, ElementType type = ElementType::invalid) {
  Py_buffer buffer;
  int flags = PyBUF_STRIDES | PyBUF_FORMAT | (isWritable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &buffer, flags) != 0) {
    PyErr_Clear();
    return nullptr;
  }
  HeldBuffer held(buffer);
  if (type == ElementType::invalid)
    type = parseFormat(buffer.format, buffer.itemsize);
  if (type == ElementType::invalid) {
    held();
    return nullptr;
  }
  constexpr int maxRank = 64;
  int64_t shape[maxRank], strides[maxRank];
  for (int dim = 0; dim < buffer.ndim; ++dim) {
    shape[dim] = buffer.shape[dim];
    if (buffer.strides[dim] % buffer.itemsize != 0) {
      held();
      raise(runtime::invalidArgument("a stride of " + std::to_string(buffer.strides[dim]) +
                                     " bytes is not a multiple of the element's " + std::to_string(buffer.itemsize)));
    }
    strides[dim] = buffer.strides[dim] / buffer.itemsize;
  }
  int64_t rank = buffer.ndim, count = 1, low = 0, high = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    count *= shape[dim];
    (strides[dim] < 0 ? low : high) += (shape[dim] - 1) * strides[dim];
  }
  // A storage begins at the lowest address that an element has; with negative strides that is before the first one.
  int64_t bytes = count == 0 ? 0 : (high - low + 1) * buffer.itemsize;
  int64_t offset = count == 0 ? 0 : -low * buffer.itemsize;
  bool isReadOnly = buffer.readonly;
  static char nothing[64];
  char *start = buffer.buf ? static_cast<char *>(buffer.buf) - offset : nothing;
  Ref<runtime::Storage> storage = runtime::Storage::view(start, bytes, runtime::MemorySpace::host, isReadOnly, held);
  return check(MemRefValue::create(std::move(storage), offset, type, {shape, static_cast<size_t>(rank)},
                                   {strides, static_cast<size_t>(rank)}));
}

} // namespace

Ref<MemRefValue> viewOf(nb::handle object, bool isWritable) {
  if (PyObject_CheckBuffer(object.ptr())) {
    if (Ref<MemRefValue> view = viewOfBuffer(object, isWritable))
      return view;
    if (isWritable && viewOfBuffer(object, false))
      raise(runtime::invalidArgument("the array is read-only"));
  }
  // Either None, or (a NumPy array of integers on the same memory, the element type).
  nb::object disguised = arraysModule().attr("as_integers")(object);
  if (!disguised.is_none()) {
    ElementType type = nb::cast<ElementType>(disguised[1]);
    if (Ref<MemRefValue> view = viewOfBuffer(disguised[0], isWritable, type))
      return view;
    if (isWritable)
      raise(runtime::invalidArgument("the array is read-only"));
  }
  if (!nb::hasattr(object, "__dlpack__"))
    return nullptr;
  // JAX's arrays never change, but their DLPack capsules do not say so.
  if (isWritable && nb::cast<bool>(arraysModule().attr("is_jax_array")(object)))
    raise(runtime::invalidArgument("arrays of JAX are read-only"));
  Ref<MemRefValue> view;
  try {
    view = importDLPack(object, /*assertCanonicalStrides=*/false).ref;
  } catch (nb::python_error &error) {
    // How a producer says that it cannot: elements of another byte order or without a type, a tensor with a gradient.
    if (!error.matches(PyExc_BufferError))
      throw;
    raise(runtime::invalidArgument(
        describe(object) + " cannot be taken without a conversion: " + nb::cast<std::string>(nb::str(error.value()))));
  }
  if (isWritable && view->isReadOnly())
    raise(runtime::invalidArgument("the array is read-only"));
  return view;
}

void waitUntilReady(const MemRefValue &value) {
  if (value.isReady())
    return;
  runtime::Status status;
  {
    nb::gil_scoped_release unlocked;
    status = value.waitUntilReady();
  }
  check(status);
}

// --- The buffer protocol, out --------------------------------------------------------------------

namespace {

struct ExportedBuffer {
  Ref<MemRefValue> value;
  // Held as well: memory that is looked at from outside is not taken by a donation.
  Ref<runtime::Storage> storage;
  std::vector<Py_ssize_t> extents, strides;
};

int getBuffer(PyObject *self, Py_buffer *buffer, int flags) {
  buffer->obj = nullptr;
  const Ref<MemRefValue> &value = nb::inst_ptr<PyMemRef>(nb::handle(self))->ref;
  const char *format = formatOf(value->elementType());
  auto refuse = [](const char *reason) {
    PyErr_SetString(PyExc_BufferError, reason);
    return -1;
  };
  if (!format)
    return refuse("the buffer protocol has no format for this element type; np.asarray(value) gives a NumPy array of "
                  "ml_dtypes' type");
  if (value->space() == runtime::MemorySpace::device)
    return refuse("the memory is on a device; use RuntimeClient.copy_to_host first");
  if ((flags & PyBUF_WRITABLE) && value->isReadOnly())
    return refuse("the memory is read-only");
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES && !value->hasCanonicalStrides())
    return refuse("the elements are not contiguous");
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && value->rank() > 1)
    return refuse("the elements are row-major");
  try {
    waitUntilReady(*value);
  } catch (nb::python_error &error) {
    error.restore();
    return -1;
  }
  auto *exported = new ExportedBuffer{value, value->storage(), {}, {}};
  Py_ssize_t size = runtime::bytesOf(value->elementType());
  for (int64_t dim = 0; dim < value->rank(); ++dim) {
    exported->extents.push_back(value->shape()[dim]);
    exported->strides.push_back(value->strides()[dim] * size);
  }
  buffer->buf = value->data();
  buffer->len = value->sizeInBytes();
  buffer->readonly = value->isReadOnly();
  buffer->itemsize = size;
  buffer->format = (flags & PyBUF_FORMAT) ? const_cast<char *>(format) : nullptr;
  buffer->ndim = static_cast<int>(value->rank());
  buffer->shape = (flags & PyBUF_ND) ? exported->extents.data() : nullptr;
  buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? exported->strides.data() : nullptr;
  buffer->suboffsets = nullptr;
  buffer->internal = exported;
  buffer->obj = Py_NewRef(self);
  return 0;
}

void releaseBuffer(PyObject *, Py_buffer *buffer) { delete static_cast<ExportedBuffer *>(buffer->internal); }

} // namespace

PyType_Slot memRefSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void *>(releaseBuffer)},
                             {0, nullptr}};

// --- DLPack --------------------------------------------------------------------------------------

namespace {

constexpr const char *capsuleName = "dltensor", *versionedCapsuleName = "dltensor_versioned";
constexpr const char *usedName = "used_dltensor", *usedVersionedName = "used_dltensor_versioned";

/// A consumer renames the capsule when it takes the tensor over; one that nobody consumed frees its tensor.
template <typename Tensor>
void disposeCapsule(PyObject *capsule, const char *name) {
  if (!PyCapsule_IsValid(capsule, name))
    return;
  auto *tensor = static_cast<Tensor *>(PyCapsule_GetPointer(capsule, name));
  if (tensor && tensor->deleter)
    tensor->deleter(tensor);
}

} // namespace

nb::object exportDLPack(const PyMemRef &self, nb::handle stream, nb::handle maxVersion, nb::handle device,
                        nb::handle copy) {
  if (!stream.is_none() && !(PyLong_Check(stream.ptr()) && PyLong_AsLong(stream.ptr()) == -1))
    raise(runtime::invalidArgument("__dlpack__: memory of the host has no stream: expected stream=None"));
  if (!device.is_none()) {
    nb::object ours = exportDLPackDevice(self);
    if (!nb::tuple(device).equal(ours))
      throw nb::buffer_error("__dlpack__: the memory is on the host (dl_device (1, 0)) and stays there");
  }
  Ref<MemRefValue> value = self.ref;
  waitUntilReady(*value);
  bool isCopied = !copy.is_none() && nb::cast<bool>(copy);
  if (isCopied) {
    value = check(defaultClient()->copyToHost(*value));
  }
  bool isVersioned = !maxVersion.is_none() && nb::cast<int>(nb::tuple(maxVersion)[0]) >= 1;
  if (isVersioned) {
    auto *tensor = check(runtime::dlpack::exportTensorVersioned(value, isCopied));
    return nb::steal(PyCapsule_New(tensor, versionedCapsuleName, [](PyObject *capsule) {
      disposeCapsule<runtime::dlpack::ManagedTensorVersioned>(capsule, versionedCapsuleName);
    }));
  }
  auto *tensor = check(runtime::dlpack::exportTensor(value));
  return nb::steal(PyCapsule_New(tensor, capsuleName, [](PyObject *capsule) {
    disposeCapsule<runtime::dlpack::ManagedTensor>(capsule, capsuleName);
  }));
}

nb::object exportDLPackDevice(const PyMemRef &self) {
  switch (self.ref->space()) {
  case runtime::MemorySpace::device:
    return nb::make_tuple(runtime::dlpack::deviceCUDA, 0);
  case runtime::MemorySpace::unified:
    return nb::make_tuple(runtime::dlpack::deviceCUDAManaged, 0);
  case runtime::MemorySpace::pinnedHost:
    return nb::make_tuple(runtime::dlpack::deviceCUDAHost, 0);
  case runtime::MemorySpace::host:
    break;
  }
  return nb::make_tuple(runtime::dlpack::deviceCPU, 0);
}

PyMemRef importDLPack(nb::handle object, bool assertCanonicalStrides) {
  nb::object capsule = nb::borrow(object);
  if (!PyCapsule_CheckExact(object.ptr())) {
    if (!nb::hasattr(object, "__dlpack__"))
      raise(
          runtime::invalidArgument("expected a DLPack capsule or an object with __dlpack__, not " + describe(object)));
    try {
      capsule = object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (nb::python_error &error) {
      // Producers from before version 1 do not know the argument.
      if (!error.matches(PyExc_TypeError))
        throw;
      capsule = object.attr("__dlpack__")();
    }
  }
  if (PyCapsule_IsValid(capsule.ptr(), versionedCapsuleName)) {
    auto *tensor = static_cast<runtime::dlpack::ManagedTensorVersioned *>(
        PyCapsule_GetPointer(capsule.ptr(), versionedCapsuleName));
    PyCapsule_SetName(capsule.ptr(), usedVersionedName);
    return {check(runtime::dlpack::importTensor(tensor, assertCanonicalStrides))};
  }
  if (PyCapsule_IsValid(capsule.ptr(), capsuleName)) {
    auto *tensor = static_cast<runtime::dlpack::ManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), capsuleName));
    PyCapsule_SetName(capsule.ptr(), usedName);
    return {check(runtime::dlpack::importTensor(tensor, assertCanonicalStrides))};
  }
  raise(runtime::invalidArgument("the DLPack capsule was already consumed, or is something else"));
}

} // namespace latewood::python
