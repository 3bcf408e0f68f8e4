"""Which machines there are to compute on. Asking for one that is missing is an error."""

import os
import re
from dataclasses import dataclass
from typing import Any

from corporeal.errors import InputError


@dataclass(frozen=True)
class Device:
    """One processor that JAX can use."""

    name: str
    """`cpu`, or `gpu:0` and so on."""
    description: str
    """What the driver calls it."""


def list_devices() -> tuple[Device, ...]:
    """All devices, the CPU first."""
    import jax

    found = [Device("cpu", jax.devices("cpu")[0].device_kind)]
    accelerators = [device for device in jax.devices() if device.platform != "cpu"]
    found += [Device(f"gpu:{i}", d.device_kind) for i, d in enumerate(accelerators)]
    return tuple(found)


def jax_device(name: str) -> Any:
    """JAX's own handle of the device called `cpu`, `gpu` or `gpu:N`; an error if it is missing."""
    import jax

    found = require_device(name)
    if found.name == "cpu":
        return jax.devices("cpu")[0]
    accelerators = [device for device in jax.devices() if device.platform != "cpu"]
    return accelerators[int(found.name.split(":")[1])]


def require_device(name: str) -> Device:
    """The device called `cpu`, `gpu` (the first) or `gpu:N`."""
    if not re.fullmatch(r"cpu|gpu(:\d+)?", name):
        raise InputError(f"no device is called {name!r}; expected cpu, gpu or gpu:N.")
    wanted = "gpu:0" if name == "gpu" else name
    devices = list_devices()
    for device in devices:
        if device.name == wanted:
            return device
    there = ", ".join(f"{d.name} ({d.description})" for d in devices)
    raise InputError(
        f"device {name} is not there; this machine has {there}. Choose one of them, or install "
        f'JAX for your GPU: pip install "jax[cuda12]".'
    )


def share_device_memory() -> None:
    """Let several processes use one GPU: JAX takes memory as it is needed, and not three quarters
    of it when it begins. Says nothing to a JAX that has begun, or where the environment says
    something else."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
