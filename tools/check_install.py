#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an installed tree: it is corro::io, corro::sim, corro::client and corro::fix, all of each and nothing else.

    check_install.py PREFIX         checks the tree below PREFIX
    check_install.py --self-test    proves on small bad trees that each rule catches its violation

Rules, each with the name that a finding carries:
  stranger   every file has its place in the list below; a header of the exchange has none
  missing    the files without which find_package or the linker fails are there
  private    no header of a backend's or the kernel's inside
  unclosed   an installed header includes installed headers of ours only
  half       corro::fix is there with its headers, its library and its CMake file, or not at all; so are the bridge to Asio,
             corro::sim and corro::client
"""

import pathlib
import re
import shutil
import sys
import tempfile

PLACES = [re.compile(pattern) for pattern in (
    r"include/corro/(io|sim|fix|http|websocket|domain|wire|feed|client)/[a-z0-9_/]+\.hpp",
    r"include/corro/base/[a-z0-9_]+\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_(io|sim|fix|http|websocket|base|io_asio|domain|wire|feed|client)\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/(corro(Config|ConfigVersion|(Asio|Sim|Fix|Client)?Targets|(Asio|Sim|Fix|Client)?Targets-[a-z]+)|Find[a-z]+)\.cmake",
    r"lib/([a-z0-9_-]+/)?pkgconfig/corro-(io|sim|fix|client)\.pc",
    r"share/doc/[a-z-]+/(LICENSE|copyright|changelog\.gz)",
)]
NEEDED = [re.compile(pattern) for pattern in (
    r"include/corro/io/task/task\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_io\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroConfig\.cmake",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroConfigVersion\.cmake",
    r"lib/([a-z0-9_-]+/)?pkgconfig/corro-io\.pc",
    r"share/doc/[a-z-]+/(LICENSE|copyright)",
)]
# All of it, or nothing: the bridge to Asio where Boost was missing, corro::fix where pugixml was, corro::client without its package.
WHOLE = [[re.compile(pattern) for pattern in part] for part in ((
    r"include/corro/io/backends/asio/asio_backend\.hpp",
    r"include/corro/io/backends/asio/awaited\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_io_asio\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroAsioTargets\.cmake",
), (
    r"include/corro/sim/world\.hpp",
    r"include/corro/sim/network\.hpp",
    r"include/corro/sim/disk\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_sim\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroSimTargets\.cmake",
    r"lib/([a-z0-9_-]+/)?pkgconfig/corro-sim\.pc",
), (
    r"include/corro/fix/codec/message_writer\.hpp",
    r"include/corro/fix/dictionary/dictionary\.hpp",
    r"include/corro/fix/session/session\.hpp",
    r"include/corro/fix/net/acceptor\.hpp",
    r"include/corro/fix/net/initiator\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_fix\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroFixTargets\.cmake",
    r"lib/([a-z0-9_-]+/)?pkgconfig/corro-fix\.pc",
), (
    r"include/corro/client/order_session\.hpp",
    r"include/corro/client/order_entry\.hpp",
    r"include/corro/client/feed_session\.hpp",
    r"include/corro/domain/command\.hpp",
    r"include/corro/feed/book_image\.hpp",
    r"include/corro/wire/generated/corro_binary\.hpp",
    r"lib/([a-z0-9_-]+/)?libcorro_client\.a",
    r"lib/([a-z0-9_-]+/)?libcorro_domain\.a",
    r"lib/([a-z0-9_-]+/)?libcorro_feed\.a",
    r"lib/([a-z0-9_-]+/)?libcorro_wire\.a",
    r"lib/([a-z0-9_-]+/)?cmake/corro/corroClientTargets\.cmake",
    r"lib/([a-z0-9_-]+/)?pkgconfig/corro-client\.pc",
))]
# Headers that only the library's own sources include, and those of tests and programs. dictionary_reader.hpp includes pugixml's.
PRIVATE = re.compile(r"include/corro/(io|sim|fix|http|websocket|domain|wire|feed|client)/(backends/(?!asio/)|testing/|(.*/)?test_|.*_fixture\.hpp"
                     r"|dictionary/dictionary_reader\.hpp|disk_file\.hpp|trader\.hpp|private_event\.hpp)")
LAYERS_OUTSIDE = "matching risk facility facility_reference rule_book journal gateway fix_gateway market_data fix_trading recorded node simulation".split()
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
    for parts in WHOLE:
        absent = [part.pattern for part in parts if not any(part.fullmatch(file) for file in files)]
        if absent and len(absent) != len(parts):
            found += [f"half: {pattern}" for pattern in absent]
    return found


def self_test() -> int:
    sound = ["include/corro/io/task/task.hpp", "lib/libcorro_io.a", "lib/cmake/corro/corroConfig.cmake",
             "lib/cmake/corro/corroConfigVersion.cmake", "lib/pkgconfig/corro-io.pc", "share/doc/corro/LICENSE"]
    asio = ["include/corro/io/backends/asio/asio_backend.hpp", "include/corro/io/backends/asio/awaited.hpp", "lib/libcorro_io_asio.a",
            "lib/cmake/corro/corroAsioTargets.cmake"]
    fix = ["include/corro/fix/codec/message_writer.hpp", "include/corro/fix/dictionary/dictionary.hpp",
           "include/corro/fix/session/session.hpp", "include/corro/fix/net/acceptor.hpp", "include/corro/fix/net/initiator.hpp",
           "lib/libcorro_fix.a", "lib/cmake/corro/corroFixTargets.cmake", "lib/pkgconfig/corro-fix.pc"]
    sim = ["include/corro/sim/world.hpp", "include/corro/sim/network.hpp", "include/corro/sim/disk.hpp", "lib/libcorro_sim.a",
           "lib/cmake/corro/corroSimTargets.cmake", "lib/pkgconfig/corro-sim.pc"]
    client = ["include/corro/client/order_session.hpp", "include/corro/client/order_entry.hpp", "include/corro/client/feed_session.hpp",
              "include/corro/domain/command.hpp", "include/corro/feed/book_image.hpp", "include/corro/wire/generated/corro_binary.hpp",
              "lib/libcorro_client.a", "lib/libcorro_domain.a", "lib/libcorro_feed.a", "lib/libcorro_wire.a",
              "lib/cmake/corro/corroClientTargets.cmake", "lib/pkgconfig/corro-client.pc"]
    cases = [("sound", sound, {}, []), ("sound, with the bridge to Asio", sound + asio, {}, []),
             ("sound, with the simulated network", sound + sim, {}, []),
             ("sound, with the client", sound + client, {}, []),
             ("sound, with FIX", sound + fix + ["share/doc/corro-fix/LICENSE"], {}, [])]
    cases += [(f"bridge without {file}", sound + [other for other in asio if other != file], {}, ["half"]) for file in asio]
    cases += [(f"simulated network without {file}", sound + [other for other in sim if other != file], {}, ["half"]) for file in sim]
    cases += [(f"client without {file}", sound + [other for other in client if other != file], {}, ["half"]) for file in client]
    cases += [(f"FIX without {file}", sound + [other for other in fix if other != file], {}, ["half"]) for file in fix]
    cases += [(f"header of {layer}", [*sound, f"include/corro/{layer}/x.hpp"], {}, ["stranger"]) for layer in LAYERS_OUTSIDE]
    cases += [(f"without {file}", [other for other in sound if other != file], {}, ["missing"]) for file in sound]
    cases += [
        ("a program", [*sound, "bin/corro"], {}, ["stranger"]),
        ("a backend's header", [*sound, "include/corro/io/backends/epoll_backend.hpp"], {}, ["private"]),
        ("a test's header", [*sound, "include/corro/io/testing/test_require.hpp"], {}, ["private"]),
        ("a venue's event", [*sound, *client, "include/corro/domain/private_event.hpp"], {}, ["private"]),
        ("a disk's inside", [*sound, *sim, "include/corro/sim/disk_file.hpp"], {}, ["private"]),
        ("a fixture", [*sound, *fix, "include/corro/fix/session/script_player_fixture.hpp"], {}, ["private"]),
        ("a header with pugixml", [*sound, *fix, "include/corro/fix/dictionary/dictionary_reader.hpp"], {}, ["private"]),
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
