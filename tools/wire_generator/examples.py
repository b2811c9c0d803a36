# SPDX-License-Identifier: Apache-2.0
"""One worked example of each message, for the specification: its values, its bytes, and both beside each other.

The values are chosen here and nowhere else; a test reads the bytes from the page with the venue's own codec, and the Python package
reads and writes them with its own.
"""

import datetime
import decimal
import hashlib
import hmac

from .schema import Message, Schema, SchemaError, Type

KEY = bytes(range(0x00, 0x20))
NONCE = bytes(range(0x20, 0x40))
CLIENT_NONCE = bytes(range(0x40, 0x50))
PROOF_LABEL = b"corro-logon-1"
KEY_LABEL = b"corro-key-1"

NO_PRICE = None


def price(text: str) -> int:
    """Billionths."""
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(9, "0"))


def moment(text: str) -> int:
    seconds, nanoseconds = text.split(".")
    when = datetime.datetime.fromisoformat(seconds).replace(tzinfo=datetime.timezone.utc)
    return int(when.timestamp()) * 10**9 + int(nanoseconds)


NOW = moment("2026-12-01 14:30:00.123456789")
EXPIRY = moment("2026-12-18 14:30:00.000000000")

# By the field's name; what is in no list is 0. Enumerations by name, sets as names.
VALUES = {
    "nonce": NONCE, "client_nonce": CLIENT_NONCE, "time": NOW, "protocol_version": 2, "protocol_version_min": 1,
    "key_id": int.from_bytes(hmac.digest(KEY, KEY_LABEL, hashlib.sha256)[:8], "big"),
    "account": 7, "session_number": 1, "session": 12, "session_day": 1, "next_sequence": 1, "next_request": 1,
    "heartbeat_interval_ms": 1000, "hello_flags": ["cancel_on_disconnect"], "trading_date": 20261201,
    "requests_per_second_max": 1000, "orders_max": 500, "first_missing": 1,
    "instrument": 1, "client_order": 42, "order": 1001, "trade": 77, "command": 5120, "request": 9, "question": 3,
    "side": "buy", "price": price("5000.25"), "quantity": 3, "order_type": "limit", "time_in_force": "day",
    "self_match_prevention": "cancel_newest", "trigger_price": NO_PRICE, "flags": ["last_of_command"],
    "bid_price": price("5000.00"), "bid_quantity": 12, "ask_price": price("5000.25"), "ask_quantity": 9,
    "last_command": 5120, "last_sequence": 20480, "instruments_count": 4,
}
FOR_OWNER = {"flags": ["last_of_command", "last_of_request"]}
BY_MESSAGE = {
    "heartbeat": {"test_id": 99},
    "logout": {"logout_reason": "requested"},
    "reject": {"refused_sequence": 9, "refused_template": 16, "refused_field": 36, "session_reject_reason": "invalid_value"},
    "hello": {"next_sequence": 0, "session_day": 0},
    "resend_gap": {"next_sequence": 400},
    "venue_status": {"durable_command": 5120, "snapshot_command": 4096, "feed_sequence": 20481, "sessions_count": 2,
                     "sessions_max": 16, "journal_state": "takes_everything", "segments_count": 1},
    "snapshot_answer": {"durable_command": 5120, "snapshot_outcome": "begun"},
    "enter_order": {"order_flags": ["post_only"], "display_quantity": 1},
    "amend_order": {"client_order": 0, "price": price("5000.50"), "quantity": 5, "amend_flags": ["open_quantity"]},
    "cancel_order": {"client_order": 0, "order": 0, "target_request": 9},
    "cancel_orders": {"cancel_scope": "session", "cancel_flags": ["quotes_too"]},
    "query_order": {"client_order": 0, "order": 0, "query_flags": ["all_of_session"]},
    "change_phase": {"trading_phase": "halted", "resume_time": moment("2026-12-01 14:35:00.000000000")},
    "set_limits": {"limited_account": 7, "firm": 2, "order_lots_max": 100, "position_lots_max": 1000, "open_orders_max": 200,
                   "notional_max": 50_000_000},
    "kill_switch": {"killed_account": 7, "kill_scope": "account", "switch_state": "on"},
    "settle_instrument": {"price": price("5001.75")},
    "define_instrument": {"instrument": 9, "like": 1, "symbol": "ESH7", "expiry": EXPIRY, "definition_fields": ["expiry"]},
    "mass_quote": {"quotes_count": 2, "bid_price_1": price("5000.00"), "bid_quantity_1": 12, "ask_price_1": price("5000.25"),
                   "ask_quantity_1": 9, "instrument_1": 1, "bid_price_2": NO_PRICE, "ask_price_2": price("190.14"),
                   "ask_quantity_2": 700, "instrument_2": 3},
    "set_protection": {"fills_max": 10, "lots_max": 200, "window_ms": 1000},
    "order_entered": FOR_OWNER,
    "order_amended": {**FOR_OWNER, "price": price("5000.50"), "quantity": 5},
    "order_cancelled": FOR_OWNER,
    "order_executed": {"quantity": 2, "leaves": 1, "flags": ["aggressor"]},
    "order_rejected": {**FOR_OWNER, "order": 0, "reason": "price_outside_band"},
    "trade_capture": {"quantity": 2, "flags": []},
    "leg_capture": {"instrument": 3, "quantity": 7, "leg_price": price("190.14"), "flags": ["implied"]},
    "order_status": FOR_OWNER,
    "request_done": {**FOR_OWNER, "instrument": 0},
    "quote_entered": FOR_OWNER,
    "protection_changed": {**FOR_OWNER, "instrument": 0, "fills_max": 10, "lots_max": 200, "window_ms": 1000, "fills": 1, "lots": 2},
    "order_added": {"change": 3, "flags": []},
    "order_reduced": {"quantity": 1, "change": 2, "flags": []},
    "order_deleted": {"quantity": 0, "change": 1, "flags": []},
    "level_changed": {"quantity": 12, "orders_count": 4, "flags": []},
    "top_of_book": {},
    "trade": {"quantity": 2, "flags": []},
    "price_update": {"last": price("5000.25"), "high": price("5010.00"), "low": price("4995.75"), "open": price("4999.00")},
    "statistics": {"volume": 1500, "turnover": 30_001_500, "open_interest": 820},
    "phase_changed": {"trading_phase": "halted", "reason": "circuit_breaker",
                      "resume_time": moment("2026-12-01 14:35:00.000000000")},
    "auction_indicative": {"volume": 44, "imbalance": -6},
    "auction_ended": {"volume": 44, "imbalance": -6, "flags": []},
    "instrument_settled": {"price": price("5001.75"), "open_interest": 820},
    "leg_trade": {"instrument": 3, "quantity": 7, "leg_price": price("190.14"), "flags": ["implied"]},
    "instrument_leg": {"instrument": 2, "leg": 3, "ratio": 1000, "leg_index": 0},
    "instrument_definition": {"product": 2, "symbol": "ESZ6", "tick_size": price("0.25"), "price_low": price("4500.00"),
                              "price_high": price("5500.00"), "quantity_max": 1000, "lot_size": 1, "instrument_kind": "future",
                              "match_algorithm": "fifo", "expiry": EXPIRY},
    "instrument_terms": {"instrument": 9, "price_low": price("4500.00"), "price_high": price("5500.00"), "flags": []},
    "instrument_legs": {"instrument": 9, "leg_1": 3, "leg_2": 4, "legs_defined": 2, "flags": []},
    "instrument_defined": {"instrument": 9, "symbol": "ESH7", "expiry": EXPIRY, "like": 1},
}
# Requests and private messages are numbered; of the market's messages the packet's number is the feed's.
NUMBERED = {"requests": (16, 31, 9), "private": (32, 47, 31), "public": (48, 63, 20481), "definitions": (67, 69, 20481)}


