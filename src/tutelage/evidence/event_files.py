"""TensorBoard's event files: scalars in, scalars out, without TensorFlow.

A file is a sequence of TFRecords: the length (8 bytes), its masked CRC-32C (4), the data, and the
masked CRC-32C of the data (4), all little-endian. The data is a protocol buffer, `Event`:

    Event    1 wall_time (double)   2 step (int64)   3 file_version (string)   5 summary (Summary)
    Summary  1 value (Value, repeated)
    Value    1 tag (string)   2 simple_value (float)   8 tensor (TensorProto)
    Tensor   1 dtype (1 float, 2 double)   4 tensor_content   5 float_val   6 double_val
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

from tutelage.refuse import Refused

VERSION = b"brain.Event:2"
POLYNOMIAL = 0x82F63B78  # Castagnoli's, reflected
MASK = 0xA282EAD8
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
FLOAT, DOUBLE = 1, 2  # types of a tensor


class Scalar(NamedTuple):
    """One value of one tag."""

    tag: str
    step: int
    value: float


def _crc_table() -> tuple[int, ...]:
    found = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ POLYNOMIAL if value & 1 else value >> 1
        found.append(value)
    return tuple(found)


CRC = _crc_table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted as TFRecords have it."""
    value = 0xFFFFFFFF
    for byte in data:
        value = CRC[(value ^ byte) & 0xFF] ^ (value >> 8)
    value ^= 0xFFFFFFFF
    return ((value >> 15 | value << 17) + MASK) & 0xFFFFFFFF


def read_scalars(data: bytes, source: str) -> list[Scalar]:
    """The scalars of a file, in its order. A last record that is not whole yet is left out, since
    the program that writes it may still be running.
    """
    return [scalar for record in _records(data, source) for scalar in _scalars(record)]


def write_record(data: bytes) -> bytes:
    """A record that holds some data."""
    length = struct.pack("<Q", len(data))
    ends = (struct.pack("<I", masked_crc(part)) for part in (length, data))
    return length + next(ends) + data + next(ends)


def write_beginning(wall_time: float) -> bytes:
    """The first record of a file, which says what it is."""
    return write_record(_double(1, wall_time) + _bytes(3, VERSION))


def write_scalars(wall_time: float, step: int, values: dict[str, float]) -> bytes:
    """A record of the values of some tags at one step, in single precision as TensorBoard keeps
    them.
    """
    summary = b"".join(
        _bytes(1, _bytes(1, tag.encode()) + _key(2, FIXED32) + struct.pack("<f", value))
        for tag, value in values.items()
    )
    step_field = _key(2, VARINT) + _varint(step)
    return write_record(_double(1, wall_time) + step_field + _bytes(5, summary))


def _records(data: bytes, source: str) -> Iterator[bytes]:
    at = 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        (crc,) = struct.unpack_from("<I", data, at + 8)
        if crc != masked_crc(data[at : at + 8]):
            raise _damaged(source, at)
        end = at + 12 + length
        if end + 4 > len(data):
            return
        record = data[at + 12 : end]
        if struct.unpack_from("<I", data, end)[0] != masked_crc(record):
            raise _damaged(source, at)
        yield record
        at = end + 4


def _damaged(source: str, at: int) -> Refused:
    return Refused(
        "An event file of TensorBoard must be a sequence of records with the right checksums. Got "
        f"{source}, which has none at byte {at:,}."
    )


def _scalars(event: bytes) -> Iterator[Scalar]:
    step, summaries = 0, []
    for number, _, value in _fields(event):
        if number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >= 1 << 63 else value
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, _, value in _fields(summary):
            if number == 1 and isinstance(value, bytes):
                tag, found = _read_value(value)
                if found is not None:
                    yield Scalar(tag, step, found)


def _read_value(data: bytes) -> tuple[str, float | None]:
    """The tag of a summary's value, and the number; None where it is a picture or a histogram."""
    tag, found = "", None
    for number, wire, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            tag = value.decode(errors="replace")
        elif number == 2 and wire == FIXED32 and isinstance(value, bytes):
            (found,) = struct.unpack("<f", value)
        elif number == 8 and isinstance(value, bytes):
            found = _read_tensor(value)
    return tag, found


def _read_tensor(data: bytes) -> float | None:
    """The number in a tensor that holds just one."""
    dtype, content = 0, b""
    for number, _, value in _fields(data):
        if number == 1 and isinstance(value, int):
            dtype = value
        elif number in (4, 5, 6) and isinstance(value, bytes):
            content = value
    shape = {FLOAT: "<f", DOUBLE: "<d"}.get(dtype)
    if shape is None or len(content) != struct.calcsize(shape):
        return None
    return float(struct.unpack(shape, content)[0])


def _fields(data: bytes) -> Iterator[tuple[int, int, int | bytes]]:
    """The fields of a message: number, wire type, and the value as an integer or as bytes."""
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        value: int | bytes
        if wire == VARINT:
            value, at = _read_varint(data, at)
        elif wire in (FIXED64, FIXED32):
            size = 8 if wire == FIXED64 else 4
            value, at = data[at : at + size], at + size
        elif wire == BYTES:
            length, at = _read_varint(data, at)
            value, at = data[at : at + length], at + length
        else:
            raise Refused(f"An event holds fields of types 0, 1, 2 and 5. Got type {wire}.")
        yield number, wire, value


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data):
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise Refused("An event holds whole numbers. Got one that is cut off.")


def _varint(value: int) -> bytes:
    found = bytearray()
    while value >= 0x80:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def _key(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _bytes(number: int, data: bytes) -> bytes:
    return _key(number, BYTES) + _varint(len(data)) + data


def _double(number: int, value: float) -> bytes:
    return _key(number, FIXED64) + struct.pack("<d", value)
