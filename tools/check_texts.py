#!/usr/bin/env python3
"""Checks that what the pages and the sources refer to is there, and that no merge left its marks.

    check_texts.py [ROOT]     every relative link of every Markdown page, every `docs/....md` that any text names
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
PAGE = re.compile(r"(?<![\w/.])docs/[\w/]+\.md\b")
SUFFIXES = {".md", ".hpp", ".cpp", ".py", ".cmake", ".txt", ".toml", ".xml", ".in", ".lua", ".sh"}
MERGE_MARK = re.compile(r"^(<{7}|={7}|>{7})( .*)?$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def main(root: pathlib.Path) -> int:
    tops = ["src", "apps", "examples", "lab", "tests", "tools", "docs", "schema", "cmake", "config"]
    files = [*sorted(root.glob("*.md")), *(root / name for name in ("CMakeLists.txt", "run", "test", ".ci/run"))]
    files += [file for top in tops for file in sorted((root / top).rglob("*")) if file.suffix in SUFFIXES or file.suffix == ""]
    references, broken = 0, []
    for file in files:
        if not file.is_file():
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        for match in MERGE_MARK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            broken.append(f"{file.relative_to(root)}:{line}: a merge left {match.group()}")
        targets = [(text, match, root / match.group()) for match in PAGE.finditer(text)]
        if file.suffix == ".md":
            prose = FENCE.sub(lambda fence: "\n" * fence.group().count("\n"), text)
            targets += [(prose, match, file.parent / match.group(1)) for match in LINK.finditer(prose)]
        for searched, match, target in targets:
            references += 1
            if not target.exists():
                line = searched.count("\n", 0, match.start()) + 1
                broken.append(f"{file.relative_to(root)}:{line}: {match.group()} is not there")
    for finding in broken:
        print(finding)
    if references == 0:
        print(f"no reference found below {root}: nothing was checked")
        return 1
    print(f"{len(files)} files, {references} references, {len(broken)} findings")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
