"""Damaged files: every reader reads them, or refuses them in one line that names the file."""

import numpy as np

from latree.errors import InputError
from latree.table import as_table


def mutated(content, seed):
    """The content of a file with some bytes changed, left out, repeated or cut off, as text files and others break."""
    rng = np.random.default_rng(seed)
    result = bytearray(content)
    if rng.random() < 0.2:
        result = result[: rng.integers(len(result) + 1)]
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(result) + 1))
        length = int(rng.integers(1, 9))
        change = rng.integers(4)
        if change == 0 and result:
            result[at - 1] = rng.integers(256)
        elif change == 1:
            del result[at : at + length]
        elif change == 2:
            result[at:at] = result[at : at + length]
        else:
            result[at:at] = rng.choice([b"\n", b"\t", b" ", b",", b"'", b'"', b";", b"\0", b"[", b">", b"?", b"-1"])
    return bytes(result)


def count_refused(path, content, times, **options):
    """Read mutations of a file; return how many are refused. Each refusal must be one line that names the file."""
    messages = []
    for seed in range(times):
        path.write_bytes(mutated(content, seed))
        try:
            as_table(path, **options)
        except InputError as error:
            messages.append(str(error))
    assert [text for text in messages if "\n" in text or not text.startswith(f"{path}: ")] == []
    return len(messages)