def sequence_of(message: Message) -> int:
    for first, last, number in NUMBERED.values():
        if first <= message.template_id <= last and message.name != "instrument_leg":
            return number
    return 0


def value_of(message: Message, name: str):
    return BY_MESSAGE.get(message.name, {}).get(name, VALUES.get(name, 0))


def number_in(made: Type, value, where: str) -> int:
    if made.kind == "enum":
        wanted = made.values[0].name if value == 0 else value
        found = [one.number for one in made.values if one.name == wanted]
    elif made.kind == "set":
        wanted = value or []
        bits = {one.name: one.number for one in made.values}
        found = [sum(1 << bits[name] for name in wanted)] if set(wanted) <= bits.keys() else []
    else:
        found = [made.null if value is NO_PRICE else value]
    if not found or found[0] is None:
        raise SchemaError(f"the example of {where}: {value!r} is no value of {made.name}")
    return found[0]


def bytes_in(made: Type, value, where: str) -> bytes:
    if made.kind == "reserved":
        return bytes(made.size)
    if made.kind == "bytes":
        raw = value or bytes(made.size)
    elif made.kind == "text":
        raw = (value or "").encode("ascii").ljust(made.size, b"\0")
    else:
        raw = number_in(made, value, where).to_bytes(made.size, "big", signed=made.primitive.startswith("int"))
    if len(raw) != made.size:
        raise SchemaError(f"the example of {where}: {value!r} does not fill {made.size} bytes")
    return raw


