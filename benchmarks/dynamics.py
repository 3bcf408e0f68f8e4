"""How captured flesh swings: amplitude and frequency against the body mass index.

    python benchmarks/dynamics.py

People of one stature and rising body mass index stand in an A-pose; the whole body drops by 4 cm in
0.12 s and stops dead, as in a heel drop. What the belly, the breasts and the thighs do afterwards,
relative to the bones, is a free vibration: its largest excursion, the peak of its spectrum, and how
fast it dies down are written, and the spectra are plotted. About two minutes on one core.
"""

import argparse
import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.landmarks import THELION
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.capture.flesh import flesh_of
from corporeal.capture.person import Person, Sex
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.standing import a_pose

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "dynamics.json"
PLOT = ROOT / "docs" / "pictures" / "jiggle_spectra.svg"
FPS, DROP, DROP_TIME, AFTER = 120.0, 0.04, 0.12, 1.6
AGE = 40.0
STATURES: dict[Sex, float] = {"female": 1.62, "male": 1.76}
BMI = (19.0, 24.0, 30.0, 38.0)
SLOWEST, FASTEST = 1.0, 30.0  # Hz
NEAR = 0.07  # metres around the nipple that count as breast
PUBLISHED_HZ = {
    "belly": ((4.0, 8.0), "abdomen under vertical vibration, Griffin 1990"),
    "breast": ((4.0, 4.0), "most against the thorax, one size 80B, Chen et al. 2013"),
    "thigh": ((10.0, 50.0), "muscles of the leg after heel strike, Wakeling and Nigg 2001"),
}


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    template = load_default_body().template
    report = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "load_before": os.getloadavg(),
        "published_hz": PUBLISHED_HZ,
        "people": [],
    }
    spectra = {}
    for sex in STATURES:
        for bmi in BMI:
            person = make_person(sex, bmi)
            swings = drop(person, template)
            row = {
                "sex": sex,
                "bmi": round(person.measurements.bmi, 1),
                "fat_share": round(person.fat_share, 3),
            }
            for place, swing in swings.items():
                row[place], spectra[sex, bmi, place] = describe(swing)
            report["people"].append(row)
            print(json.dumps(row), flush=True)
    report["trends"] = trends(report["people"])
    print(json.dumps(report["trends"], indent=1))
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")
    PLOT.write_text(plot(spectra))


def make_person(sex: Sex, bmi: float) -> Person:
    """A person of usual stature and age."""
    stature = STATURES[sex]
    body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, AGE)
    found = predict_composition(body.identity, AGE, sex, load_default_body().template)
    name = f"{sex}-{bmi:g}"
    return Person(name, sex, AGE, body.identity, found.composition, measure(body.identity))


def drop(person: Person, template) -> dict[str, np.ndarray]:
    """Displacements of some places against the bones after the stop, N × n × 3 metres."""
    time = np.arange(round((DROP_TIME + AFTER) * FPS) + 1) / FPS
    share = np.clip(time / DROP_TIME, 0.0, 1.0)
    fall = DROP * share**2  # constant acceleration, then a dead stop
    stand = a_pose(person, template)
    root = np.zeros((len(time), 3))
    root[:, 1] = DROP - fall
    rotations = np.repeat(stand[None], len(time), axis=0)
    motion = Motion("heel drop", FPS, rotations, root, template.skeleton)
    flesh = flesh_of(person, template, "layered", seed=None)
    skin = flesh.perform(Recording(motion, moving=True), "off")
    vertices = skin.astype(np.float64) - root[:, None]
    moved = vertices[round(DROP_TIME * FPS) :] - vertices[-1]
    rest = np.asarray(person.identity.rest_vertices)
    nipple = int(THELION.members[0])
    breast = np.flatnonzero(np.linalg.norm(rest - rest[nipple], axis=1) < NEAR)
    places = {"belly": template.part("belly"), "thigh": template.part("left_thigh")}
    if person.sex == "female":
        places["breast"] = breast
    return {name: moved[:, rows] for name, rows in places.items()}


