"""The public address of the project: the one field that links, badges and contacts are made from.

While it is empty the project has no public home, and everything that would need one is left out.
Write the address of the repository, such as "https://example.org/group/tutelage", without a slash
at the end.
"""

from __future__ import annotations

PUBLIC_ADDRESS = ""


def make_links(address: str = PUBLIC_ADDRESS) -> dict[str, str]:
    """The links of a package's metadata by name; none without an address."""
    if not address:
        return {}
    return {
        "Homepage": address,
        "Repository": address,
        "Documentation": f"{address}/tree/main/docs",
        "Changelog": f"{address}/blob/main/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def make_colab_link(notebook: str, address: str = PUBLIC_ADDRESS) -> str:
    """Where Colab opens a notebook of the repository, such as "docs/tutorial.ipynb"; empty without
    an address, and for addresses that are not on GitHub, from which alone Colab reads.
    """
    host, found, repository = address.partition("://github.com/")
    if host != "https" or not found:
        return ""
    return f"https://colab.research.google.com/github/{repository}/blob/main/{notebook}"
