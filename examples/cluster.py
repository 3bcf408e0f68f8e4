"""The same batch on this machine, on a Dask cluster, and one take on a GPU where there is one.

    pip install "corporeal[cluster]"
    python examples/cluster.py --out cluster

Starts a small cluster of its own (two processes); with `--scheduler tcp://HOST:8786` it uses yours.
A table of people becomes bodies there, and every pair of a body and a motion a file. Leaves
`people/*.npz` and `takes/*.glb`. `--small` makes fewer, and leaves the GPU alone.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corporeal.cli.main import main as corporeal
from corporeal.runtime.devices import list_devices

PEOPLE = """name,gender,stature,mass,weight
clara,female,1.62,61,
david,male,,,0.8
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("cluster"))
    parser.add_argument("--scheduler", help="address of a cluster that runs")
    parser.add_argument("--small", action="store_true", help="bodies alone")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for folder in ("people", "takes"):
        (given.out / folder).mkdir(exist_ok=True)
    table = given.out / "people.csv"
    table.write_text(PEOPLE)

    with cluster(given.scheduler) as address:
        print(f"a scheduler answers at {address}")
        run("body", "--from", table, "--out", f"{given.out}/people/{{name}}.npz", scheduler=address)
        if not given.small:
            bodies = sorted((given.out / "people").glob("*.npz"))
            flags = ["--motion", "jumping-jacks", "punching", "--duration", "2", "--fps", "30"]
            out = f"{given.out}/takes/{{body}}-{{motion}}.glb"
            run("animate", "--body", *bodies, *flags, "--out", out, scheduler=address)
    for path in sorted(given.out.rglob("*.npz")) + sorted(given.out.rglob("*.glb")):
        print(f"  {path.relative_to(given.out)}")

    devices = list_devices()
    print(f"devices: {', '.join(f'{device.name} ({device.description})' for device in devices)}")
    if len(devices) > 1 and not given.small:
        flesh = ["--deformer", "projective", "--device", "gpu", "--duration", "2"]
        run("animate", "--motion", "one-leg-jump", *flesh, "--out", given.out / "on-gpu.glb")


def run(*words: object, scheduler: str = "") -> None:
    """A line of the command line; on the cluster, where one is given."""
    line = [*map(str, words), *(["--scheduler", scheduler] if scheduler else []), "--quiet"]
    assert corporeal(line) == 0, " ".join(line)


@contextmanager
def cluster(address: str | None) -> Iterator[str]:
    """The address of a cluster: the given one, or that of two processes on this machine."""
    if address is not None:
        yield address
        return
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as own:
        yield own.scheduler_address


if __name__ == "__main__":
    main()
