#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what the compiler cannot: that the layers are layers.

    check_includes.py [ROOT]        checks the tree below ROOT (default: the project)
    check_includes.py --self-test   proves on small bad trees that each rule catches its violation

Rules, each with the name that a finding carries:
  upward     a layer includes no header of a layer that stands above it, and nothing of apps, lab, tests, python; its tests
             may include the simulated machine
  os         operating system headers only in src/io, in the clock, in programs and in tests
  machine    what a platform gives (time, random bytes, threads, files) is asked of it, in src outside of src/io's backends
  loop       only programs and tests run a loop (block_on): what stands on a context gives tasks
  core       the core has no coroutines, threads, clocks, streams, exceptions

The layers and their order come from cmake/corro_layers.cmake, so that there is one list.
"""

import pathlib
import re
import sys
import tempfile

ROOTS = ("src", "apps", "examples", "lab", "tests", "tools", "python")
SUFFIXES = {".hpp", ".cpp", ".h", ".cc"}
# Anything may be included from here, and nothing may include it.
OUTSIDE = {"apps", "examples", "lab", "tests", "tools", "python"}

# Layers that stand above all others because the venue is not made of them, and that any layer's tests may use.
TEST_TOOLS = {"sim"}

OS_HEADER = re.compile(
    r"(sys|net|netinet|netpacket|arpa|linux|asm|rpc)/.*"
    r"|(unistd|fcntl|netdb|signal|pthread|poll|sched|dlfcn|termios|ifaddrs|spawn|dirent|pwd|grp|syslog|aio|mqueue"
    r"|semaphore|ucontext|time|liburing)\.h"
    r"|csignal"
)
# Where the operating system may be seen: behind the seam, and where base asks about the machine itself, its clock and
# its memory pages. A trailing slash means the folder.
OS_ALLOWED = ("src/io/", "src/base/raw_array.cpp")

CORE_HEADER = re.compile(
    r"coroutine|generator|thread|mutex|shared_mutex|condition_variable|future|stop_token|semaphore|latch|barrier"
    r"|chrono|ctime|iostream|fstream|filesystem|locale|random|exception|stdexcept"
)
CORE_WORD = re.compile(r"\b(throw|try|catch|co_await|co_return|co_yield|getenv)\b")

# What a platform gives (src/io/loop/platform.hpp) is asked of it, so that a simulated machine can take its place: the
# time, random bytes, threads, files.
MACHINE_HEADER = re.compile(r"thread|filesystem|fstream|random|openssl/rand\.h|ctime|future|x86intrin\.h")
MACHINE_WORD = re.compile(
    r"\b(?:system_clock|steady_clock|high_resolution_clock|utc_clock)::now\b|\bstd::j?thread\b|\bstd::async\b"
    r"|\bthis_thread::sleep\w*|\bRAND_bytes\b|\bgetrandom\b|\brandom_device\b|\b__rdtsc\b|\bclock_gettime\b"
    r"|\bstd::fopen\b|\bio::context \w+;"
)
# Where the machine is seen: the platform's implementations, and what still looks past it. The list only gets shorter.
MACHINE_ALLOWED = (
    "src/base/raw_array.cpp",  # memory pages
    "src/io/backends/",
    "src/io/file/",
    "src/io/loop/context.cpp",  # a destructor yields to the thread that wakes it
    "src/io/loop/context_group.cpp",  # a pool of threads
    "src/io/loop/context_group.hpp",
    "src/io/loop/detail/context_pool.cpp",
    "src/io/loop/tick_clock.cpp",
    "src/io/loop/tick_clock.hpp",
    "src/io/process/",
    "src/io/sync/detail/shared_wait_list.hpp",  # yields to a thread that is within a lock
    "src/io/task/callback_bridge.hpp",          # the result as a std::future
    "src/io/testing/",
    "src/sim/",  # a platform
    "src/io/tls/",  # certificates, read at the start
    # Files that a start reads and a command writes; not the venue's own.
    "src/history/",
    "src/recorded/",
    "src/node/configuration/configuration.cpp",
    "src/node/configuration/file_access.cpp",
    "src/node/recovery/venue_backup.cpp",
)

# A loop within a call, such as a constructor, cannot be stepped from outside.
LOOP_WORD = re.compile(r"\bblock_on\b")
LOOP_ALLOWED = ("src/io/", "src/sim/", "src/simulation/", "src/market/whole/")

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Comments and literals, replaced before words are looked for. A raw string's delimiter is matched by its name.
NOT_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^\s()\\]{0,16})\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'',
    re.DOTALL,
)
TEST_FILE = re.compile(r"(_test|_fuzz|_bench|_fixture)\.(cpp|hpp)$|/test_[^/]*\.hpp$")


def cmake_list(text: str, name: str) -> list[str]:
    match = re.search(rf"^set\({name}\s+([^)]*)\)", text, re.MULTILINE)
    if not match:
        sys.exit(f"check_includes: cmake/corro_layers.cmake does not set {name}")
    return match.group(1).split()


def without_comments_and_literals(text: str) -> str:
    """The code alone; line numbers stay."""
    # A digit separator looks like the beginning of a character literal; it goes first.
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    return NOT_CODE.sub(lambda match: "\n" * match.group().count("\n") or " ", text)


def is_allowed(path: str, places: tuple[str, ...]) -> bool:
    return any(path.startswith(place) if place.endswith("/") else path == place for place in places)


def findings(root: pathlib.Path, layers: list[str], core: list[str]) -> tuple[list[str], int]:
    found, files_count = [], 0

    def say(path: str, text: str, position: int, rule: str, what: str) -> None:
        found.append(f"{path}:{text.count(chr(10), 0, position) + 1}: {rule}: {what}")

    files = [file for top in ROOTS for file in sorted((root / top).rglob("*")) if file.suffix in SUFFIXES]
    for file in files:
        path = file.relative_to(root).as_posix()
        parts = path.split("/")
        text = file.read_text(encoding="utf-8", errors="replace")
        files_count += 1
        is_test = parts[0] != "src" or TEST_FILE.search(path) is not None
        layer = parts[1] if parts[0] == "src" and len(parts) > 2 else None
        if parts[0] == "src" and layer not in layers:
            say(path, text, 0, "upward", "this folder is no layer of CORRO_LAYERS")
            continue

        for match in INCLUDE.finditer(text):
            quoted, header = match.group(1) == '"', match.group(2)
            first = header.split("/")[0]
            is_test_tool = is_test and first in TEST_TOOLS
            if layer and quoted and first in layers and layers.index(first) > layers.index(layer) and not is_test_tool:
                say(path, text, match.start(), "upward", f"{layer} includes {header}, and {first} stands above it")
            if layer and quoted and first in OUTSIDE and not (root / "src" / layer / header).exists():
                say(path, text, match.start(), "upward", f"{layer} includes {header}; nothing includes {first}")
            if is_test:
                continue
            if OS_HEADER.fullmatch(header) and not is_allowed(path, OS_ALLOWED):
                say(path, text, match.start(), "os", f"<{header}> belongs behind the seam in src/io")
            if layer in core and CORE_HEADER.fullmatch(header):
                say(path, text, match.start(), "core", f"the core does not include <{header}>")
            elif not is_allowed(path, MACHINE_ALLOWED) and MACHINE_HEADER.fullmatch(header):
                say(path, text, match.start(), "machine", f"<{header}>: ask the platform (io/loop/platform.hpp)")
        code = "" if is_test else without_comments_and_literals(text)
        if not is_allowed(path, MACHINE_ALLOWED):
            for match in MACHINE_WORD.finditer(code):
                say(path, code, match.start(), "machine", f"`{match.group()}`: ask the platform (io/loop/platform.hpp)")
        if not is_allowed(path, LOOP_ALLOWED):
            for match in LOOP_WORD.finditer(code):
                say(path, code, match.start(), "loop", "`block_on`: a program or a test runs the loop; return a task")
        if layer in core:
            for match in CORE_WORD.finditer(code):
                say(path, code, match.start(), "core", f"the core does not use `{match.group()}`")
    return found, files_count


def self_test() -> int:
    layers, core = ["base", "domain", "io", "gateway", "sim"], ["base", "domain"]
    # File, its text, and the rule that must find it; None for what must pass.
    cases = [
        ("src/domain/a.hpp", '#include "gateway/b.hpp"\n', "upward"),
        ("src/domain/a_test.cpp", '#include "gateway/b.hpp"\n', "upward"),
        ("src/gateway/a.cpp", '#include "sim/b.hpp"\n', "upward"),
        ("src/gateway/a_test.cpp", '#include "sim/b.hpp"\n', None),
        ("src/gateway/a_fuzz.cpp", '#include "sim/b.hpp"\n', None),
        ("src/domain/a.hpp", '  #  include   "io/b.hpp"\n', "upward"),
        ("src/gateway/a.hpp", '#include "tests/b.hpp"\n', "upward"),
        ("src/unknown/a.hpp", "", "upward"),
        ("src/gateway/a.cpp", "#include <sys/socket.h>\n", "os"),
        ("src/gateway/a.cpp", '#include "unistd.h"\n', "os"),
        ("src/base/a.cpp", "#include <time.h>\n", "os"),
        ("src/gateway/a.cpp", "#include <thread>\n", "machine"),
        ("src/gateway/a.cpp", "#include <filesystem>\n", "machine"),
        ("src/gateway/a.cpp", "#include <openssl/rand.h>\n", "machine"),
        ("src/gateway/a.cpp", "auto now = std::chrono::system_clock::now();\n", "machine"),
        ("src/gateway/a.cpp", "auto now = std::chrono::steady_clock::now();\n", "machine"),
        ("src/gateway/a.cpp", "void f(unsigned char* p) { RAND_bytes(p, 8); }\n", "machine"),
        ("src/gateway/a.hpp", "struct a { std::thread runs; };\n", "machine"),
        ("src/gateway/a.hpp", "struct a { io::context own_; };\n", "machine"),
        ("src/io/net/a.cpp", "auto now = __rdtsc();\n", "machine"),
        ("src/gateway/a.hpp", "struct a { io::context& on; };\n// std::thread\n", None),
        ("src/gateway/a_test.cpp", "#include <thread>\nio::context own;\n", None),
        ("src/io/backends/a.cpp", "#include <thread>\nauto now = std::chrono::system_clock::now();\n", None),
        ("src/gateway/a.cpp", "a::~a() { io::block_on(context_, serving_.join()); }\n", "loop"),
        ("src/gateway/a_test.cpp", "void f() { io::block_on(context, g()); }\n", None),
        ("src/io/task/a.cpp", "void f() { block_on(context, g()); }\n", None),
        ("src/base/a.hpp", "#include <chrono>\n", "core"),
        ("src/domain/a.cpp", "#include <thread>\n", "core"),
        ("src/domain/a.cpp", "void f() { throw 1; }\n", "core"),
        ("src/domain/a.cpp", "void f() { try { g(); } catch (...) {} }\n", "core"),
        ("src/domain/a.cpp", "const char* a = \"//\"; void f() { throw 1; }\n", "core"),
        ("src/domain/a.cpp", "int a = 1'000; void f() { throw 1'0; }\n", "core"),
        ("src/domain/a.hpp", '#include "base/b.hpp"\n#include "domain/c.hpp"\n#include <vector>\n', None),
        ("src/domain/a.cpp", '// throw <thread>\nconst char* s = "try catch";\nbool try_push();\n', None),
        ("src/domain/a.cpp", "/* throw\n catch */ const char* s = R\"x(throw)x\";\n", None),
        ("src/domain/a_test.cpp", "#include <thread>\nvoid f() { throw 1; }\n", None),
        ("src/base/test_b.hpp", "#include <random>\n", None),
        ("src/base/b_fixture.hpp", "#include <random>\n", None),
        ("src/io/net/a.cpp", "#include <sys/epoll.h>\n", None),
        ("apps/corro/a.cpp", '#include "gateway/b.hpp"\n#include <unistd.h>\n', None),
        ("tests/a.cpp", '#include "gateway/b.hpp"\n#include <unistd.h>\n', None),
    ]
    wrong = 0
    for path, text, rule in cases:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / path
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            found, _ = findings(pathlib.Path(folder), layers, core)
        rules = {finding.split(": ")[1] for finding in found}
        if rules != ({rule} if rule else set()):
            print(f"expected {rule}, found {found or 'nothing'} in {path}:\n{text}")
            wrong += 1
    print(f"self-test: {len(cases) - wrong} of {len(cases)} trees judged as expected")
    return 1 if wrong else 0


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    settings = (root / "cmake/corro_layers.cmake").read_text(encoding="utf-8")
    layers, core = cmake_list(settings, "CORRO_LAYERS"), cmake_list(settings, "CORRO_CORE_LAYERS")
    found, files_count = findings(root, layers, core)
    for finding in found:
        print(finding)
    if files_count == 0:
        print(f"no source file below {root}: nothing was checked")
        return 1
    print(f"{files_count} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
