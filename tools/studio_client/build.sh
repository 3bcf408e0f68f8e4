#!/usr/bin/env bash
# Makes src/corporeal/viewer/client/vendor/three.js from the npm package, and keeps its licence.
set -euo pipefail
cd "$(dirname "$0")"
target=../../src/corporeal/viewer/client/vendor
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json three_entry.js "$work"
(cd "$work" && npm install --silent && npx esbuild three_entry.js \
  --bundle --minify --format=esm --target=es2022 --legal-comments=inline --outfile=three.js)
mkdir -p "$target"
cp "$work/three.js" "$target/three.js"
cp "$work/node_modules/three/LICENSE" "$target/three.LICENSE"
PYTHONPATH=.. python3 -c '
import json, sys
from pathlib import Path
from provenance import write_provenance
version = json.loads(Path("package.json").read_text())["dependencies"]["three"]
write_provenance(
    Path(sys.argv[1]) / "three.js",
    title=f"three.js {version}, bundled",
    licence="MIT, see three.LICENSE",
    origin=f"npm package three {version} (https://threejs.org)",
    command="bash tools/studio_client/build.sh",
    sources=[Path("package.json"), Path("three_entry.js")],
)' "$target"
