#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the guide true: the code that a page shows is compiled code, and what a program prints is what the page prints.

    guide.py check            every C++ block of a page equals the region of the file that it names, and every
                              program of examples/ that uses the I/O library is run by some page, or by a test
                              of its own, NAME_test.py
    guide.py fix              rewrites the blocks from the files
    guide.py run FOLDER PAGE  runs the sessions of PAGE with the programs in FOLDER, and compares what they print
    guide.py --self-test      proves on small pages that each rule catches its violation

In a page a C++ block follows a line that says where it comes from, the whole file or one region of it:

    <!-- from examples/echo_server.cpp: serve -->

A region stands in the file between the lines `// [serve]` and `// [/serve]`. Neither these lines nor that of the
licence appear in a page.

A session follows a line `<!-- session -->`, or `<!-- session, needs PROGRAM -->` for a program that is not
everywhere. It is one or more `console` blocks, each a terminal of its own, up to the next such line. Lines that begin
with `$ ` are commands, the others what they print. A command whose output has a line `^C` keeps running; it is
interrupted when the other terminals are through, and what stands below `^C` is what it prints then. Ports are replaced
by free ones on the way in, and put back on the way out.
"""

import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/guide/*.md", "docs/howto/use_the_client_library.md", "docs/howto/write_an_agent.md",
         "docs/tutorial/*.md")
FROM = re.compile(r"<!-- from ([\w./-]+)(?:: ([\w-]+))? -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ANY_CPP = re.compile(r"^```cpp$", re.MULTILINE)
MARK = re.compile(r"^\s*// \[/?[\w-]+\]\n", re.MULTILINE)
SESSION = re.compile(r"<!-- session(?:, needs ([\w]+))? -->")
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PORT = re.compile(r"((?:\d{1,3}\.){3}\d{1,3}|\[[0-9a-f:]+\]|localhost):(\d{4,5})\b")
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
PATIENCE_S = 30


class Wrong(Exception):
    pass


def region(root: pathlib.Path, file: str, name: str | None) -> str:
    path = root / file
    if not path.is_file():
        raise Wrong(f"{file} is not there")
    text = path.read_text(encoding="utf-8")
    if name:
        found = re.search(rf"^\s*// \[{name}\]\n(.*?)^\s*// \[/{name}\]$", text, re.MULTILINE | re.DOTALL)
        if not found:
            raise Wrong(f"{file} has no region [{name}]")
        text = found.group(1)
    lines = MARK.sub("", text).removeprefix(LICENCE).splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[indent:] for line in lines).strip("\n") + "\n"


def check(root: pathlib.Path, fix: bool = False) -> tuple[list[str], int]:
    found, blocks = [], 0
    for page in sorted(page for pattern in PAGES for page in root.glob(pattern)):
        text = page.read_text(encoding="utf-8")
        name = page.relative_to(root).as_posix()

        def compare(block: re.Match) -> str:
            nonlocal blocks
            blocks += 1
            file, which, shown = block.groups()
            line = text.count("\n", 0, block.start()) + 1
            try:
                real = region(root, file, which)
            except Wrong as wrong:
                found.append(f"{name}:{line}: {wrong}")
                return block.group()
            if real == shown:
                return block.group()
            if not fix:
                found.append(f"{name}:{line}: differs from {file}; tools/guide.py fix takes it over")
            where = f"{file}: {which}" if which else file
            return f"<!-- from {where} -->\n```cpp\n{real}```"

        new = FROM.sub(compare, text)
        if fix and new != text:
            page.write_text(new, encoding="utf-8")
        rest = FROM.sub(lambda block: "\n" * block.group().count("\n"), text)
        for stray in ANY_CPP.finditer(rest):
            found.append(f"{name}:{rest.count(chr(10), 0, stray.start()) + 1}: a C++ block without its source")
        for block in CONSOLE.finditer(text):
            before = text[: block.start()]
            if page.name != "README.md" and not SESSION.search(before):
                found.append(f"{name}:{before.count(chr(10)) + 1}: a console block outside of any session")
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (root / "examples").glob("*.cpp")}
    programs = [name for name, source in sources.items() if "int main(" in source and '#include "io/' in source]
    guide = "".join(page.read_text(encoding="utf-8") for page in root.glob("docs/*/*.md"))
    # A program with a test of its own is run by that.
    for program in sorted(name for name in programs if not (root / "examples" / f"{name}_test.py").exists()):
        if not re.search(rf"^\$ .*\./{program}\b", guide, re.MULTILINE):
            found.append(f"examples/{program}.cpp: no page runs it")
    return found, blocks


class Terminal:
    """One command and its output so far."""

    def __init__(self, words: str, work: pathlib.Path):
        piped = any(sign in words for sign in "|<>")
        command = ["bash", "-c", words] if piped else shlex.split(words)
        self.words = words
        self.printed = ""
        try:
            self.process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, text=True, start_new_session=True)
        except FileNotFoundError as failure:
            raise Wrong(f"$ {words}\n{failure}") from None
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        for line in self.process.stdout:
            self.printed += line

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.printed.startswith(text):
            ended = self.process.poll() is not None
            if ended:
                self.reader.join(PATIENCE_S)
            if self.printed.startswith(text):
                return
            if ended or time.monotonic() > end or not text.startswith(self.printed):
                raise Wrong(f"$ {self.words}\nprinted\n{self.printed}instead of\n{text}")
            time.sleep(0.01)

    def finish(self, text: str) -> None:
        try:
            self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Wrong(f"$ {self.words}\ndoes not end; it printed\n{self.printed}") from None
        self.reader.join(PATIENCE_S)
        if self.printed != text:
            raise Wrong(f"$ {self.words}\nprinted\n{self.printed}instead of\n{text}")

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def free_port() -> int:
    for _ in range(100):
        with socket.socket() as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
            tcp.bind(("127.0.0.1", 0))
            try:
                udp.bind(("127.0.0.1", tcp.getsockname()[1]))
            except OSError:
                continue
            return tcp.getsockname()[1]
    raise Wrong("no port is free")


def commands_of(block: str) -> list[list[str]]:
    """A terminal's commands, each with the text that it prints."""
    commands = []
    for line in block.splitlines():
        if line.startswith("$ "):
            commands.append([line[2:], ""])
        elif commands:
            commands[-1][1] += line + "\n"
        else:
            raise Wrong(f"output without a command: {line}")
    return commands


