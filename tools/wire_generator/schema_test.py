#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The schema reader takes the schema as it is and finds each kind of mistake in it."""

import pathlib
import sys
import unittest

TOOLS = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TOOLS))

from wire_generator import cpp, dissector, schema, spec  # noqa: E402

TEXT = (TOOLS.parent / "schema/corro.xml").read_text(encoding="utf-8")


class SchemaTest(unittest.TestCase):
    def assert_refuses(self, old, new, complaint):
        self.assertIn(old, TEXT, "the test no longer fits the schema")
        with self.assertRaises(schema.SchemaError) as raised:
            made = schema.read(TEXT.replace(old, new, 1))
            dissector.script(made)
        self.assertIn(complaint, str(raised.exception))

    def test_takes_the_schema_and_lays_every_message_out_without_gaps(self):
        made = schema.read(TEXT)
        self.assertEqual((made.schema_id, made.header_bytes), (4125, 16))
        self.assertEqual(len(made.messages), TEXT.count("<sbe:message "))
        for message in made.messages:
            end = 0
            for leaf in message.leaves:
                self.assertEqual(leaf.offset, end, f"{message.name}.{leaf.name}")
                self.assertEqual((made.header_bytes + leaf.offset) % leaf.type.alignment, 0)
                end += leaf.type.size
            self.assertEqual(end, message.block_bytes, message.name)
            self.assertEqual(end % 8, 0, message.name)

    def test_finds_a_gap_between_fields(self):
        self.assert_refuses('id="10" type="hello_flags" offset="22"', 'id="10" type="hello_flags" offset="23"',
                            "offset 23, but the field before it ends at 22")

    def test_finds_a_field_that_is_not_aligned(self):
        self.assert_refuses('<field name="cancel_sides" id="78" type="cancel_sides" offset="5"/>',
                            '<field name="count" id="999" type="uint16" offset="5"/>',
                            "offset 5 is not a multiple of 2")

    def test_finds_a_block_that_does_not_end_where_it_says(self):
        self.assert_refuses('name="heartbeat" id="4" blockLength="16"', 'name="heartbeat" id="4" blockLength="24"',
                            "blockLength 24, but its fields end at 16")

    def test_finds_a_block_that_is_no_multiple_of_eight(self):
        shorter = TEXT.replace('name="logout" id="5" blockLength="8"', 'name="logout" id="5" blockLength="4"', 1)
        shorter = shorter.replace('type="reserved_7" offset="1"', 'type="reserved_3" offset="1"', 1)
        with self.assertRaisesRegex(schema.SchemaError, "not a multiple of 8"):
            schema.read(shorter)

    def test_finds_ids_and_names_that_stand_twice(self):
        self.assert_refuses('name="hello" id="2"', 'name="hello" id="1"', "same template_id")
        self.assert_refuses('name="hello" id="2"', 'name="challenge" id="2"', "same name")
        self.assert_refuses('name="test_id" id="21"', 'name="test_id" id="22"', "one id means one name")
        self.assert_refuses('name="test_id" id="21"', 'name="test_id" id="70000"', "does not fit 16 bits")
        self.assert_refuses('<validValue name="sell">1<', '<validValue name="sell">0<', "a number stands twice")
        self.assert_refuses('<validValue name="sell">', '<validValue name="buy">', "a name stands twice")
        self.assert_refuses('<type name="uint8" ', '<type name="uint16" ', "defined twice")

    def test_finds_one_name_with_two_types(self):
        self.assert_refuses('name="order" id="41" type="order_id" offset="8" description="Names the order when not 0."',
                            'name="order" id="41" type="int64" offset="8"', "and another type")

    def test_finds_numbers_that_do_not_fit_their_type(self):
        self.assert_refuses('<validValue name="sell">1<', '<validValue name="sell">255<', "does not fit")
        self.assert_refuses('on entry.">0</choice>', 'on entry.">8</choice>', "does not fit")

    def test_finds_what_it_has_no_rule_for(self):
        self.assert_refuses('type="hello_flags" offset="22"', 'type="unheard_of" offset="22"', "no such type")
        self.assert_refuses('<field name="test_id" id="21" type="uint64" offset="0"',
                            '<data name="test_id" id="21" type="uint64" offset="0"', "<data> is not supported")
        self.assert_refuses('minValue="100"', 'minvalue="100"', "no such attribute: minvalue")
        self.assert_refuses('<choice name="post_only"', '<choise name="post_only"', "not well-formed")
        self.assert_refuses('byteOrder="bigEndian"', 'byteOrder="littleEndian"', "bigEndian")
        self.assert_refuses('primitiveType="uint64" description="The venue\'s id of an order',
                            'primitiveType="double" description="The venue\'s id of an order', "no such primitive")
        self.assert_refuses("<sbe:messageSchema", "<sbe:other", "not well-formed")

    def test_finds_reserved_fields_that_are_not_what_they_say(self):
        self.assert_refuses('name="reserved_3" primitiveType="uint8" length="3"',
                            'name="reserved_3" primitiveType="uint8" length="4"', "named after its length")
        self.assert_refuses('<field name="reserved" id="5" type="reserved_4" offset="44"/>',
                            '<field name="spare" id="99" type="reserved_4" offset="44"/>', "named reserved")

    def test_a_specification_with_an_unknown_placeholder_is_refused(self):
        with self.assertRaisesRegex(schema.SchemaError, "@nonsense@"):
            spec.page(schema.read(TEXT), "see @nonsense@", "")

    def test_a_passage_that_two_pages_share_replaces_what_stood_there(self):
        place = "before\n<!-- from schema/x.md by tools/generate_wire.py -->\nold\n<!-- end -->\nafter\n"
        made = spec.with_passage(place, "x.md", "new")
        self.assertEqual(made, place.replace("old", "\nnew\n"))
        self.assertEqual(spec.with_passage(made, "x.md", "new"), made)
        with self.assertRaisesRegex(schema.SchemaError, "no place"):
            spec.with_passage("another page", "x.md", "new")

    def test_both_pages_state_alike_which_message_answers_a_request(self):
        passage = (TOOLS.parent / "schema/last_of_request.md").read_text(encoding="utf-8")
        for page in ("corro_binary", "derived_messages"):
            text = (TOOLS.parent / f"docs/spec/{page}.md").read_text(encoding="utf-8")
            self.assertIn(passage, text, page)
            self.assertNotIn("of which the last has the flag", text, page)

    def test_the_codec_names_every_message(self):
        made = schema.read(TEXT)
        text = cpp.header_file(made)
        for message in made.messages:
            self.assertIn(f"class {message.name}_view", text)


if __name__ == "__main__":
    unittest.main()
