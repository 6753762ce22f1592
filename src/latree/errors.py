"""The one error a user's input can cause."""


class InputError(ValueError):
    """Something about the input is wrong; the message is one line that names the file, column and value."""
