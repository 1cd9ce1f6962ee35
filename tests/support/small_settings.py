"""Small settings that several tests run."""

import tutelage as tt

SHALLOW = tt.Setting(
    tt.Part("transported", tokens=3, dim=2, anchors=4, pool=64),
    rate=0.1,
    steps=20,
    inputs=tt.Part("clipped_gaussian"),
    student=tt.Part("shallow_transformer", heads=4),
    objective=tt.Part("squared_loss", samples=12),
    optimiser=tt.Part("projected_descent"),
    measures=("excess_risk",),
)
