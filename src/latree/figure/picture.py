"""A picture that can be written as SVG and PNG."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from latree._util.files import write_bytes
from latree.errors import InputError
from latree.figure.png import png
from latree.figure.primitives import Primitive
from latree.figure.svg import svg


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture that can be written as SVG and PNG, and that shows itself in a notebook.

    Attributes
    ----------
    width, height : float
        In pixels, 96 to the inch.
    title : str
        What it shows, in words.
    primitives : sequence
        The lines, circles, polygons and texts that it is made of; later ones are in front.

    Examples
    --------
    >>> import latree
    >>> latree.plot(latree.Tree.from_newick("((a,b),c,d);"))
    <Picture: Tree of 4 columns with 2 hidden variables, 279 x 280 pixels>
    """

    width: float
    height: float
    title: str
    primitives: Sequence[Primitive]

    def __repr__(self) -> str:
        return f"<Picture: {self.title}, {self.width:.0f} x {self.height:.0f} pixels>"

    def to_svg(self, *, page: bool = True) -> str:
        """Return the text of an SVG file. The same picture gives the same bytes.

        Parameters
        ----------
        page : bool
            Whether it has a white background. Without one it is transparent and has the colour of the text around it,
            for use inside an HTML page.

        Examples
        --------
        >>> import latree
        >>> picture = latree.plot(latree.Tree.from_newick("(a,b,c);"))
        >>> "currentColor" in picture.to_svg(), "currentColor" in picture.to_svg(page=False)
        (False, True)
        """
        return svg(self.width, self.height, self.title, self.primitives, page)

    def to_png(self) -> bytes:
        """Return the content of a PNG file for print, with 300 dots per inch unless that is too large.

        It needs matplotlib. Letters that DejaVu Sans lacks, such as Chinese ones, are shown as boxes, and text that
        runs from right to left is not reordered; an SVG has neither limit.
        """
        return png(self.width, self.height, self.primitives)

    def save(self, path: str | Path) -> None:
        """Write an SVG or a PNG file, depending on the ending of its name."""
        path = Path(path)
        check_ending(path)
        write_bytes(path, self.to_svg().encode() if path.suffix.lower() == ".svg" else self.to_png())

    def _repr_html_(self) -> str:
        return self.to_svg(page=False)


def check_ending(path: Path) -> None:
    """Raise an error if a picture cannot be written to a file of this name."""
    if path.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"{path}: a figure is written as .svg or .png; choose a name that ends in one of them")
