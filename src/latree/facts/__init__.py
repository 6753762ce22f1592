"""Everything that was found, as one plain dict; texts, pages and files are made from it, so that they always agree."""

from latree.facts.found import facts_of, report_facts, summary_of

__all__ = ["facts_of", "report_facts", "summary_of"]
