"""Results are freed when they are no longer used, not at the next collection of cycles."""

from __future__ import annotations

import gc
from weakref import ref

from beyondchance import agreement


def test_scores_do_not_lead_back_to_their_result():
    result = agreement([["B-P", "O"]], [["B-P", "O"]])
    assert result.score.matched == result.by_label["P"].matched == 1
    alive = ref(result)
    gc.disable()
    try:
        del result
        assert alive() is None
    finally:
        gc.enable()
