"""What is wrong with the user's input, and what the user should know about a fit."""


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


class FitWarning(UserWarning):
    """Something about the data of a fit, or about its result, is odd; the message says what helps.

    Examples
    --------
    To silence such warnings, after you have read them:

    >>> import warnings
    >>> import latree
    >>> warnings.simplefilter("ignore", latree.FitWarning)
    """
