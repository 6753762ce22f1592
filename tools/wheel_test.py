"""Runs the tests on what a user installs: builds sdist and wheel, and tests the wheel in a new environment.

First the wheel alone learns a tree, without the packages that only tests need. Then come tests of commands, reports and
other things for which a wheel needs more than modules. They are those of the unpacked sdist, so that a file that is
missing there is noticed, too. Run by `make test-wheel`. `make test-oldest` adds `--oldest`, which installs the oldest
version that pyproject.toml allows of every dependency, and runs all tests.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
TESTS = ("-m", "wheel or not slow", *(f"tests/{name}" for name in ("test_wheel.py", "cli", "report", "datasets")))


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
    options = parser.parse_args()

    folder = ROOT / "build" / "test-wheel"
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    run(*pip, "build")
    run(python, "-m", "build", "--outdir", folder / "dist")  # the sdist, and from it the wheel
    (sdist,) = (folder / "dist").glob("*.tar.gz")
    (wheel,) = (folder / "dist").glob("*.whl")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")

    if options.oldest:
        oldest = folder / "oldest.txt"
        extras = [word for extra in tested_extras() for word in ("--extra", extra)]
        run(*pip, "uv")
        compiled = (
            python,
            "-m",
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--python",
            python,
            "--resolution",
            "lowest-direct",
        )
        run(*compiled, *extras, "--output-file", oldest, ROOT / "pyproject.toml")
        pip += ["--constraint", oldest]
    run(*pip, wheel)
    run(python, "-m", "latree", "demo", "--out", folder / "demo")
    run(*pip, f"latree[test] @ {wheel.as_uri()}")
    run(python, "-m", "pip", "list")
    # Old versions use what newer ones of others give up.
    chosen = ("-m", "not site", "-W", "ignore::DeprecationWarning") if options.oldest else TESTS
    run(python, "-m", "pytest", "-n", "2", *chosen, folder=folder / sdist.name.removesuffix(".tar.gz"))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