def run_session(text: str, folder: pathlib.Path) -> int:
    ports = {port: str(free_port()) for _, port in set(PORT.findall(text))}
    text = PORT.sub(lambda found: f"{found[1]}:{ports[found[2]]}", text)
    running, count = [], 0
    with tempfile.TemporaryDirectory(prefix="corro-guide-") as name:
        work = pathlib.Path(name)
        for program in folder.iterdir():
            if program.is_file() and program.stat().st_mode & 0o100:
                (work / program.name).symlink_to(program.resolve())
        started = []
        try:
            for block in CONSOLE.findall(text):
                for words, output in commands_of(block):
                    count += 1
                    started.append(Terminal(words, work))
                    before, interrupted, after = output.partition("^C\n")
                    if interrupted:
                        running.append((started[-1], before, after))
                        # Up to its first line: the rest may be what others cause.
                        started[-1].wait_for(before[: before.find("\n") + 1])
                    else:
                        started[-1].finish(output)
            for terminal, before, _ in running:
                terminal.wait_for(before)
            for terminal, before, after in reversed(running):
                terminal.process.send_signal(signal.SIGINT)
                terminal.finish(before + after)
                if terminal.process.returncode != 0:
                    raise Wrong(f"$ {terminal.words}\nends with {terminal.process.returncode} when it is interrupted")
        except Wrong as wrong:
            for port, real in ports.items():
                wrong = Wrong(str(wrong).replace(f":{real}", f":{port}"))
            raise wrong from None
        finally:
            for terminal in started:
                terminal.kill()
    return count


