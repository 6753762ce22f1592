"""Small fits have one thread for matrix products, as in a search."""

import pytest

from latree.search.neighbors import small_fits


@pytest.fixture(autouse=True)
def one_thread_for_products():
    with small_fits():
        yield