def shown(made: Type, value) -> str:
    """The value in the reader's words."""
    if made.kind == "price":
        if value is NO_PRICE:
            return "no price"
        return f"{decimal.Decimal(value).scaleb(-9):f}".rstrip("0").rstrip(".")
    if made.kind == "enum":
        return value or made.values[0].name
    if made.kind == "set":
        return " and ".join(value) if value else "0"
    if made.kind == "text":
        return f'"{value or ""}"'
    if made.name == "time_ns" and value:
        when = datetime.datetime.fromtimestamp(value // 10**9, datetime.timezone.utc)
        return f"{when:%Y-%m-%d %H:%M:%S}.{value % 10**9:09}"
    return str(value)


def block_of(message: Message, upto: str | None = None) -> bytes:
    block = b""
    for leaf in message.leaves:
        if leaf.name == upto:
            return block
        value = value_of(message, leaf.name)
        if leaf.name == "proof":
            value = logon_proof(message)
        block += bytes_in(leaf.type, value, f"{message.name}.{leaf.name}")
    return block


def logon_input(hello: Message) -> bytes:
    return PROOF_LABEL + NONCE + block_of(hello, upto="proof")


def logon_proof(hello: Message) -> bytes:
    return hmac.digest(KEY, logon_input(hello), hashlib.sha256)


def frame_of(schema: Schema, message: Message) -> bytes:
    header = {"block_length": message.block_bytes, "template_id": message.template_id, "schema_id": schema.schema_id,
              "version": schema.version, "sequence": sequence_of(message)}
    names = list(header)
    if len(names) != len(schema.header):
        raise SchemaError("the header has other fields than the examples know")
    head = b"".join(header[name].to_bytes(leaf.type.size, "big") for name, leaf in zip(names, schema.header))
    return head + block_of(message)


def hexadecimal(raw: bytes) -> str:
    return " ".join(f"{byte:02x}" for byte in raw)


def dump(schema: Schema, message: Message) -> str:
    """Eight bytes a line, from the start of the message, with the fields that begin there."""
    frame = frame_of(schema, message)
    notes = {0: [f"{message.block_bytes} bytes, template {message.template_id}, schema {schema.schema_id}, version {schema.version}"],
             8: [f"sequence {sequence_of(message)}"]}
    end = schema.header_bytes
    for leaf in message.leaves:
        at = schema.header_bytes + leaf.offset
        end = max(end, at + leaf.type.size)
        if leaf.type.kind == "reserved":
            continue
        value = value_of(message, leaf.name)
        text = leaf.name if leaf.type.kind == "bytes" else f"{leaf.name} {shown(leaf.type, value)}"
        notes.setdefault(at - at % 8, []).append(text)
    lines = []
    for at in range(0, len(frame), 8):
        lines.append(f"{at:3}  {hexadecimal(frame[at:at + 8])}   {', '.join(notes.get(at, []))}".rstrip())
    return "\n".join(lines)


def logon_vector(schema: Schema) -> str:
    hello = next(message for message in schema.messages if message.name == "hello")
    lines = [("key", KEY), ("challenge's nonce", NONCE), ("key_id", VALUES["key_id"].to_bytes(8, "big")),
             ("authenticated bytes", logon_input(hello)), ("proof", logon_proof(hello))]
    text = []
    for name, raw in lines:
        for at in range(0, len(raw), 16):
            text.append(f"{name if at == 0 else '':20} {hexadecimal(raw[at:at + 16])}")
    return "\n".join(text)