def run(folder: pathlib.Path, page: pathlib.Path) -> int:
    text = page.read_text(encoding="utf-8")
    marks = list(SESSION.finditer(text))
    ran, wrong, skipped = 0, [], []
    for mark, following in zip(marks, [*marks[1:], None]):
        if mark[1] and not (folder / mark[1]).exists() and not shutil.which(mark[1]):
            skipped.append(mark[1])
            continue
        try:
            count = run_session(text[mark.end(): following.start() if following else len(text)], folder)
            if count == 0:
                raise Wrong(f"line {text.count(chr(10), 0, mark.start()) + 1}: a session without a command")
            ran += count
        except Wrong as failure:
            wrong.append(str(failure))
    for failure in wrong:
        print(failure)
    for program in skipped:
        print(f"a session is left out: {program} is not there")
    print(f"{page.name}: {len(marks)} sessions, {ran} commands, {len(wrong)} wrong")
    if not marks:
        print("nothing was run")
        return 1
    return 1 if wrong else 77 if skipped and not ran else 0


def self_test() -> int:
    wrong = 0
    source = LICENCE + "#include \"io/x.hpp\"\nint a;\n// [b]\n  int b;\n// [/b]\nint main() {}\n"
    whole = "#include \"io/x.hpp\"\nint a;\n  int b;\nint main() {}\n"
    shown = "<!-- session -->\n```console\n$ ./x\n```\n"
    cases = [
        ("a true region", f"<!-- from examples/x.cpp: b -->\n```cpp\nint b;\n```\n{shown}", 0),
        ("a true file", f"<!-- from examples/x.cpp -->\n```cpp\n{whole}```\n{shown}", 0),
        ("another text", f"<!-- from examples/x.cpp: b -->\n```cpp\nint c;\n```\n{shown}", 1),
        ("no such region", f"<!-- from examples/x.cpp: c -->\n```cpp\nint c;\n```\n{shown}", 1),
        ("no such file", f"<!-- from examples/y.cpp -->\n```cpp\nint c;\n```\n{shown}", 1),
        ("no source", f"```cpp\nint c;\n```\n{shown}", 1),
        ("a program that no page runs", "", 1),
        ("a block outside of sessions", f"```console\n$ ./x\n```\n{shown}", 1),
    ]
    for name, page, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "examples").mkdir()
            (root / "docs/guide").mkdir(parents=True)
            (root / "examples/x.cpp").write_text(source)
            (root / "docs/guide" / "page.md").write_text(page)
            found, _ = check(root)
            if len(found) != expected:
                wrong += 1
                print(f"{name}: {found}")
    server = ("#!/usr/bin/env python3\nimport signal, socket, sys, time\n"
              "signal.signal(signal.SIGINT, lambda *_: (print('bye', flush=True), sys.exit(0)))\n"
              "print('at', sys.argv[1], flush=True)\nwhile True: time.sleep(0.1)\n")
    sessions = [
        ("as printed", "```console\n$ ./s 127.0.0.1:7000\nat 127.0.0.1:7000\n^C\nbye\n```\n```console\n$ echo a | cat\na\n```\n", True),
        ("another line", "```console\n$ ./s 127.0.0.1:7000\nat 127.0.0.1:7001\n^C\nbye\n```\n", False),
        ("another end", "```console\n$ ./s 127.0.0.1:7000\nat 127.0.0.1:7000\n^C\n```\n", False),
        ("a line too few", "```console\n$ echo a | cat\n```\n", False),
        ("a line too many", "```console\n$ echo a | cat\na\nb\n```\n", False),
    ]
    for name, text, sound in sessions:
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "s").write_text(server)
            (pathlib.Path(folder) / "s").chmod(0o755)
            try:
                run_session(text, pathlib.Path(folder))
                right = sound
            except Wrong as failure:
                right = not sound
                name = f"{name}: {failure}"
            if not right:
                wrong += 1
                print(name)
    print(f"{len(cases) + len(sessions)} cases, {wrong} misjudged")
    return 1 if wrong else 0


def main() -> int:
    match sys.argv[1:]:
        case ["--self-test"]:
            return self_test()
        case ["check"] | ["fix"]:
            found, blocks = check(ROOT, fix=sys.argv[1] == "fix")
            for finding in found:
                print(finding)
            print(f"{blocks} blocks, {len(found)} findings")
            return 1 if found or blocks == 0 else 0
        case ["run", folder, page]:
            return run(pathlib.Path(folder), ROOT / page)
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main())
