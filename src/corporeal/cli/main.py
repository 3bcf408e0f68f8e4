"""`corporeal VERB …`: finds the verb, runs it, turns errors into a sentence and an exit code."""

import contextlib
import inspect
import io
import json
import os
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import FrameType
from typing import NoReturn, Protocol, runtime_checkable

import corporeal
from corporeal.errors import CorporealError, FormatError, InputError, OutputError
from corporeal.runtime.input_files import named, shortened
from corporeal.runtime.names import meant
from corporeal.runtime.progress import QUIET

_INTERRUPTED = 130
_TERMINATED = 143


@dataclass(frozen=True)
class Verb:
    """Where a verb lives; imported when it is called, so that `--help` is quick."""

    home: str
    """Module and dataclass of the verb, as `module:Class`."""
    summary: str
    """One line for the list of verbs."""


VERBS = {
    "demo": Verb("corporeal.cli.demo:DemoVerb", "make a person, move it, show it"),
    "body": Verb("corporeal.cli.body:BodyVerb", "make a body from measurements or sliders"),
    "people": Verb("corporeal.cli.people:PeopleVerb", "make a population with real statistics"),
    "reshape": Verb("corporeal.cli.reshape:Reshape", "give a body more or less weight or height"),
    "avatar": Verb("corporeal.cli.avatar:AvatarVerb", "make a body of your own from a scan"),
    "register": Verb(
        "corporeal.cli.register:RegisterVerb", "bring scans into the default body's topology"
    ),
    "markers": Verb("corporeal.cli.markers:MarkersVerb", "find a body and its motion from markers"),
    "animate": Verb("corporeal.cli.animate:Animate", "move a body and write the result"),
    "studio": Verb(
        "corporeal.cli.studio:StudioVerb", "shape, move and touch bodies in the browser"
    ),
    "skeleton": Verb("corporeal.cli.skeleton:SkeletonVerb", "fit a skeleton to a human surface"),
    "anatomy": Verb("corporeal.cli.anatomy:Anatomy", "fit and grow bones, muscles and fat"),
    "transfer-dynamics": Verb(
        "corporeal.cli.transfer_dynamics:TransferDynamics",
        "give a body the soft-tissue dynamics of a take",
    ),
    "motion": Verb("corporeal.cli.motion:MotionVerb", "list, describe or film motions"),
    "capture": Verb("corporeal.cli.capture:Capture", "record people with the virtual 4D scanner"),
    "dataset": Verb("corporeal.cli.dataset:Dataset", "describe, convert and check registrations"),
    "train": Verb("corporeal.cli.train:Train", "learn a body model from registrations"),
    "evaluate": Verb("corporeal.cli.evaluate:Evaluate", "compare body models on unseen people"),
    "export-viewer": Verb(
        "corporeal.cli.export_viewer:ExportViewer", "write takes as one page that plays anywhere"
    ),
    "convert": Verb("corporeal.cli.convert:Convert", "write a file's content in another format"),
    "doctor": Verb("corporeal.cli.doctor:Doctor", "say what is missing and how to get it"),
    "cite": Verb("corporeal.cli.cite:Cite", "print the references of the methods used"),
}


@runtime_checkable
class Command(Protocol):
    """What every verb's dataclass offers."""

    def run(self) -> int:
        """Do it; gives back the exit code, 0 if all went well."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives back the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    _spell_all_names()
    if not arguments or arguments[0] in ("-h", "--help"):
        print(usage())
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"corporeal {corporeal.__version__}")
        return 0
    before = os.environ.get(QUIET)
    if "--quiet" in arguments:
        arguments = [argument for argument in arguments if argument != "--quiet"]
        os.environ[QUIET] = "1"
    try:
        with _terminations_unwound():
            return _guarded(arguments)
    finally:
        if before is None:
            os.environ.pop(QUIET, None)
        else:
            os.environ[QUIET] = before


def _spell_all_names() -> None:
    """Let a name that is no text be printed as an escape: no result is lost to its own message."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def usage() -> str:
    """The first page of help."""
    width = max(map(len, VERBS))
    verbs = "\n".join(f"  {name:<{width}}  {verb.summary}" for name, verb in VERBS.items())
    return (
        f"corporeal {corporeal.__version__}: digital human bodies whose flesh moves\n\n"
        f"usage: corporeal VERB [flags]\n\n{verbs}\n\n"
        f"examples:\n"
        f"  corporeal demo\n"
        f"  corporeal body --gender female --stature 1.70 --mass 82 --out anna.npz\n"
        f"  corporeal animate --body anna.npz --motion jumping-jacks --out anna.glb\n\n"
        f"corporeal VERB --help tells more; with --quiet, any verb tells results and errors only."
    )


