"""Compiled: the network's step of one body (`network.dynamic_coefficients`, `recurrence.advance`).

Matrices of a hundred rows are read once, row by row; every sum stays in the cache. Single
precision, as the network is.
"""

import numpy as np

from corporeal.dynamics.neural.network import BOUND
from corporeal.runtime.kernels import kernel

_BOUND = np.float32(BOUND)


@kernel(fastmath=True)
def _add_product(x, matrix, y):
    """y += x A."""
    for i in range(matrix.shape[0]):
        a = x[i]
        row = matrix[i]
        for j in range(matrix.shape[1]):
            y[j] += a * row[j]


@kernel(fastmath=True)
def _turned_on(bank, before, now, re, im):
    """x_t = p x_{t−1} + q u of one bank; the drive is `re` + i `im`."""
    for s in range(bank.shape[1]):
        x, y = before[0, s], before[1, s]
        now[0, s] = bank[0, s] * x - bank[1, s] * y + bank[2, s] * re[s] - bank[3, s] * im[s]
        now[1, s] = bank[0, s] * y + bank[1, s] * x + bank[2, s] * im[s] + bank[3, s] * re[s]


@kernel(fastmath=True)
def step_network(net, who, banks, movement, pose, before, now):
    """Coefficients of a frame; the memory goes from `before` to `now`."""
    width, hidden = net.movement_in.shape[1], len(who.gate)
    felt = np.empty(len(movement), np.float32)
    for i in range(len(movement)):
        felt[i] = _BOUND * np.tanh(movement[i] / _BOUND)
    gate, read = who.gate.copy(), who.read.copy()
    _add_product(felt, net.gate_movement, gate)
    _add_product(pose, net.gate_pose, gate)
    _add_product(pose, net.read_pose, read)
    for i in range(hidden):
        gate[i], read[i] = np.tanh(gate[i]), np.tanh(read[i])
    h, open_ = np.zeros(width, np.float32), np.ones(width, np.float32)
    _add_product(felt, net.movement_in, h)
    _add_product(gate, net.gate_out, open_)
    for i in range(width):
        h[i] *= open_[i]
    size = net.drives.shape[2] // 2
    for layer in range(len(net.drives)):
        drive = np.zeros(2 * size, np.float32)
        _add_product(h, net.drives[layer], drive)
        _turned_on(
            banks.layers[layer], before.layers[layer], now.layers[layer], drive[:size],
            drive[size:],
        )  # fmt: skip
        y = net.skips[layer] * h
        _add_product(now.layers[layer].reshape(-1), net.reads[layer], y)
        for i in range(width):
            x = y[i]
            y[i] = np.float32(0.5) * x * (
                np.float32(1.0)
                + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x))
            )  # fmt: skip
        pair = np.zeros(2 * width, np.float32)
        _add_product(y, net.values[layer], pair)
        for i in range(width):
            half = np.float32(0.5)
            h[i] += pair[i] * half * (np.float32(1.0) + np.tanh(half * pair[width + i]))
    z, gain = np.zeros(len(who.size), np.float32), np.ones(len(who.size), np.float32)
    _add_product(h, net.dynamic_out, z)
    _add_product(read, net.read_out, gain)
    for i in range(len(z)):
        z[i] *= gain[i] * who.size[i]
    if len(net.mix):
        mixed = np.zeros(net.mix.shape[1], np.float32)
        _add_product(z, net.mix, mixed)
        z = mixed
    _add_experts(net, who, banks.experts, movement, before.experts, now.experts, z)
    return z


@kernel(fastmath=True)
def _add_experts(net, who, bank, movement, before, now, z):
    """The linear predictors' part; their sum over people."""
    count = bank.shape[1]
    if count == 0:
        return
    felt = np.empty(len(movement), np.float32)
    for i in range(len(movement)):
        felt[i] = min(max(movement[i], -net.limits[i]), net.limits[i])
    drive, none = np.zeros(count, np.float32), np.zeros(count, np.float32)
    _add_product(felt, net.expert_in, drive)
    _turned_on(bank, before, now, drive, none)
    for s in range(count):
        y = who.expert_re[s] * now[0, s] - who.expert_im[s] * now[1, s]
        z[s % len(z)] += y + who.expert_skip[s] * drive[s]


@kernel()
def run_network(net, who, banks, movement, pose, memory):
    """Coefficients of all frames; the memory goes on in place."""
    rows = np.empty(
        (len(movement), net.mix.shape[1] if len(net.mix) else len(who.size)), np.float32
    )
    for n in range(len(movement)):
        rows[n] = step_network(net, who, banks, movement[n], pose[n], memory, memory)
    return rows
