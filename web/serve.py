#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves the pages of a folder, and relays everything else to the API of a venue: for work on the pages without building it.

usage: serve.py [PORT [API_ADDRESS [FOLDER]]]
"""

import os
import socket
import socketserver
import sys
import threading

KINDS = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
# As the venue's own: what the pages may load and connect to.
POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self' data: blob:"


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for each in (source, target):
        try:
            each.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Relay(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.request.recv(65536)
            if not data or len(head) > 65536:
                return
            head += data
        path = head.split(b" ", 2)[1].decode().split("?")[0]
        name = path.lstrip("/") or "index.html"
        if name in self.server.names:
            self.send_page(name)
        else:
            self.relay(head)

    def send_page(self, name):
        with open(os.path.join(self.server.folder, name), "rb") as file:
            body = file.read()
        kind = KINDS.get(os.path.splitext(name)[1], "application/octet-stream")
        self.request.sendall((f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nCache-Control: no-store\r\n"
                              f"Content-Security-Policy: {POLICY}\r\nConnection: close\r\n\r\n").encode() + body)

    def relay(self, head):
        if b"\nupgrade: websocket" not in head.lower():
            # One request for each connection, so that the next one comes here.
            head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        try:
            api = socket.create_connection(self.server.api)
        except OSError:
            return
        with api:
            api.sendall(head)
            with self.server.lock:
                self.server.relayed.update((api, self.request))
            threading.Thread(target=copy, args=(api, self.request), daemon=True).start()
            copy(self.request, api)


class PageServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port, api, folder):
        super().__init__(("127.0.0.1", port), Relay)
        host, _, api_port = api.rpartition(":")
        self.api = (host, int(api_port))
        self.folder = folder
        with open(os.path.join(folder, "files.txt"), encoding="utf-8") as file:
            self.names = file.read().split()
        self.lock = threading.Lock()
        self.relayed = set()

    def handle_error(self, request, client_address):
        """A browser that has gone is no error."""

    def cut(self):
        """Ends all relayed connections, as a broken network does."""
        with self.lock:
            for each in self.relayed:
                try:
                    each.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
            self.relayed.clear()


def main():
    defaults = ["7030", "127.0.0.1:7020", os.path.join(os.path.dirname(os.path.abspath(__file__)), "dist")]
    port, api, folder = sys.argv[1:4] + defaults[len(sys.argv) - 1:]
    with PageServer(int(port), api, folder) as server:
        print(f"http://127.0.0.1:{port}/", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
