# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random JAX programs.

A program is a random graph of lax operations over a few arguments: ranks 0 to 6, extents that are often 0 or 1, all common
element types, special values. The program of a name (`SEED/NUMBER`) is always the same one, as long as this file is: `VERSION`
names the generator, so that counts of programs of different generators are not added up.
"""

import hashlib
import random
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

VERSION = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]

FLOATS = ["float32", "float64", "bfloat16", "float16"]
COMPLEX = ["complex64", "complex128"]
INTEGERS = ["int32", "int64", "int8", "int16", "uint8", "uint16", "uint32", "uint64"]


def is_float(x) -> bool:
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_integer(x) -> bool:
    return jnp.issubdtype(x.dtype, jnp.integer)


class Program:
    """Steps over a list of values; each step appends one value (an operation and the positions of its operands)."""

    def __init__(self, seed: str):
        self.random = random.Random(seed)
        self.arguments = []
        self.steps = []
        self.values = []  # ShapeDtypeStruct of every value
        for _ in range(self.random.randint(1, 3)):
            self.arguments.append(self.argument())
            self.values.append(jax.ShapeDtypeStruct(self.arguments[-1].shape, self.arguments[-1].dtype))
        wanted, tries = self.random.randint(1, 9), 0
        while len(self.steps) < wanted and tries < 60:
            tries += 1
            self.grow()
        count = min(len(self.values), self.random.randint(1, 3))
        recent = list(range(max(0, len(self.values) - 4), len(self.values)))
        self.results = self.random.sample(recent, min(count, len(recent)))

    def shape(self) -> tuple[int, ...]:
        choose = self.random
        rank = choose.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 6])
        extents = [0, 1, 1, 2, 3, 4, 5, 7, 8] if rank > 3 else [0, 1, 1, 2, 3, 5, 8, 16, 17, 33, 64, 100]
        return tuple(choose.choice(extents[1:] if choose.random() < 0.85 else extents) for _ in range(rank))

    def argument(self) -> np.ndarray:
        choose = self.random
        dtype = choose.choice([*FLOATS[:1] * 4, *FLOATS, *INTEGERS[:1] * 3, *INTEGERS, "bool", *COMPLEX])
        shape = self.shape()
        data = np.random.default_rng(choose.getrandbits(32))
        if dtype == "bool":
            return data.integers(0, 2, shape).astype(bool)
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            low, high = (max(info.min, -9), 9) if choose.random() < 0.7 else (info.min, info.max)
            return data.integers(low, high, shape, dtype=dtype, endpoint=True)
        values = data.normal(size=shape) * choose.choice([1, 1, 1, 30])
        if dtype in COMPLEX:
            return np.asarray(values + 1j * data.normal(size=shape)).astype(jnp.dtype(dtype))
        if choose.random() < 0.15 and values.size:
            largest = float(jnp.finfo(dtype).max)
            special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, -2.5, largest, -largest]
            flat = np.atleast_1d(values).reshape(-1)
            for _ in range(min(3, flat.size)):
                flat[choose.randrange(flat.size)] = choose.choice(special)
            values = flat.reshape(shape)
        return np.asarray(values).astype(jnp.dtype(dtype))

    def pick(self, test=lambda x: True) -> int | None:
        """A value that fulfils the test, recent ones more often."""
        candidates = [i for i, value in enumerate(self.values) if test(value)]
        if not candidates:
            return None
        return candidates[-1] if self.random.random() < 0.5 else self.random.choice(candidates)

    def grow(self) -> None:
        made = getattr(self, self.random.choice(KINDS))()
        if made is None:
            return
        operation, operands = made
        try:
            value = jax.eval_shape(operation, *[self.values[i] for i in operands])
        except (TypeError, ValueError, IndexError):
            return
        if isinstance(value, jax.ShapeDtypeStruct) and value.size <= 40000:
            self.steps.append((operation, operands))
            self.values.append(value)

    def __call__(self, *arguments):
        values = list(arguments)
        for operation, operands in self.steps:
            values.append(operation(*[values[i] for i in operands]))
        return tuple(values[i] for i in self.results)

    # --- Kinds of steps. Each returns (operation, operands), or None where no value fits. -----------------------------------

    def unary(self):
        functions = [
            lax.neg,
            lax.abs,
            lax.sign,
            lax.floor,
            lax.ceil,
            lax.exp,
            lax.log,
            lax.tanh,
            lax.sin,
            lax.cos,
            lax.sqrt,
            lax.rsqrt,
            lax.logistic,
            lax.erf,
            lax.log1p,
            lax.expm1,
            lax.cbrt,
            lax.is_finite,
            lax.round,
            lax.bitwise_not,
            lax.population_count,
            lax.clz,
            lax.square,
            lax.tan,
            lax.erfc,
            lax.exp2,
        ]
        function = self.random.choice(functions)
        operand = self.pick()
        return None if operand is None else (function, [operand])

    def binary(self):
        functions = [
            lax.add,
            lax.sub,
            lax.mul,
            lax.div,
            lax.max,
            lax.min,
            lax.rem,
            lax.atan2,
            lax.bitwise_and,
            lax.bitwise_or,
            lax.bitwise_xor,
            lax.shift_left,
            lax.shift_right_logical,
            lax.shift_right_arithmetic,
            lax.nextafter,
        ]
        function = self.random.choice(functions)
        left = self.pick()
        if left is None:
            return None
        a = self.values[left]
        right = self.pick(lambda x: x.dtype == a.dtype and x.shape == a.shape)
        return function, [left, right]

    def broadcast_binary(self):
        """An operand with another one that is broadcast to it."""
        function = self.random.choice([jnp.add, jnp.subtract, jnp.multiply, jnp.maximum])
        left = self.pick(lambda x: x.dtype != bool)
        if left is None:
            return None
        right = self.pick(lambda x: x.dtype == self.values[left].dtype)
        return function, [left, right]

    def scalar_binary(self):
        operand = self.pick(lambda x: x.dtype != bool)
        if operand is None:
            return None
        number = self.random.choice([0, 1, 2, 3])
        function = self.random.choice([lax.add, lax.mul, lax.max, lax.sub])
        return lambda x: function(x, lax.full_like(x, number)), [operand]

    def compare_select(self):
        left = self.pick()
        if left is None:
            return None
        compare = self.random.choice([lax.lt, lax.le, lax.gt, lax.ge, lax.eq, lax.ne])
        right = self.pick(lambda x: x.dtype == self.values[left].dtype and x.shape == self.values[left].shape)
        if self.random.random() < 0.3:
            return compare, [left, right]
        return lambda a, b: lax.select(compare(a, b), a, b), [left, right]

    def convert(self):
        operand = self.pick()
        dtype = self.random.choice([*FLOATS, *INTEGERS, "bool"])
        return None if operand is None else (lambda x: lax.convert_element_type(x, jnp.dtype(dtype)), [operand])

    def clamp(self):
        operand = self.pick(lambda x: x.dtype != bool)
        return (
            None
            if operand is None
            else (lambda x: lax.clamp(jnp.asarray(1, x.dtype), x, jnp.asarray(5, x.dtype)), [operand])
        )

    def reshape(self):
        operand = self.pick()
        if operand is None:
            return None
        shape = list(self.values[operand].shape)
        for _ in range(self.random.randint(1, 3)):
            if len(shape) >= 2 and self.random.random() < 0.5:
                i = self.random.randrange(len(shape) - 1)
                shape[i : i + 2] = [shape[i] * shape[i + 1]]
            elif shape and self.random.random() < 0.6:
                i = self.random.randrange(len(shape))
                factor = next((f for f in (2, 3, 4, 5, 7) if shape[i] and shape[i] % f == 0), 1)
                shape[i : i + 1] = [factor, shape[i] // factor] if shape[i] else [1, 0]
            elif len(shape) < 6:
                shape.insert(self.random.randint(0, len(shape)), 1)
        return lambda x: lax.reshape(x, shape), [operand]

    def transpose(self):
        operand = self.pick(lambda x: len(x.shape) >= 2)
        if operand is None:
            return None
        order = list(range(len(self.values[operand].shape)))
        self.random.shuffle(order)
        return lambda x: lax.transpose(x, order), [operand]

    def reverse(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        dimensions = [d for d in range(len(self.values[operand].shape)) if self.random.random() < 0.5]
        return lambda x: lax.rev(x, dimensions), [operand]

    def broadcast(self):
        operand = self.pick(lambda x: len(x.shape) <= 3)
        if operand is None:
            return None
        shape = list(self.values[operand].shape)
        dimensions = list(range(len(shape)))
        for _ in range(self.random.randint(1, 2)):
            at = self.random.randint(0, len(shape))
            shape.insert(at, self.random.choice([1, 2, 3, 8, 17]))
            dimensions = [d + (d >= at) for d in dimensions]
        return lambda x: lax.broadcast_in_dim(x, shape, dimensions), [operand]

    def slice(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        starts, limits, strides = [], [], []
        for extent in self.values[operand].shape:
            start = self.random.randint(0, extent)
            starts.append(start)
            limits.append(self.random.randint(start, extent))
            strides.append(self.random.choice([1, 1, 1, 2, 3]))
        return lambda x: lax.slice(x, starts, limits, strides), [operand]

    def dynamic_slice(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        shape = self.values[operand].shape
        starts = [jnp.int32(self.random.randint(-2, extent + 2)) for extent in shape]
        sizes = [self.random.randint(0, extent) for extent in shape]
        return lambda x: lax.dynamic_slice(x, starts, sizes), [operand]

    def dynamic_update_slice(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        shape = self.values[operand].shape
        starts = [jnp.int32(self.random.randint(-2, extent + 2)) for extent in shape]
        limits = [self.random.randint(0, extent) for extent in shape]

        def update(x):
            part = lax.slice(x, [0] * len(shape), limits)
            return lax.dynamic_update_slice(x, part + part if x.dtype != bool else ~part, starts)

        return update, [operand]

    def concatenate(self):
        left = self.pick(lambda x: x.shape)
        if left is None:
            return None
        a = self.values[left]
        dimension = self.random.randrange(len(a.shape))

        def fits(x):
            return (
                x.dtype == a.dtype
                and len(x.shape) == len(a.shape)
                and all(i == dimension or x.shape[i] == a.shape[i] for i in range(len(a.shape)))
            )

        operands = [left, self.pick(fits), self.pick(fits)]
        self.random.shuffle(operands)
        return lambda *xs: lax.concatenate(xs, dimension), operands

    def pad(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        config = [
            (
                self.random.choice([0, 0, 1, 2, -1]),
                self.random.choice([0, 0, 1, 3, -1]),
                self.random.choice([0, 0, 0, 1, 2]),
            )
            for _ in self.values[operand].shape
        ]
        return lambda x: lax.pad(x, jnp.asarray(1, x.dtype), config), [operand]

    def reduce(self):
        functions = [jnp.sum, jnp.max, jnp.min, jnp.any, jnp.all, jnp.argmax, jnp.argmin, jnp.mean]
        function = self.random.choice(functions)
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        rank = len(self.values[operand].shape)
        if function in (jnp.argmax, jnp.argmin):
            axis = self.random.randrange(rank)
        else:
            axis = tuple(d for d in range(rank) if self.random.random() < 0.6)
        keep = self.random.random() < 0.3
        return lambda x: function(x, axis=axis, keepdims=keep), [operand]

    def softmax(self):
        operand = self.pick(lambda x: x.shape and is_float(x))
        if operand is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        return lambda x: jax.nn.softmax(x, axis=axis), [operand]

    def cumulative(self):
        function = self.random.choice([lax.cumsum, lax.cummax, lax.cummin])
        operand = self.pick(lambda x: x.shape and x.dtype != bool)
        if operand is None:
            return None
        if function is lax.cumsum and self.values[operand].dtype in (jnp.bfloat16, jnp.float16):
            function = lax.cummax  # the order of a hundred roundings to 8 bits is anybody's
        axis = self.random.randrange(len(self.values[operand].shape))
        reverse = self.random.random() < 0.3
        return lambda x: function(x, axis=axis, reverse=reverse), [operand]

    def sort(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        if self.random.random() < 0.5:
            return lambda x: lax.sort(x, dimension=axis), [operand]
        return lambda x: jnp.argsort(x, axis=axis, stable=True), [operand]

    def dot(self):
        left = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.float64, jnp.int32))
        if left is None:
            return None
        a = self.values[left]
        right = self.pick(lambda x: x.dtype == a.dtype and x.shape)
        b = self.values[right]
        pairs = [(i, j) for i in range(len(a.shape)) for j in range(len(b.shape)) if a.shape[i] == b.shape[j]]
        self.random.shuffle(pairs)
        contract, batch, used_a, used_b = ([], []), ([], []), set(), set()
        for i, j in pairs:
            if i in used_a or j in used_b:
                continue
            target = contract if self.random.random() < 0.6 else batch
            target[0].append(i)
            target[1].append(j)
            used_a.add(i)
            used_b.add(j)
        return lambda x, y: lax.dot_general(x, y, (contract, batch)), [left, right]

    def take(self):
        operand = self.pick(lambda x: x.shape)
        if operand is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        extent = self.values[operand].shape[axis]
        shape = self.random.choice([(), (3,), (2, 2)])
        indices = np.asarray(
            [self.random.randint(-extent - 2, extent + 2) for _ in range(int(np.prod(shape)))], np.int32
        )
        mode = self.random.choice(["clip", "wrap", "fill"])
        return lambda x: jnp.take(x, indices.reshape(shape), axis=axis, mode=mode), [operand]

    def scatter(self):
        operand = self.pick(lambda x: len(x.shape) >= 1 and x.dtype != bool)
        if operand is None:
            return None
        extent = self.values[operand].shape[0]
        indices = jnp.asarray([self.random.randint(-2, extent + 2) for _ in range(3)], jnp.int32)
        method = self.random.choice(["add", "max", "set"])
        if method == "set":
            indices = indices[:1]
        return lambda x: getattr(x.at[indices], method)(jnp.asarray(2, x.dtype), mode="drop"), [operand]

    def window(self):
        operand = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.int32))
        if operand is None:
            return None
        rank = len(self.values[operand].shape)
        sizes = [self.random.choice([1, 1, 2, 3]) for _ in range(rank)]
        strides = [self.random.choice([1, 1, 2]) for _ in range(rank)]
        padding = self.random.choice(["VALID", "SAME"])
        initial, function = self.random.choice([(0, lax.add), (1, lax.max), (-1, lax.min)])
        return lambda x: lax.reduce_window(x, jnp.asarray(initial, x.dtype), function, sizes, strides, padding), [
            operand
        ]

    def loop(self):
        operand = self.pick(lambda x: x.dtype in (jnp.float32, jnp.int32))
        if operand is None:
            return None
        count = self.random.choice([0, 1, 2, 5])
        body = self.random.choice(
            [lambda i, x: x + x, lambda i, x: x * 2 - 1, lambda i, x: x + jnp.asarray(i, x.dtype)]
        )
        return lambda x: lax.fori_loop(0, count, body, x), [operand]

    def convolution(self):
        operand = self.pick(lambda x: x.dtype == jnp.float32 and 3 <= len(x.shape) <= 5 and 0 not in x.shape)
        if operand is None:
            return None
        choose, shape = self.random, self.values[operand].shape
        rank = len(shape) - 2
        groups = choose.choice([g for g in (1, 1, 2, 3, shape[1]) if shape[1] % g == 0])
        kernel = (
            groups * choose.choice([1, 2, 5]),
            shape[1] // groups,
            *[choose.choice([1, 2, 3]) for _ in range(rank)],
        )
        weights = jnp.asarray(np.random.default_rng(choose.getrandbits(32)).normal(size=kernel), jnp.float32)
        options = dict(
            window_strides=[choose.choice([1, 1, 2, 3]) for _ in range(rank)],
            padding=[(choose.choice([0, 1, 2, -1]), choose.choice([0, 1, 3])) for _ in range(rank)],
            lhs_dilation=[choose.choice([1, 1, 1, 2]) for _ in range(rank)],
            rhs_dilation=[choose.choice([1, 1, 2]) for _ in range(rank)],
            feature_group_count=groups,
        )
        return lambda x: lax.conv_general_dilated(x, weights, **options), [operand]

    def narrow_dot(self):
        """A product of matrices of narrow elements, summed in wider ones."""
        operand = self.pick(lambda x: len(x.shape) == 2 and x.dtype in (jnp.bfloat16, jnp.float16, jnp.int8, jnp.uint8))
        if operand is None:
            return None
        wide = jnp.float32 if is_float(self.values[operand]) else jnp.int32
        return lambda x: lax.dot_general(x, x, (((1,), (1,)), ((), ())), preferred_element_type=wide), [operand]

    def bits(self):
        operand = self.pick(lambda x: x.dtype != bool and not jnp.issubdtype(x.dtype, jnp.complexfloating))
        if operand is None:
            return None
        dtype = self.values[operand].dtype
        kind = self.random.choice(["bitcast", "precision", "shift"])
        if kind == "precision" and is_float(self.values[operand]):
            exponent, mantissa = self.random.choice([(8, 7), (5, 10), (4, 3), (8, 23)])
            return lambda x: lax.reduce_precision(x, exponent, mantissa), [operand]
        if kind == "shift" and is_integer(self.values[operand]):
            by = self.random.choice([0, 1, 7, 8, 31, 64])
            return lambda x: lax.shift_left(x, jnp.full_like(x, min(by, jnp.iinfo(dtype).max))), [operand]
        if is_integer(self.values[operand]):
            other = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}[dtype.itemsize]
        else:
            other = {2: "int16", 4: "int32", 8: "int64"}[dtype.itemsize]
        # Which NaN an operation makes is the machine's choice.
        clean = (
            (lambda x: jnp.where(jnp.isnan(x), jnp.ones_like(x), x))
            if is_float(self.values[operand])
            else (lambda x: x)
        )
        if is_float(self.values[operand]) and self.steps:
            return None  # and its last bit the library's
        return lambda x: lax.bitcast_convert_type(clean(x), jnp.dtype(other)), [operand]

    def sort_pairs(self):
        operand = self.pick(lambda x: x.shape and not jnp.issubdtype(x.dtype, jnp.complexfloating))
        if operand is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        keys = self.random.choice([1, 2])

        def pairs(x):
            place = lax.broadcasted_iota(jnp.int32, x.shape, axis)
            return lax.sort((x, place % 3, place), dimension=axis, num_keys=keys, is_stable=True)[2]

        return pairs, [operand]

    def top(self):
        operand = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.int32, jnp.int8, jnp.uint16))
        if operand is None:
            return None
        k = self.random.randint(0, self.values[operand].shape[-1])
        which = self.random.choice([0, 1])
        return lambda x: lax.top_k(jnp.nan_to_num(x), k)[which], [operand]

    def scan(self):
        operand = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.int32))
        if operand is None:
            return None
        reverse, which = self.random.random() < 0.3, self.random.choice([0, 1])
        step = self.random.choice(
            [
                lambda c, x: (lax.max(c, x), c),
                lambda c, x: (c + x, x * 2),
                lambda c, x: (x, c - x),
            ]
        )
        return lambda x: lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x, reverse=reverse)[which], [operand]

    def search(self):
        """A loop whose number of turns depends on the data."""
        operand = self.pick(lambda x: x.dtype == jnp.int32 and 0 not in x.shape)
        if operand is None:
            return None

        def halve(x):
            return lax.while_loop(
                lambda s: (jnp.max(jnp.abs(s[0])) > 1) & (s[1] < 40), lambda s: (s[0] // 2, s[1] + 1), (x, jnp.int32(0))
            )

        which = self.random.choice([0, 1])
        return lambda x: halve(x)[which], [operand]

    def pool_gradient(self):
        operand = self.pick(lambda x: x.dtype == jnp.float32 and 1 <= len(x.shape) <= 4 and 0 not in x.shape)
        if operand is None or self.steps:
            return None  # equal elements would go to either
        rank = len(self.values[operand].shape)
        size = [self.random.choice([1, 2, 3]) for _ in range(rank)]
        stride = [self.random.choice([1, 2]) for _ in range(rank)]

        def pool(x):
            return jnp.sum(lax.reduce_window(x, -jnp.inf, lax.max, size, stride, "SAME"))

        return lambda x: jax.grad(pool)(jnp.nan_to_num(x, posinf=3.5, neginf=-3.5)), [operand]

    def reduce_pairs(self):
        """Several operands and any body: the largest element, and where it is."""
        operand = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.int32, jnp.int16))
        if operand is None:
            return None
        axis, which = self.random.randrange(len(self.values[operand].shape)), self.random.choice([0, 1])

        def body(a, b):
            first = (a[0] > b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
            return lax.select(first, a[0], b[0]), lax.select(first, a[1], b[1])

        def best(x):
            place = lax.broadcasted_iota(jnp.int32, x.shape, axis)
            return lax.reduce(
                (jnp.nan_to_num(x) if is_float(x) else x, place),
                (jnp.asarray(-jnp.inf if is_float(x) else jnp.iinfo(x.dtype).min, x.dtype), jnp.int32(1 << 30)),
                body,
                (axis,),
            )[which]

        return best, [operand]

    def index_by_data(self):
        operand = self.pick(lambda x: x.shape and 0 not in x.shape)
        index = self.pick(lambda x: x.dtype == jnp.int32 and len(x.shape) <= 2)
        if operand is None or index is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        return lambda x, i: jnp.take(x, i, axis=axis, mode="clip"), [operand, index]

    def complex_parts(self):
        operand = self.pick(lambda x: jnp.issubdtype(x.dtype, jnp.complexfloating))
        if operand is None:
            return None
        function = self.random.choice(
            [lax.real, lax.imag, lax.abs, lax.conj, lambda x: x * x, lambda x: x + x, lax.neg]
        )
        return function, [operand]

    def cumulative_product(self):
        operand = self.pick(lambda x: x.shape and x.dtype in (jnp.float32, jnp.float64, jnp.int32))
        if operand is None:
            return None
        axis = self.random.randrange(len(self.values[operand].shape))
        return lambda x: lax.cumprod(x, axis=axis), [operand]

    def branch(self):
        operand = self.pick(lambda x: x.dtype != bool and not jnp.issubdtype(x.dtype, jnp.complexfloating))
        if operand is None:
            return None
        threshold = self.random.choice([0, 3])
        return (
            lambda x: lax.cond((jnp.sum(x) > threshold), lambda y: y + y, lambda y: lax.max(y, jnp.ones_like(y)), x),
            [operand],
        )


KINDS = [
    *["unary"] * 4, *["binary"] * 4, *["broadcast_binary"] * 3, "scalar_binary", *["compare_select"] * 2, *["convert"] * 2,
    "clamp", *["reshape"] * 2, *["transpose"] * 2, "reverse", *["broadcast"] * 2, *["slice"] * 2, "dynamic_slice",
    "dynamic_update_slice", *["concatenate"] * 2, *["pad"] * 2, *["reduce"] * 4, "softmax", "cumulative", "sort", *["dot"] * 2,
    "take", "scatter", "window", "loop", "branch", *["convolution"] * 2, "narrow_dot", "bits", "sort_pairs", "top", "scan", "search",
    "pool_gradient", "reduce_pairs", "index_by_data", *["complex_parts"] * 2, "cumulative_product",
]  # fmt: skip
