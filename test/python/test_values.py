# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runtime values: creation, copies and views, slices, the buffer protocol, DLPack, lifetimes."""

import gc
import weakref

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from latewood import InvalidArgumentError, UnimplementedError, runtime
from latewood.runtime import MemRefType, PointerType, ScalarType, ScalarTypeCode

NUMPY_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
NUMPY_TYPES += ["float16", "float32", "float64", "complex64", "complex128"]
ML_TYPES = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e3m4", "int4", "uint4", "float4_e2m1fn"]


def sample(dtype) -> np.ndarray:
    return np.array([[0, 1, 1], [1, 0, 1]]).astype(dtype)


def test_devices(client):
    (host,) = client.get_devices()
    assert host.get_name() == "host"
    assert host.stream.ptr == host.stream.ptr != 0


def test_new_memory(client):
    value = client.create_memref((2, 3), ScalarTypeCode.f32)
    assert value.shape == (2, 3)
    assert value.strides == (3, 1)
    assert value.dtype == ScalarTypeCode.f32
    assert value.address_space == PointerType.host
    assert value.ptr % 64 == 0
    assert value.nbytes == 24
    assert client.create_memref(shape=[0, 4], dtype="i8").nbytes == 0
    assert client.create_memref((), "f64").shape == ()


@pytest.mark.parametrize("dtype", NUMPY_TYPES)
def test_numpy_round_trip(client, dtype):
    array = sample(dtype)
    value = client.create_memref(array)
    back = np.asarray(value)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)
    assert back.ctypes.data == value.ptr != array.ctypes.data


@pytest.mark.parametrize("dtype", ML_TYPES)
def test_ml_dtypes_round_trip(client, dtype):
    array = sample(getattr(ml_dtypes, dtype))
    value = client.create_memref(array)
    back = np.asarray(value)
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back.astype(np.float32), array.astype(np.float32))
    assert back.ctypes.data == value.ptr


def test_buffer_protocol(client):
    value = client.create_memref(np.arange(6, dtype=np.int16).reshape(2, 3))
    view = memoryview(value)
    assert (view.format, view.itemsize, view.shape, view.strides) == ("h", 2, (2, 3), (6, 2))
    assert bytes(value[0]) == np.arange(3, dtype=np.int16).tobytes()
    with pytest.raises(BufferError, match="no format for this element type"):
        memoryview(client.create_memref(sample(ml_dtypes.bfloat16)))


def test_copy_of_strided_array(client):
    array = np.arange(24, dtype=np.float32).reshape(4, 6)
    for strided in (array.T, array[::2, ::-3], np.asfortranarray(array), array[::-1]):
        value = client.create_memref(strided)
        assert value.strides == (strided.shape[1], 1)
        np.testing.assert_array_equal(np.asarray(value), strided)


def test_create_with_shape_and_type(client):
    array = np.arange(6, dtype=np.float32)
    assert client.create_memref(array, shape=(2, 3)).shape == (2, 3)
    assert client.create_memref(array, (3, 2), np.int32).dtype == ScalarTypeCode.i32
    with pytest.raises(InvalidArgumentError):
        client.create_memref(array, shape=(5,))
    with pytest.raises(InvalidArgumentError, match="differ in size"):
        client.create_memref(array, dtype=np.int64)
    with pytest.raises(InvalidArgumentError, match="-1"):
        client.create_memref((-1,), "f32")
    with pytest.raises(InvalidArgumentError, match="element type"):
        client.create_memref((1,), "float99")
    with pytest.raises(InvalidArgumentError, match="expected a shape"):
        client.create_memref(object())


def test_numbers_from_values(client):
    """A value of one element is a number, as an array of NumPy is; the bytes of one are never read as text."""
    six = client.create_memref(np.int8(ord("6")))
    assert (int(six), float(six), complex(six), bool(six), six.item()) == (54, 54.0, 54 + 0j, True, 54)
    assert not client.create_memref(np.float32(0))
    assert client.create_memref(np.array([[1.5]])).item() == 1.5
    several = client.create_memref(np.arange(3))
    for number in (int, float, bool, type(several).item):
        with pytest.raises((TypeError, ValueError)):
            number(several)


def test_slices(client):
    array = np.arange(60).reshape(3, 4, 5)
    value = client.create_memref(array)
    for index in [
        1,
        -1,
        slice(1, None),
        (slice(None, None, 2), 1),
        (..., slice(4, 0, -2)),
        (0, ..., 3),
        (slice(2, 2), 0),
    ]:
        part = value[index]
        np.testing.assert_array_equal(np.asarray(part), array[index])
    np.asarray(value[1])[:] = 7
    assert (np.asarray(value)[1] == 7).all()
    for index in [3, -4, (0, 4), (0, 0, 0, 0), (..., ...)]:
        with pytest.raises(IndexError):
            value[index]


def test_views_share_memory(client):
    array = np.arange(4, dtype=np.float32)
    value = client.create_host_memref_view(array.ctypes.data, (2, 2), ScalarTypeCode.f32)
    array[3] = 9
    assert np.asarray(value)[1, 1] == 9


