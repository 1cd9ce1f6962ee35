"""Odd paths and queries, long bodies, foreign pages and strangers are answered with a refusal."""

from urllib.parse import quote

import pytest
from asking import Client

from tutelage.explorer.event_stream import EventStream
from tutelage.explorer.server import COOKIE, MOST_BODY, Explorer
from tutelage.explorer.serving import MOST_CONNECTIONS, server_of


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return str(tmp_path_factory.mktemp("out"))


@pytest.fixture(scope="module")
def client(place):
    return Client(Explorer(store=place).app(), errs=True)


ODD = ("\0", "a" * 5000, "..", "../../server.py", "%", "²", "\udcff", "a\nb", "[/]", "//")


@pytest.mark.parametrize(
    "address",
    [
        *(f"/page/{quote(odd, errors='surrogatepass')}" for odd in ODD),
        *(f"/{quote(odd, errors='surrogatepass', safe='')}" for odd in ODD),
        *(f"/api/study/{quote(odd, errors='surrogatepass', safe='')}" for odd in ODD),
        *(f"/api/saved/{quote(odd, errors='surrogatepass', safe='')}/3" for odd in ODD),
        f"/api/saved/abc/{quote('²')}",
        f"/api/saved/abc/{'9' * 5000}",
        "/api/saved?where=%00",
        "/api/saved?where=a%3D%5B" + "%5B" * 3000,
        "/api/saved?where=a%3D" + "9" * 5000,
        "/api/describe?rate=" + "9" * 5000,
        "/api/describe?teacher=convolution&teacher.norm=" + "9" * 400,
        "/api/describe?teacher.selection=" + "%5B" * 20000,
        "/api/describe?seed=" + "9" * 30,
        "/api/describe?%FF%FE=%00",
    ],
)
def test_no_address_is_an_error_of_the_server(client, address):
    assert client.get(address).status_code < 500


def test_a_long_body_is_not_read(client):
    sent = 0

    async def endless():
        nonlocal sent
        while sent < 100 * MOST_BODY:
            sent += MOST_BODY
            yield b" " * MOST_BODY

    answer = client.post(
        "/api/save", content=endless(), headers={"content-type": "application/json"}
    )
    assert "at most 4,096 bytes" in answer.json()["sentence"]
    deep = client.post(
        "/api/save", content="[" * 4000, headers={"content-type": "application/json"}
    )
    assert deep.json()["ok"] is False


def test_a_foreign_page_is_not_answered_either(client):
    for address in ("/api/run?", "/api/describe?", "/api/catalogue"):
        answer = client.get(address, headers={"origin": "http://evil.example"})
        assert answer.status_code == 403
    own = {"origin": "http://127.0.0.1:8000"}
    assert client.get("/api/catalogue", headers=own).status_code == 200


def test_every_loopback_address_is_this_machine(client):
    for host in ("127.0.0.2:8000", "127.1.2.3", "[::1]"):
        assert client.get("/api/catalogue", headers={"host": host}).status_code == 200
    assert client.get("/api/catalogue", headers={"host": "128.0.0.1"}).status_code == 403


def test_strangers_must_show_the_token(place):
    client = Client(Explorer(host="0.0.0.0", store=place, token="s3cret").app(), errs=True)
    for address in ("/", "/api/catalogue", "/api/run?", "/page/app.js", "/?token=other"):
        assert client.get(address).status_code == 401
    admitted = client.get("/?token=s3cret&rate=0.1")
    assert admitted.status_code == 303
    assert admitted.headers["location"] == "/?rate=0.1"
    given = admitted.headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=strict" in given
    assert client.get("/", headers={"cookie": f"{COOKIE}=s3cret"}).status_code == 200
    assert client.get("/", headers={"cookie": f"{COOKIE}=s3cre"}).status_code == 401


def test_a_token_leads_nowhere_else(place):
    client = Client(Explorer(host="0.0.0.0", store=place, token="s3cret").app(), errs=True)
    for address in ("//evil.example/?token=s3cret", "/%5Cevil.example/?token=s3cret"):
        assert (
            not client.get(address).headers.get("location", "/").startswith(("//", "/\\", "http"))
        )


def test_a_client_from_elsewhere_has_one_name(place):
    explorer = Explorer(store=place)
    assert EventStream(explorer, "", "chosen.1", "192.168.1.7").who == "192.168.1.7"
    assert EventStream(explorer, "", "chosen.1", "127.0.0.1").who == "chosen"


def test_connections_are_counted(place):
    assert server_of(Explorer(store=place)).config.limit_concurrency == MOST_CONNECTIONS
