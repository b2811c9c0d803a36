# SPDX-License-Identifier: Apache-2.0
"""A file system whose power can fail, mounted through FUSE: what was not synced is then there or not, sector by sector.

Speaks the kernel's protocol (include/uapi/linux/fuse.h) on /dev/fuse, so that it needs no library. Files are in memory. Of each the
disk knows what was written and what was synced; `cut_power` makes of both what a disk might have kept: each sector of 512 bytes for
itself, and of the changes to names since the last sync of a directory the first few.
"""

import ctypes
import errno
import os
import random
import select
import stat
import struct
import threading
import time

SECTOR = 512
SYNC_TAKES_S = 0.003  # long enough that the power mostly fails during one
ROOT = 1
WRITE_MAX = 1 << 20
LIBC = ctypes.CDLL(None, use_errno=True)

(LOOKUP, FORGET, GETATTR, SETATTR, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR,
 READDIR, RELEASEDIR, FSYNCDIR, CREATE, INTERRUPT, BATCH_FORGET, FALLOCATE, RENAME2) = (
    1, 2, 3, 4, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20, 25, 26, 27, 28, 29, 30, 35, 36, 42, 43, 45)
NOT_ANSWERED = (FORGET, BATCH_FORGET, INTERRUPT)
SIZE_IS_SET = 1 << 3
DIRECT_IO = 1


class Node:
    def __init__(self, mode):
        self.mode = mode
        self.now = bytearray()
        self.durable = b""