def test_copies(client):
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    value = client.create_memref(array)
    (host,) = client.get_devices()
    for copy in (client.copy_to_device(value, host), client.copy_to_host(value), client.copy_to_host(value[:, ::2])):
        assert copy.ptr != value.ptr
    existing = client.create_memref((3, 4), np.float32)
    assert client.copy_to_host(value, existing) is None
    np.testing.assert_array_equal(np.asarray(existing), array)
    with pytest.raises(InvalidArgumentError):
        client.copy_to_host(value, client.create_memref((4, 3), np.float32))


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "uint8"])
def test_dlpack_numpy(client, dtype):
    array = sample(dtype)
    value = client.from_dlpack(array)
    assert value.ptr == array.ctypes.data
    again = np.from_dlpack(value)
    assert again.ctypes.data == array.ctypes.data
    assert value.__dlpack_device__() == (1, 0)


def test_dlpack_jax(client):
    for array in (jnp.arange(5.0), jnp.arange(4, dtype=jnp.bfloat16)):
        value = client.from_dlpack(array)
        assert value.ptr == array.unsafe_buffer_pointer()
        back = jnp.from_dlpack(client.create_memref(array))
        assert back.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(back), np.asarray(array))


def test_dlpack_capsules(client):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = client.create_memref_view_from_dlpack(array.__dlpack__())
    assert value.ptr == array.ctypes.data
    used = array.__dlpack__()
    client.create_memref_view_from_dlpack(used)
    with pytest.raises(InvalidArgumentError, match="consumed"):
        client.create_memref_view_from_dlpack(used)
    assert client.create_memref_view_from_dlpack(array.T.__dlpack__()).strides == (1, 3)
    with pytest.raises(InvalidArgumentError, match="canonical strides"):
        client.create_memref_view_from_dlpack(array.T.__dlpack__(), assert_canonical_strides=True)
    with pytest.raises(InvalidArgumentError, match="__dlpack__"):
        client.from_dlpack([1, 2])


def test_dlpack_protocol(client):
    value = client.create_memref(np.arange(3))
    assert "dltensor_versioned" in repr(value.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(value.__dlpack__(max_version=(0, 8)))
    assert np.from_dlpack(value, copy=True).ctypes.data != value.ptr
    with pytest.raises(BufferError):
        value.__dlpack__(dl_device=(2, 0))
    with pytest.raises(InvalidArgumentError, match="stream"):
        value.__dlpack__(stream=5)
    read_only = np.arange(3)
    read_only.flags.writeable = False
    assert client.from_dlpack(np.arange(3)).read_only is False


def test_memory_outlives_its_makers():
    client = runtime.RuntimeClient(num_threads=1)
    value = client.create_memref(np.arange(1000))
    array, tensor, part = np.asarray(value), np.from_dlpack(value), value[10:20]
    assert value.ref_count() == 4
    del value, client
    gc.collect()
    assert array[999] == tensor[999] == 999
    del array, tensor
    gc.collect()
    assert np.asarray(part)[0] == 10


def test_views_keep_their_source_alive(client):
    class Owner(np.ndarray):
        pass

    for view_of in (client.from_dlpack, lambda a: client.create_memref_view_from_dlpack(a.__dlpack__())):
        array = np.arange(1000).view(Owner)
        gone = weakref.ref(array)
        view = view_of(array)
        del array
        gc.collect()
        assert gone() is not None and np.asarray(view)[999] == 999
        del view
        gc.collect()
        assert gone() is None


def test_scalars(client):
    assert client.create_scalar(3, ScalarTypeCode.i8).data == 3
    assert client.create_scalar(True, "i1").data is True
    assert client.create_scalar(1.5, ScalarType.get("bf16")).data == 1.5
    assert client.create_scalar(1 + 2j, "complex<f32>").data == 1 + 2j
    assert client.create_scalar(-8, "i4").data == -8
    assert client.create_scalar(2**64 - 1, np.uint64).data == 2**64 - 1
    assert client.create_scalar(3, "i8").type == ScalarTypeCode.i8
    for value, kind in [(128, "i8"), (-1, "ui8"), (1.5, "i32"), (1j, "f32"), (8, "i4")]:
        with pytest.raises(InvalidArgumentError):
            client.create_scalar(value, kind)


def test_types():
    kind = MemRefType.get((2, 3), "bf16")
    assert (kind.shape, kind.strides, kind.dtype, kind.address_space) == (
        (2, 3),
        (3, 1),
        ScalarTypeCode.bf16,
        PointerType.host,
    )
    assert kind == MemRefType.get([2, 3], ml_dtypes.bfloat16) != MemRefType.get((2, 3), "f16")
    assert repr(MemRefType.get((-1, 3), np.float32)) == "memref<?x3xf32>"
    assert MemRefType.get((-1, 3), np.float32).strides is None
    assert ScalarType(np.float32) == ScalarType.get("f32")
    assert ScalarTypeCode.complex32.spelling == "complex<f32>"
    assert ScalarTypeCode.i4.bytes == 1


def test_device_memory_is_refused_clearly(client):
    with pytest.raises((InvalidArgumentError, UnimplementedError)):
        client.create_memref((1,), "f32", device="cuda:0")


def test_streams(client):
    stream = client.create_stream()
    stream.sync()

    class Foreign:
        ptr = 12345

    with pytest.raises(InvalidArgumentError, match="12345"):
        client.copy_to_host(client.create_memref((1,), "f32"), stream=Foreign())
    copy = client.copy_to_host(client.create_memref(np.ones(3)), stream=stream.ptr)
    assert np.asarray(copy).sum() == 3
