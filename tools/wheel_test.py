"""Runs the tests on what a user installs: builds sdist and wheel, and tests the wheel in a new environment.

The tests are those of the unpacked sdist, so that a file that is missing there is noticed, too. Run by
`make wheel-test`. `make oldest-test` adds `--oldest`, which installs the oldest version that pyproject.toml allows of
every dependency.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def run(*command: str | Path, folder: Path = ROOT) -> None:
    """Run a command in a folder; print it first, and stop if it fails."""
    print("+", *command, flush=True)
    subprocess.run([str(word) for word in command], cwd=folder, check=True)


def tested_extras() -> list[str]:
    """Return the extras that users choose for what latree can do; their versions are tested, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return sorted(set(project["optional-dependencies"]) - {"docs", "examples", "fuzz", "test"})


def main() -> None:
    """Build, install, test."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oldest", action="store_true", help="install the oldest dependencies that are allowed")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "wheel-test", help="where to work")
    parser.add_argument("pytest", nargs="*", default=["-n", "2"], help="arguments of pytest, after --")
    options = parser.parse_args()

    folder = options.folder.resolve()
    venv.create(folder / "venv", clear=True, with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "build", "uv")
    run(python, "-m", "build", "--outdir", folder / "dist")  # the sdist, and from it the wheel
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")

    uv = (python, "-m", "uv", "pip")
    install = [*uv, "install", "--quiet", "--python", python, f"latree[test] @ {wheel.as_uri()}"]
    if options.oldest:
        oldest = folder / "oldest.txt"
        extras = [word for extra in tested_extras() for word in ("--extra", extra)]
        compiled = (*uv, "compile", "--quiet", "--python", python, "--resolution", "lowest-direct", *extras)
        run(*compiled, "--output-file", oldest, ROOT / "pyproject.toml")
        install += ["--constraint", oldest]
        options.pytest += ["-W", "ignore::DeprecationWarning"]  # old versions use what newer ones of others give up
    run(*install)
    run(python, "-m", "uv", "pip", "list", "--python", python)
    run(python, "-m", "pytest", *options.pytest, folder=folder / sdist.name.removesuffix(".tar.gz"))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
