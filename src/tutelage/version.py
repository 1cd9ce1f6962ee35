"""The version and its year. Everything else reads them here, also the metadata of the package."""

__version__ = "0.1.0"
YEAR = 2026
