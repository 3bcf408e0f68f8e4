"""The network as an ONNX graph: one frame of any number of bodies in, coefficients and memory out.

inputs    `movement` B × 90, `pose` B × 129 (`features`), `person` B × 13 (standardised; with
          experts the shares in them follow: `NeuralModel.person` gives all), `seconds`, and of
          every layer l the oscillators, zero at first: `state_re_l` and `state_im_l`, B × s; the
          experts' are the last
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
from corporeal.dynamics.neural.experts import TISSUE
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.network import BOUND, bank_sizes, layer_count, require_layout
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.dynamics.neural.recurrence import FASTEST, SETTLING, SLOWEST
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

    def integers(self, name: str, value: list[int]) -> str:
        """Stored whole numbers, by their name."""
        self.constants[name] = np.asarray(value, np.int64)
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
    _person_parts(graph, trained)
    outputs = _dynamic(graph, trained.parameters)
    static_size = len(trained.static_basis)
    if static_size:
        _static(graph)
    helper, kind = onnx.helper, onnx.TensorProto.FLOAT
    sizes = bank_sizes(trained.parameters)
    people = 0 if trained.experts is None else len(trained.experts.body_mass_indices)

    def tensor(name: str, columns: int) -> Any:
        return helper.make_tensor_value_info(name, kind, ["B", columns])

    given = [("movement", MOVEMENT_SIZE), ("pose", POSE_SIZE), ("person", PERSON_SIZE + people)]
    given += [(f"state_{part}_{n}", size) for n, size in enumerate(sizes) for part in ("re", "im")]
    made = [("dynamic", len(trained.dynamic_basis))]
    made += [("static", static_size)] if static_size else []
    made += [(name, sizes[n // 2]) for n, name in enumerate(outputs)]
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
    seen = op("Concat", "pose", "who", axis=-1)
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
    bent = op("Tanh", op("Div", graph.dense("who", "person_size"), most))
    size = op("Exp", op("Mul", bent, most))
    parts = [op("Mul", op("Mul", graph.dense(h, "dynamic_out"), scale), size)]
    if "member_mix" in parameters:
        parts = [graph.dense(parts[0], "member_mix")]
    if "expert_in" in parameters:
        part, expert_states = _experts(graph, layer_count(parameters), parameters)
        parts, states = [*parts, part], [*states, *expert_states]
    op("Sum", *parts, out="dynamic")
    return states


def _person_parts(graph: _Graph, trained: NeuralFlesh) -> None:
    """`who`, the person's own numbers, and `shares` in experts where there are any."""
    people = 0 if trained.experts is None else len(trained.experts.body_mass_indices)
    if not people:
        graph.op("Identity", "person", out="who")
        return
    for name, first, end in (
        ("who", 0, PERSON_SIZE),
        ("shares", PERSON_SIZE, PERSON_SIZE + people),
    ):
        span = [graph.integers(f"{name}_{n}", [v]) for n, v in enumerate((first, end, 1))]
        graph.op("Slice", "person", *span, out=name)


def _experts(graph: _Graph, bank: int, parameters: Mapping[str, Any]) -> tuple[str, list[str]]:
    """s ⊙ Σ_j α_j y_j, and the names of the next states (`experts`)."""
    op = graph.op
    own, scale = np.asarray(parameters["expert_tissue"]), parameters["expert_tissue_scale"]
    logs = []
    for n, place in enumerate(TISSUE):
        column = op("Gather", "who", graph.integers(f"tissue_{n}", [place]), axis=-1)
        away = op("Sub", column, graph.constant(f"expert_tissue_{n}", own[n]))
        logs.append(op("Mul", away, graph.number(float(scale[n]))))
    faster = op("Exp", op("Mul", logs[0], graph.number(0.5)))
    alpha = op("Mul", op("Mul", faster, op("Exp", logs[1])), "expert_decay")
    omega = op("Mul", faster, "expert_frequency")
    limits = np.asarray(parameters["expert_limits"])
    low = graph.constant("expert_lowest", -limits)
    felt = op("Max", op("Min", "movement", "expert_limits"), low)
    drive = graph.dense(felt, "expert_in")
    x_re, x_im = _advanced(graph, bank, alpha, omega, (drive, op("Sub", drive, drive)))
    y = op("Sub", op("Mul", x_re, "expert_read_re"), op("Mul", x_im, "expert_read_im"))
    y = op("Div", op("Add", y, op("Mul", drive, "expert_skip")), op("Mul", faster, faster))
    count = np.shape(parameters["expert_share"])[0]
    people = np.shape(parameters["expert_in"])[1] // count
    shape = graph.integers("by_person", [-1, people, count])
    last = graph.integers("last_axis", [-1])
    each = op("Mul", op("Reshape", y, shape), op("Unsqueeze", "shares", last))
    axes = graph.integers("people_axis", [1])
    mixed = op("ReduceSum", each, axes, keepdims=0)
    return op("Mul", mixed, "expert_share"), [x_re, x_im]


def _oscillators(graph: _Graph, layer: int, h: str) -> tuple[str, str]:
    """One layer's bank, driven by h."""
    op = graph.op
    raw = op("Add", graph.dense("who", f"person_decay_{layer}"), f"decay_{layer}")
    span = graph.number(float(np.log(FASTEST / SLOWEST)))
    share = op("Mul", op("Sigmoid", raw), span)
    alpha = op("Mul", op("Exp", share), graph.number(SLOWEST))
    alpha = op("Max", alpha, graph.number(SETTLING))
    turned = op("Tanh", graph.dense("who", f"person_frequency_{layer}"))
    omega = op("Exp", op("Add", turned, f"frequency_{layer}"))
    drive = graph.dense(h, f"drive_re_{layer}"), graph.dense(h, f"drive_im_{layer}")
    return _advanced(graph, layer, alpha, omega, drive)


def _advanced(
    graph: _Graph, layer: int, alpha: str, omega: str, drive: tuple[str, str]
) -> tuple[str, str]:
    """x' = p x + q u with p = e^{−(α − iω)h}, q = α (1 − p) / (α − iω)."""
    op = graph.op
    size = op("Exp", op("Neg", op("Mul", alpha, "seconds")))
    angle = op("Mul", omega, "seconds")
    p_re, p_im = op("Mul", size, op("Cos", angle)), op("Mul", size, op("Sin", angle))
    square = op("Add", op("Mul", alpha, alpha), op("Mul", omega, omega))
    scale = op("Div", alpha, square)
    left = op("Sub", graph.number(1.0), p_re)
    # (1 − p) (α + iω), with Im(1 − p) = −Im p
    q_re = op("Mul", scale, op("Add", op("Mul", left, alpha), op("Mul", p_im, omega)))
    q_im = op("Mul", scale, op("Sub", op("Mul", left, omega), op("Mul", p_im, alpha)))
    x_re, x_im = f"state_re_{layer}", f"state_im_{layer}"

    def product(a: tuple[str, str], b: tuple[str, str]) -> tuple[str, str]:
        real = op("Sub", op("Mul", a[0], b[0]), op("Mul", a[1], b[1]))
        return real, op("Add", op("Mul", a[0], b[1]), op("Mul", a[1], b[0]))

    kept, taken = product((p_re, p_im), (x_re, x_im)), product((q_re, q_im), drive)
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
        seen = op("Concat", pose, "who", axis=-1)
        first = graph.gelu(graph.dense(seen, "static_in", "static_in_bias"))
        return graph.dense(
            graph.gelu(graph.dense(first, "static_mid", "static_mid_bias")), "static_out"
        )

    op("Sub", network("pose"), network(zero), out="static")
