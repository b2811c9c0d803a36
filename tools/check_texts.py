#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what the pages and the sources refer to is there, that no merge left its marks, and that pages are in plain English.

    check_texts.py [ROOT]        checks the tree below ROOT (default: the project)
    check_texts.py --self-test   proves on small trees that each rule catches its violation

References: every relative link of every Markdown page with its heading (#...), and every `docs/....md` that any text names, is there. So is every file that a
page names in backticks (`src/io/task.hpp`, with * for any characters), and every `layer::name`: some source of that layer has the name.
The picture in ARCHITECTURE.md has the layers of cmake/corro_layers.cmake, in their order.

Length: a page has at most 300 lines. Longer may be a protocol, and tables that a program wrote: docs/benchmarks/*_tables.md.

Reading grade: the prose of a page needs at most twelve years of school, by the Automated Readability Index: 4.71 times the characters of a word, and half
the words of a sentence, less 21.43. Pages of less than 100 words have none.

Licence: each source names it in its first lines, for tools that copy single files. Not those that pages show whole, and what others made.

English: the lists below have the worst habits: PAGES for the prose of pages, EVERYWHERE for sources as well. Code is not prose: blocks,
words in backticks and targets of links are left out. The rest is in CONTRIBUTING.md and in the words of docs/spec/glossary.md.
"""

import pathlib
import re
import sys
import tempfile

LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)(?:#[^)\s]*)?\)")
PAGE = re.compile(r"(?<![\w/.])docs/[\w/]+\.md\b")
SUFFIXES = {".md", ".hpp", ".cpp", ".py", ".cmake", ".txt", ".toml", ".xml", ".in", ".lua", ".sh"}
MERGE_MARK = re.compile(r"^(<{7}|={7}|>{7})( .*)?$", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
IN_BACKTICKS = re.compile(r"`([^`\n]+)`")
NAMED_FILE = re.compile(r"(?:src|apps|examples|lab|tests|tools|docs|schema|cmake|config)/[\w./*-]*[\w*]")
NAMED_THING = re.compile(r"(?:corro::)?(\w+)::(?:\w+::)*?(\w+)(?:::\w+)*(?:\(\))?")
TO_HEADING = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.*)$", re.MULTILINE)
DRAWN_LAYER = re.compile(r"^  (?:top |edge|core|    ) +([a-z]\w+) {2,}\S", re.MULTILINE)
NOT_PROSE = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)|<!--.*?-->", re.DOTALL)

READING_GRADE_MAX = 12
PAGE_LINES_MAX = 300
# Protocols, generated tables, a list of changes, and a page that one test types as one session.
LONG_PAGES = re.compile(r"docs/spec/(?:corro_binary|api)\.md|docs/benchmarks/\w+_tables\.md|CHANGELOG\.md")

# A line's end within a sentence, with the mark of the next line's comment.
LINE_END = re.compile(r"\n[ \t]*(?://+|#+)?[ \t]*")

# A habit, and what to write instead. Where the group `fine` takes part the words are fine.
EVERYWHERE = [
    (r"nobody but", "only"),
    (r"whomever", "anyone, or name them"),
    (r"of which each", "each of which"),
    (r"befell", "happened to"),
    (r"himself", "themselves"),
    (r"whoever", "a reader who, a client that: name it"),
    (r"anew", "again, or name the start"),
    (r"so many", "N, a number of, that number of"),
    (r"is none of", "is not one of, has no"),
    (r"vouch\w*", "is durable, proves, guarantees"),
    (r"befalls?", "happens to"),
    (r"what has come of", "the result of"),
    (r"lets go", "removes, releases"),
    (r"what (?:came|becomes) of", "the result of"),
    (r"has to have", "must have"),
]
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".cpp", ".hpp", ".h", ".ts", ".mjs", ".js", ".py", ".cmake", ".css", ".sh"}
WITHOUT_LICENCE = re.compile(r"(?:web/dist|web/node_modules|build|tests/golden)/|.*(?:fuzz_corpus|__pycache__)/")
PAGES = EVERYWHERE + [
    (r"(?P<fine>there )?is none", "is not a, there is no"),
    (r"he|his|him", "they, their, them; a process is it"),
]


def compiled(habits: list[tuple[str, str]]) -> list[tuple[re.Pattern, str]]:
    return [(re.compile(rf"\b(?:{habit})\b".replace(" ", " +"), re.IGNORECASE), instead) for habit, instead in habits]


def blank(match: re.Match) -> str:
    return "\n" * match.group().count("\n")


def habits_in(text: str, habits: list[tuple[re.Pattern, str]]) -> list[tuple[int, str, str]]:
    """Line, words and advice for each habit; a habit may stand across the end of a line."""
    joined, found = LINE_END.sub(lambda end: " " * len(end.group()), text), []
    for habit, instead in habits:
        for match in habit.finditer(joined):
            if not match.groupdict().get("fine"):
                found.append((text.count("\n", 0, match.start()) + 1, " ".join(match.group().split()), instead))
    return sorted(found)


def reading_grade(page: str) -> float:
    """Of the prose: without blocks, tables, headings, pictures and HTML; what stands in backticks is a word."""
    text = re.sub(r"<!--.*?-->", "", FENCE.sub("", page), flags=re.DOTALL)
    text = "\n".join(line for line in text.split("\n") if not line.startswith(("|", "#", "!", "<", "    ")))
    text = re.sub(r"\]\([^)]*\)", "]", IN_BACKTICKS.sub("value", text))
    text = re.sub(r"^\s*(?:[-*]|\d+\.) ", ". ", text, flags=re.MULTILINE)
    sentences = [part for part in re.split(r"[.!?](?:\s|$)|\n\s*\n", text) if re.search(r"[A-Za-z]{2}", part)]
    words = re.findall(r"[A-Za-z0-9][A-Za-z0-9'-]*", text)
    if len(words) < 100:
        return 0
    characters = sum(len(re.sub(r"[^A-Za-z0-9]", "", word)) for word in words)
    return 4.71 * characters / len(words) + 0.5 * len(words) / len(sentences) - 21.43


def main(root: pathlib.Path) -> int:
    in_pages, in_sources = compiled(PAGES), compiled(EVERYWHERE)
    tops = ["src", "apps", "examples", "lab", "tests", "tools", "docs", "schema", "cmake", "config"]
    files = [*sorted(root.glob("*.md")), *(root / name for name in ("CMakeLists.txt", "run", "test", ".ci/run"))]
    sources = [file for top in (*tops, "python", "web/src", "web") for file in sorted((root / top).glob("*" if top == "web" else "**/*"))]
    files += [file for top in tops for file in sorted((root / top).rglob("*")) if file.suffix in SUFFIXES or file.suffix == ""]
    references, words_of, anchors = 0, words_of_layers(root), {}
    broken = [f"{file.relative_to(root)}: its first lines have no {LICENCE}" for file in sorted({*files, *sources}) if lacks_licence(root, file)]
    for file in files:
        if not file.is_file() or file == root / "tools/check_texts.py":
            continue
        text = file.read_text(encoding="utf-8", errors="replace")
        for match in MERGE_MARK.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            broken.append(f"{file.relative_to(root)}:{line}: a merge left {match.group()}")
        targets = [(text, match, root / match.group()) for match in PAGE.finditer(text)]
        searched_for, prose = in_sources, text
        if file.suffix == ".md":
            lines, name = text.count("\n"), file.relative_to(root).as_posix()
            if lines > PAGE_LINES_MAX and not LONG_PAGES.fullmatch(name):
                broken.append(f"{name}: {lines} lines; a page has at most {PAGE_LINES_MAX}: divide it")
            grade = reading_grade(text)
            if grade > READING_GRADE_MAX:
                broken.append(f"{name}: reading grade {grade:.1f}; a page has at most {READING_GRADE_MAX}: shorter sentences, shorter words")
            prose = FENCE.sub(blank, text)
            targets += [(prose, match, file.parent / match.group(1)) for match in LINK.finditer(prose)]
            for match in TO_HEADING.finditer(prose):
                page = (file.parent / match.group(1)).resolve() if match.group(1) else file.resolve()
                if page.suffix == ".md" and page.exists() and match.group(2) not in anchors_of(page, anchors):
                    line = prose.count("\n", 0, match.start()) + 1
                    broken.append(f"{file.relative_to(root)}:{line}: {match.group()}: the page has no such heading")
            for line, named in stale_names(prose, root, words_of):
                broken.append(f"{file.relative_to(root)}:{line}: the page names {named}, which is not there")
            searched_for, prose = in_pages, NOT_PROSE.sub(blank, prose)
        for line, words, instead in habits_in(prose, searched_for):
            broken.append(f"{file.relative_to(root)}:{line}: \"{words}\" has to be read twice; write: {instead}")
        for searched, match, target in targets:
            references += 1
            if not target.exists():
                line = searched.count("\n", 0, match.start()) + 1
                broken.append(f"{file.relative_to(root)}:{line}: {match.group()} is not there")
    broken += [f"ARCHITECTURE.md: {what}" for what in misdrawn_layers(root)]
    for finding in broken:
        print(finding)
    if references == 0:
        print(f"no reference found below {root}: nothing was checked")
        return 1
    print(f"{len(files)} files, {references} references, {len(broken)} findings")
    return 1 if broken else 0


def stale_names(prose: str, root: pathlib.Path, words_of: dict[str, set[str]]) -> list[tuple[int, str]]:
    """Line and words of each file and each name of a layer that a page has in backticks and that is not there."""
    found = []
    for match in IN_BACKTICKS.finditer(prose):
        named = match[1]
        if NAMED_FILE.fullmatch(named) and not any(root.glob(named.rstrip("/"))):
            found.append((prose.count("\n", 0, match.start()) + 1, named))
        if thing := NAMED_THING.fullmatch(named):
            words = words_of.get(thing[1])
            if words is not None and not words >= set(re.findall(r"\w+", named)) - {"corro", thing[1]}:
                found.append((prose.count("\n", 0, match.start()) + 1, named))
    return found


def lacks_licence(root: pathlib.Path, file: pathlib.Path) -> bool:
    name = file.relative_to(root).as_posix()
    if not file.is_file() or file.is_symlink() or WITHOUT_LICENCE.match(name):
        return False
    begin = file.read_bytes()[:300]
    is_script = file.suffix == "" and begin.startswith(b"#!")
    return (is_script or file.suffix in LICENSED or file.name == "CMakeLists.txt") and LICENCE.encode() not in begin


def anchors_of(page: pathlib.Path, known: dict[pathlib.Path, set[str]]) -> set[str]:
    """What a link into the page may name: its headings, as GitHub turns them into anchors, and its own anchors."""
    if page not in known:
        prose = FENCE.sub("", page.read_text(encoding="utf-8"))
        known[page] = set(re.findall(r'<a id="([^"]+)"', prose))
        for heading in HEADING.findall(prose):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
            known[page].add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return known[page]


def misdrawn_layers(root: pathlib.Path) -> list[str]:
    """What is wrong with the layers in the picture of ARCHITECTURE.md: top to bottom, the build's order backwards."""
    build, page = root / "cmake/corro_layers.cmake", root / "ARCHITECTURE.md"
    if not build.is_file() or not page.is_file():
        return []
    order = re.search(r"^set\(CORRO_LAYERS ([^)]*)\)", build.read_text(encoding="utf-8"), re.MULTILINE)[1].split()
    picture = FENCE.search(page.read_text(encoding="utf-8"))
    drawn = DRAWN_LAYER.findall(picture.group()) if picture else []
    if not drawn:
        return ["the picture has no layers"]
    wrong = [f"the picture has the layer {name}, which the build does not have" for name in drawn if name not in order]
    known = [name for name in drawn if name in order]
    if known != sorted(known, key=order.index, reverse=True):
        wrong.append("the picture has the layers in another order than the build")
    return wrong


def words_of_layers(root: pathlib.Path) -> dict[str, set[str]]:
    """The words of each layer's headers and sources."""
    layers = [folder for folder in sorted((root / "src").glob("*")) if folder.is_dir()]
    return {folder.name: {word for file in folder.rglob("*.[hc]pp") for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
            for folder in layers}


def self_test() -> int:
    """Each rule on a tree with one violation, and each on one that is right."""

    def outcome(name: str, text: str) -> int:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "src/io").mkdir(parents=True)
            (root / "src/io/task.hpp").write_text("struct task { void join(); };\n", encoding="utf-8")
            (root / "docs/there.md").write_text("# First part\n[itself](there.md)\n", encoding="utf-8")
            (root / "cmake").mkdir()
            (root / "cmake/corro_layers.cmake").write_text("set(CORRO_LAYERS base wire io)\n", encoding="utf-8")
            (root / name).write_text(text, encoding="utf-8")
            for file in root.rglob("*.[chp][pym]*"):
                file.write_text(f"// {LICENCE}\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
            return main(root)

    def without_licence(name: str) -> bool:
        """Whether a file without one, alone in its tree, is found; and with one is not."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / name
            file.parent.mkdir(parents=True)
            file.write_text("#!/bin/sh\nx\n", encoding="utf-8")
            is_found = lacks_licence(pathlib.Path(folder), file)
            file.write_text(f"#!/bin/sh\n# {LICENCE}\nx\n", encoding="utf-8")
            return is_found and not lacks_licence(pathlib.Path(folder), file)

    def picture(*layers: str) -> str:
        return "[page](docs/there.md)\n```\n" + "".join(f"  edge    {layer}    what it is for\n" for layer in layers) + "```\n"

    refused = [
        ("docs/a.md", "[gone](gone.md)\n"),
        ("src/a.cpp", "// see docs/gone.md\n"),
        ("docs/a.md", "[there](there.md).\n" * 301),
        ("docs/a.md", "[there](there.md) " + "considerable organisational responsibilities and " * 30 + ".\n"),
        ("src/a.cpp", "<" * 7 + " HEAD\n"),
        ("src/a.cpp", "// Nobody\n// but the owner.\n"),
        ("ARCHITECTURE.md", picture("io", "gone", "base")),
        ("ARCHITECTURE.md", picture("io", "base", "wire")),
        ("ARCHITECTURE.md", picture()),
        ("docs/a.md", "[there](there.md#gone)\n"),
        ("docs/a.md", "# Here\n[up](#there)\n"),
        ("docs/a.md", "See `src/io/gone.hpp`.\n"),
        ("docs/a.md", "See `src/io/gone_*.hpp`.\n"),
        ("docs/a.md", "Made by `io::gone`.\n"),
        ("docs/a.md", "Made by `corro::io::task::gone`.\n"),
        ("docs/a.md", "A task is made anew.\n"),
        ("docs/a.md", "One request of so\nmany is timed.\n"),
        ("docs/a.md", "The address is none of this machine's.\n"),
        *(("docs/a.md", f"Text {words} text.\n")
          for words in ("nobody but", "whomever", "of which each", "befell", "himself", "Whoever", "vouches", "is none", "befalls",
                        "what has come of", "what becomes of", "has to have", "lets go", "he", "his", "him")),
        *(("src/a.cpp", f"// Text {words} text.\n") for words in ("whoever", "anew", "so many", "is none of", "what came of")),
    ]
    accepted = [
        ("docs/a.md", "[there](there.md).\n" * 300),
        ("docs/a.md", "[there](there.md) " + "The venue answers each request once. " * 30 + "\n"),
        ("CHANGELOG.md", "[there](docs/there.md).\n" * 301),
        ("ARCHITECTURE.md", picture("io", "wire", "base")),
        ("docs/a.md", "[there](there.md), and there is none. `whoever`\n```\nanew\n```\n[x](there.md#first-part)\n"),
        ("docs/a.md", "# It is `here`, [too](there.md)\n[up](#it-is-here-too), [there](there.md#first-part)\n"),
        ("docs/a.md", "[there](there.md): `src/io/task.hpp`, `src/io/t*.hpp`, `src/io`, `io::task::join`, `std::gone`\n"),
        ("src/a.cpp", "// he reads docs/there.md\n"),
        ("docs/a.md", "This history, the others, hence.\n"),
    ]
    licensed = ["src/a.cpp", "src/io/a.hpp", "tools/a", "python/a.py", "web/src/a.ts", "web/src/a.css", "cmake/a.cmake", "lab/CMakeLists.txt", "examples/a.cpp",
                "packaging/start"]
    unlicensed = ["web/dist/app.js", "docs/a.md", "src/io/fuzz_corpus/a.py", "tests/golden/a.py"]
    wrong = [name for name in [*licensed, *unlicensed] if without_licence(name) != (name in licensed)]
    wrong += [text for name, text in refused if outcome(name, text) != 1]
    wrong += [text for name, text in accepted if outcome(name, text) != 0]
    for text in wrong:
        print(f"the wrong outcome for {text!r}")
    return 1 if wrong else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(self_test())
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent))
