#!/usr/bin/env python3
"""Checks an installed tree: it is corro::io, all of it and nothing else.

    check_install.py PREFIX         checks the tree below PREFIX
    check_install.py --self-test    proves on small bad trees that each rule catches its violation

Rules, each with the name that a finding carries:
  stranger   every file has its place in the list below; a header of the exchange has none
  missing    the files without which find_package or the linker fails are there
  private    no header of a backend's or the kernel's inside
  unclosed   an installed header includes installed headers of ours only
  half       the bridge to Asio is there with its headers, its library and its CMake file, or not at all
"""

import pathlib
import re
import shutil
import sys
import tempfile

PLACES = [re.compile(pattern) for pattern in (
    r"include/corro/(io|http|websocket)/[a-z0-9_/]+\.hpp",
    r"include/corro/base/[a-z0-9_]+\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_(io|http|websocket|base|io_asio)\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/(corro(Config|ConfigVersion|(Asio)?Targets|(Asio)?Targets-[a-z]+)|Find[a-z]+)\.cmake",
    r"share/doc/[a-z-]+/(LICENSE|copyright|changelog\.gz)",
)]
NEEDED = [re.compile(pattern) for pattern in (
    r"include/corro/io/task/task\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_io\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroConfig\.cmake",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroConfigVersion\.cmake",
    r"share/doc/[a-z-]+/(LICENSE|copyright)",
)]
# The bridge to Asio: all of it, or, where Boost was missing, nothing.
ASIO = [re.compile(pattern) for pattern in (
    r"include/corro/io/backends/asio/asio_backend\.hpp",
    r"include/corro/io/backends/asio/awaited\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_io_asio\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroAsioTargets\.cmake",
)]
# Headers that only the library's own sources include, and those of tests.
PRIVATE = re.compile(r"include/corro/(io|http|websocket)/(backends/(?!asio/)|testing/|(.*/)?test_)")
LAYERS_OUTSIDE = "domain wire matching risk facility facility_reference rule_book journal gateway market_data client recorded node sim".split()
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def findings(prefix: pathlib.Path) -> list[str]:
    found = []
    files = sorted(path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if path.is_file())
    for file in files:
        if not any(place.fullmatch(file) for place in PLACES):
            found.append(f"stranger: {file}")
        if PRIVATE.match(file):
            found.append(f"private: {file}")
        if file.endswith(".hpp"):
            for header in INCLUDE.findall((prefix / file).read_text(encoding="utf-8")):
                if f"include/corro/{header}" not in files:
                    found.append(f"unclosed: {file} includes {header}, which is not installed; "
                                 "name it in HEADERS of its layer, or include it from a source file only")
    for need in NEEDED:
        if not any(need.fullmatch(file) for file in files):
            found.append(f"missing: {need.pattern}")
    absent = [part.pattern for part in ASIO if not any(part.fullmatch(file) for file in files)]
    if absent and len(absent) != len(ASIO):
        found += [f"half: {pattern}" for pattern in absent]
    return found


def self_test() -> int:
    sound = ["include/corro/io/task/task.hpp", "lib/libcorro_io.a", "lib/cmake/corro/corroConfig.cmake",
             "lib/cmake/corro/corroConfigVersion.cmake", "share/doc/corro/LICENSE"]
    asio = ["include/corro/io/backends/asio/asio_backend.hpp", "include/corro/io/backends/asio/awaited.hpp", "lib/libcorro_io_asio.a",
            "lib/cmake/corro/corroAsioTargets.cmake"]
    cases = [("sound", sound, {}, []), ("sound, with the bridge to Asio", sound + asio, {}, [])]
    cases += [(f"bridge without {file}", sound + [other for other in asio if other != file], {}, ["half"]) for file in asio]
    cases += [(f"header of {layer}", [*sound, f"include/corro/{layer}/x.hpp"], {}, ["stranger"]) for layer in LAYERS_OUTSIDE]
    cases += [(f"without {file}", [other for other in sound if other != file], {}, ["missing"]) for file in sound]
    cases += [
        ("a program", [*sound, "bin/corro"], {}, ["stranger"]),
        ("a backend's header", [*sound, "include/corro/io/backends/epoll_backend.hpp"], {}, ["private"]),
        ("a test's header", [*sound, "include/corro/io/testing/test_require.hpp"], {}, ["private"]),
        ("open include", sound, {"include/corro/io/task/task.hpp": '#include "base/pool.hpp"\n'}, ["unclosed"]),
        ("closed include", [*sound, "include/corro/base/assert.hpp"],
         {"include/corro/io/task/task.hpp": '#include "base/assert.hpp"\n#include <vector>\n'}, []),
    ]
    wrong = 0
    for name, files, contents, expected in cases:
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            for file in files:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                (folder / file).write_text(contents.get(file, ""))
            rules = [finding.split(":")[0] for finding in findings(folder)]
        finally:
            shutil.rmtree(folder)
        if rules != expected:
            wrong += 1
            print(f"{name}: found {rules}, expected {expected}")
    print(f"{len(cases)} trees, {wrong} misjudged")
    return 1 if wrong else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    prefix = pathlib.Path(sys.argv[1])
    found = findings(prefix)
    for finding in found:
        print(finding)
    print(f"{sum(path.is_file() for path in prefix.rglob('*'))} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
