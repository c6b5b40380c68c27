"""Make the documentation as a site that works from files too: out/site, with the playground in it.

Usage: site.py [--without-playground]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import playground

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "out/site"
#: What the generator would load from elsewhere so that search works from files: ours is beside the pages.
SHIM = "https://unpkg.com/iframe-worker/shim"


def main(arguments: list[str]) -> None:
    """Build, and replace what would be loaded from elsewhere."""
    shutil.rmtree(SITE, ignore_errors=True)
    generator = Path(sys.executable).with_name("zensical")
    plain = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(
        [generator, "build", "--strict"], cwd=ROOT, capture_output=True, text=True, check=False, env=plain
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    for path in SITE.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        up = "../" * (len(path.relative_to(SITE).parts) - 1)
        path.write_text(text.replace(SHIM, f"{up}assets/file-worker.js"), encoding="utf-8")
    if "--without-playground" not in arguments and not playground.available():
        print(f"site.py: without the playground: Rust has no libraries for {playground.TARGET} here")
    elif "--without-playground" not in arguments:
        page = SITE / "playground.html"
        page.write_text(playground.page(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
