# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workloads as ONNX graphs, written by hand in the way an exporter would: with the standard's own composite operators
(LayerNormalization, Gelu), which is the form that ONNX Runtime is fastest at. Inputs are named in0, in1, … in the order of the
model's flat arguments; weights that are arguments of the JAX program become initializers, as deployed models have them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import jax
import models
import numpy as np
import onnx
from models import Model
from onnx import TensorProto, helper, numpy_helper

TYPES = {"float32": TensorProto.FLOAT, "int32": TensorProto.INT32}


class Graph:
    """Collects nodes; every method that adds one returns the name of its result."""

    def __init__(self, model: Model, inputs: list[int] | None = None):
        arguments = model.flat_arguments
        self.nodes, self.initializers, self.inputs = [], [], []
        for index in range(len(arguments)) if inputs is None else inputs:
            argument = arguments[index]
            self.inputs.append(
                helper.make_tensor_value_info(f"in{index}", TYPES[str(argument.dtype)], list(argument.shape))
            )
        self.output = model.expected()[0]

    def add(self, kind: str, *inputs: str, **attributes) -> str:
        result = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def constant(self, value) -> str:
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def bytes(self, result: str) -> bytes:
        self.nodes.append(helper.make_node("Identity", [result], ["out"]))
        output = helper.make_tensor_value_info("out", TensorProto.FLOAT, list(self.output.shape))
        graph = helper.make_graph(self.nodes, "workload", self.inputs, [output], self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])
        model.ir_version = 9
        onnx.checker.check_model(model)
        return model.SerializeToString()


def simple(build: Callable[[Graph], str]) -> Callable[[Model], bytes]:
    def make(model: Model) -> bytes:
        graph = Graph(model)
        return graph.bytes(build(graph))

    return make


def dense(g: Graph, x: str, w, b) -> str:
    return g.add("Add", g.add("MatMul", x, g.constant(w)), g.constant(b))


def layer_norm(g: Graph, x: str, scale, shift) -> str:
    return g.add("LayerNormalization", x, g.constant(scale), g.constant(shift), axis=-1, epsilon=1e-5)


def attention(g: Graph, x: str, p: dict, shape: tuple[int, int, int], heads: int, causal: bool) -> str:
    batch, sequence, width = shape
    split = g.constant(np.array([batch, sequence, heads, width // heads], np.int64))
    q, k, v = (
        g.add("Transpose", g.add("Reshape", dense(g, x, p[f"w{n}"], p[f"b{n}"]), split), perm=perm)
        for n, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
    )
    scores = g.add("Div", g.add("MatMul", q, k), g.constant(np.float32(np.sqrt(width // heads))))
    if causal:
        allowed = np.tril(np.ones((sequence, sequence), bool))
        scores = g.add("Where", g.constant(allowed), scores, g.constant(np.float32(-1e9)))
    mixed = g.add("MatMul", g.add("Softmax", scores, axis=-1), v)
    joined = g.add(
        "Reshape",
        g.add("Transpose", mixed, perm=[0, 2, 1, 3]),
        g.constant(np.array([batch, sequence, width], np.int64)),
    )
    return dense(g, joined, p["wo"], p["bo"])


def mlp(model: Model) -> bytes:
    # The model closes over its weights; they are made again from the same seed.
    random = np.random.default_rng(1)
    sizes = (784, 512, 512, 10)
    layers = [(models.weight(random, a, b), models.bias(random, b)) for a, b in itertools.pairwise(sizes)]
    g = Graph(model)
    x = "in0"
    for index, (w, b) in enumerate(layers):
        x = dense(g, x, w, b)
        if index + 1 < len(layers):
            x = g.add("Relu", x)
    return g.bytes(g.add("Softmax", x, axis=-1))


def bert(model: Model) -> bytes:
    p, tokens, _kinds = model.arguments
    leaves = len(jax.tree.leaves(p))
    g = Graph(model, [leaves, leaves + 1])
    shape = (*tokens.shape, p["scale"].shape[0])
    x = g.add("Gather", g.constant(p["words"]), f"in{leaves}", axis=0)
    x = g.add("Add", x, g.constant(p["positions"][: tokens.shape[1]]))
    x = g.add("Add", x, g.add("Gather", g.constant(p["kinds"]), f"in{leaves + 1}", axis=0))
    x = layer_norm(g, x, p["scale"], p["shift"])
    for layer in p["layers"]:
        x = g.add("Add", x, attention(g, x, layer, shape, 12, causal=False))
        x = layer_norm(g, x, layer["n1_scale"], layer["n1_shift"])
        inner = g.add("Gelu", dense(g, x, layer["w1"], layer["b1"]))
        x = layer_norm(
            g, g.add("Add", x, dense(g, inner, layer["w2"], layer["b2"])), layer["n2_scale"], layer["n2_shift"]
        )
    return g.bytes(x)


def gpt2_block(model: Model) -> bytes:
    p, x0 = model.arguments
    leaves = len(jax.tree.leaves(p))
    g = Graph(model, [leaves])
    x = f"in{leaves}"
    x = g.add("Add", x, attention(g, layer_norm(g, x, p["n1_scale"], p["n1_shift"]), p, x0.shape, 12, causal=True))
    inner = g.add(
        "Gelu", dense(g, layer_norm(g, x, p["n2_scale"], p["n2_shift"]), p["w1"], p["b1"]), approximate="tanh"
    )
    return g.bytes(g.add("Add", x, dense(g, inner, p["w2"], p["b2"])))


def reduce_sum(axis: int) -> Callable[[Model], bytes]:
    return simple(lambda g: g.add("ReduceSum", "in0", g.constant(np.array([axis], np.int64)), keepdims=0))


GRAPHS: dict[str, Callable[[Model], bytes]] = {
    "gelu": simple(lambda g: g.add("Gelu", "in0", approximate="tanh")),
    "softmax": simple(lambda g: g.add("Softmax", "in0", axis=-1)),
    "layernorm": simple(lambda g: g.add("LayerNormalization", "in0", "in1", "in2", axis=-1, epsilon=1e-5)),
    "rowsum": reduce_sum(1),
    "colsum": reduce_sum(0),
    "matmul1024": simple(lambda g: g.add("MatMul", "in0", "in1")),
    "matmul256": simple(lambda g: g.add("MatMul", "in0", "in1")),
    "matvec": simple(lambda g: g.add("MatMul", "in0", "in1")),
    "mlp": mlp,
    "bert-base": bert,
    "gpt2-block": gpt2_block,
    "add4": simple(lambda g: g.add("Add", "in0", "in1")),
}
