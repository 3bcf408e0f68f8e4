"""What packing may be told, without what packing imports."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class PackConfig:
    """What is packed, and how well."""

    data: Path
    """Store of captures (.zarr)."""
    out: Path
    """File to write (.packed.npz)."""
    error: float = 1e-4
    """Of frames, metres, root mean square over all vertices and frames."""
    largest: float = 2e-3
    """Of any vertex, metres, about."""
