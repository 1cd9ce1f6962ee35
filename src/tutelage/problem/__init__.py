"""From settings to objects: options, the registry of parts, and what is built from them.

Whatever is imported from here, the parts that tutelage comes with are registered first.
"""

from tutelage.problem import parts as parts
