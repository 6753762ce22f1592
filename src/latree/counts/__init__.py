"""Statistics of a table that are sums over its rows: pair tables, quartet tensors, distances, quartet tests."""
