"""Make the playground: one HTML file with the simulator in it, which needs no server.

Usage: playground.py OUT.html. The module is built first (`cargo build --target wasm32-unknown-unknown`).
"""

from __future__ import annotations

import base64
import gzip
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "crates/flashlane-wasm/page"
REPORT = ROOT / "crates/flashlane-report"
TARGET = "wasm32-unknown-unknown"


def available() -> bool:
    """Whether Rust can compile for browsers here; its libraries are fetched where they are missing."""
    found = subprocess.run(
        ["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if (Path(found.stdout.strip()) / "lib/rustlib" / TARGET).is_dir():
        return True
    try:
        return subprocess.run(["rustup", "target", "add", TARGET], cwd=ROOT, check=False).returncode == 0
    except FileNotFoundError:
        return False


def module() -> bytes:
    """The simulator as a WebAssembly module."""
    if not available():
        raise SystemExit(
            f"playground.py: Rust has no libraries for {TARGET} here: rustup target add {TARGET}"
        )
    # A folder of its own: its artifacts are of no use to other builds.
    folder = ROOT / "target/wasm"
    command = ["cargo", "build", "--quiet", "--locked", "-p", "flashlane-wasm", "--target", TARGET]
    subprocess.run([*command, "--profile", "wasm", "--target-dir", folder], cwd=ROOT, check=True)
    return (folder / TARGET / "wasm/flashlane_wasm.wasm").read_bytes()


def page() -> str:
    """The page with everything that it needs."""
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    style = [REPORT / "vendor/uPlot/uPlot.min.css", REPORT / "src/page.css", PAGE / "playground.css"]
    scripts = [REPORT / "src/chart_tools.js", REPORT / "src/simulator.js", PAGE / "playground.js"]
    packed = base64.b64encode(gzip.compress(module(), 9, mtime=0)).decode()
    parts = {
        "/*STYLE*/": "".join(path.read_text(encoding="utf-8") for path in style),
        "/*LIBRARY*/": (REPORT / "vendor/uPlot/uPlot.iife.min.js").read_text(encoding="utf-8"),
        "/*MODULE*/": f'const FLASHLANE_MODULE = "{packed}";',
        "/*PAGE*/": "".join(path.read_text(encoding="utf-8") for path in scripts),
    }
    for mark, part in parts.items():
        text = text.replace(mark, part, 1)
    return text


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(), encoding="utf-8")
    print(f"{out}: {out.stat().st_size / 1e6:.2f} MB")
