#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`corro-fix-echo` answers scripts as QuickFIX does: the folder fix_echo, played over TCP against the running program.

usage: fix_echo_test.py CORRO_FIX_ECHO SOURCE_FOLDER

A file holds scripts. A script has a line for each step; # begins a comment. | stands for SOH.

    script NAME            begins one, with a new connection
    version BEGIN_STRING   of the script's messages; FIX.4.4 without
    connect N              opens a further connection; its lines begin with N
    > BODY                 sends a message. 34, 49, 52 and 56 are added behind MsgType where they are missing, unless
                           "no TAG" stands among the fields; "now", "now-130" stand for times
    as BEGIN_STRING BODY   sends a message of another version
    raw TEXT               sends these bytes
    < BODY                 the program sends this next. 49, 52 and 56 of the header are checked and not compared;
                           "time" stands for any time
    closed                 the program closes the connection and sends nothing more

What the program sends and the script does not name is a failure.
"""

import calendar
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ECHO, SOURCE = sys.argv[1], sys.argv[2]
SCRIPTS = os.path.join(SOURCE, "tests", "system", "fix_echo")
DICTIONARIES = os.path.join(SOURCE, "src", "fix", "fuzz_corpus", "dictionary")
TIME_LIMIT_S = 20
SOH = "\x01"


def utc(seconds):
    return time.strftime("%Y%m%d-%H:%M:%S", time.gmtime(seconds))


def with_times(text):
    return re.sub(r"now([+-]\d+)?", lambda m: utc(time.time() + int(m.group(1) or 0)), text)


def framed(body, begin_string):
    body = body.replace("|", SOH)
    text = f"8={begin_string}{SOH}9={len(body)}{SOH}{body}"
    return f"{text}10={sum(text.encode()) % 256:03d}{SOH}".encode()


def whole_body(body):
    """The body with the fields of the header that it lacks."""
    left_out = re.findall(r"no (\d+)\|", body)
    body = re.sub(r"no \d+\|", "", body)
    type_end = body.index("|") + 1 if body.startswith("35=") else 0
    number = re.match(r"34=\d+\|", body[type_end:])
    at = type_end + (number.end() if number else 0)
    missing = [field for tag, field in (("49", "49=TW"), ("52", "52=now"), ("56", "56=ISLD"))
               if tag not in left_out and not re.search(rf"(^|\|){tag}=", body)]
    return with_times(body[:at] + "".join(field + "|" for field in missing) + body[at:])


class Connection:
    def __init__(self, address):
        self.socket = socket.create_connection(address, timeout=TIME_LIMIT_S)
        self.received = b""

    def send(self, data):
        try:
            self.socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # closed already; `closed` finds that out

    def more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.received += data
        return data

    def end(self):
        """Closes it, and waits until the program has done the same, so that the session is free."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        while self.more():
            pass
        self.socket.close()

    def message(self):
        """The next message in words, with its check sum and length checked; None at the end."""
        while not (end := re.search(rb"\x0110=(\d\d\d)\x01", self.received)):
            if not self.more():
                return None
        data, self.received = self.received[:end.end()], self.received[end.end():]
        head = re.match(rb"8=([^\x01]*)\x019=(\d+)\x01", data)
        body = data[head.end():end.start() + 1]
        # A group's data may hold what looks like a trailer; the scripts have none that does.
        assert int(head.group(2)) == len(body), data
        assert int(end.group(1)) == sum(data[:end.start() + 1]) % 256, data
        return head.group(1).decode(), body.decode().replace(SOH, "|")


def compared(body, begin_string):
    """A message of the program as scripts have it: without CompIDs and time, which are checked here."""
    digits = r"\d{8}-\d\d:\d\d:\d\d" + ("" if begin_string in ("FIX.4.0", "FIX.4.1") else r"\.\d{3}")
    header = re.match(rf"(35=[^|]+\|34=\d+\|(?:43=Y\|)?)49=ISLD\|52=({digits})\|56=TW\|(122={digits}\|)?", body)
    if not header:
        return "another header: " + body
    sent = calendar.timegm(time.strptime(header.group(2)[:17], "%Y%m%d-%H:%M:%S"))
    if abs(sent - time.time()) > TIME_LIMIT_S:
        return "another time: " + body
    return header.group(1) + ("122=time|" if header.group(3) else "") + body[header.end():]


