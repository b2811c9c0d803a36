# SPDX-License-Identifier: Apache-2.0
"""Writes captures of conversations that never happened, over TCP, WebSocket and UDP: raw IPv4 in the classic pcap format."""

import struct


class Capture:
    def __init__(self):
        self.packets = []

    def write(self, path):
        with open(path, "wb") as out:
            out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))  # link type 101: raw IP
            for index, packet in enumerate(self.packets):
                out.write(struct.pack("<IIII", 1_700_000_000, index, len(packet), len(packet)))
                out.write(packet)


class Conversation:
    """One TCP connection. `segment_bytes` is the largest payload of one segment: messages are cut wherever it falls."""

    def __init__(self, capture, client_port, server_port, segment_bytes=1448):
        self.capture = capture
        self.ports = {"client": client_port, "server": server_port}
        self.sent = {"client": 1000, "server": 2000}
        self.segment_bytes = segment_bytes
        self._packet("client", 0x02, b"")
        self.sent["client"] += 1
        self._packet("server", 0x12, b"")
        self.sent["server"] += 1
        self._packet("client", 0x10, b"")

    def send(self, side, payload):
        for at in range(0, len(payload), self.segment_bytes):
            part = payload[at:at + self.segment_bytes]
            self._packet(side, 0x18, part)
            self.sent[side] += len(part)

    def _packet(self, side, flags, payload):
        other = "server" if side == "client" else "client"
        addresses = {"client": b"\x0a\x00\x00\x01", "server": b"\x0a\x00\x00\x02"}
        acknowledged = 0 if flags == 0x02 else self.sent[other]
        tcp = struct.pack(">HHIIBBHHH", self.ports[side], self.ports[other], self.sent[side], acknowledged,
                          5 << 4, flags, 65535, 0, 0) + payload
        self.capture.packets.append(ip_packet(6, addresses[side], addresses[other], tcp))


def ip_packet(protocol, source, target, payload):
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0, source, target) + payload


def send_datagram(capture, port, payload, group=b"\xef\x01\x01\x01"):
    """One UDP packet from the venue to `port` of a multicast group."""
    udp = struct.pack(">HHHH", 50000, port, 8 + len(payload), 0) + payload
    capture.packets.append(ip_packet(17, b"\x0a\x00\x00\x02", group, udp))


class WebSocket:
    """A WebSocket over a TCP connection, already upgraded: the client's frames are masked, as RFC 6455 wants."""

    MASK = b"\x5a\xc3\x0f\x99"

    def __init__(self, capture, client_port, server_port, segment_bytes=1448):
        self.stream = Conversation(capture, client_port, server_port, segment_bytes)
        self.stream.send("client", b"GET /orders HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n")
        self.stream.send("server", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n")

    def send(self, side, *messages):
        """Each of `messages` as one binary frame; all of them in one write."""
        self.stream.send(side, b"".join(self._frame(side, message) for message in messages))

    def _frame(self, side, payload):
        masked = 0x80 if side == "client" else 0
        size = bytes([masked | len(payload)]) if len(payload) < 126 else struct.pack(">BH", masked | 126, len(payload))
        if not masked:
            return b"\x82" + size + payload
        hidden = bytes(byte ^ self.MASK[index % 4] for index, byte in enumerate(payload))
        return b"\x82" + size + self.MASK + hidden