class TearingDisk:
    """A context manager; `path` is where it is mounted."""

    def __init__(self, path, seed, ignores_syncs=False):
        self.path = path
        self.random = random.Random(seed)
        self.ignores_syncs = ignores_syncs  # the control: a disk that lies
        self.power_is_on = True
        self.syncs_count = 0
        self.lost_count = 0  # sectors that were written and are not there any more, and changes of names
        self.nodes = {ROOT: Node(stat.S_IFDIR | 0o755)}
        self.next_number = ROOT + 1
        self.names = {}  # of a parent's number and a name, the number
        self.names_since_sync = [{}]  # after each change, oldest first
        os.makedirs(path, exist_ok=True)

    def __enter__(self):
        self.device = os.open("/dev/fuse", os.O_RDWR)
        options = f"fd={self.device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()}"
        if LIBC.mount(b"corro_test", self.path.encode(), b"fuse", 0, options.encode()) != 0:
            os.close(self.device)
            raise OSError(ctypes.get_errno(), "mounting through FUSE")
        self.ended, self.end = os.pipe()
        self.server = threading.Thread(target=self.serve, args=(self.device,))
        self.server.start()
        return self

    def __exit__(self, *unused):
        LIBC.umount2(self.path.encode(), 2)  # MNT_DETACH
        # Another mount namespace, such as a container's, may hold the mount for as long as it lives; a closed device ends it there too.
        os.close(self.end)
        self.server.join()
        os.close(self.ended)
        os.close(self.device)

    def switch_off(self):
        """From now on nothing reaches the disk, and nothing comes back from it but errors."""
        self.power_is_on = False

    def cut_power(self):
        """Mounts the surviving content in the same place. No process has files of it open any more."""
        self.__exit__()
        kept_count = self.random.randrange(len(self.names_since_sync))
        self.lost_count += len(self.names_since_sync) - 1 - kept_count
        self.names = dict(self.names_since_sync[kept_count])
        self.names_since_sync = [dict(self.names)]
        for node in self.nodes.values():
            after = bytearray(self.random.choice((node.now, node.durable)))
            for at in range(0, min(len(node.now), len(node.durable)), SECTOR):
                kept = self.random.choice((node.now, node.durable))
                end = min(at + SECTOR, len(node.now), len(node.durable))
                after[at:end] = kept[at:end]
            for at in range(0, len(node.now), SECTOR):
                self.lost_count += node.now[at:at + SECTOR] != after[at:at + SECTOR]
            node.now, node.durable = after, bytes(after)
        self.power_is_on = True
        self.__enter__()

    # --- The protocol ---

    def serve(self, device):
        waiting = select.poll()
        waiting.register(device, select.POLLIN)
        waiting.register(self.ended, select.POLLIN)
        while True:
            ready = [number for number, _ in waiting.poll()]
            if self.ended in ready and device not in ready:
                return
            try:
                request = os.read(device, WRITE_MAX + 65536)
            except OSError as error:
                if error.errno in (errno.EINTR, errno.ENOENT, errno.EAGAIN):
                    continue
                return  # unmounted
            _, operation, unique, number = struct.unpack_from("<IIQQ", request)
            if operation in NOT_ANSWERED:
                continue
            try:
                if not self.power_is_on:
                    raise OSError(errno.EIO, "")
                error, answer = 0, self.answer(operation, number, request[40:])
            except OSError as refused:
                error, answer = refused.errno, b""
            try:
                os.write(device, struct.pack("<IiQ", 16 + len(answer), -error, unique) + answer)
            except OSError:
                pass  # the caller has been killed meanwhile

    def answer(self, operation, number, body):
        if operation == INIT:
            big_writes_and_pages = 1 << 5 | 1 << 22
            return struct.pack("<IIIIHHIIHH8I", 7, 31, WRITE_MAX, big_writes_and_pages, 16, 12, WRITE_MAX, 1, WRITE_MAX // 4096, 0,
                               *[0] * 8)
        if operation == LOOKUP:
            return self.entry(self.find(number, name_in(body)))
        if operation == GETATTR:
            return self.attributes_for_a_moment(number)
        if operation == SETATTR:
            valid, _, _, size = struct.unpack_from("<IIQQ", body)
            if valid & SIZE_IS_SET:
                self.resize(number, size)
            return self.attributes_for_a_moment(number)
        if operation == MKDIR:
            return self.entry(self.make(number, name_in(body[8:]), stat.S_IFDIR | 0o755))
        if operation == CREATE:
            return self.entry(self.make(number, name_in(body[16:]), stat.S_IFREG | 0o644)) + struct.pack("<QII", 0, DIRECT_IO, 0)
        if operation in (UNLINK, RMDIR):
            self.find(number, name_in(body))
            self.change_names(lambda names: names.pop((number, name_in(body))))
            return b""
        if operation in (RENAME, RENAME2):
            parent = struct.unpack_from("<Q", body)[0]
            old, new = body[8 if operation == RENAME else 16:].split(b"\0")[:2]
            moved = self.find(number, old)

            def move(names):
                del names[number, old]
                names[parent, new] = moved
            self.change_names(move)
            return b""
        if operation in (OPEN, OPENDIR):
            return struct.pack("<QII", 0, DIRECT_IO if operation == OPEN else 0, 0)
        if operation in (READ, READDIR):
            offset, size = struct.unpack_from("<QI", body, 8)
            return bytes(self.nodes[number].now[offset:offset + size]) if operation == READ else self.list(number, offset, size)
        if operation == WRITE:
            offset, size = struct.unpack_from("<QI", body, 8)
            node = self.nodes[number]
            if offset + size > len(node.now):
                self.resize(number, offset + size)
            node.now[offset:offset + size] = body[40:40 + size]
            return struct.pack("<II", size, 0)
        if operation == FALLOCATE:
            _, offset, length, mode = struct.unpack_from("<QQQI", body)
            if mode != 0:
                raise OSError(errno.EOPNOTSUPP, "")
            self.resize(number, max(len(self.nodes[number].now), offset + length))
            return b""
        if operation in (FSYNC, FSYNCDIR):
            time.sleep(SYNC_TAKES_S)
            if not self.power_is_on:
                raise OSError(errno.EIO, "")
            self.syncs_count += 1
            if not self.ignores_syncs:
                self.nodes[number].durable = bytes(self.nodes[number].now)
                if operation == FSYNCDIR:
                    self.names_since_sync = [dict(self.names)]
            return b""
        if operation == STATFS:
            return struct.pack("<QQQQQIIII6I", 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096, 0, *[0] * 6)
        if operation in (RELEASE, RELEASEDIR, FLUSH):
            return b""
        raise OSError(errno.ENOSYS, "")

    def find(self, parent, name):
        if (parent, name) not in self.names:
            raise OSError(errno.ENOENT, "")
        return self.names[parent, name]

    def make(self, parent, name, mode):
        number = self.next_number
        self.next_number += 1
        self.nodes[number] = Node(mode)
        self.change_names(lambda names: names.__setitem__((parent, name), number))
        return number

    def change_names(self, change):
        change(self.names)
        self.names_since_sync.append(dict(self.names))

    def resize(self, number, size):
        now = self.nodes[number].now
        if size < len(now):
            del now[size:]
        else:
            now.extend(bytes(size - len(now)))

    def attributes(self, number):
        node = self.nodes[number]
        return struct.pack("<6Q3I7I", number, len(node.now), (len(node.now) + 511) // 512, 0, 0, 0, 0, 0, 0, node.mode, 1,
                           os.getuid(), os.getgid(), 0, 4096, 0)

    def attributes_for_a_moment(self, number):
        return struct.pack("<QII", 0, 0, 0) + self.attributes(number)

    def entry(self, number):
        return struct.pack("<QQQQII", number, 0, 0, 0, 0, 0) + self.attributes(number)

    def list(self, number, offset, size):
        found = b""
        there = [(name, child) for (parent, name), child in sorted(self.names.items()) if parent == number]
        for at, (name, child) in list(enumerate(there))[offset:]:
            one = struct.pack("<QQII", child, at + 1, len(name), self.nodes[child].mode >> 12) + name
            one += bytes(-len(one) % 8)
            if len(found) + len(one) > size:
                break
            found += one
        return found


def name_in(body):
    return body.split(b"\0")[0]
