"""The report: one HTML file about a model, for people who do not read code."""
