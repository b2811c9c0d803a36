#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Wireshark dissector shows what the codec wrote.

    dissector_test.py SAMPLES     SAMPLES is the program corro_wire_samples

Exits with 77, which the test run counts as skipped, where tshark is not installed.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

from capture import Capture, Conversation, WebSocket, send_datagram
from dissect import differences, messages_shown, read_schema, run_tshark, split, tshark_path

ORDER_ENTRY_PORT, FEED_PORT = 7001, 7002
DESCRIPTION = read_schema()
SAMPLES = None


def sample_stream(count, seed):
    return subprocess.run([SAMPLES, "stream", str(count), str(seed)], capture_output=True, check=True).stdout


def soup(kind, payload=b""):
    return struct.pack(">Hc", 1 + len(payload), kind) + payload


def mold(sequence, messages, count=None):
    header = struct.pack(">10sQH", b"CORRO00001", sequence, len(messages) if count is None else count)
    return header + b"".join(struct.pack(">H", len(each)) + each for each in messages)


def values_of(pdml, name):
    return [field.get("show") for field in pdml.iter("field") if field.get("name") == name]


def show(fill, *options):
    """What tshark shows of a capture that `fill` made."""
    capture = Capture()
    fill(capture)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "session.pcap"
        capture.write(path)
        return run_tshark(path, *options)


