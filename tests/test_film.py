"""Films decode back to what was put in: count, size, time, place."""

import numpy as np
import pytest
from picture_props import rolling_ball

from corporeal.errors import FormatError, InputError, OutputError
from corporeal.formats.mp4 import read_mp4, write_mp4
from corporeal.formats.png import read_png, write_png
from corporeal.scene.casting import Performance
from corporeal.scene.film import film, film_frames


def greys(levels, height=48, width=64):
    return [np.full((height, width, 3), level, np.uint8) for level in levels]


def test_frames_come_back_in_number_size_and_order(tmp_path):
    """Flat greys survive 4:2:0 at visually lossless quality to within 3 levels."""
    levels = list(range(20, 240, 11))
    write_mp4(tmp_path / "f.mp4", greys(levels), 25.0)
    frames = list(read_mp4(tmp_path / "f.mp4"))
    assert len(frames) == len(levels)
    assert {frame.shape for frame in frames} == {(48, 64, 3)}
    means = [frame.mean() for frame in frames]
    np.testing.assert_allclose(means, levels, atol=3)


def test_frame_rate_and_pixel_format_are_those_that_players_take(tmp_path):
    from imageio_ffmpeg import read_frames

    write_mp4(tmp_path / "f.mp4", greys(range(10)), 12.5)
    about = next(read_frames(str(tmp_path / "f.mp4")))
    assert about["fps"] == pytest.approx(12.5)
    assert about["codec"] == "h264"
    assert about["pix_fmt"].startswith("yuv420p")
    content = (tmp_path / "f.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat"), "must start before it is all loaded"


def test_odd_sizes_are_made_even_by_repeating_the_last_pixels(tmp_path):
    write_mp4(tmp_path / "f.mp4", greys([90] * 3, height=33, width=51), 10.0)
    frames = list(read_mp4(tmp_path / "f.mp4"))
    assert frames[0].shape == (34, 52, 3)
    np.testing.assert_allclose(frames[0], 90, atol=3)


def test_the_same_frames_give_the_same_file(tmp_path):
    for name in ("a.mp4", "b.mp4"):
        write_mp4(tmp_path / name, greys([10, 90, 200]), 10.0)
    assert (tmp_path / "a.mp4").read_bytes() == (tmp_path / "b.mp4").read_bytes()


@pytest.mark.parametrize("fps", [0.0, -5.0, float("nan"), 1e6])
def test_impossible_frame_rates_are_refused(tmp_path, fps):
    with pytest.raises(InputError, match="fps"):
        write_mp4(tmp_path / "f.mp4", greys([1]), fps)


def test_no_frames_and_frames_of_two_sizes_are_refused(tmp_path):
    with pytest.raises(InputError, match="no frames"):
        write_mp4(tmp_path / "f.mp4", [], 10.0)
    with pytest.raises(InputError, match="one size"):
        write_mp4(tmp_path / "f.mp4", greys([1]) + greys([1], height=50), 10.0)
    assert not list(tmp_path.iterdir())


def test_an_error_between_frames_leaves_the_old_film(tmp_path):
    path = tmp_path / "f.mp4"
    path.write_bytes(b"old")

    def frames():
        yield from greys([1, 2])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_mp4(path, frames(), 10.0)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_encoder_that_fails_says_so_and_leaves_nothing(tmp_path):
    """A quality that x264 does not know makes ffmpeg end at once."""
    with pytest.raises(OutputError, match="ffmpeg ended"):
        write_mp4(tmp_path / "f.mp4", greys([1] * 400), 10.0, quality=-7_000_000)
    assert not list(tmp_path.iterdir())


def test_what_is_not_a_film_or_a_picture_is_refused(tmp_path):
    path = tmp_path / "f.mp4"
    path.write_bytes(b"nonsense" * 100)
    with pytest.raises(FormatError, match="not a film"):
        list(read_mp4(path))
    with pytest.raises(FormatError, match="no film"):
        list(read_mp4(tmp_path / "none.mp4"))
    with pytest.raises(FormatError, match="not a PNG"):
        read_png(path)


def test_pictures_survive_png_exactly(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (20, 30, 3)).astype(np.uint8)
    write_png(tmp_path / "p.png", pixels)
    np.testing.assert_array_equal(read_png(tmp_path / "p.png"), pixels)


def test_a_truncated_picture_is_refused(tmp_path):
    path = tmp_path / "p.png"
    write_png(path, np.random.default_rng(0).integers(0, 256, (50, 50, 3)).astype(np.uint8))
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(FormatError, match="not a PNG"):
        read_png(path)


def test_a_film_lasts_as_long_as_its_animation(tmp_path):
    """Six frames at 12 a second are half a second: twelve frames of film at 24."""
    film([rolling_ball()], tmp_path / "f.mp4", fps=24.0, width=80, height=60)
    frames = list(read_mp4(tmp_path / "f.mp4"))
    assert len(frames) == 12
    assert frames[0].shape == (60, 80, 3)


def test_every_moment_shows_the_frame_of_that_time():
    """At twice the animation's rate each of its frames is shown twice; then it has moved on."""
    shown = [Performance(rolling_ball(frames=3))]
    frames = list(film_frames(shown, 24.0, 80, 60))
    assert len(frames) == 6
    for k in range(3):
        np.testing.assert_array_equal(frames[2 * k], frames[2 * k + 1])
    assert (frames[0] != frames[2]).any()


def test_the_picture_holds_the_whole_movement():
    """The ball is dark on light paper; it touches no edge of the picture in any frame."""
    shown = [Performance(rolling_ball(step=0.6)), Performance(rolling_ball(step=0.0))]
    frames = list(film_frames(shown, 12.0, 160, 60))
    paper = frames[0][0].astype(int)
    for frame in frames:
        assert np.abs(frame[0].astype(int) - paper).max() <= 2
        dark = frame.min(axis=2) < 110
        assert not dark[:, [0, -1]].any()
        assert not dark[[0, -1]].any()


def test_films_without_animations_or_with_bad_rates_are_refused(tmp_path):
    with pytest.raises(InputError, match="at least one"):
        film([], tmp_path / "f.mp4")
    with pytest.raises(InputError, match="fps"):
        film([rolling_ball()], tmp_path / "f.mp4", fps=0.0)
    assert not list(tmp_path.iterdir())
