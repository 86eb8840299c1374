"""The kinds of arrays that everything here is made of."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Complexes = NDArray[np.complex128]

if TYPE_CHECKING:
    Generator = np.random.Generator
else:
    # Options are read from their annotations; numpy.random would be loaded for its name alone.
    Generator = Any
