"""The one error a user's input can cause."""


class InputError(ValueError):
    """Something about the input is wrong; the message is one line that names the file, column and value.

    Examples
    --------
    >>> import latree
    >>> latree.as_table([["a"], ["b"]], bins=-1)
    Traceback (most recent call last):
        ...
    latree.errors.InputError: bins must be 0 (no bins) or from 2 to 64, not -1
    """
