"""The links of the package's metadata, from the one field that holds the public address."""

from __future__ import annotations

import runpy
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Links(MetadataHookInterface):
    """Adds the project's links to the metadata; none while the address is empty."""

    def update(self, metadata: dict[str, object]) -> None:
        address = Path(self.root) / "src" / "tutelage" / "address.py"
        metadata["urls"] = runpy.run_path(str(address))["make_links"]()
