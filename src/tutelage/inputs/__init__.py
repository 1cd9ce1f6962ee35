"""Input laws: one law a file. A law draws samples; a Gaussian one also gives the moments that
closed forms need.
"""

from tutelage.inputs.gaussian import Gaussian
from tutelage.inputs.independent import Independent

__all__ = ["Gaussian", "Independent"]
