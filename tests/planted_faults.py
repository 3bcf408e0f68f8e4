"""Faults that the tests must catch, and the run that plants them one after another.

    python tests/planted_faults.py [--tree .] [--only NAME]

Each fault is a piece of text that stands exactly once in the package, what it is replaced by, and
the tests that must fail then. It is found by its text, so that modules may move. The tree is
copied, the named tests must pass in the copy, and then each fault is planted by itself: it is
caught if at least one of its tests fails. `test_planted_faults.py` checks that every fault still
has its place.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
CAUGHT, PASSED = 1, 0
"""What pytest exits with."""


class Fault(NamedTuple):
    """One mistake that somebody could make."""

    name: str
    right: str
    """One line's text, or part of it; stands exactly once in the package."""
    wrong: str
    tests: tuple[str, ...]
    """Files or test ids under `tests/`."""


FAULTS = (
    # geometry
    Fault(
        "volume of a tetrahedron is a third, not a sixth, of the triple product",
        "return xp.sum(corner[0] * xp.linalg.cross(corner[1], corner[2]), axis=-1) / 6",
        "return xp.sum(corner[0] * xp.linalg.cross(corner[1], corner[2]), axis=-1) / 3",
        ("test_volume.py",),
    ),
    Fault(
        "one sign in Rodrigues' formula",
        "(cosine + vx * x, vx * y - sz, vx * z + sy),",
        "(cosine + vx * x, vx * y + sz, vx * z + sy),",
        ("test_rotations.py::test_exponential_equals_scipy",),
    ),
    Fault(
        "relative rotation transposed",
        "relative = quaternion_from_matrix(xp.matmul(xp.matrix_transpose(left), right))",
        "relative = quaternion_from_matrix(xp.matmul(left, right))",
        ("test_motion_edit.py::test_turning_speed_is_that_of_the_joints_themselves",),
    ),
    Fault(
        "gradient of the volume takes the corners in the wrong order",
        "share = np.cross(corner[(k + 1) % 3], corner[(k + 2) % 3]) / 6",
        "share = np.cross(corner[(k + 2) % 3], corner[(k + 1) % 3]) / 6",
        ("test_volume.py::test_gradient_equals_central_differences",),
    ),
    # body
    Fault(
        "weights cut to four influences are not normalised",
        "order = np.where(values > 0, order, order[:, :1])\n        values = values / values.sum(",
        "order = np.where(values > 0, order, order[:, :1])\n        values = values / values.max(",
        ("test_pytree_dataclass.py",),
    ),
    Fault(
        "the second triangle of a quad is turned over",
        "return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)",
        "return quads[:, [0, 1, 2, 0, 3, 2]].reshape(-1, 3)",
        ("test_pytree_dataclass.py",),
    ),
    Fault(
        "a mirror map that is no involution is let through",
        "if not np.array_equal(self.mirror[self.mirror], np.arange(count)):",
        "if not np.array_equal(self.mirror, self.mirror):",
        ("test_pytree_dataclass.py",),
    ),
    # skinning
    Fault(
        "rest joints are added to the joint motion instead of subtracted",
        "return transform_from_parts(rotation, world_from_joint[..., :3, 3] - turned)",
        "return transform_from_parts(rotation, world_from_joint[..., :3, 3] + turned)",
        ("test_skinning.py",),
    ),
    Fault(
        "antipodal quaternions are blended as they are",
        "rows = blend_rows(xp.where(agreement < 0, -joints, joints), weights)",
        "rows = blend_rows(xp.where(agreement < -2, -joints, joints), weights)",
        ("test_skinning.py",),
    ),
    # formats
    Fault(
        "the CMU unit is a whole inch",
        '"cmu": 0.0254 / 0.45,',
        '"cmu": 0.0254,',
        ("test_bvh.py::test_the_unit_is_found_from_the_size",),
    ),
    Fault(
        "negative OBJ indices are off by one",
        "zero_based = np.where(indices > 0, indices - 1, so_far + indices)",
        "zero_based = np.where(indices > 0, indices - 1, so_far + indices - 1)",
        ("test_obj.py",),
    ),
    Fault(
        "a printed frame time is taken as it is",
        "if rate > 0 and abs(1.0 / rate - seconds) <= min(last_digit, 2e-3 * seconds):",
        "if rate > 0 and 1.0 / rate == seconds:",
        ("test_bvh.py::test_printed_frame_times_are_read_as_the_rate_that_was_meant",),
    ),
    Fault(
        "a truncated BVH file is read as far as it goes",
        "if filled < expected:",
        "if filled < 0:",
        ("test_bvh.py::test_every_truncation_of_a_file_is_refused",),
    ),
    # runtime
    Fault(
        "a failed write leaves its temporary file",
        "temporary.unlink(missing_ok=True)",
        "temporary.exists()",
        ("test_files.py",),
    ),
    Fault(
        "a result is written in place, not moved there",
        'return target.with_name(f"{_prefix(target)}{token}{_MARK}{target.suffix}")',
        "return target",
        ("test_files.py",),
    ),
    # numerics
    Fault(
        "deviations of principal components are variances",
        "deviations = values[:count] / np.sqrt(degrees)",
        "deviations = values[:count] ** 2 / degrees",
        ("test_principal.py",),
    ),
    # motions
    Fault(
        "resampling blends a frame with itself",
        "after = np.minimum(before + 1, motion.frame_count - 1)",
        "after = np.minimum(before, motion.frame_count - 1)",
        ("test_motion_edit.py",),
    ),
    Fault(
        "angular velocity runs backwards",
        "turn = axis_angle_from_matrix(ahead @ np.swapaxes(behind, -1, -2))",
        "turn = axis_angle_from_matrix(behind @ np.swapaxes(ahead, -1, -2))",
        ("test_motion_edit.py",),
    ),
    Fault(
        "free fall with twice the gravity",
        "return start + takeoff_speed(duration, start, end) * time - 0.5 * GRAVITY * time**2",
        "return start + takeoff_speed(duration, start, end) * time - GRAVITY * time**2",
        ("test_motions.py::test_curves_meet_their_ends",),
    ),
    # models
    Fault(
        "slider weights add up to more than one",
        "return [before - after for before, after in zip([one, *steps],",
        "return [before + after for before, after in zip([one, *steps],",
        ("test_phenotype.py",),
    ),
    Fault(
        "pose features keep the identity",
        "[xp.reshape(rodrigues(theta[k]) - identity, (9,)) for k in range(1, len(theta))]",
        "[xp.reshape(rodrigues(theta[k]), (9,)) for k in range(1, len(theta))]",
        ("test_smpl_model.py",),
    ),
    # physics
    Fault(
        "volume of a strained tetrahedron",
        "volumes = np.abs(np.linalg.det(edges)) / 6",
        "volumes = np.abs(np.linalg.det(edges)) / 3",
        ("test_projective_constraints.py",),
    ),
    Fault(
        "inverted elements are flipped along their longest axis",
        "np.moveaxis(side, axis, 1)[:, 2] *= flip[:, None]",
        "np.moveaxis(side, axis, 1)[:, 0] *= flip[:, None]",
        ("test_projective_polar.py", "test_projective_constraints.py"),
    ),
    Fault(
        "colliders move by whole keys, not evenly",
        "share = np.array([(time - self.times[after - 1]) / span])",
        "share = np.array([0.0 * (time - self.times[after - 1]) / span])",
        ("test_colliders.py::test_a_moving_box_pushes",),
    ),
    # anthropometry
    Fault(
        "derivative of the mass has the wrong sign",
        "return BODY_DENSITY * volume, BODY_DENSITY * gradient.reshape(-1)",
        "return BODY_DENSITY * volume, -BODY_DENSITY * gradient.reshape(-1)",
        ("test_measurements.py::test_derivatives_by_every_unknown_equal_central_differences",),
    ),
    # population
    Fault(
        "the share of women is that of men",
        'sex = "female" if random.random() < women else "male"',
        'sex = "female" if random.random() >= women else "male"',
        ("test_people.py::test_the_share_of_women_is_kept",),
    ),
    # capture
    Fault(
        "a body's density is the mean of densities, not of volumes",
        "return 1.0 / (fat_share / LIPID_DENSITY + (1.0 - fat_share) / FAT_FREE_DENSITY)",
        "return fat_share * LIPID_DENSITY + (1.0 - fat_share) * FAT_FREE_DENSITY",
        ("test_capture.py::test_tissue_follows_composition",),
    ),
    # scene
    Fault(
        "pictures stand on their head",
        "height / 2 * forward - focal * up, forward]",
        "height / 2 * forward + focal * up, forward]",
        ("test_scene.py::test_projection_equals_the_textbook_matrices",),
    ),
    # pipelines
    Fault(
        "baked morph offsets are not pulled back through the joints",
        "return np.linalg.solve(normal[where], pulled[..., None])[..., 0]",
        "return right",
        ("test_bake.py",),
    ),
    # anatomy
    Fault(
        "volume of a prism's tetrahedra",
        ") / 6.0\n    return volumes",
        ") / 3.0\n    return volumes",
        ("test_anatomy_prisms.py::test_volumes_of_a_shell_are_those_between_two_polyhedra",),
    ),
    # assets
    Fault(
        "targets of two bodies are joined in the wrong order",
        "return np.concatenate([first, second.astype(first.dtype)])",
        "return np.concatenate([second.astype(first.dtype), first])",
        ("test_default_body.py",),
    ),
    # registration
    Fault(
        "a surface that is inside out is not turned",
        "return Cloud(points, outwards * normals)",
        "return Cloud(points, normals)",
        ("test_skeleton_fit.py::test_points_are_spread_evenly_and_look_outwards",),
    ),
    # evaluation
    Fault(
        "a frame that is too fast is told one frame too early",
        "for number, row in enumerate(speeds, first + 1):",
        "for number, row in enumerate(speeds, first):",
        ("test_dataset.py::test_the_check_finds_what_was_broken",),
    ),
    # cli
    Fault(
        "a refused command exits as if it had worked",
        '"message": str(error)}}))\n        return error.exit_code',
        '"message": str(error)}}))\n        return 0',
        ("test_cli.py::test_unknown_verbs_and_flags",),
    ),
    # viewer
    Fault(
        "arrays of a packet begin where typed arrays may not",
        'parts += [content, b"\\0" * (-len(content) % 8)]',
        'parts += [content, b"\\0" * (-len(content) % 2)]',
        ("test_studio_packets.py",),
    ),
)


