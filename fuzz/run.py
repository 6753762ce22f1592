"""Feed a reader with inputs that libFuzzer makes up, guided by the coverage of latree's code.

Usage: python fuzz/run.py NAME SECONDS, where NAME is one of the targets in ``fuzz_targets.py``. A crash is written to
``crash-...`` in the working folder: correct the cause, and put the file into ``corpus/NAME``, which a test reads.
"""

import io
import sys
import tempfile
import zipfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["latree", "fuzz_targets"]):
    import fuzz_targets
    from latree.table.formats import foreign


def mutate(content: bytes, max_size: int, seed: int) -> bytes:
    """Change some bytes; of most zip archives those of a file in it, because few archives survive other changes."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    except Exception:  # not an archive, or a damaged one
        files = {}
    if not files or seed % 4 == 0:
        return bytes(atheris.Mutate(content, max_size))
    name = sorted(files)[seed // 4 % len(files)]
    files[name] = bytes(atheris.Mutate(files[name], len(files[name]) + 64))
    result = io.BytesIO()
    with zipfile.ZipFile(result, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in files.items():
            archive.writestr(name, part)
    return result.getvalue()[:max_size]


def main() -> None:
    """Run one target for some seconds."""
    name, seconds = sys.argv[1:]
    foreign._SECONDS = 10.0  # less than libFuzzer waits for an input
    accepted = total = 0

    def test_one_input(content: bytes) -> None:
        nonlocal accepted, total
        total += 1
        accepted += fuzz_targets.feed(name, content)
        if total & (total - 1) == 0:  # after 1, 2, 4, 8, ... inputs
            print(f"{name}: {total} inputs, {accepted} accepted", flush=True)

    with tempfile.TemporaryDirectory() as found:
        seeds = Path(__file__).parent / "corpus" / name
        options = [f"-max_total_time={seconds}", "-timeout=30", "-rss_limit_mb=2048", "-max_len=8192"]
        atheris.Setup([sys.argv[0], *options, found, str(seeds)], test_one_input, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
