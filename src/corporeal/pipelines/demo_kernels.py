"""Kernels of flesh that the demo compiles in two processes at once.

Most of a first run is compiling, and the process that simulates has most of it: the other one
takes the kernels that are needed last off it, before anything else, into the cache that both
share, and when it has nothing to do but wait, goes on with what is left, last first. A line that
no longer fits is no error: the kernel is then compiled where it is needed.
"""

FIRST_KERNELS = (
    "corporeal.physics.untangling.cpu_kernels:untangle"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int32[::1], int32[::1], int32[:,::1],"
    " float64[:,::1], float64[:,::1], float64[::1], int64, int32[::1], bool[::1], float64[:,::1],"
    " int32[::1], int64, int64, int64)",
    "corporeal.geometry.geodesics_cpu:geodesic_neighbours"
    "(float64[:,::1], int64[:,::1], int64[::1], int64)",
    "corporeal.physics.untangling.cpu_kernels:pull_in"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int32[::1], int32[:,::1], float64[:,::1],"
    " float64[:,::1], float64[::1], float64[:,::1], int32[::1])",
    "corporeal.physics.upsampling.cpu:combine"
    "(int64[:,::1], float64[:,::1], float64[:,::1], int64, int64, float64[:,::1])",
    "corporeal.physics.solver.cpu.local_step:end_step"
    "(float64[:,::1], float64[:,::1], int64[::1], UniTuple(float64, 2), float64, float64[:,::1],"
    " float64[:,::1], float64[:,::1])",
)
"""Module, function and argument types, in numba's words: half of what flesh needs after its first
local step, so that both processes come to their ends together, and none compiles what the other
one is compiling."""

KERNELS = (
    "corporeal.geometry.geodesics_cpu:vertex_faces(int64[:,::1], int64)",
    "corporeal.physics.untangling.cpu_kernels:find_long"
    "(float64[:,::1], int32[:,::1], float64[::1], int32[::1])",
    "corporeal.physics.untangling.cpu_kernels:lowered"
    "(float64[:,::1], int32[:,::1], float64[:,::1], float64[:,::1], float64[::1])",
    "corporeal.physics.untangling.cpu_kernels:find_small"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int64, int32[::1], int32[::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:vertex_pressures"
    "(int32[::1], int32[::1], float32[::1], float64[::1], float32[::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:region_volumes"
    "(int32[::1], int32[::1], float32[::1], float64[:,::1], float64[::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:push(float32[:,::1], float32[:,::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:survey"
    "(int32[:,:,::1], float32[:,::1], float32[:,::1], float64[:,::1], float32[:,::1],"
    " float64[::1], int64, int64)",
    "corporeal.physics.solver.cpu.anderson:accelerate"
    "(float64[:,::1], float32[:,::1], float64[:,::1], float32[:,::1], float64[::1], int64, int64)",
    "corporeal.physics.volume_preservation.cpu_kernels:press"
    "(int32[:,:,::1], float32[:,::1], float32[::1], float32[:,::1])",
    "corporeal.physics.solver.cpu.local_step:gather_residual"
    "(float32[:,:,::1], float64[::1], float64[:,::1], float64[:,::1], float32[:,::1])",
    "corporeal.physics.solver.cpu.local_step:local_step"
    "(int32[:,:,::1], float32[:,:,:,::1], float64[:,::1], float32[:,::1], int64, int64, float32)",
)
"""What is left; the last that are needed come first."""
