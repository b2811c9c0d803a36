# SPDX-License-Identifier: Apache-2.0
"""The generated codec of Corro Binary."""

from __future__ import annotations

import dataclasses
import decimal
import hashlib
import hmac
import random
import re
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import ROOT

from corro import wire


def some_message(kind: type[wire.Message], random_numbers: random.Random) -> wire.Message:
    """A message with a random value in each field."""
    message = kind()
    for field in dataclasses.fields(kind):  # type: ignore[arg-type]
        old = getattr(message, field.name)
        if isinstance(old, bytes):
            value: object = random_numbers.randbytes(len(old))
        elif isinstance(old, str):
            value = "".join(random_numbers.choices("ABCxyz09-_", k=random_numbers.randrange(1, 24)))
        elif isinstance(old, wire.enum.IntFlag):
            value = type(old)(sum(each for each in type(old) if random_numbers.random() < 0.5))
        elif isinstance(old, wire.enum.IntEnum):
            value = random_numbers.choice(list(type(old)))
        else:
            value = old if old else random_numbers.randrange(0, 3)
        setattr(message, field.name, value)
    return message


def test_every_message_comes_back_as_it_was_written():
    random_numbers = random.Random(7)
    for kind in wire.MESSAGES.values():
        for _ in range(20):
            message = some_message(kind, random_numbers)
            frame = message.frame(12)
            length, template, schema, version, sequence = wire.HEADER.unpack_from(frame)
            assert (template, schema, version, sequence) == (kind.TEMPLATE, 4125, wire.SCHEMA_VERSION, 12)
            assert len(frame) == 16 + length and length == kind.LAYOUT.size
            assert kind.read(frame, 16) == message


def test_layouts_are_those_of_the_schema():
    root = ElementTree.parse(ROOT / "schema" / "corro.xml").getroot()
    found = {int(each.get("id")): int(each.get("blockLength")) for each in root if each.tag.endswith("message")}
    assert found == {number: kind.LAYOUT.size for number, kind in wire.MESSAGES.items()}


def in_words(value: object) -> str:
    """A field's value as the examples of the specification write it, but for prices and times."""
    if isinstance(value, wire.enum.IntFlag):
        return " and ".join(each.name.lower() for each in type(value) if each in value) or "0"
    if isinstance(value, wire.enum.IntEnum):
        return value.name.lower()
    return f'"{value}"' if isinstance(value, str) else "no price" if value is None else str(value)


def test_examples_of_the_specification_are_what_this_package_reads_and_writes():
    page = (ROOT / "docs" / "spec" / "corro_binary.md").read_text(encoding="utf-8")
    parts = [(part.split("\n", 1)[0], part.partition("```hex\n")[2]) for part in page.split("\n#### ")[1:]]
    examples = [(name, dump.partition("\n```")[0]) for name, dump in parts]
    kinds = {kind.NAME: kind for kind in wire.MESSAGES.values()}
    assert [name for name, _ in examples] == list(kinds)
    compared = 0
    for name, dump in examples:
        frame = bytes.fromhex("".join(line[5:28] for line in dump.splitlines()))
        length, template, _, _, sequence = wire.HEADER.unpack_from(frame)
        message = kinds[name].read(frame, 16)
        assert (template, length) == (kinds[name].TEMPLATE, len(frame) - 16)
        assert message.frame(sequence) == frame
        notes = [note for line in dump.splitlines()[2:] for note in line[31:].split(", ") if note]
        fields = [field.name for field in dataclasses.fields(kinds[name])]  # type: ignore[arg-type]
        assert [note.split(" ")[0] for note in notes] == fields, name
        for note in notes:
            field, _, words = note.partition(" ")
            value = getattr(message, field)
            if isinstance(value, bytes):
                continue
            if re.fullmatch(r"[\d-]+ [\d:]+\.\d{9}", words):  # a time
                assert int(words[-9:]) == value % 10**9, (name, note)
            elif isinstance(value, int) and type(value) is int and words != str(value):  # a price
                assert decimal.Decimal(words).scaleb(9) == value, (name, note)
            else:
                assert words == in_words(value), (name, note)
            compared += 1
    assert compared > 450


def test_the_logon_of_the_specification_has_that_proof():
    page = (ROOT / "docs" / "spec" / "corro_binary.md").read_text(encoding="utf-8")
    lines = page.partition("\n## A logon to test with\n")[2].partition("```hex\n")[2].partition("\n```")[0].splitlines()
    parts: dict[str, bytes] = {}
    title = ""
    for line in lines:
        title = line[:21].strip() or title
        parts[title] = parts.get(title, b"") + bytes.fromhex(line[21:])
    assert parts["authenticated bytes"][:45] == b"corro-logon-1" + parts["challenge's nonce"]
    assert hmac.digest(parts["key"], parts["authenticated bytes"], hashlib.sha256) == parts["proof"]
    assert hmac.digest(parts["key"], b"corro-key-1", hashlib.sha256)[:8] == parts["key_id"]


def test_bytes_are_those_of_the_specification():
    """enter_order, field by field, big-endian."""
    frame = wire.EnterOrder(client_order=0x0102, price=-1, quantity=5, instrument=3, side=wire.Side.SELL,
                            order_flags=wire.OrderFlags.POST_ONLY).frame(9)
    assert frame[:16].hex() == "00480010101d00020000000000000009"
    assert frame[16:24].hex() == "0000000000000102"
    assert frame[24:32].hex() == "ff" * 8
    assert frame[32:40].hex() == "0000000000000005"
    assert frame[40:44].hex() == "00000003"
    assert frame[44] == 1 and frame[48] == 1


@pytest.mark.parametrize("change, message", [
    ((44, 9), "enter_order: 9 is not a valid Side"),
    ((48, 128), "enter_order: order_flags is 128"),
])
def test_bytes_that_the_schema_does_not_allow_are_refused(change, message):
    frame = bytearray(wire.EnterOrder().frame())
    frame[change[0]] = change[1]
    with pytest.raises(wire.WireError, match=message):
        wire.EnterOrder.read(frame, 16)


def test_values_that_do_not_fit_are_refused():
    with pytest.raises(wire.WireError, match="enter_order: a value does not fit"):
        wire.EnterOrder(quantity=2**63).frame()
    with pytest.raises(wire.WireError, match="longer than 24 bytes"):
        wire.InstrumentDefinition(symbol="X" * 25).frame()
    with pytest.raises(wire.WireError, match="does not fit"):
        wire.InstrumentDefinition(symbol="\u20ac").frame()
    with pytest.raises(wire.WireError, match="heartbeat_interval_ms is 99"):
        wire.Hello.read(wire.Hello(heartbeat_interval_ms=99).block())
