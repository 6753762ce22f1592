"""The paper's experiments (section 6), each a grid of cells whose results make a CSV file and figures."""
