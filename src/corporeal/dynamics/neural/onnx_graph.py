"""The network as an ONNX graph: one frame of any number of bodies in, coefficients and memory out.

inputs    `movement` B × 90, `pose` B × 129 (`features`), `person` B × 13 (standardised),
          `seconds`, and of every layer l the oscillators, zero at first: `state_re_l` and
          `state_im_l`, B × s
outputs   `dynamic` B × d coefficients of `dynamic_basis`, `static` B × n of `static_basis` where
          there is one, and `next_re_l`, `next_im_l`: the states to give back with the next frame

Single precision; equations as in `network` and `recurrence`. The package `onnx` writes it.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.network import BOUND, layer_count, require_layout
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.dynamics.neural.recurrence import FASTEST, SLOWEST
from corporeal.runtime.extras import import_extra

OPSET = 17
"""Of ONNX's operators; version 8 of the file format goes with it."""


class _Graph:
    """Operations one after the other; values are names."""

    def __init__(self, onnx: ModuleType) -> None:
        self._onnx = onnx
        self.nodes: list[Any] = []
        self.constants: dict[str, NumpyArray] = {}

    def constant(self, name: str, value: Any) -> str:
        """A stored array, by its name."""
        self.constants[name] = np.asarray(value, np.float32)
        return name

    def number(self, value: float) -> str:
        """A stored number."""
        return self.constant(f"number_{value!r}", value)

    def op(self, kind: str, *inputs: str, out: str = "", **options: Any) -> str:
        """One operation; gives back the name of what comes out."""
        name = out or f"v{len(self.nodes)}"
        self.nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], **options))
        return name

    def dense(self, x: str, weights: str, bias: str = "") -> str:
        """x W + b."""
        product = self.op("MatMul", x, weights)
        return self.op("Add", product, bias) if bias else product

    def gelu(self, x: str) -> str:
        """x Φ(x), by the usual hyperbolic tangent."""
        cube = self.op("Mul", self.op("Mul", x, x), x)
        inner = self.op("Add", x, self.op("Mul", cube, self.number(0.044715)))
        bent = self.op("Tanh", self.op("Mul", inner, self.number(0.7978845608)))
        half = self.op("Mul", x, self.number(0.5))
        return self.op("Mul", half, self.op("Add", bent, self.number(1.0)))


