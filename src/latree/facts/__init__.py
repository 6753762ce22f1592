"""Everything that was found, as one plain dict; texts, pages and files are made from it, so that they always agree."""
