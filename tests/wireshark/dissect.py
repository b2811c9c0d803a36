# SPDX-License-Identifier: Apache-2.0
"""Runs tshark with the Corro dissector over a capture and reads back what it shows. Also decodes messages straight from
the schema, as an opinion to compare with that owes nothing to the dissector's code."""

import pathlib
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from wire_generator import schema  # noqa: E402

DISSECTOR = ROOT / "tools/wireshark/corro.lua"
FAULTS = ("corro.fault", "corro.note")


def tshark_path():
    return shutil.which("tshark")


def read_schema():
    return schema.read((ROOT / "schema/corro.xml").read_text(encoding="utf-8"))


def run_tshark(capture_path, *options):
    """The capture as PDML, parsed. Raises when tshark or the dissector complains."""
    command = [tshark_path(), "-X", f"lua_script:{DISSECTOR}", "-r", str(capture_path), "-T", "pdml", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    complaints = [line for line in done.stderr.splitlines() if "Running as user" not in line and line.strip()]
    if complaints or "Lua Error" in done.stdout:
        raise RuntimeError("\n".join(complaints) or "the dissector stopped with a Lua error")
    return ElementTree.fromstring(done.stdout)


def messages_shown(pdml):
    """For each Corro message that tshark shows, in order: its fields by name (without "corro."), as raw bytes, with the
    text that tshark shows for it and the complaints about it."""
    messages = []
    for proto in pdml.iter("proto"):
        if proto.get("name") != "corro":
            continue
        fields, texts, faults = {}, {}, []
        for field in proto.iter("field"):
            name = field.get("name")
            if name.startswith(FAULTS):
                faults.append(field.get("showname", ""))
            elif name.startswith("corro.") and name.count(".") == 1:
                fields[name.removeprefix("corro.")] = bytes.fromhex(field.get("value", ""))
                texts[name.removeprefix("corro.")] = field.get("showname", "")
        messages.append({"fields": fields, "texts": texts, "faults": faults})
    return messages


def split(stream):
    """The messages in a stream of whole frames."""
    messages, at = [], 0
    while at < len(stream):
        size = 16 + int.from_bytes(stream[at:at + 2], "big")
        messages.append(stream[at:at + size])
        at += size
    return messages


def expected_fields(description, message):
    """Returns the raw bytes of `message` by field name, as the schema defines them, header included."""
    template_id = int.from_bytes(message[2:4], "big")
    layout = next(each for each in description.messages if each.template_id == template_id)
    fields = {"block_length": message[0:2], "message": message[2:4], "schema_id": message[4:6],
              "version": message[6:8], "sequence": message[8:16]}
    for leaf in layout.leaves:
        if leaf.type.kind != "reserved":
            at = description.header_bytes + leaf.offset
            fields[leaf.name] = message[at:at + leaf.type.size]
    return layout, fields


def text_of(made, raw):
    """What must stand in the text that tshark shows for a field; None where the raw bytes say enough."""
    value = int.from_bytes(raw, "big", signed=made.primitive.startswith("int"))
    if made.kind == "enum":
        return f"{next(each.name for each in made.values if each.number == value)} ({value})"
    if made.kind == "price":
        if value == -2 ** 63:
            return "(none)"
        digits = f"{abs(value):010d}"
        decimal = f"{digits[:-9]}.{digits[-9:]}".rstrip("0").rstrip(".")
        return f"({'-' if value < 0 else ''}{decimal})"
    if made.kind == "text":
        return raw.rstrip(b"\0").decode("ascii")
    if made.kind == "number" and made.name != "time_ns":
        return f": {value}"
    return None


def differences(description, sent, shown):
    """Returns the differences between the messages shown and the frames sent, as sentences."""
    found = []
    if len(sent) != len(shown):
        found.append(f"{len(sent)} messages were sent, {len(shown)} are shown")
    for index, (message, seen) in enumerate(zip(sent, shown)):
        layout, fields = expected_fields(description, message)
        if seen["fields"] != fields:
            found.append(f"message {index}, {layout.name}: sent {fields}, shown {seen['fields']}")
        if seen["faults"]:
            found.append(f"message {index}, {layout.name}: {seen['faults']}")
        for leaf in layout.leaves:
            text = None if leaf.type.kind == "reserved" else text_of(leaf.type, fields[leaf.name])
            if text is not None and text not in seen["texts"].get(leaf.name, ""):
                found.append(f"message {index}, {layout.name}.{leaf.name}: {text!r} is not in "
                             f"{seen['texts'].get(leaf.name)!r}")
    return found


def tshark_version():
    done = subprocess.run([tshark_path(), "--version"], capture_output=True, text=True, timeout=60, check=True)
    return re.search(r"\d+\.\d+\.\d+", done.stdout)[0]