def read_scripts(name):
    scripts = []
    with open(os.path.join(SCRIPTS, name + ".script"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if not line or line.startswith("#"):
                continue
            if line.startswith("script "):
                scripts.append((line[7:], []))
            else:
                scripts[-1][1].append((number, line))
    return scripts


def play(address, lines):
    """Plays one script. Returns what was wrong, or None."""
    connections = {"": Connection(address)}
    try:
        return play_on(address, connections, lines)
    finally:
        for connection in connections.values():
            connection.end()


def play_on(address, connections, lines):
    version = "FIX.4.4"
    for number, line in lines:
        where, verb, rest = re.match(r"(\d?)\s?(>|<|\w+)\s?(.*)", line).groups()
        if verb == "version":
            version = rest
            continue
        if verb == "connect":
            connections[rest] = Connection(address)
            continue
        connection = connections[where]
        if verb == ">":
            connection.send(framed(whole_body(rest), version))
        elif verb == "as":
            other, body = rest.split(" ", 1)
            connection.send(framed(whole_body(body), other))
        elif verb == "raw":
            connection.send(with_times(rest).replace("|", SOH).encode())
        elif verb in ("<", "closed"):
            try:
                came = connection.message()
            except socket.timeout:
                return f"line {number}: {line}: nothing came"
            came = None if came is None else compared(came[1], version)
            if came != (rest if verb == "<" else None):
                return f"line {number}: {line}: {'it is closed' if came is None else came}"
        else:
            return f"line {number}: no such step"
    for where, connection in connections.items():
        # The answer to a Logout is the last thing that comes, if the session is not over.
        connection.send(framed("35=5|34=999|49=TW|52=" + utc(time.time()) + "|56=ISLD|", version))
        came = connection.message()
        if came is not None and not came[1].startswith("35=5|"):
            return f"at the end of connection {where or 1}: {came[1]}"
    return None


class Echo(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        with open(os.path.join(DICTIONARIES, "of_4_4"), encoding="utf-8") as file:
            whole = file.read()
        with open(os.path.join(DICTIONARIES, "of_fixt"), encoding="utf-8") as file:
            transport = file.read()
        with open(os.path.join(DICTIONARIES, "of_5_0"), encoding="utf-8") as file:
            application = file.read()
        text = ""
        for minor in range(5):
            cls.write(f"FIX4{minor}.xml", whole.replace("minor='4'", f"minor='{minor}'", 1))
            text += (f'[[session]]\nbegin_string = "FIX.4.{minor}"\nsender = "ISLD"\ntarget = "TW"\n'
                     f'dictionary = "FIX4{minor}.xml"\n')
        cls.write("FIXT11.xml", transport)
        cls.write("FIX50.xml", application)
        cls.write("FIX50SP2.xml", application.replace("name='MaxFloor' required='N'", "name='MaxFloor' required='Y'"))
        for version, files in (("7", '7 = "FIX50.xml"'), ("8", '8 = "FIX50.xml"'),
                               ("9", '7 = "FIX50.xml", 9 = "FIX50SP2.xml"')):
            text += (f'[[session]]\nbegin_string = "FIXT.1.1"\ndefault_appl_ver_id = "{version}"\nsender = "ISLD"\n'
                     f'target = "TW"\ndictionary = "FIXT11.xml"\napplication_dictionaries = {{ {files} }}\n')
        cls.config = cls.write("sessions.toml", text)
        cls.process = subprocess.Popen([ECHO, "serve", "--config", cls.config, "--listen", "127.0.0.1:0"],
                                       stdout=subprocess.PIPE, text=True)
        line = cls.process.stdout.readline()
        found = re.fullmatch(r"listening on 127\.0\.0\.1:(\d+) with 8 sessions\n", line)
        assert found, line
        cls.address = ("127.0.0.1", int(found.group(1)))

    @classmethod
    def tearDownClass(cls):
        cls.process.send_signal(signal.SIGTERM)
        assert cls.process.wait(timeout=TIME_LIMIT_S) == 0
        cls.process.stdout.close()

    @classmethod
    def write(cls, name, text):
        path = os.path.join(cls.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def play_all(self, name, at_least):
        scripts = read_scripts(name)
        self.assertGreaterEqual(len(scripts), at_least)
        for title, lines in scripts:
            with self.subTest(title):
                self.assertIsNone(play(self.address, lines))

    def test_sessions(self):
        self.play_all("sessions", 40)

    def test_rejects(self):
        self.play_all("rejects", 14)

    def test_versions(self):
        self.play_all("versions", 8)

    def test_a_script_that_expects_something_else_fails(self):
        """Control: every expectation of every script is compared."""
        for name in ("rejects", "versions"):
            for title, lines in read_scripts(name):
                at = max(i for i, (_, line) in enumerate(lines) if line.startswith("<") or line == "closed")
                changed = list(lines)
                if lines[at][1] == "closed":
                    changed[at] = (lines[at][0], "< 35=A|34=1|")
                else:
                    changed[at] = (lines[at][0], lines[at][1] + "9999=x|")
                with self.subTest(title):
                    self.assertIsNotNone(play(self.address, changed))

    def refused(self, text, *options):
        config = self.write("wrong.toml", text)
        ran = subprocess.run([ECHO, "serve", "--config", config, *options], capture_output=True, text=True,
                             timeout=TIME_LIMIT_S)
        self.assertNotEqual(ran.returncode, 0)
        return ran.stderr.replace(self.folder + "/", "")

    def test_a_wrong_configuration_is_refused_with_what_to_change(self):
        session = '[[session]]\nbegin_string = "FIX.4.4"\nsender = "A"\ntarget = "B"\ndictionary = "FIX44.xml"\n'
        for text, error in (
                ("", "wrong.toml: it has no session; add a table headed [[session]]"),
                ("x = ", "wrong.toml:1: not TOML"),
                ("x = 1", "wrong.toml:1: x: there is no such key; sessions are tables headed [[session]]"),
                (session.replace('sender = "A"\n', ""), 'wrong.toml:1: session.sender: is missing; write sender = "ISLD"'),
                (session.replace("FIX.4.4", "FIX.4.5"), "wrong.toml:2: session.begin_string: expected one of FIX.4.0, "),
                (session.replace("FIX44.xml", "FIX42.xml"),
                 "wrong.toml:5: session.dictionary: it describes FIX.4.2, and begin_string is FIX.4.4; name another file"),
                (session.replace("FIX44.xml", "none.xml"), "none.xml: cannot be read"),
                (session + "speed = 1\n", "wrong.toml:6: session.speed: there is no such key for this session; remove it"),
                (session + 'allow_user_fields = "yes"\n',
                 "wrong.toml:6: session.allow_user_fields: expected true or false"),
                (session + session, "wrong.toml:6: session: another one has the same names; change sender or target"),
                (session.replace("FIX.4.4", "FIXT.1.1").replace("FIX44", "FIXT11"),
                 'wrong.toml:1: session.default_appl_ver_id: is missing; write default_appl_ver_id = "9"'),
                (session.replace("FIX.4.4", "FIXT.1.1").replace("FIX44", "FIXT11") + 'default_appl_ver_id = "9"\n'
                 'application_dictionaries = { 7 = "FIX50.xml" }\n',
                 'wrong.toml:7: session.application_dictionaries: default_appl_ver_id is "9"; add a dictionary for it')):
            with self.subTest(error):
                self.assertIn(error, self.refused(text))
        self.assertIn("--listen: 'nowhere' is no address; write one such as 127.0.0.1:9878",
                      self.refused(session, "--listen", "nowhere"))
        self.assertIn("--listen: cannot listen on 127.0.0.1:%d" % self.address[1],
                      self.refused(session, "--listen", "127.0.0.1:%d" % self.address[1]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
