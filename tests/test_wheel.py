"""What users install: which files the wheel has, and what it says about itself."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "latree"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.mark.xfail(strict=True, reason="it has 820 KB, nearly all of it Python")
def test_the_wheel_is_small(wheel):
    assert wheel.stat().st_size < 700_000


def test_large_files_are_not_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        large = {info.filename for info in archive.infolist() if info.file_size > 40_000}
    assert not large


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = {path.relative_to(SOURCE.parent).as_posix() for path in SOURCE.rglob("*") if path.is_file()}
    assert names == {name for name in files if "__pycache__" not in name}


def test_links_of_the_readme_lead_somewhere_on_every_page(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        text = archive.read(name).decode()
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r'\bsrc(?:set)?="([^"]+)"', text)
    assert len(links) > 20
    assert not [link for link in links if not link.startswith(("https://", "#"))]
