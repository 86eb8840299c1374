"""What a package needs that adds a format: see "Another format" in the documentation of files.

A reader yields a `Draft` for each document and annotator, with offsets as they are in the file; all
checks, repairs, counters and messages are those of every other format.
"""

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.options import CHARACTERS, EVERYWHERE, Reading
from beyondchance.io.registry import Format, Upload, each_upload
from beyondchance.io.sources import Source

__all__ = [
    "CHARACTERS",
    "EVERYWHERE",
    "Draft",
    "DraftSpan",
    "Format",
    "FormatError",
    "Reading",
    "Source",
    "Upload",
    "each_upload",
]