def describe(swing: np.ndarray) -> tuple[dict[str, float], tuple[np.ndarray, np.ndarray]]:
    """Largest excursion (mm, most mobile tenth), spectral peak (Hz), time to fall by e (s).

    The damping ratio is that of one oscillator of this peak and this time: 1/(2π f τ).
    """
    size = np.linalg.norm(swing, axis=2).max(axis=0)
    mobile = size >= np.percentile(size, 90)
    signal = swing[:, mobile].mean(axis=1)
    _, _, axes = np.linalg.svd(signal - signal.mean(axis=0), full_matrices=False)
    wave = signal @ axes[0]
    window = np.hanning(2 * len(wave))[len(wave) :]
    power = np.abs(np.fft.rfft(wave * window, 8 * len(wave))) ** 2
    frequency = np.fft.rfftfreq(8 * len(wave), 1 / FPS)
    band = (frequency >= SLOWEST) & (frequency <= FASTEST)
    peak = float(frequency[band][np.argmax(power[band])])
    envelope = np.sqrt(np.convolve(wave**2, np.ones(12) / 12, "same"))
    below = np.flatnonzero(envelope < envelope.max() / np.e)
    after = below[below > np.argmax(envelope)]
    decay = float((after[0] - np.argmax(envelope)) / FPS) if len(after) else float(AFTER)
    facts = {
        "excursion_mm": round(float(1e3 * size[mobile].mean()), 2),
        "peak_hz": round(peak, 2),
        "decay_s": round(decay, 3),
        "damping_ratio": round(1 / (2 * np.pi * peak * decay), 3),
    }
    return facts, (frequency[band], power[band] / power[band].max())


def trends(people: list[dict]) -> dict[str, dict[str, bool | float]]:
    """Whether excursions grow and frequencies fall from one index to the next."""
    found = {}
    for sex in STATURES:
        rows = [row for row in people if row["sex"] == sex]
        for place in ("belly", "breast", "thigh"):
            if place in rows[0]:
                sizes = [row[place]["excursion_mm"] for row in rows]
                peaks = [row[place]["peak_hz"] for row in rows]
                found[f"{sex} {place}"] = {
                    "excursion_grows": bool(np.all(np.diff(sizes) > 0)),
                    "excursion_ratio": round(sizes[-1] / sizes[0], 2),
                    "frequency_falls": bool(np.all(np.diff(peaks) <= 0)),
                    "frequency_ratio": round(peaks[-1] / peaks[0], 2),
                }
    return found


def plot(spectra: dict) -> str:
    """One panel a place and sex, one line an index, darker for larger ones."""
    panels = sorted({(sex, place) for sex, _, place in spectra})
    wide, high, left, gap = 230, 150, 34, 26
    columns = 3
    parts = []
    for number, (sex, place) in enumerate(panels):
        x0 = left + (number % columns) * (wide + gap)
        y0 = 24 + (number // columns) * (high + 52)
        parts.append(
            f'<rect x="{x0}" y="{y0}" width="{wide}" height="{high}" fill="none" '
            f'stroke="#999"/><text x="{x0}" y="{y0 - 6}">{sex}, {place}</text>'
        )
        if place in PUBLISHED_HZ:
            (low, top), _ = PUBLISHED_HZ[place]
            a, b = (x0 + wide * min(f, FASTEST) / FASTEST for f in (low, top))
            parts.append(
                f'<rect x="{a - 1:.1f}" y="{y0}" width="{b - a + 2:.1f}" height="{high}" '
                f'fill="#cfe3cf"/>'
            )
        for tick in (0, 10, 20, 30):
            parts.append(
                f'<text x="{x0 + wide * tick / FASTEST:.1f}" y="{y0 + high + 13}" '
                f'text-anchor="middle">{tick}</text>'
            )
        for shade, bmi in enumerate(BMI):
            frequency, power = spectra[sex, bmi, place]
            points = " ".join(
                f"{x0 + wide * f / FASTEST:.1f},{y0 + high - high * 0.95 * p:.1f}"
                for f, p in zip(frequency, power, strict=True)
            )
            grey = 190 - 60 * shade
            parts.append(
                f'<polyline points="{points}" fill="none" stroke-width="1.6" '
                f'stroke="rgb({max(grey - 60, 0)},{max(grey, 0)},{min(grey + 80, 255)})"/>'
            )
    rows = -(-len(panels) // columns)
    height = 24 + rows * (high + 52) + 10
    width = left + columns * (wide + gap)
    note = (
        f"Hz; power over its peak; BMI {', '.join(f'{b:g}' for b in BMI)}, darker is heavier; "
        f"green: published"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="11"><rect width="{width}" height="{height}" '
        f'fill="white"/>{"".join(parts)}<text x="{left}" y="{height - 6}">{note}</text></svg>\n'
    )


def commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT
    )
    return done.stdout.strip()


if __name__ == "__main__":
    main()
