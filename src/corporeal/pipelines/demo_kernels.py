"""Kernels of flesh that the demo compiles in two processes at once.

The process that simulates compiles its kernels as it comes to them, which takes most of a first
run. The one that waits for it compiles the later ones meanwhile, last first, into the cache that
both share. A line that no longer fits is no error: the kernel is then compiled where it is needed.
"""

KERNELS = (
    "corporeal.geometry.geodesics_cpu:geodesic_neighbours"
    "(float64[:,::1], int64[:,::1], int64[::1], int64)",
    "corporeal.physics.untangling.cpu_kernels:untangle"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int32[::1], int32[::1], int32[:,::1],"
    " float64[:,::1], float64[:,::1], float64[::1], int64, int32[::1], bool[::1], float64[:,::1],"
    " int32[::1], int64, int64, int64)",
    "corporeal.physics.untangling.cpu_kernels:pull_in"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int32[::1], int32[:,::1], float64[:,::1],"
    " float64[:,::1], float64[::1], float64[:,::1], int32[::1])",
    "corporeal.geometry.geodesics_cpu:vertex_faces(int64[:,::1], int64)",
    "corporeal.physics.untangling.cpu_kernels:find_long"
    "(float64[:,::1], int32[:,::1], float64[::1], int32[::1])",
    "corporeal.physics.untangling.cpu_kernels:lowered"
    "(float64[:,::1], int32[:,::1], float64[:,::1], float64[:,::1], float64[::1])",
    "corporeal.physics.untangling.cpu_kernels:find_small"
    "(float64[:,::1], int32[:,::1], float64[::1], int64, int64, int32[::1], int32[::1])",
    "corporeal.physics.solver.cpu.local_step:end_step"
    "(float64[:,::1], float64[:,::1], int64[::1], UniTuple(float64, 2), float64, float64[:,::1],"
    " float64[:,::1], float64[:,::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:vertex_pressures"
    "(int32[::1], int32[::1], float32[::1], float64[::1], float32[::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:region_volumes"
    "(int32[::1], int32[::1], float32[::1], float64[:,::1], float64[::1])",
    "corporeal.physics.solver.cpu.anderson:accelerate"
    "(float64[:,::1], float32[:,::1], float64[:,::1], float32[:,::1], float64[::1], int64, int64)",
    "corporeal.physics.volume_preservation.cpu_kernels:push(float32[:,::1], float32[:,::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:press"
    "(int32[:,:,::1], float32[:,::1], float32[::1], float32[:,::1])",
    "corporeal.physics.volume_preservation.cpu_kernels:survey"
    "(int32[:,:,::1], float32[:,::1], float32[:,::1], float64[:,::1], float32[:,::1],"
    " float64[::1], int64, int64)",
    "corporeal.physics.upsampling.cpu:combine"
    "(int64[:,::1], float64[:,::1], float64[:,::1], int64, int64, float64[:,::1])",
    "corporeal.physics.solver.cpu.local_step:gather_residual"
    "(float32[:,:,::1], float64[::1], float64[:,::1], float64[:,::1], float32[:,::1])",
    "corporeal.physics.solver.cpu.local_step:local_step"
    "(int32[:,:,::1], float32[:,:,:,::1], float64[:,::1], float32[:,::1], int64, int64, float32)",
)
"""Module, function and argument types, in numba's words; the last that are needed come first."""
