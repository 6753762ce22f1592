"""Small tables for examples and first steps. Nothing is downloaded.

- :func:`make_questionnaire`: people × items, with the true scales. Simulated by latree, free to use.
- :func:`make_alignment`: sites × taxa, with the true tree. Simulated by latree, free to use.
- :func:`load_python_manual`: paragraphs × words of Python's language reference. It comes with Python, under the licence
  of the Python Software Foundation.

scikit-learn has more tables that suit latree: ``load_breast_cancer``, ``load_digits`` and ``load_wine``.

Examples
--------
>>> import latree
>>> from latree.datasets import make_questionnaire
>>> answers = make_questionnaire(200, random_state=0)
>>> model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(answers.data)
>>> model.model_.tree.n_observed
20
"""

from latree.datasets.alignment import make_alignment
from latree.datasets.dataset import Dataset
from latree.datasets.manual import load_python_manual
from latree.datasets.questionnaire import make_questionnaire

__all__ = ["Dataset", "load_python_manual", "make_alignment", "make_questionnaire"]