def onnx_bytes(trained: NeuralFlesh) -> bytes:
    """A trained network as an ONNX file."""
    onnx = import_extra("onnx", "onnx", "writing .onnx")
    require_layout(trained.parameters, PERSON_SIZE)
    graph = _Graph(onnx)
    for name, value in trained.parameters.items():
        if np.size(value):
            graph.constant(name, value)
    outputs = _dynamic(graph, trained.parameters)
    static_size = len(trained.static_basis)
    if static_size:
        _static(graph)
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    size = np.shape(trained.parameters["decay_0"])[0]
    layers = range(layer_count(trained.parameters))

    def tensor(name: str, columns: int) -> Any:
        return helper.make_tensor_value_info(name, kind, ["B", columns])

    given = [("movement", MOVEMENT_SIZE), ("pose", POSE_SIZE), ("person", PERSON_SIZE)]
    given += [(f"state_{part}_{layer}", size) for layer in layers for part in ("re", "im")]
    made = [("dynamic", len(trained.dynamic_basis))]
    made += [("static", static_size)] if static_size else []
    made += [(name, size) for name in outputs]
    whole = helper.make_graph(
        graph.nodes,
        "corporeal neural soft tissue",
        [helper.make_tensor_value_info("seconds", kind, [1]), *(tensor(*one) for one in given)],
        [tensor(*one) for one in made],
        [onnx.numpy_helper.from_array(v, name) for name, v in graph.constants.items()],
    )
    opset = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(whole, producer_name="corporeal", opset_imports=opset, ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model.SerializeToString()


def _dynamic(graph: _Graph, parameters: Mapping[str, Any]) -> list[str]:
    """`dynamic`, and the names of the next states."""
    op = graph.op
    bound = graph.number(BOUND)
    felt = op("Mul", op("Tanh", op("Div", "movement", bound)), bound)
    seen = op("Concat", "pose", "person", axis=-1)
    gate = op("Tanh", graph.dense(op("Concat", felt, seen, axis=-1), "gate_in", "gate_in_bias"))
    one = graph.number(1.0)
    h = op("Mul", graph.dense(felt, "movement_in"), op("Add", graph.dense(gate, "gate_out"), one))
    states = []
    for layer in range(layer_count(parameters)):
        x_re, x_im = _oscillators(graph, layer, h)
        states += [x_re, x_im]
        read = op(
            "Sub", graph.dense(x_re, f"read_re_{layer}"), graph.dense(x_im, f"read_im_{layer}")
        )
        y = graph.gelu(op("Add", read, op("Mul", h, f"skip_{layer}")))
        opened = op("Sigmoid", graph.dense(y, f"open_{layer}"))
        h = op("Add", h, op("Mul", graph.dense(y, f"value_{layer}"), opened))
    read = op("Tanh", graph.dense(seen, "read_in", "read_in_bias"))
    scale = op("Add", graph.dense(read, "read_out"), one)
    most = graph.number(BOUND / 4)
    bent = op("Tanh", op("Div", graph.dense("person", "person_size"), most))
    size = op("Exp", op("Mul", bent, most))
    op("Mul", op("Mul", graph.dense(h, "dynamic_out"), scale), size, out="dynamic")
    return states


def _oscillators(graph: _Graph, layer: int, h: str) -> tuple[str, str]:
    """x' = p x + q u with p = e^{−(α − iω)h}, q = α (1 − p) / (α − iω)."""
    op = graph.op
    raw = op("Add", graph.dense("person", f"person_decay_{layer}"), f"decay_{layer}")
    span = graph.number(float(np.log(FASTEST / SLOWEST)))
    share = op("Mul", op("Sigmoid", raw), span)
    alpha = op("Mul", op("Exp", share), graph.number(SLOWEST))
    turned = op("Tanh", graph.dense("person", f"person_frequency_{layer}"))
    omega = op("Exp", op("Add", turned, f"frequency_{layer}"))
    size = op("Exp", op("Neg", op("Mul", alpha, "seconds")))
    angle = op("Mul", omega, "seconds")
    p_re, p_im = op("Mul", size, op("Cos", angle)), op("Mul", size, op("Sin", angle))
    square = op("Add", op("Mul", alpha, alpha), op("Mul", omega, omega))
    scale = op("Div", alpha, square)
    left = op("Sub", graph.number(1.0), p_re)
    # (1 − p) (α + iω), with Im(1 − p) = −Im p
    q_re = op("Mul", scale, op("Add", op("Mul", left, alpha), op("Mul", p_im, omega)))
    q_im = op("Mul", scale, op("Sub", op("Mul", left, omega), op("Mul", p_im, alpha)))
    u_re, u_im = graph.dense(h, f"drive_re_{layer}"), graph.dense(h, f"drive_im_{layer}")
    x_re, x_im = f"state_re_{layer}", f"state_im_{layer}"

    def product(a: tuple[str, str], b: tuple[str, str]) -> tuple[str, str]:
        real = op("Sub", op("Mul", a[0], b[0]), op("Mul", a[1], b[1]))
        return real, op("Add", op("Mul", a[0], b[1]), op("Mul", a[1], b[0]))

    kept, taken = product((p_re, p_im), (x_re, x_im)), product((q_re, q_im), (u_re, u_im))
    return (
        op("Add", kept[0], taken[0], out=f"next_re_{layer}"),
        op("Add", kept[1], taken[1], out=f"next_im_{layer}"),
    )


def _static(graph: _Graph) -> None:
    """`static` = MLP(pose, person) − MLP(upright zero pose, person)."""
    op = graph.op
    upright = np.zeros((1, POSE_SIZE), np.float32)
    upright[0, -2] = -1.0  # which way is down
    zero = op("Add", op("Mul", "pose", graph.number(0.0)), graph.constant("upright", upright))

    def network(pose: str) -> str:
        seen = op("Concat", pose, "person", axis=-1)
        first = graph.gelu(graph.dense(seen, "static_in", "static_in_bias"))
        return graph.dense(
            graph.gelu(graph.dense(first, "static_mid", "static_mid_bias")), "static_out"
        )

    op("Sub", network("pose"), network(zero), out="static")
