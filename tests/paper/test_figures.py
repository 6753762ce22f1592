"""Figures of the experiments."""

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
