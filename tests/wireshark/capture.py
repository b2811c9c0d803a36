"""Writes captures of TCP conversations that never happened: raw IPv4 in the classic pcap format."""

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
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0,
                         addresses[side], addresses[other])
        self.capture.packets.append(ip + tcp)
