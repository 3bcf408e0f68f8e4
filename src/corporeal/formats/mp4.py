"""MP4 films: H.264, 4:2:0, through the ffmpeg binary that `imageio-ffmpeg` brings.

Pictures are compressed with loss, and odd sizes get a last column or row repeated, since 4:2:0
needs even ones. Number of frames and frame rate survive the round trip.
"""

import contextlib
import itertools
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.errors import FormatError, InputError, OutputError
from corporeal.runtime.files import atomic_write

_ENCODER_THREADS = 2
"""Fixed, so that the same frames give the same file on every machine."""


def write_mp4(
    path: str | Path, frames: Iterable[UInt8[NumpyArray, "H W 3"]], fps: float, quality: int = 18
) -> None:
    """Encode frames, as they come, into a film that starts before it is all loaded.

    `quality` is x264's constant rate factor: 0 without loss, 18 without visible loss, 51 worst.
    """
    if not 0 < fps <= 1000:
        raise InputError(f"film has fps {fps}; expected above 0 and at most 1000.")
    stream = iter(frames)
    first = next(stream, None)
    if first is None:
        raise InputError(f"no frames for {path}; expected at least one.")
    height, width = first.shape[0], first.shape[1]
    with atomic_write(path) as temporary, tempfile.TemporaryFile() as messages:
        command = _command(width + width % 2, height + height % 2, fps, quality, temporary)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=messages
        )
        assert process.stdin is not None
        try:
            _feed(process.stdin, itertools.chain([first], stream), width, height)
        except BrokenPipeError:
            pass  # ffmpeg has ended; its own words say why
        finally:
            _close(process)
        if process.returncode != 0:
            messages.seek(0)
            words = messages.read().decode(errors="replace").strip().splitlines()
            raise OutputError(
                f"cannot write {path}: ffmpeg ended with status {process.returncode}: "
                f"{words[-1] if words else 'no message'}. Check the disk's free space."
            )


def read_mp4(path: str | Path) -> Iterator[UInt8[NumpyArray, "H W 3"]]:
    """Decode a film, frame by frame."""
    from imageio_ffmpeg import read_frames

    if not Path(path).is_file():
        raise FormatError(f"there is no film at {path}.")
    reader = read_frames(str(path))
    try:
        width, height = next(reader)["size"]
    except OSError as error:
        raise FormatError(f"{path} is not a film that ffmpeg can read.") from error
    for data in reader:
        yield np.frombuffer(data, np.uint8).reshape(height, width, 3)


def _command(width: int, height: int, fps: float, quality: int, path: Path) -> list[str]:
    from imageio_ffmpeg import get_ffmpeg_exe

    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", f"{fps:g}"]
    colours = ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709"]
    exact = ["-fflags", "+bitexact", "-flags:v", "+bitexact", "-map_metadata", "-1"]
    return [
        get_ffmpeg_exe(), "-y", "-loglevel", "error", *source, "-i", "pipe:0", "-an",
        "-vf", "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p",
        "-c:v", "libx264", "-preset", "fast", "-crf", str(quality),
        "-threads", str(_ENCODER_THREADS), *colours, *exact,
        "-movflags", "+faststart", "-f", "mp4", str(path),
    ]  # fmt: skip


def _feed(
    pipe: IO[bytes], frames: Iterable[UInt8[NumpyArray, "H W 3"]], width: int, height: int
) -> None:
    for index, frame in enumerate(frames):
        if frame.shape[:2] != (height, width):
            raise InputError(
                f"film frame {index} has {frame.shape[1]} × {frame.shape[0]} pixels and the first "
                f"{width} × {height}; expected one size."
            )
        even = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        pipe.write(np.ascontiguousarray(even).data)


def _close(process: subprocess.Popen[bytes]) -> None:
    """End the film; after an error, too: the half film is thrown away by the caller."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.wait()
