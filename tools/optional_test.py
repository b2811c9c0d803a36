#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks corro::io as it is configured without TLS, zlib or io_uring: nothing of it needs what it does without.

    optional_test.py COMPILER           configures it without any of the three, and compiles what stands in for them
    optional_test.py COMPILER --all     configures all eight combinations
    optional_test.py COMPILER --build   builds it without any of the three, too, installs it, and builds a program with it

In each combination no source of the build and no header that is installed includes a header of a library that it does without,
itself or through others of ours; the sources do include those of the libraries that it has. find_package and pkg-config ask for these.
"""

import itertools
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The option, the headers of its library, what corroConfig.cmake asks for, and what pkg-config does.
OPTIONS = {"TLS": (r"openssl/", "OpenSSL", "openssl"), "ZLIB": (r"zlib\.h", "ZLIB", "zlib"), "URING": (r"liburing", "liburing", "liburing")}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
STAND_INS = ("backends/without_uring.cpp", "deflate_without_zlib.cpp")
PROGRAM = """#include <iostream>
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "http/client.hpp"
#include "websocket/connection.hpp"
#include "websocket/extension.hpp"

int main() {
    corro::io::context_options options;
    options.on = &corro::io::uring_if_possible_platform();
    corro::io::context ctx(options);
    std::cout << ctx.backend_name() << (corro::websocket::accept_deflate("permessage-deflate", {}) ? " deflates" : " plain") << std::endl;
}
"""


class Failed(Exception):
    pass


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")
    return done.stdout


def foreign_headers(source: pathlib.Path, seen: dict[pathlib.Path, set[str]]) -> set[str]:
    """The headers of others that a source includes, itself or through headers of ours."""
    if source not in seen:
        seen[source] = set()
        for bracket, name in INCLUDE.findall(source.read_text(encoding="utf-8")):
            ours = ROOT / "src" / name
            if bracket == "<" and not ours.is_file():
                seen[source].add(name)
            else:
                seen[source] |= foreign_headers(ours, seen)
    return seen[source]


def configure(folder: pathlib.Path, compiler: str, has: dict[str, bool]) -> list[dict]:
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, "-DCORRO_LIBRARY_ONLY=ON", f"-DCMAKE_CXX_COMPILER={compiler}",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCORRO_WERROR=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        *(f"-DCORRO_{name}={'ON' if on else 'OFF'}" for name, on in has.items()))
    return json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))


def check(folder: pathlib.Path, commands: list[dict], has: dict[str, bool]) -> None:
    seen: dict[pathlib.Path, set[str]] = {}
    reached = set().union(*(foreign_headers(pathlib.Path(one["file"]), seen) for one in commands))
    config = (folder / "corroConfig.cmake").read_text(encoding="utf-8")
    asked = {package for on, package in re.findall(r"if\((\w+)\)\s*find_dependency\((\w+)\)", config) if on == "ON"}
    needs = re.search(r"^Requires: *(.*)$", (folder / "corro-io.pc").read_text(encoding="utf-8"), re.MULTILINE).group(1).split()
    for name, (headers, cmake_package, pc_package) in OPTIONS.items():
        for what, is_there in (("a source includes its headers", any(re.match(headers, one) for one in reached)),
                               ("find_package asks for it", cmake_package in asked), ("pkg-config asks for it", pc_package in needs)):
            if is_there != has[name]:
                raise Failed(f"CORRO_{name}={'ON' if has[name] else 'OFF'}: {what}: {is_there}")


def build(folder: pathlib.Path, compiler: str) -> None:
    run("cmake", "--build", folder, "-j2")
    prefix, outside = folder / "installed", folder / "outside"
    run("cmake", "--install", folder, "--prefix", prefix)
    print(run(sys.executable, ROOT / "tools/check_install.py", prefix), end="")
    outside.mkdir()
    (outside / "main.cpp").write_text(PROGRAM, encoding="utf-8")
    (outside / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.25)\nproject(outside CXX)\n"
                                            "find_package(corro REQUIRED COMPONENTS io)\nadd_executable(outside main.cpp)\n"
                                            "target_link_libraries(outside PRIVATE corro::websocket)\n", encoding="utf-8")
    run("cmake", "-G", "Ninja", "-S", outside, "-B", outside / "build", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_CXX_COMPILER={compiler}")
    run("cmake", "--build", outside / "build")
    linked = run("ldd", outside / "build/outside")
    if re.search(r"libssl|libcrypto|libz\.|liburing", linked):
        raise Failed(f"the program is linked with more than it needs:\n{linked}")
    printed = run(outside / "build/outside")
    if printed != "epoll plain\n":
        raise Failed(f"the program prints {printed}")
    print("built, installed, and used by a program")


def main() -> int:
    if len(sys.argv) < 2 or sys.argv[1] in ("--help", "-h"):
        print(__doc__.strip())
        return 0 if len(sys.argv) > 1 else 2
    compiler, flags = sys.argv[1], sys.argv[2:]
    try:
        choices = list(itertools.product((False, True), repeat=len(OPTIONS))) if "--all" in flags else [(False,) * len(OPTIONS)]
        for choice in choices:
            has = dict(zip(OPTIONS, choice))
            with tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                commands = configure(folder, compiler, has)
                check(folder, commands, has)
                print(" ".join(f"CORRO_{option}={'ON' if on else 'OFF'}" for option, on in has.items()) + f": {len(commands)} sources")
                if any(choice):
                    continue
                stand_ins = [one for one in commands if one["file"].endswith(STAND_INS)]
                if len(stand_ins) != len(STAND_INS):
                    raise Failed(f"the build has {len(stand_ins)} of {len(STAND_INS)} stand-ins")
                for one in stand_ins:
                    run("sh", "-c", f"cd '{one['directory']}' && {one['command']} -fsyntax-only")
                if "--build" in flags:
                    build(folder, compiler)
    except Failed as failed:
        print(failed)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