def place_of(fault: Fault, package: Path) -> Path:
    """The one file in which a fault's text stands once; else `LookupError`."""
    found = {
        path: count
        for path in sorted(package.rglob("*.py"))
        if (count := path.read_text(encoding="utf-8").count(fault.right))
    }
    if sum(found.values()) != 1:
        raise LookupError(
            f"{fault.name}: {fault.right!r} stands {sum(found.values())} times in the package; "
            f"expected once. Choose another text, or another fault of the same kind."
        )
    return next(iter(found))


def run_tests(tree: Path, tests: tuple[str, ...]) -> int:
    """Exit status of pytest on the named tests of a tree."""
    environment = dict(os.environ) | {
        "PYTHONPATH": str(tree / "src"),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *(f"tests/{test}" for test in tests)],
        cwd=tree,
        env=environment,
        capture_output=True,
        text=True,
    )
    return done.returncode


def main() -> int:
    """Plant every fault; exit 0 if all are caught."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--tree", type=Path, default=ROOT, help="the checkout to try")
    parser.add_argument("--only", default="", help="faults with this in their name")
    asked = parser.parse_args()
    chosen = [fault for fault in FAULTS if asked.only in fault.name]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(asked.tree, tree, ignore=shutil.ignore_patterns(".git", "build"))
        every = tuple(dict.fromkeys(test for fault in chosen for test in fault.tests))
        if run_tests(tree, every) != PASSED:
            print("the named tests fail as it is; mend that first")
            return 2
        for fault in chosen:
            started = time.perf_counter()
            path = place_of(fault, tree / "src" / "corporeal")
            text, stamp = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
            path.write_text(text.replace(fault.right, fault.wrong), encoding="utf-8")
            status = run_tests(tree, fault.tests)
            path.write_text(text, encoding="utf-8")
            os.utime(path, ns=(stamp, stamp))
            said = {CAUGHT: "caught", PASSED: "MISSED"}.get(status, f"pytest exits {status}")
            print(f"{said:8} {time.perf_counter() - started:5.1f} s  {fault.name}", flush=True)
            if status != CAUGHT:
                missed.append(fault.name)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} faults caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
