"""One small shape for all tests of the explorer, so that it compiles once."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette", reason="the explorer needs tutelage[explore]")
pytest.importorskip("uvicorn", reason="the explorer needs tutelage[explore]")
