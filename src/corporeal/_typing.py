"""Array types, and the one meaning that every dimension letter has in this package.

Letters in shapes, everywhere:

====== ==========================================================
V      vertices
F      triangles
Q      quads
U      texture coordinates
T      tetrahedra
J      joints
K      skin influences a vertex (at most 4 on the default body)
S      shape coefficients
P      pose features
D      dynamic coefficients
M      measurements
B      morph targets (blend shapes)
N      frames
H W    picture height and width, pixels
*batch any number of leading axes, broadcast together
====== ==========================================================

`Array` stands for a NumPy, JAX or PyTorch array: functions that take it are written once, against
the array API, and give back the kind they were given. `NumpyArray` is NumPy alone.

The tests check these annotations at run time (jaxtyping with beartype), so modules must not
postpone their evaluation (PEP 563): it would turn the shapes into decoration.
"""

from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int, UInt8

Array: TypeAlias = Any
NumpyArray: TypeAlias = np.ndarray

__all__ = ["Array", "Bool", "Float", "Float32", "Float64", "Int", "NumpyArray", "UInt8"]
