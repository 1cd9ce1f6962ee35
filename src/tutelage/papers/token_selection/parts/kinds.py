"""Names of the kinds of codes and of first layers, which options list and files tell apart."""

CODES = ("fixed", "fresh", "signs")  # of a student: see `codes.make_codes`
POINTS = ("moment", "gaussian")  # of a polytope: see `faces.make_points`
LAYERS = ("best", "random")  # of a network: see `networks.make_layer`
