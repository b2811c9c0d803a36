#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes everything that follows from schema/corro.xml.

    tools/generate_wire.py           writes the files
    tools/generate_wire.py --check   writes nothing; fails and names each file that is not current
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from wire_generator import cpp, dissector, python, schema, spec  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMA = ROOT / "schema" / "corro.xml"
SPECIFICATION = ROOT / "schema" / "corro_binary.md.in"
MARK_OF_REQUESTS = ROOT / "schema" / "last_of_request.md"
DERIVED = ROOT / "docs/spec/derived_messages.md"


def outputs(description):
    """Path and text of every generated file."""
    passage = MARK_OF_REQUESTS.read_text(encoding="utf-8").rstrip()
    return {
        ROOT / "src/wire/generated/corro_binary.hpp": cpp.header_file(description),
        ROOT / "src/wire/generated/corro_binary.cpp": cpp.source_file(description),
        ROOT / "docs/spec/corro_binary.md": spec.page(
            description, SPECIFICATION.read_text(encoding="utf-8"), passage),
        DERIVED: spec.with_passage(DERIVED.read_text(encoding="utf-8"), MARK_OF_REQUESTS.name, passage),
        ROOT / "python/corro/_wire.py": python.module(description),
        ROOT / "tools/wireshark/corro.lua": dissector.script(description),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    try:
        made = outputs(schema.read(SCHEMA.read_text(encoding="utf-8")))
    except schema.SchemaError as error:
        sys.exit(f"{SCHEMA}: {error}")

    stale = []
    for path, text in made.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(path.relative_to(ROOT))
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path}: {'not current: run tools/generate_wire.py' if arguments.check else 'written'}")
    if arguments.check and stale:
        sys.exit(1)


if __name__ == "__main__":
    main()
