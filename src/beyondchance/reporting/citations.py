"""What a paper that uses a result cites, as BibTeX and in a sentence."""

from __future__ import annotations

from beyondchance.version import __version__

SOFTWARE, PAPER = "beyondchance", "li-etal-2024-estimating"
"""The keys of the entries."""

CITATION = """\
@misc{beyondchance,
  title  = {{beyondchance}: agreement of span annotations beyond chance},
  author = {{The beyondchance maintainers}},
  year   = {2026},
  note   = {Version %s},
}

@inproceedings{li-etal-2024-estimating,
  title     = {Estimating Agreement by Chance for Sequence Annotation},
  author    = {Li, Diya and Ros{\\'e}, Carolyn and Yuan, Ao and Zhou, Chunxiao},
  booktitle = {Proceedings of the 62nd Annual Meeting of the Association for Computational
               Linguistics (Volume 1: Long Papers)},
  month     = aug,
  year      = {2024},
  address   = {Bangkok, Thailand},
  publisher = {Association for Computational Linguistics},
  pages     = {5085--5097},
  doi       = {10.18653/v1/2024.acl-long.278},
  url       = {https://aclanthology.org/2024.acl-long.278},
  eprint    = {2407.11371},
  archiveprefix = {arXiv},
}
"""

IN_WORDS = {
    SOFTWARE: "The beyondchance maintainers, 2026",
    PAPER: "Li et al., 2024",
}
"""Authors and year, where there is no bibliography to refer to."""

LIMITS = "What these numbers do not show is listed under Limitations in the documentation."


def bibtex() -> str:
    """Return the entries, of this version of the package.

    Examples
    --------
    >>> all(f"{{{key}," in bibtex() for key in IN_WORDS)
    True
    """
    return CITATION % __version__
