# SPDX-License-Identifier: Apache-2.0
"""Writes the specification page: docs/spec/corro_binary.md, from schema/corro_binary.md.in and the schema."""

import re

from . import examples
from .schema import Schema, SchemaError, Type

SECTIONS = [
    (0, "Session, both directions"),
    (16, "Requests, client to server"),
    (32, "Private derived messages, server to the order's owner"),
    (48, "Public derived messages, market data"),
    (64, "Reference data and snapshot markers"),
]


def table(columns, rows) -> str:
    head = "| " + " | ".join(columns) + " |\n|" + "---|" * len(columns) + "\n"
    return head + "".join("| " + " | ".join(str(cell) for cell in row) + " |\n" for row in rows)


def encoding(made: Type) -> str:
    """What the bytes are, without what they mean."""
    if made.kind == "text":
        return f"{made.size} ASCII characters"
    if made.kind == "bytes":
        return f"{made.size} bytes"
    if made.kind == "price":
        return f"{made.primitive}, times 10^{made.exponent}"
    return made.primitive


def type_text(made: Type) -> str:
    if made.kind == "reserved":
        return "reserved"
    if made.kind in ("enum", "set"):
        return f"[{made.name}](#{made.name})"
    return made.name if made.name == made.primitive else f"[{made.name}](#types)"


def is_described(made: Type) -> bool:
    return made.kind in ("number", "bytes", "text", "price") and made.name != made.primitive


def type_table(types) -> str:
    return table(["type", "encoding", "meaning"],
                 [(f"`{made.name}`", encoding(made), made.description) for made in types if is_described(made)])


def field_table(leaves) -> str:
    return table(["offset", "size", "field", "id", "type", "meaning"],
                 [(leaf.offset, leaf.type.size, "" if leaf.type.kind == "reserved" else f"`{leaf.name}`",
                   leaf.field_id, type_text(leaf.type), leaf.description) for leaf in leaves])


def section_of(template_id: int) -> str:
    return [title for first, title in SECTIONS if first <= template_id][-1]


def message_text(schema: Schema, message) -> str:
    header_bytes = schema.header_bytes
    return (f"#### {message.name}\n\n{message.description}\n\n"
            f"Template {message.template_id}, block of {message.block_bytes} bytes, "
            f"{header_bytes + message.block_bytes} bytes in all. Offsets count from the start of the block.\n\n"
            f"{field_table(message.leaves)}\n```hex\n{examples.dump(schema, message)}\n```\n\n")


def messages_text(schema: Schema) -> str:
    text, current = "", None
    for message in schema.messages:
        section = section_of(message.template_id)
        if section != current:
            text += f"### {section}\n\n"
            current = section
        text += message_text(schema, message)
    return text.rstrip()


def message_index(schema: Schema) -> str:
    return table(["template", "message", "bytes", ""],
                 [(message.template_id, f"[{message.name}](#{message.name})",
                   schema.header_bytes + message.block_bytes, section_of(message.template_id))
                  for message in schema.messages]).rstrip()


def enumeration_text(made: Type, number: str) -> str:
    rows = table([number, "name", "meaning"],
                 [(value.number, f"`{value.name}`", value.description) for value in made.values])
    return f"### {made.name}\n\n{made.description}\n\n{rows}"


def with_passage(page_text: str, name: str, passage: str) -> str:
    """A page written by hand, with the passage between its marks. What two pages state is written once."""
    begin, end = f"<!-- from schema/{name} by tools/generate_wire.py -->\n", "<!-- end -->"
    before, found, rest = page_text.partition(begin)
    old, also_found, after = rest.partition(end)
    if not found or not also_found:
        raise SchemaError(f"{name}: the page has no place for it")
    return f"{before}{begin}\n{passage}\n\n{end}{after}"


def page(schema: Schema, template: str, last_of_request: str) -> str:
    types = schema.types.values()
    proof = next(message for message in schema.messages if message.name == "hello")
    proof_offset = next(leaf.offset for leaf in proof.leaves if leaf.name == "proof")
    header_rows = table(["offset", "size", "field", "type", "meaning"],
                        [(leaf.offset, leaf.type.size, f"`{leaf.name}`", leaf.type.primitive, leaf.description)
                         for leaf in schema.header])
    values = {
        "schema_id": schema.schema_id,
        "version": schema.version,
        "header_bytes": schema.header_bytes,
        "header_table": header_rows.rstrip(),
        "proof_bytes": len("corro-logon-1") + 32 + proof_offset,
        "logon_vector": examples.logon_vector(schema),
        "message_index": message_index(schema),
        "messages": messages_text(schema),
        "last_of_request": last_of_request,
        "types": type_table(types).rstrip(),
        "enumerations": "\n".join(enumeration_text(made, "number") for made in types if made.kind == "enum").rstrip(),
        "sets": "\n".join(enumeration_text(made, "bit") for made in types if made.kind == "set").rstrip(),
    }

    def replace(match):
        if match[1] not in values:
            raise SchemaError(f"corro_binary.md.in: nothing is known by the name @{match[1]}@")
        return str(values[match[1]])

    return re.sub(r"@(\w+)@", replace, template)