def _guarded(arguments: list[str]) -> int:
    try:
        return command_of(arguments).run()
    except CorporealError as error:
        print(f"corporeal: {shortened(str(error))}", file=sys.stderr)
        if "--json" in arguments:
            kind = type(error).__name__
            print(json.dumps({"error": {"kind": kind, "message": str(error)}}))
        return error.exit_code
    except KeyboardInterrupt:
        print("corporeal: stopped. Nothing half-written was left.", file=sys.stderr)
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `corporeal cite | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is None:
            raise  # not about a file that was named: a bug keeps its traceback
        print(
            f"corporeal: {named(os.fsdecode(error.filename))}: {error.strerror or error}. Choose "
            f"another name or place.",
            file=sys.stderr,
        )
        return OutputError.exit_code


def command_of(arguments: list[str]) -> Command:
    """The verb that arguments ask for, with its flags read and nothing done yet."""
    name, flags = arguments[0], _axes_joined(arguments[1:])
    if name not in VERBS:
        raise InputError(
            f"there is no verb {name!r}; expected one of {', '.join(VERBS)}.{meant(name, VERBS)}"
        )
    import tyro

    module, class_name = VERBS[name].home.split(":")
    verb = getattr(import_module(module), class_name)
    if hasattr(verb, "for_flags"):
        verb = verb.for_flags(flags)
    default, flags = _repeated(verb, flags)
    return tyro.cli(
        verb,
        prog=f"corporeal {name}",
        description=inspect.getdoc(verb),
        args=flags,
        default=default,
        config=(
            tyro.conf.FlagCreatePairsOff,
            tyro.conf.OmitArgPrefixes,
            tyro.conf.OmitSubcommandPrefixes,
        ),
    )


def _axes_joined(flags: list[str]) -> list[str]:
    """`--front -y` as `--front=-y`: an axis is a value, not a flag; so are numbers with commas."""
    joined: list[str] = []
    for flag in flags:
        before = joined[-1] if joined else ""
        is_value = flag in ("-x", "-y", "-z") or re.match(r"-[\d.]+,", flag)
        if is_value and before.startswith("--") and "=" not in before:
            joined[-1] = f"{before}={flag}"
        else:
            joined.append(flag)
    return joined


def _repeated(verb: type, flags: list[str]) -> tuple[Command | None, list[str]]:
    """Take `--config MANIFEST` out of the flags: its run gives the defaults of all others."""
    if "--config" not in flags or not hasattr(verb, "from_manifest"):
        return None, flags
    place = flags.index("--config")
    if place + 1 >= len(flags):
        raise InputError(
            "--config came without a file; expected a manifest, such as anna.npz.manifest.json."
        )
    from corporeal.runtime.manifest import read_manifest

    content = read_manifest(flags[place + 1])
    try:
        default = verb.from_manifest(content)  # pyright: ignore[reportAttributeAccessIssue]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, CorporealError):
            raise
        raise FormatError(
            f"{flags[place + 1]} was changed so that its run cannot be repeated "
            f"({type(error).__name__}: {error}). Give the flags anew."
        ) from error
    return default, flags[:place] + flags[place + 2 :]


@contextlib.contextmanager
def _terminations_unwound() -> Iterator[None]:
    """Let SIGTERM unwind like Ctrl-C, so that hidden half-written files are removed."""

    def stop(_signal: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(_TERMINATED)

    try:
        before = signal.signal(signal.SIGTERM, stop)
    except ValueError:  # not the main thread: signals are someone else's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
