# SPDX-License-Identifier: Apache-2.0
"""Reads a FIX SBE 1.0 schema and checks it against SBE and against the stricter rules that schema/corro.xml states.

Every fault is a SchemaError that names the element. What comes out is flat: a message has leaves, each with an offset
from the start of its block, in order and without gaps.
"""

import dataclasses
import xml.etree.ElementTree as ElementTree

NAMESPACE = "{http://fixprotocol.io/2016/sbe}"

PRIMITIVE_SIZES = {
    "char": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
}

# The attributes that SBE 1.0 gives each element, as far as this generator knows what to do with them.
ATTRIBUTES = {
    NAMESPACE + "messageSchema": {"package", "id", "version", "semanticVersion", "description", "byteOrder", "headerType"},
    NAMESPACE + "message": {"name", "id", "blockLength", "description"},
    "types": set(),
    "type": {"name", "primitiveType", "length", "presence", "nullValue", "minValue", "maxValue", "characterEncoding",
             "semanticType", "description"},
    "composite": {"name", "semanticType", "description"},
    "ref": {"name", "type"},
    "enum": {"name", "encodingType", "description"},
    "set": {"name", "encodingType", "description"},
    "validValue": {"name", "description"},
    "choice": {"name", "description"},
    "field": {"name", "id", "type", "offset", "description"},
}


class SchemaError(Exception):
    """The schema breaks a rule. The text names the rule and the place."""


@dataclasses.dataclass
class Value:
    """One value of an enumeration, or one bit of a set (number = the bit's position)."""
    name: str
    number: int
    description: str


@dataclasses.dataclass
class Type:
    """A type of fixed size: kind is "number", "bytes", "text", "reserved", "price", "enum" or "set"."""
    name: str
    kind: str
    primitive: str
    size: int
    alignment: int
    description: str = ""
    minimum: int | None = None
    maximum: int | None = None
    null: int | None = None
    exponent: int = 0
    values: list[Value] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Composite:
    """A group of types that stand together: (name, type, description) in order."""
    name: str
    members: list[tuple[str, Type, str]]
    description: str = ""


@dataclasses.dataclass
class Leaf:
    """One field of a message, composites taken apart."""
    name: str
    type: Type
    offset: int
    field_id: int
    description: str


@dataclasses.dataclass
class Message:
    name: str
    template_id: int
    block_bytes: int
    description: str
    leaves: list[Leaf]


@dataclasses.dataclass
class Schema:
    package: str
    schema_id: int
    version: int
    description: str
    header: list[Leaf]
    types: dict[str, Type]
    composites: dict[str, Composite]
    messages: list[Message]

    @property
    def header_bytes(self):
        return sum(leaf.type.size for leaf in self.header)


def attribute(element, name):
    value = element.get(name)
    if value is None:
        raise SchemaError(f"<{element.tag} name={element.get('name')!r}> has no attribute {name!r}")
    return value


def number(element, name):
    text = attribute(element, name)
    try:
        return int(text)
    except ValueError:
        raise SchemaError(f"<{element.tag} name={element.get('name')!r}>: {name}={text!r} is not a number") from None


def optional_number(element, name):
    return None if element.get(name) is None else number(element, name)


def primitive_size(element, primitive):
    if primitive not in PRIMITIVE_SIZES:
        raise SchemaError(f"{element.get('name')!r}: no such primitive type: {primitive!r}")
    return PRIMITIVE_SIZES[primitive]


def read_simple(element):
    name = attribute(element, "name")
    primitive = attribute(element, "primitiveType")
    size = primitive_size(element, primitive)
    length = optional_number(element, "length") or 1
    if name.startswith("reserved_"):
        kind = "reserved"
        if name != f"reserved_{length}" or primitive != "uint8":
            raise SchemaError(f"type {name!r}: a reserved type is uint8 and is named after its length")
    elif primitive == "char":
        kind = "text"
    elif length > 1:
        kind = "bytes"
        if primitive != "uint8":
            raise SchemaError(f"type {name!r}: arrays are of uint8 or char")
    else:
        kind = "number"
    return Type(name, kind, primitive, size * length, size, element.get("description", ""),
                optional_number(element, "minValue"), optional_number(element, "maxValue"))


