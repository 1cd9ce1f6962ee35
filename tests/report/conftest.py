from chromium_fixtures import axe, chromium

__all__ = ("axe", "chromium")  # fixtures
