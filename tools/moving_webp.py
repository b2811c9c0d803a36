# SPDX-License-Identifier: Apache-2.0
"""Pictures in WebP as one that moves.

The container is that of https://developers.google.com/speed/webp/docs/riff_container: a picture's own chunks are taken as they are, so
nothing is decoded.
"""

import struct


def chunks_of(picture):
    """The chunks of a picture, as {name: content}."""
    if picture[:4] != b"RIFF" or picture[8:12] != b"WEBP":
        raise ValueError("not a WebP picture")
    found, at = {}, 12
    while at + 8 <= len(picture):
        name, size = struct.unpack_from("<4sI", picture, at)
        found[name] = picture[at + 8:at + 8 + size]
        at += 8 + size + size % 2
    return found


def chunk(name, content):
    return struct.pack("<4sI", name, len(content)) + content + b"\0" * (len(content) % 2)


def size_of(chunks):
    """Width and height."""
    if b"VP8 " in chunks:
        width, height = struct.unpack_from("<HH", chunks[b"VP8 "], 6)
        return width & 0x3FFF, height & 0x3FFF
    bits = struct.unpack_from("<I", chunks[b"VP8L"], 1)[0]
    return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1


def three(number):
    return struct.pack("<I", number)[:3]


def moving(frames):
    """@param frames  Pairs of a picture, all of one size, and the milliseconds for which it is shown. @return A picture that repeats for ever."""
    width, height = size_of(chunks_of(frames[0][0]))
    body = chunk(b"VP8X", b"\x02\0\0\0" + three(width - 1) + three(height - 1)) + chunk(b"ANIM", b"\0\0\0\xff\0\0")
    for picture, milliseconds in frames:
        parts = chunks_of(picture)
        if size_of(parts) != (width, height):
            raise ValueError("frames differ in size")
        # Without blending: each frame replaces the one before.
        head = three(0) + three(0) + three(width - 1) + three(height - 1) + three(milliseconds) + b"\x02"
        data = b"".join(chunk(name, parts[name]) for name in (b"ALPH", b"VP8 ", b"VP8L") if name in parts)
        body += chunk(b"ANMF", head + data)
    return struct.pack("<4sI4s", b"RIFF", 4 + len(body), b"WEBP") + body