def read_values(element, tag, text_limit):
    values = []
    for child in element:
        if child.tag != tag:
            raise SchemaError(f"<{child.tag}> inside {element.get('name')!r}: only <{tag}> belongs there")
        value = Value(attribute(child, "name"), int(child.text), child.get("description", ""))
        if not 0 <= value.number < text_limit:
            raise SchemaError(f"{element.get('name')}.{value.name}: {value.number} does not fit the encoding type")
        values.append(value)
    for what in ("name", "number"):
        seen = [getattr(value, what) for value in values]
        if len(set(seen)) != len(seen):
            raise SchemaError(f"{element.get('name')!r}: a {what} stands twice")
    return values


def read_enumeration(element, kind):
    name = attribute(element, "name")
    primitive = attribute(element, "encodingType")
    size = primitive_size(element, primitive)
    if not primitive.startswith("uint"):
        raise SchemaError(f"{name!r}: enumerations and sets are unsigned")
    bits = 8 * size
    values = (read_values(element, "validValue", 2 ** bits - 1) if kind == "enum"
              else read_values(element, "choice", bits))
    return Type(name, kind, primitive, size, size, element.get("description", ""), values=values)


def read_price(element):
    """A composite of a 64-bit mantissa and a constant exponent is a decimal."""
    mantissa, exponent = element[0], element[1]
    if attribute(mantissa, "primitiveType") != "int64" or attribute(exponent, "presence") != "constant":
        raise SchemaError(f"composite {element.get('name')!r}: a decimal is an int64 and a constant exponent")
    return Type(attribute(element, "name"), "price", "int64", 8, 8, element.get("description", ""),
                null=optional_number(mantissa, "nullValue"), exponent=int(exponent.text))


def read_composite(element, types):
    members = []
    for child in element:
        name = attribute(child, "name")
        if child.tag == "ref":
            target = attribute(child, "type")
            if target not in types:
                raise SchemaError(f"composite {element.get('name')!r}: no type {target!r} stands before it")
            member = types[target]
        elif child.tag == "type":
            member = read_simple(child)
        else:
            raise SchemaError(f"composite {element.get('name')!r}: <{child.tag}> is not supported")
        text = (child.text or "").strip() if child.tag == "ref" else child.get("description", "")
        members.append((name, member, text))
    return Composite(attribute(element, "name"), members, element.get("description", ""))


def is_price(element):
    return [child.get("name") for child in element] == ["mantissa", "exponent"]


def read_types(root):
    types, composites = {}, {}
    for element in root.find("types"):
        if element.tag == "type":
            made = read_simple(element)
        elif element.tag in ("enum", "set"):
            made = read_enumeration(element, element.tag)
        elif element.tag == "composite" and is_price(element):
            made = read_price(element)
        elif element.tag == "composite":
            made = read_composite(element, types)
        else:
            raise SchemaError(f"<{element.tag}> is not supported")
        if made.name in types or made.name in composites:
            raise SchemaError(f"type {made.name!r} is defined twice")
        (composites if isinstance(made, Composite) else types)[made.name] = made
    return types, composites


def lay_out(place, members, start, field_id):
    """Leaves for the members of a composite, each checked to stand aligned."""
    leaves, offset = [], start
    for name, member, description in members:
        if offset % member.alignment:
            raise SchemaError(f"{place}.{name}: offset {offset} is not a multiple of {member.alignment}")
        leaves.append(Leaf(name, member, offset, field_id, description))
        offset += member.size
    return leaves, offset