class DissectorTest(unittest.TestCase):
    maxDiff = None

    def test_shows_every_message_of_order_entry_however_the_stream_is_cut(self):
        stream = sample_stream(3, 1)
        for segment_bytes in (1448, 100, 17, 7):
            with self.subTest(segment_bytes=segment_bytes):
                pdml = show(lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT, segment_bytes).send("server", stream))
                self.assertEqual(differences(DESCRIPTION, split(stream), messages_shown(pdml)), [])

    def test_shows_both_directions_in_order(self):
        sent = split(sample_stream(1, 2))

        def fill(capture):
            conversation = Conversation(capture, 40000, ORDER_ENTRY_PORT)
            for index, message in enumerate(sent):
                conversation.send("client" if index % 2 else "server", message)
        self.assertEqual(differences(DESCRIPTION, sent, messages_shown(show(fill))), [])

    def test_shows_the_messages_inside_soup_bin_tcp_packets(self):
        sent = split(sample_stream(2, 3))

        def fill(capture):
            conversation = Conversation(capture, 40000, FEED_PORT, 50)
            conversation.send("client", soup(b"L", b"user  " + b"password  " + b" " * 10 + b"1".rjust(20)))
            conversation.send("server", soup(b"A", b"20260131".rjust(10) + b"1".rjust(20)))
            for index, message in enumerate(sent):
                conversation.send("server", soup(b"S" if index % 3 else b"U", message))
                conversation.send("server", soup(b"H"))
            conversation.send("client", soup(b"O"))
            conversation.send("server", soup(b"Z"))
        pdml = show(fill)
        self.assertEqual(differences(DESCRIPTION, sent, messages_shown(pdml)), [])
        values = [(field.get("name"), field.get("show")) for field in pdml.iter("field")]
        self.assertIn(("corro_feed.username", "user  "), values)
        self.assertIn(("corro_feed.session", "  20260131"), values)
        kinds = "".join(value for name, value in values if name == "corro_feed.type")
        self.assertEqual(kinds.count("H"), len(sent))
        self.assertEqual(kinds[:2] + kinds[-2:], "LAOZ")

    def test_shows_an_order_as_a_person_would_write_it(self):
        # Not made by the codec and not read by the schema: written down from the specification by hand.
        message = bytes.fromhex("0048 0010 101d 0001" "0000000000000003" "0000000000000007" "0000048c36200280"
                                "0000000000000002" "00000001 01 01 02 04" "01 000000 00000009"
                                "0000048c71bacc80" "0000000000000001" "0000000000000000" "17af458008a70001")
        shown, = messages_shown(show(lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT).send("client", message)))
        self.assertEqual(shown["faults"], [])
        self.assertEqual(shown["texts"], {
            "block_length": "block_length: 72", "message": "message: enter_order (16)", "schema_id": "schema_id: 4125",
            "version": "version: 1", "sequence": "sequence: 3", "client_order": "client_order: 7",
            "price": "price: 5000250000000 (5000.25)", "quantity": "quantity: 2", "instrument": "instrument: 1",
            "side": "side: sell (1)", "order_type": "order_type: limit (1)", "time_in_force": "time_in_force: gtc (2)",
            "self_match_prevention": "self_match_prevention: decrement (4)", "order_flags": "order_flags: 0x01",
            "self_match_group": "self_match_group: 9", "trigger_price": "trigger_price: 5001250000000 (5001.25)", "display_quantity": "display_quantity: 1",
            "minimum_quantity": "minimum_quantity: 0",
            "expire_time": "expire_time: Jan 31, 2024 00:00:00.000000001 UTC"})

    def test_shows_times_in_utc(self):
        challenge = bytes.fromhex("0030 0001 101d 0001" "0000000000000000" + "11" * 32
                                  ) + struct.pack(">qHH4x", 1_706_659_200_000_000_001, 1, 1)
        shown, = messages_shown(show(lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT).send("server", challenge)))
        self.assertEqual(shown["texts"]["time"], "time: Jan 31, 2024 00:00:00.000000001 UTC")

    def test_recognises_both_protocols_on_other_ports(self):
        sent = split(sample_stream(1, 4))

        def fill(capture):
            Conversation(capture, 40001, 50001).send("server", b"".join(sent))
            Conversation(capture, 40002, 50002).send("server", b"".join(soup(b"S", each) for each in sent))
        self.assertEqual(differences(DESCRIPTION, sent + sent, messages_shown(show(fill))), [])

    def test_shows_the_messages_inside_mold_udp_packets(self):
        sent = split(sample_stream(2, 5))
        packets = [sent[at:at + 3] for at in range(0, len(sent), 3)]

        def fill(capture):
            sequence = 1
            for messages in packets:
                send_datagram(capture, 26400, mold(sequence, messages))
                sequence += len(messages)
            send_datagram(capture, 26400, mold(sequence, []))
            send_datagram(capture, 26400, mold(sequence, [], count=0xffff))
        for options in ((), ("-o", "corro_lines.ports:26400")):
            with self.subTest(options=options):
                pdml = show(fill, *options)
                self.assertEqual(differences(DESCRIPTION, sent, messages_shown(pdml)), [])
                self.assertEqual(values_of(pdml, "corro_lines.count"),
                                 [str(len(messages)) for messages in packets] + ["0", "65535"])
                self.assertEqual(values_of(pdml, "corro_lines.sequence")[-1], str(len(sent) + 1))

    def test_shows_a_request_for_lost_packets(self):
        pdml = show(lambda c: send_datagram(c, 26401, mold(7, [], count=30)), "-o", "corro_lines.ports:26401")
        self.assertEqual(values_of(pdml, "corro_lines.count"), ["30"])
        self.assertEqual(values_of(pdml, "corro.fault"), [])

    def test_points_at_a_mold_udp_packet_that_counts_wrongly(self):
        sent = split(sample_stream(1, 6))[:2]
        pdml = show(lambda c: send_datagram(c, 26402, mold(1, sent, count=3)), "-o", "corro_lines.ports:26402")
        self.assertTrue(any("as many messages" in (field.get("showname") or "") for field in pdml.iter("field")))
        self.assertEqual(messages_shown(pdml), [])

    def test_shows_order_entry_over_a_web_socket_however_the_stream_is_cut(self):
        sent = split(sample_stream(2, 7))
        stream = b"".join(sent)
        for frame_bytes, segment_bytes in ((60_000, 1448), (1000, 1448), (37, 1448), (100, 33)):
            for options in ((), ("-o", "corro.websocket_ports:7011"), ("-2",)):
                with self.subTest(frame_bytes=frame_bytes, segment_bytes=segment_bytes, options=options):
                    frames = [stream[at:at + frame_bytes] for at in range(0, len(stream), frame_bytes)]

                    def fill(capture):
                        for side, port in (("server", 40003), ("client", 40004)):
                            socket = WebSocket(capture, port, 7011, segment_bytes)
                            for at in range(0, len(frames), 4):
                                socket.send(side, *frames[at:at + 4])
                    self.assertEqual(differences(DESCRIPTION, sent + sent, messages_shown(show(fill, *options))), [])

    def test_listens_on_the_ports_of_its_preferences(self):
        login = soup(b"L", b"user  " + b"password  " + b" " * 10 + b"1".rjust(20))
        pdml = show(lambda c: Conversation(c, 40000, 9999).send("client", login), "-o", "corro_feed.ports:9998-9999")
        self.assertIn("corro_feed.username", [field.get("name") for field in pdml.iter("field")])

    def test_points_at_what_is_wrong(self):
        order = bytearray.fromhex("0048 0010 101d 0001" + "00" * 80)
        cases = {
            "no message has this template id": (2, b"\x7f\xff"),
            "not a header of this protocol": (4, b"\x00\x00"),
            "a number that is not in use": (16 + 28, b"\x09"),
        }
        for complaint, (at, changed) in cases.items():
            with self.subTest(complaint):
                message = order[:at] + changed + order[at + len(changed):]
                shown, = messages_shown(show(
                    lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT).send("client", bytes(message))))
                self.assertTrue(any(complaint in fault for fault in shown["faults"]), shown["faults"])
        short = bytes.fromhex("0020 0010 101d 0001" + "00" * 40)
        shown, = messages_shown(show(lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT).send("client", short)))
        self.assertTrue(any("shorter" in fault for fault in shown["faults"]), shown["faults"])

    def test_notes_the_fields_of_a_newer_version(self):
        message = bytes.fromhex("0010 0006 101d 0002" + "00" * 24)
        shown, = messages_shown(show(lambda c: Conversation(c, 40000, ORDER_ENTRY_PORT).send("client", message)))
        self.assertTrue(any("newer version" in fault for fault in shown["faults"]), shown["faults"])


if __name__ == "__main__":
    if tshark_path() is None:
        print("skipped: tshark is not installed (apt-get install tshark)")
        sys.exit(77)
    SAMPLES = sys.argv.pop(1)
    unittest.main()
