import pytest

from helpers.tables import keep_all_on_disk


@pytest.fixture
def all_on_disk(monkeypatch):
    keep_all_on_disk(monkeypatch)
