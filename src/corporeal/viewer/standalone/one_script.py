"""Modules of the studio's page as one script, so that a page opens from a file: browsers load no
modules from there."""

import re
from collections.abc import Sequence
from pathlib import Path

CLIENT = Path(__file__).parents[1] / "client"
PAGE = Path(__file__).parent / "page"
_IMPORT = re.compile(r"^import \{([^}]*)\} from \"([^\"]+)\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const|let) )", re.MULTILINE)
_LIST = re.compile(r"export\s*\{([^}]*)\};?\s*$")


def three_script() -> str:
    """three.js as an object `THREE`, with its licence in front."""
    licence = (CLIENT / "vendor" / "three.LICENSE").read_text(encoding="utf-8").strip()
    text = (CLIENT / "vendor" / "three.js").read_text(encoding="utf-8")
    found = _LIST.search(text)
    assert found is not None
    names = [row.strip().split(" as ") for row in found[1].split(",") if row.strip()]
    table = ",".join(f"{public}:{own}" for own, public in names)
    body = f"{text[: found.start()]}return {{{table}}};"
    return f"/* three.js\n{licence}\n*/\nconst THREE=(()=>{{{body}}})();\n"


def one_script(modules: Sequence[Path]) -> str:
    """Modules one after another, each in a scope of its own; what they export is an object by the
    module's name. They import from three.js, and from those before them."""
    parts = [three_script()]
    for path in modules:
        text = path.read_text(encoding="utf-8")
        exported = re.findall(
            r"^export (?:async )?(?:class|function|const|let) (\w+)", text, re.MULTILINE
        )
        body = _EXPORT.sub("", _IMPORT.sub(_from_before, text))
        names = ",".join(exported)
        parts.append(f"const {_name(path.name)}=(()=>{{\n{body}\nreturn {{{names}}};}})();\n")
    script = "".join(parts)
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _from_before(found: re.Match[str]) -> str:
    names, source = " ".join(found[1].split()).replace(" as ", ": "), found[2]
    home = "THREE" if source.endswith("vendor/three.js") else _name(source)
    return f"const {{ {names} }} = {home};\n"


def _name(source: str) -> str:
    return "module_" + re.sub(r"\W", "_", Path(source).stem)
