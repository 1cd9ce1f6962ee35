"""Who can reach a Dask cluster: on this machine no one from outside, and beyond it those who show a
certificate.
"""

from __future__ import annotations

import ipaddress
import shutil
import subprocess
import urllib.error
import urllib.request
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import tutelage as tt
from tutelage.cli import main
from tutelage.cli.certificates import Certificates, is_open, make_security, read_certificates
from tutelage.cli.engines import NO_PAGES, open_engine
from tutelage.running.engines.cluster import CLOSING

distributed = pytest.importorskip(
    "distributed", reason="the cluster engine needs pip install 'tutelage[cluster]'"
)
psutil = pytest.importorskip("psutil")
BASE = tt.Setting(
    tt.Part("convolution", tokens=4, support=2, outputs=1, dim=2),
    rate=0.1,
    steps=20,
    measures=("excess_risk",),
)


def listening() -> set[tuple[str, int]]:
    """The addresses at which this process and those that it started wait for others."""
    here = psutil.Process()
    return {
        (connection.laddr.ip, connection.laddr.port)
        for process in [here, *here.children(recursive=True)]
        for connection in process.net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN
    }


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """One certificate, by which all processes know one another."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, which makes a certificate")
    folder = tmp_path_factory.mktemp("certificates")
    return make_certificate(folder)


def make_certificate(folder: Path) -> Certificates:
    key, cert = folder / "key.pem", folder / "cert.pem"
    making = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=tutelage"
    command = [*making.split(), "-keyout", str(key), "-out", str(cert)]
    subprocess.run(command, check=True, capture_output=True)
    return Certificates(cert, cert, key)


@pytest.fixture
def quiet() -> Iterator[None]:
    CLOSING.clear()  # by which workers that were threads of this process have ended before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sockets that Python finds open while a cluster closes
        yield
    CLOSING.clear()


@pytest.mark.depth
@pytest.mark.usefixtures("quiet")
def test_local_workers_listen_on_loopback_alone_and_show_no_pages(tmp_path):
    before = listening()
    with open_engine(1, None, None, ()) as engine:
        opened = listening() - before
        assert len(opened) >= 3  # the scheduler, the worker and its nanny
        assert [ip for ip, _ in opened if not ipaddress.ip_address(ip).is_loopback] == []
        for page in ("status", "info/main/workers.html", "health", "api/v1/retire_workers"):
            assert [answer(port, page) for _, port in opened] == [None] * len(opened)
        (run,) = tt.execute([BASE], store=tt.Store(tmp_path), engine=engine)
    assert run.complete


def answer(port: int, page: str) -> int | None:
    """The status of a page where a port has one."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}", timeout=2) as found:
            return int(found.status)
    except (OSError, urllib.error.HTTPError, ValueError):
        return None
    except Exception:  # what answers there speaks another language
        return None


@pytest.mark.depth
@pytest.mark.usefixtures("quiet")
def test_workers_with_certificates_speak_to_no_one_else(certificates, tmp_path):
    with open_engine(1, None, None, (), certificates) as engine:
        address = engine.client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        (run,) = tt.execute([BASE], store=tt.Store(tmp_path), engine=engine)
        assert run.complete
        for stranger in (address, address.replace("tls", "tcp")):
            with pytest.raises((OSError, TypeError)):
                distributed.Client(stranger, timeout=2)


@pytest.mark.usefixtures("quiet")
def test_a_scheduler_with_tls_is_joined_with_the_right_certificate(certificates, tmp_path, capsys):
    security = make_security(certificates)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tls://",
        security=security,
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs=NO_PAGES,
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        with open_engine(None, address, None, (), certificates) as engine:
            (run,) = tt.execute([BASE], store=tt.Store(tmp_path), engine=engine)
        assert run.complete
        other = tmp_path / "other"
        other.mkdir()
        with (
            pytest.raises(tt.Refused, match="must be the address of a running Dask scheduler"),
            open_engine(None, address, None, (), make_certificate(other)),
        ):
            pass


def test_tls_without_certificates_is_refused_with_what_to_do(capsys, tmp_path):
    arguments = ["run", "teacher-models/rates", "--scheduler", "tls://127.0.0.1:1"]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--steps", "10", "--case", "cnn-relu", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "`--tls-ca`, `--tls-cert` and `--tls-key`" in capsys.readouterr().err


def test_certificates_are_files_and_go_together(tmp_path):
    file = tmp_path / "cert.pem"
    file.write_text("")
    assert read_certificates(None, None, None) is None
    with pytest.raises(tt.Refused, match="Got none for --tls-key"):
        read_certificates(file, file, None)
    with pytest.raises(tt.Refused, match="which is not one"):
        read_certificates(file, file, tmp_path / "missing.pem")
    with (
        pytest.raises(tt.Refused, match="threads of one process"),
        open_engine(None, None, None, (), Certificates(file, file, file)),
    ):
        pass


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.1:8786", True),
        ("node7:8786", True),
        ("tls://node7:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("localhost:8786", False),
    ],
)
def test_an_open_connection_is_told(address, said):
    assert is_open(address) is said
