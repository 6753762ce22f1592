"""The paper's experiments (section 6). Each is a grid of cells, whose results become a CSV file and figures."""
