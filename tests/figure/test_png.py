"""Pictures as PNG."""

import io

import pytest
from matplotlib.image import imread

from helpers.pictures import FOREST, without_matplotlib
from helpers.strategies import names_of
from latree.figure.draw import plot
from latree.figure.picture import Circle
from latree.tree import Tree


def test_a_png_shows_what_the_svg_shows():
    picture = plot(FOREST, labels={"x3": "<b>"})
    content = picture.to_png()
    assert content == picture.to_png()
    pixels = imread(io.BytesIO(content))[..., :3]
    height, width, _ = pixels.shape
    assert width / height == pytest.approx(picture.width / picture.height, rel=0.01)
    assert width == pytest.approx(picture.width * 300 / 96, abs=2)
    for circle in (drawn for drawn in picture.primitives if isinstance(drawn, Circle)):
        there = pixels[round(circle.y * height / picture.height), round(circle.x * width / picture.width)]
        assert there == pytest.approx([int(circle.fill[i : i + 2], 16) / 255 for i in (1, 3, 5)], abs=0.02)
    dark = (pixels.max(axis=2) < 0.5).any(axis=(0,))
    assert dark[: width // 3].any()
    assert dark[-width // 3 :].any()


def test_a_large_png_is_kept_small_enough():
    tree = Tree(names_of(150), [])
    pixels = imread(io.BytesIO(plot(tree, layout="horizontal").to_png()))
    assert max(pixels.shape) == 12_000


def test_without_matplotlib_there_is_svg(tmp_path):
    with without_matplotlib():
        plot(FOREST, tmp_path / "a.svg")
        with pytest.raises(ImportError, match="pip install matplotlib"):
            plot(FOREST, tmp_path / "a.png")
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]
