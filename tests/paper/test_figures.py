"""Figures of the experiments."""

from itertools import pairwise

from latree.paper import figures


def test_panels_cut_nothing_off_and_draw_the_first_method_on_top():
    rows = [
        {"rows": size, "method": method, "share": share, "standard_error": 3.0}
        for method, share in (("tensor", 99.0), ("nj", 20.0), ("spectral@2", 60.0))
        for size in (50, 2000)
    ]
    figure = figures.panels(rows, split=lambda row: (0, 0, "all"), value="share", label="share", limits=(25, 102))
    (panel,) = figure.axes
    low, high = panel.get_ylim()
    assert low < 17
    assert high > 102
    assert panel.get_xlim()[0] < 50 < 2000 < panel.get_xlim()[1]
    order = {container.get_label(): container[0].get_zorder() for container in panel.containers}
    assert max(order, key=order.get) == "tensor"
    assert min(bar.get_zorder() for bar in panel.containers[0][2]) > order["nj"]


def test_panels_have_the_papers_letters():
    rows = [
        {"rows": 50, "method": "tensor", "share": 5.0, "standard_error": 1.0, "place": (i, j)}
        for i in range(2)
        for j in range(3)
    ]
    figure = figures.panels(
        rows, split=lambda row: (*row["place"], "title"), value="share", label="share", limits=(0, 27), letter="g"
    )
    assert [panel.get_title() for panel in figure.axes] == [f"({letter}) title" for letter in "ghijkl"]


def test_lines_are_named_at_their_ends_and_only_the_papers_method_has_colours():
    methods = {"tensor": 9.0, "tensor, nearest": 9.1, "nj": 8.9, "hw": 25.0}
    rows = [
        {"rows": size, "method": method, "distance": end, "standard_error": 0.5}
        for method, end in methods.items()
        for size in (50, 2000)
    ]
    figure = figures.panels(rows, split=lambda row: (0, 0, "all"), value="distance", label="RF", limits=(0, 27))
    figure.canvas.draw()
    (panel,) = figure.axes
    names = sorted(panel.texts, key=lambda text: text.get_position()[1])
    assert [text.get_text() for text in names] == ["nj", "tensor", "tensor, nearest", "hw"]
    boxes = [text.get_window_extent() for text in names]
    assert all(low.y1 <= high.y0 + 0.5 for low, high in pairwise(boxes))
    assert all(panel.bbox.x1 < box.x0 < box.x1 <= figure.bbox.x1 for box in boxes)
    colours = {line.get_label(): line[0].get_color() for line in panel.containers}
    assert colours["nj"] == colours["hw"]
    assert len({colours["nj"], colours["tensor"], colours["tensor, nearest"]}) == 3
