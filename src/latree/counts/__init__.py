"""Statistics of a table that are sums over its rows: contingency tables, distances between columns, quartet tests."""
