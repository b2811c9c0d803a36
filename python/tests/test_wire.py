"""The generated codec of Corro Binary."""

from __future__ import annotations

import dataclasses
import random
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
