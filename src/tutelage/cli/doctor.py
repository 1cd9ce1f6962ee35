"""`doctor`: what is installed, on what it runs, and what is missing."""

from __future__ import annotations

OPTIONAL = {
    "torch": "layers of PyTorch in `learn`: pip install torch",
    "mlxtend": "studies of images: pip install 'tutelage[images]'",
    "distributed": "`sweep` on a cluster: pip install 'tutelage[cluster]'",
    "starlette": "the explorer: pip install 'tutelage[explore]'",
    "xarray": "`tt.dataset`: pip install 'tutelage[xarray]'",
    "fsspec": "stores at an address: pip install 'tutelage[remote]'",
}


def doctor() -> int:
    """Print versions, devices, precision and optional parts; exit 1 if something needed is
    broken.
    """
    import importlib.metadata
    import importlib.util
    import os
    import platform
    import shutil

    import jax
    import jax.numpy as jnp

    import tutelage

    rows = [("tutelage", tutelage.__version__), ("python", platform.python_version())]
    for name in (
        "jax",
        "jaxlib",
        "numpy",
        "scipy",
        "equinox",
        "optax",
        "jaxtyping",
        "matplotlib",
        "pyarrow",
        "safetensors",
        "pandas",
        "cyclopts",
        "rich",
    ):
        rows.append((name, importlib.metadata.version(name)))
    rows.append(("platform", platform.platform()))
    rows.append(("cores", str(os.cpu_count())))
    rows.append(("devices", ", ".join(f"{d.platform}:{d.device_kind}" for d in jax.devices())))
    double = jnp.asarray(1.0).dtype == jnp.float64
    rows.append(
        (
            "precision",
            "float64"
            if double
            else "float32: tutelage needs double precision, unset JAX_ENABLE_X64=0",
        )
    )
    rows.append(("terminal", f"{shutil.get_terminal_size().columns} columns"))
    for name, use in OPTIONAL.items():
        found = importlib.util.find_spec(name) is not None
        rows.append(
            (
                f"{name} (optional)",
                importlib.metadata.version(name)
                if found
                else f"not installed; only needed for {use}",
            )
        )
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    return 0 if double else 1
