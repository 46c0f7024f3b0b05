# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a JAX program means, one operation at a time.

XLA's compiler is the first reference of differential.py, and has faults of its own: slices that overlap what they update in
place, a NaN that a minimum of bf16 drops, subnormal numbers flushed to zero, convolutions with negative padding. And two right
results may differ where a program makes much of a last bit (the tangent of a large number, an order of near numbers).

`evaluate` is the second reference. It walks the program's jaxpr, loops and branches included, and computes each operation by
itself: in f64 (c128) and then rounded to its element type where it computes with floats, so that each operation is right to half
a unit in the last place; on bits as they are where it only moves elements. Nothing is fused, reordered, or updated in place.

Given a generator of random numbers, it moves each result by as much as an implementation may choose: two units in the last place
(four in f64) of an elementary function, and the roundings of its terms for a sum. IEEE's operations, and all that is exact, are
not moved. The results of several such samples show which elements the program leaves open, and how far.
"""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core

WIDE = {"float32": "float64", "bfloat16": "float64", "float16": "float64", "complex64": "complex128"}

# Computed in f64. What is not named here moves elements, or works on integers: as it is.
EXACT = {
    "add", "sub", "mul", "div", "max", "min", "rem", "neg", "abs", "sign", "sqrt", "floor", "ceil", "round", "square", "clamp",
    "lt", "le", "gt", "ge", "eq", "ne", "is_finite", "convert_element_type", "reduce_max", "reduce_min", "argmax", "argmin", "cummax",
    "cummin", "sort", "top_k", "real", "imag", "conj", "complex", "reduce_precision", "reduce_window_max", "reduce_window_min",
}  # fmt: skip
ELEMENTARY = {
    "exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "rsqrt", "cbrt", "logistic", "erf", "erfc", "atan2", "pow",
    "integer_pow",
}  # fmt: skip
# Linear in each operand: what the roundings of the terms come to is seen by the same sum of absolute values.
SUMS = {"reduce_sum", "cumsum", "dot_general", "conv_general_dilated", "reduce_window_sum"}
PRODUCTS = {"cumprod", "reduce_prod", "cumlogsumexp"}
# Complex numbers: no operation on both parts is exact but these.
EXACT_COMPLEX = {"add", "sub", "neg", "real", "imag", "conj", "complex", "eq", "ne", "convert_element_type"}
TYPES = ("new_dtype", "preferred_element_type", "out_dtype", "input_dtype")


def is_inexact(value) -> bool:
    return jnp.issubdtype(value.dtype, jnp.inexact)


def epsilon(dtype) -> float:
    return 2.0**-52 if dtype in (np.float64, np.complex128) else 2.0**-23


def convolution(lhs, rhs, params):
    """Without negative padding and dilation of the operand, which are a `pad`."""
    numbers = params["dimension_numbers"]
    config = [(0, 0, 0)] * lhs.ndim
    for place, (low, high), dilation in zip(
        numbers.lhs_spec[2:], params["padding"], params["lhs_dilation"], strict=True
    ):
        config[place] = (int(low), int(high), int(dilation) - 1)
    count = len(params["padding"])
    padded = lax.pad(lhs, np.zeros((), lhs.dtype), config)
    plain = params | {"padding": ((0, 0),) * count, "lhs_dilation": (1,) * count}
    return lax.conv_general_dilated_p.bind(padded, rhs, **plain)


class Evaluation:
    def __init__(self, chance: np.random.Generator | None):
        self.chance = chance

    def jaxpr(self, jaxpr, constants, arguments):
        values = {}

        def read(atom):
            return np.asarray(atom.val, atom.aval.dtype) if isinstance(atom, core.Literal) else values[atom]

        for variable, value in zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *arguments], strict=True):
            values[variable] = np.asarray(value)
        for equation in jaxpr.eqns:
            results = self.equation(equation, [read(atom) for atom in equation.invars])
            for variable, value in zip(equation.outvars, results, strict=True):
                values[variable] = np.asarray(value)
        return [read(atom) for atom in jaxpr.outvars]

    def closed(self, closed, arguments):
        return self.jaxpr(closed.jaxpr, closed.consts, arguments)

    def equation(self, equation, operands):
        name, params = equation.primitive.name, equation.params
        if name == "while":
            return self.loop(params, operands)
        if name == "scan":
            return self.scan(params, operands, [variable.aval for variable in equation.outvars])
        if name == "cond":
            branch = min(max(int(operands[0]), 0), len(params["branches"]) - 1)
            return self.closed(params["branches"][branch], operands[1:])
        for inner in ("jaxpr", "call_jaxpr", "fun_jaxpr"):
            if isinstance(params.get(inner), core.ClosedJaxpr) and name not in ("reduce", "reduce_window"):
                return self.closed(params[inner], operands)
        return self.operation(equation, name, params, operands)

    def loop(self, params, operands):
        of_condition, of_body = params["cond_nconsts"], params["body_nconsts"]
        condition, body = operands[:of_condition], operands[of_condition : of_condition + of_body]
        carried = operands[of_condition + of_body :]
        while bool(self.closed(params["cond_jaxpr"], [*condition, *carried])[0]):
            carried = self.closed(params["body_jaxpr"], [*body, *carried])
        return carried

    def scan(self, params, operands, results):
        first, carry = params["num_consts"], params["num_carry"]
        constants, carried, sequences = operands[:first], operands[first : first + carry], operands[first + carry :]
        stacked = [np.zeros(aval.shape, aval.dtype) for aval in results[carry:]]
        steps = range(params["length"])
        for step in reversed(steps) if params["reverse"] else steps:
            done = self.closed(params["jaxpr"], [*constants, *carried, *[x[step] for x in sequences]])
            carried = done[:carry]
            for whole, part in zip(stacked, done[carry:], strict=True):
                whole[step] = part
        return [*carried, *stacked]

    def operation(self, equation, name, params, operands):
        """One operation that contains no others, or has a region that is a part of it."""
        types = [variable.aval.dtype for variable in equation.outvars]
        if name == "nextafter" and types[0] in (np.float32, np.float64):
            return [np.nextafter(*operands)]
        widen = name in EXACT | ELEMENTARY | SUMS | PRODUCTS
        if widen:
            wide = lambda dtype: jnp.dtype(WIDE.get(jnp.dtype(dtype).name, dtype))
            if name == "reduce_precision" and types[0] == np.float32 and params["exponent_bits"] == 8:
                wide = jnp.dtype  # its own range is a part of what it means
            own = params | {key: wide(params[key]) for key in TYPES if params.get(key) is not None}
            inputs = [operand.astype(wide(operand.dtype)) for operand in operands]
        else:
            own, inputs = params, operands
        results = self.bind(equation.primitive, name, own, inputs)
        if self.chance is not None and any(is_inexact(result) for result in results):
            results = self.moved(equation, name, own, inputs, results, types)
        return [result.astype(dtype) for result, dtype in zip(results, types, strict=True)]

    def bind(self, primitive, name, params, inputs):
        if name == "conv_general_dilated":
            return [np.asarray(convolution(*[jnp.asarray(x) for x in inputs], params))]
        results = primitive.bind(*[jnp.asarray(x) for x in inputs], **params)
        return [np.asarray(x) for x in (results if primitive.multiple_results else [results])]

    def moved(self, equation, name, params, inputs, results, types):
        """The results, each element as far off as an implementation may be."""
        complex_numbers = any(jnp.issubdtype(x.dtype, jnp.complexfloating) for x in [*inputs, *results])
        bodies = params.get("jaxpr") or params.get("update_jaxpr")
        adds = bodies is not None and any(e.primitive.name in ("add", "mul") for e in bodies.eqns)
        if name in SUMS or (adds and name in ("reduce", "reduce_window", "scatter-add", "scatter_add")):
            # Sums of numbers of both signs: relative to the sum of their magnitudes.
            sizes = self.bind(equation.primitive, name, params, [np.abs(x) if is_inexact(x) else x for x in inputs])
            factor = 4
        elif name in ELEMENTARY or name in PRODUCTS or name in ("select_and_scatter_add",):
            sizes, factor = [np.abs(x) for x in results], 16 if name in PRODUCTS else 4
        elif complex_numbers and name in EXACT | PRODUCTS and name not in EXACT_COMPLEX:
            sizes, factor = [np.abs(x) for x in results], 4
        else:
            return results
        moved = []
        for result, size, dtype in zip(results, sizes, types, strict=True):
            if not is_inexact(result):
                moved.append(result)
                continue
            step = factor * epsilon(dtype) * np.where(np.isfinite(size), size, 0)
            by = step * self.chance.uniform(-1, 1, result.shape)
            if jnp.issubdtype(result.dtype, jnp.complexfloating):
                by = by + 1j * step * self.chance.uniform(-1, 1, result.shape)
            moved.append(np.asarray(np.where(np.isfinite(result), result + by, result), result.dtype))
        return moved


def evaluate(program, arguments, chance: np.random.Generator | None = None) -> list[np.ndarray]:
    """The results of a program, computed operation by operation; moved by what is open, if `chance` is given."""
    closed = jax.make_jaxpr(program)(*arguments)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return Evaluation(chance).closed(closed, arguments)
