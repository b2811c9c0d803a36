# SPDX-License-Identifier: Apache-2.0
"""Tasks of corro::io in gdb.

    (gdb) source tools/gdb/corro_gdb.py
    (gdb) corro-chain             the coroutine of the selected frame, the one that awaits it, and so on
    (gdb) corro-chain ADDRESS     the same from the coroutine at this address
    (gdb) corro-tasks             all tasks, of a program that called context::list_tasks(), each with its chain

A task prints as the function that it runs, a std::coroutine_handle too.

A frame of a coroutine begins with the address of the function that resumes it; the promise follows. A task that a scope or a combinator
waits for knows an object within the frame of the task that waits: the chain goes on there when the program lists its tasks, and ends at the
scope otherwise.
"""

import re

import gdb

WORD = gdb.lookup_type("void").pointer().sizeof
MUTEX_BYTES = 40  # glibc's, on x86-64
PROMISE = "corro::io::detail::promise_base"


def word_at(address):
    return int.from_bytes(gdb.selected_inferior().read_memory(address, WORD), "little")


def symbol_at(address):
    found = re.match(r"(.*?)(?: \+ \d+)? in section", gdb.execute(f"info symbol {address:#x}", to_string=True))
    return found[1] if found else None


def without_parameters(name):
    end = name.rfind(")")
    depth = 0
    for at in range(end, -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if name[at] == "(" and depth == 0:
            return name[:at]
    return name


def coroutine_name(resumed_by):
    """Clang's name is that of the function; GCC's has it within, before .Frame."""
    name = symbol_at(resumed_by)
    if name is None:
        return f"{resumed_by:#x}"
    name = re.sub(r"\s*\[clone [^\]]*\]|\s*\(\.\w+\)|\.(?:resume|actor|destroy|cleanup)$", "", name)
    inner = re.search(r".*(_Z\w+)\.Frame\b", name)
    if inner:
        name = gdb.execute(f"demangle {inner[1]}", to_string=True).strip()
    return without_parameters(name).replace("[abi:cxx11]", "")


def place_of(resumed_by):
    line = gdb.find_pc_line(resumed_by)
    return f" at {line.symtab.filename}:{line.line}" if line.symtab else ""


def started_on(frame):
    """The context of a task, 0 for one that has not started."""
    promise = gdb.Value(frame + 2 * WORD).cast(gdb.lookup_type(PROMISE).pointer())
    return promise, int(promise["environment_"]["where"])


def listed_frames():
    """Address and size of each frame, by address; empty where they are not listed."""
    try:
        listed = gdb.parse_and_eval("(unsigned long)&'corro::io::detail::(anonymous namespace)::tasks_listed'")
    except gdb.error:
        return []
    frames = word_at(int(listed))
    if frames == 0:
        return []
    # A mutex, then a map. No types: the library may have been compiled without debug information.
    header = frames + MUTEX_BYTES + WORD
    parent, left, right, value = WORD, 2 * WORD, 3 * WORD, 4 * WORD
    found, waiting = [], []
    node = word_at(header + parent)
    # In order, without recursion.
    while waiting or node:
        while node:
            waiting.append(node)
            node = word_at(node + left)
        node = waiting.pop()
        # The key; then the frame: its address, its size, its number.
        found.append(tuple(word_at(node + value + i * WORD) for i in (1, 2, 3)))
        node = word_at(node + right)
    return found


def frame_around(address, frames):
    return next((begin for begin, size, _ in frames if begin <= address < begin + size), None)


def waiter_of(frame, frames):
    """The frame that waits for this one, and words about it where there is none."""
    promise, _ = started_on(frame)
    hook = int(promise["hook_"])
    if hook:
        around = frame_around(hook, frames)
        return (around, None) if around is not None else (None, f"a scope or a combinator at {hook:#x}")
    parent = int(promise["continuation_"])
    name = symbol_at(word_at(parent)) if parent else None
    # A task that plain code started is followed by a coroutine that does nothing.
    if not parent or name is None or "oop" in name and "oro" in name:
        return None, "started by plain code, or by a combinator that is still starting tasks"
    around = frame_around(parent, frames)
    return (around if around is not None else parent), None


def print_chain(frame):
    frames, depth = listed_frames(), 0
    while frame is not None and depth < 10_000:
        resumed_by = word_at(frame)
        print(f"#{depth:<2} {coroutine_name(resumed_by) if resumed_by else 'ended'}{place_of(resumed_by) if resumed_by else ''}")
        frame, why = waiter_of(frame, frames)
        depth += 1
    print(f"    {why}")


def selected_frame():
    """The coroutine whose function is selected: Clang keeps it in __coro_frame, GCC in frame_ptr or _Coro_self_handle."""
    selected = gdb.selected_frame()
    for name in ("frame_ptr", "__coro_frame", "__promise"):
        try:
            value = selected.read_var(name)
        except ValueError:
            continue
        if value.is_optimized_out or (name != "frame_ptr" and value.address is None):
            continue
        if name == "frame_ptr":
            return int(value)
        return int(value.address) - (2 * WORD if name == "__promise" else 0)
    raise gdb.GdbError("the selected frame is no coroutine, or the optimiser has removed what leads to it: try corro-tasks")


class Chain(gdb.Command):
    """corro-chain [ADDRESS]: the selected coroutine, or that at ADDRESS, and those that wait for it."""

    def __init__(self):
        super().__init__("corro-chain", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        print_chain(int(gdb.parse_and_eval(argument)) if argument else selected_frame())


class Tasks(gdb.Command):
    """corro-tasks: each task that waits for no other task, with those that wait for it."""

    def __init__(self):
        super().__init__("corro-tasks", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        frames = listed_frames()
        running = [frame for frame, _, _ in sorted(frames, key=lambda each: each[2]) if started_on(frame)[1] and word_at(frame)]
        if not frames:
            print("no tasks are listed: the program calls context::list_tasks first in main")
            return
        waiters = {waiter_of(frame, frames)[0] for frame in running}
        for frame in running:
            if frame not in waiters:
                print_chain(frame)


class TaskPrinter:
    def __init__(self, address):
        self.address = address

    def to_string(self):
        if not self.address:
            return "no task"
        resumed_by = word_at(self.address)
        return coroutine_name(resumed_by) + ("" if started_on(self.address)[1] else ", not started") if resumed_by else "an ended task"


class HandlePrinter:
    def __init__(self, address):
        self.address = address

    def to_string(self):
        return f"{self.address:#x} {coroutine_name(word_at(self.address))}" if self.address else "no coroutine"


def printer_of(value):
    name = value.type.strip_typedefs().unqualified().name or ""
    if re.match(r"corro::io::task<.*>$", name):
        return TaskPrinter(int(value["handle_"]["_M_fr_ptr"]))
    if re.match(r"std::(?:__n4861::)?coroutine_handle<.*>$", name):
        return HandlePrinter(int(value["_M_fr_ptr"]))
    return None


Chain()
Tasks()
gdb.pretty_printers.append(printer_of)
