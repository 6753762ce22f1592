"""Readers of files, one file per format or family of formats; :mod:`latree.table.opening` lists them."""