def read_message(element, types, composites):
    name = attribute(element, "name")
    block_bytes = number(element, "blockLength")
    leaves, end = [], 0
    for field in element:
        if field.tag != "field":
            raise SchemaError(f"message {name!r}: <{field.tag}> is not supported: messages are of fixed size")
        place = f"{name}.{attribute(field, 'name')}"
        if number(field, "offset") != end:
            raise SchemaError(f"{place}: offset {field.get('offset')}, but the field before it ends at {end}")
        type_name, field_id = attribute(field, "type"), number(field, "id")
        if type_name in composites:
            members = composites[type_name].members
        elif type_name in types:
            made = types[type_name]
            members = [(attribute(field, "name"), made, field.get("description", ""))]
        else:
            raise SchemaError(f"{place}: no such type: {type_name!r}")
        if (type_name.startswith("reserved_")) != (attribute(field, "name") == "reserved"):
            raise SchemaError(f"{place}: fields of a reserved type, and only they, are named reserved")
        more, end = lay_out(place, members, end, field_id)
        leaves += more
    if end != block_bytes:
        raise SchemaError(f"message {name!r}: blockLength {block_bytes}, but its fields end at {end}")
    if block_bytes % 8:
        raise SchemaError(f"message {name!r}: blockLength {block_bytes} is not a multiple of 8")
    names = [leaf.name for leaf in leaves if leaf.type.kind != "reserved"]
    if len(set(names)) != len(names):
        raise SchemaError(f"message {name!r}: a field name stands twice")
    return Message(name, number(element, "id"), block_bytes, element.get("description", ""), leaves)


def check_attributes(root):
    for element in root.iter():
        if element.tag not in ATTRIBUTES:
            raise SchemaError(f"<{element.tag}> is not supported")
        unknown = set(element.keys()) - ATTRIBUTES[element.tag]
        if unknown:
            raise SchemaError(f"<{element.tag} name={element.get('name')!r}>: no such attribute: {', '.join(unknown)}")


def check_ids(root, messages):
    for what in ("name", "template_id"):
        seen = [getattr(message, what) for message in messages]
        if len(set(seen)) != len(seen):
            raise SchemaError(f"two messages have the same {what}")
    names_by_id, ids_by_name = {}, {}
    for field in root.iter("field"):
        name, field_id = field.get("name"), number(field, "id")
        if names_by_id.setdefault(field_id, name) != name or ids_by_name.setdefault(name, field_id) != field_id:
            raise SchemaError(f"field {name!r} with id {field_id}: one id means one name")
        if not 0 < field_id < 65536:
            raise SchemaError(f"field {name!r}: id {field_id} does not fit 16 bits")


def read(text):
    """Parses and checks the schema in `text`. Raises SchemaError."""
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise SchemaError(f"not well-formed: {error}") from None
    if root.tag != NAMESPACE + "messageSchema":
        raise SchemaError(f"the root is <{root.tag}>, not a messageSchema of FIX SBE 1.0")
    if attribute(root, "byteOrder") != "bigEndian":
        raise SchemaError("byteOrder must be bigEndian")
    check_attributes(root)
    types, composites = read_types(root)
    header_type = composites.get(attribute(root, "headerType"))
    if header_type is None:
        raise SchemaError("headerType names no composite")
    header, header_end = lay_out(header_type.name, header_type.members, 0, 0)
    expected = [("blockLength", 0), ("templateId", 2), ("schemaId", 4), ("version", 6), ("sequence", 8)]
    if [(leaf.name, leaf.offset) for leaf in header] != expected or header_end != 16:
        raise SchemaError("the header must be blockLength, templateId, schemaId, version, sequence: 16 bytes")
    messages = [read_message(element, types, composites) for element in root.findall(NAMESPACE + "message")]
    check_ids(root, messages)
    return Schema(attribute(root, "package"), number(root, "id"), number(root, "version"),
                  root.get("description", ""), header, types, composites, messages)
