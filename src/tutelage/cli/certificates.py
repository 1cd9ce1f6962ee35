"""Certificates by which the processes of a Dask cluster know one another."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tutelage.refuse import Refused

if TYPE_CHECKING:
    import distributed

NEEDED = (
    "Give `--tls-ca`, `--tls-cert` and `--tls-key`, or set distributed.comm.tls in Dask's own "
    "configuration (`tutelage docs sweeps`)"
)
OPEN = (
    "%s is neither encrypted nor asks for a certificate: whoever reaches it can run code there as "
    "you. Certificates close it (`tutelage docs sweeps`)."
)


@dataclass(frozen=True)
class Certificates:
    """Files in PEM format: who is trusted, and who one is."""

    ca: Path
    cert: Path
    key: Path


def read_certificates(ca: Path | None, cert: Path | None, key: Path | None) -> Certificates | None:
    """The files that `--tls-…` name, all three of them; None where none is named."""
    if ca is None and cert is None and key is None:
        return None
    if ca is None or cert is None or key is None:
        given = {"--tls-ca": ca, "--tls-cert": cert, "--tls-key": key}
        missing = " and ".join(option for option, path in given.items() if path is None)
        raise Refused(
            "`--tls-ca`, `--tls-cert` and `--tls-key` go together, since each side shows a "
            f"certificate and checks the other's. Got none for {missing}."
        )
    for path in (ca, cert, key):
        if not os.path.isfile(path):
            raise Refused(f"`--tls-…` takes files in PEM format. Got {path}, which is not one.")
    return Certificates(ca, cert, key)


def make_security(files: Certificates | None) -> distributed.Security:
    """What Dask is told: these files for every role, or its own configuration."""
    import distributed

    if files is None:
        return distributed.Security()
    ca, cert, key = (str(path.resolve()) for path in (files.ca, files.cert, files.key))
    return distributed.Security(
        require_encryption=True,
        tls_ca_file=ca,
        tls_client_cert=cert,
        tls_client_key=key,
        tls_scheduler_cert=cert,
        tls_scheduler_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
    )


def has_certificates(security: distributed.Security) -> bool:
    """Whether a client can show one, and check the other's."""
    return bool(security.tls_ca_file and security.tls_client_cert)


def is_open(address: str) -> bool:
    """Whether what is said to this address can be heard on a network."""
    parts = urlsplit(address if "://" in address else f"tcp://{address}")
    if parts.scheme == "tls":
        return False
    if parts.hostname in ("localhost", None):
        return False
    try:
        return not ipaddress.ip_address(parts.hostname).is_loopback
    except ValueError:
        return True
