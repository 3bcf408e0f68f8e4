"""Sphinx configuration of the documentation site; built by `python tools/build_site.py`.

The source folder is the repository itself, so that every link between pages, to results and to
scripts is the one that a reader of the files follows, too.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from importlib.metadata import version as installed

project = "corporeal"
author = "The corporeal authors"
project_copyright = "The corporeal authors; Apache-2.0, the embedded body CC0"
version = release = installed("corporeal")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
extensions += ["navigation", "reference", "scripts", "films", "accessible"]  # beside this file
root_doc = "docs/index"
include_patterns = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs/**.md"]
exclude_patterns = [".*", "build", "src", "tests", "benchmarks", "tools", "examples"]

myst_heading_anchors = 4
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
maximum_signature_line_length = 80
python_display_short_literal_types = True
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = "corporeal"
html_static_path = ["static"]
html_extra_path = ["root"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "source_repository": "https://github.com/corporeal/corporeal/",
    "source_branch": "main",
    "source_directory": "",
}
