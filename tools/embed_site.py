#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the files of a web site as C++, so that a program has them inside it.

    embed_site.py LIST OUTPUT NAME    LIST names the files, one a line, relative to its own folder; lines that begin with # are
                                      comments. Without such a file the site is empty. NAME_files.hpp declares NAME_files().
    embed_site.py --self-test

The text depends on the files only: no times, no paths of this machine.
"""

import gzip
import hashlib
import pathlib
import re
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
HASH = re.compile(r"[-.](?:[0-9a-f]{8,}|(?=[A-Z]*\d)[0-9A-Z]{8,})\.[^.]+$")
GOOD_PATH = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)*")


def is_immutable(path: str) -> bool:
    return HASH.search(path) is not None


def literal(data: bytes) -> str:
    """A string literal per 64 bytes. Octal escapes have three digits, so no digit behind them changes their meaning."""
    rows = [data[k : k + 64] for k in range(0, len(data), 64)] or [b""]
    return "\n".join('    "' + "".join(escaped(byte) for byte in row) + '"' for row in rows)


def escaped(byte: int) -> str:
    plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
    return chr(byte) if plain else f"\\{byte:03o}"


def paths_of(listing: str) -> list[str]:
    paths = [line.strip() for line in listing.splitlines() if line.strip() and not line.startswith("#")]
    for path in paths:
        if not GOOD_PATH.fullmatch(path):
            raise ValueError(f"{path}: a path has letters, digits, _, - and ., and no part that begins with a dot")
        if pathlib.PurePosixPath(path).suffix not in TYPES:
            raise ValueError(f"{path}: no content type is known for this suffix")
    if len(set(paths)) != len(paths):
        raise ValueError("a file is listed twice")
    return paths


def text_of(files: dict[str, bytes], name: str) -> str:
    parts = [
        "// Made by tools/embed_site.py. Do not edit.",
        f'#include "{name}_files.hpp"',
        "",
        "#include <array>",
        "#include <string_view>",
        "",
        "namespace corro::app {",
        "namespace {",
        "",
    ]
    entries = []
    for number, (path, data) in enumerate(files.items()):
        packed = gzip.compress(data, 9, mtime=0)
        if len(packed) >= len(data) * 9 // 10:
            packed = b""
        for kept, content in (("plain", data), ("gzip", packed)):
            if content:
                parts.append(f"constexpr char {kept}_{number}[] =\n{literal(content)};")
        plain = f"std::string_view(plain_{number}, {len(data)})" if data else "std::string_view()"
        small = f"std::string_view(gzip_{number}, {len(packed)})" if packed else "std::string_view()"
        kind, tag = TYPES[pathlib.PurePosixPath(path).suffix], hashlib.sha256(data).hexdigest()[:16]
        fixed = "true" if is_immutable(path) else "false"
        entries.append(f'    api::site_file{{"{path}", "{kind}", "{tag}", {plain}, {small}, {fixed}}},')
    parts += [f"constexpr std::array<api::site_file, {len(entries)}> files{{{{", *entries, "}};", ""]
    parts += ["}  // namespace", "", f"std::span<const api::site_file> {name}_files() noexcept {{"]
    parts += ["    return files;", "}", "", "}  // namespace corro::app", ""]
    return "\n".join(parts)


def self_test() -> int:
    hashed = ["app-3f9c2a71.js", "app-XK3H2ABQ.js", "a/b.0123456789abcdef.css"]
    unhashed = ["index.html", "app.js", "site-manifest.json", "app-3f9c2a7.js", "x-ABCDEFGH.js", "3f9c2a71.js"]
    good = all(map(is_immutable, hashed)) and not any(map(is_immutable, unhashed))
    for bad in ("../secret.js", "/etc/a.js", "a//b.js", ".hidden.js", "a.exe", "a.js\na.js"):
        try:
            paths_of(bad)
            good = False
        except ValueError:
            pass
    good = good and paths_of("# list\nindex.html\n\na/b.js\n") == ["index.html", "a/b.js"]
    good = good and literal(b'a"\\?\n\xff7') == '    "a\\042\\134\\077\\012\\3777"'
    tiny = {"index.html": b"<p>" + b"x" * 1000, "tiny.txt": b"q"}
    text = text_of(tiny, "page")
    good = good and text == text_of(tiny, "page") and "page_files() noexcept" in text and "gzip_0" in text and "gzip_1" not in text
    print("embed_site: self-test", "passed" if good else "FAILED")
    return 0 if good else 1


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    listing, output, name = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    paths = paths_of(listing.read_text(encoding="utf-8")) if listing.exists() else []
    output.write_text(text_of({path: (listing.parent / path).read_bytes() for path in paths}, name), encoding="ascii")
    return 0


if __name__ == "__main__":
    sys.exit(main())
