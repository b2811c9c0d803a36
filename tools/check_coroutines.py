#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds conditions and conditional expressions where g++ 12 makes wrong code of an await.

    check_coroutines.py [ROOT]        checks the tree below ROOT (default: the project)
    check_coroutines.py --self-test   proves on small samples that the rule catches what it should, and nothing else

The cure is always to name the result, `const bool worked = co_await work();`, and then to test the name. Four rules:

1. g++ 12 forgets to come back after `if (co_await work())` (`while`, `for` and `switch` likewise) when the coroutine
   declares no local variable. Any variable of the same function body helps, so only bodies that declare none are reported.
2. After a `continue` in `do { ... } while (co_await work());` g++ 12 skips the await and begins the body again, whatever is
   declared. Every `do` loop that awaits in its condition is reported: the `continue` may come later.
3. The behaviours of agents (functions that return `behaviour`) await in no condition at all, nor beside `&&`, `||` or `?`:
   users copy them, and change them.
4. A statement that awaits has no `?:` that makes an object, as in `co_await send(ok ? text("yes") : text("no"))`: g++ 12 destroys the
   object twice. Types are not known here. What looks like an object is a call, a pair of braces, a literal with a suffix, and a literal
   beside something else. The cure is to name the object in a statement before.
"""

import pathlib
import re
import sys

from check_includes import NOT_CODE, without_comments_and_literals

ROOTS = ("src", "apps", "examples", "lab", "tests")
SUFFIXES = {".hpp", ".cpp"}

# Macros of the tests that put their argument into an `if`.
CONDITION = re.compile(r"\b(?:if|while|for|switch|CORRO_REQUIRE)\s*\(")
# The end of a `do` loop; the condition of another `while` does not follow a brace of a block that `do` opened.
END_OF_DO = re.compile(r"\}\s*while\s*\(")
# The text before the body of a behaviour: a function's head, or the result of a lambda.
BEHAVIOUR = re.compile(r"(?:\bbehaviour\s+[\w:]+\s*\([^{};]*\)\s*|->\s*(?:\w+::)*behaviour\s*)$")
# The text before the brace of a block that is not the body of a function.
BLOCK = re.compile(r"(?:\b(?:else|do|try)|\b(?:if|for|while|switch|catch)\s*(?:constexpr\s*)?)\s*$")
NOT_A_FUNCTION = re.compile(r"\b(?:namespace|struct|class|union|enum)\b[^;{}()]*$|[=,(]\s*$|\breturn\s*$")
# A declaration: a type, a name or a structured binding, and what may follow. Statics live outside the frame.
DECLARATION = re.compile(
    r"(?:^|[;{}]|\b(?:if|for|while|switch)\s*\()\s*(?!static\b|constexpr\b)(?:const\s+)?"
    r"(?!(?:return|co_return|co_await|co_yield|delete|throw|else|case|goto|using|new|typedef|break|continue|struct"
    r"|class|public|private|template|namespace|if|for|while|switch|do)\b)"
    r"[A-Za-z_][\w:]*(?:<[^;{}]*>)?(?:\s*[*&]+\s*|\s+)(?:const\s+)?"
    r"(?:[A-Za-z_]\w*|\[[\w,\s]+\])\s*(?:=(?!=)|[{(;:\[])"
)

# What makes an object, as a branch of `?:`: a call or braces, with the name before them; a literal with a suffix.
OBJECT = re.compile(r"(?!co_await\b)[A-Za-z_][\w:.<>,\s-]*(?=[({])|\"\"[A-Za-z_]\w*$|(?=\{)")


def closing(text: str, opened: int) -> int:
    """Where the bracket at `opened` ends."""
    pairs = {"(": ")", "{": "}", "[": "]"}
    stack = []
    for at in range(opened, len(text)):
        if text[at] in pairs:
            stack.append(pairs[text[at]])
        elif stack and text[at] == stack[-1]:
            stack.pop()
            if not stack:
                return at
    return len(text)


def opening(text: str, closed: int) -> int:
    """Where the parenthesis that ends at `closed` begins."""
    depth = 0
    for at in range(closed, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return 0


def is_function_body(text: str, brace: int) -> bool:
    """Whether the brace opens the body of a function or of a lambda."""
    before = re.sub(r"(?:\s|\b(?:const|noexcept|override|final|mutable)\b|->\s*[\w:<>,*&\s]+?)*$", "", text[:brace][-400:])
    if not before.endswith(")"):
        # A lambda without parentheses.
        return before.endswith("]")
    head = text[: opening(text, len(text[:brace].rstrip()) - 1)] if text[:brace].rstrip().endswith(")") else None
    if head is None:
        head = before[: opening(before, len(before) - 1)]
    return not BLOCK.search(head[-40:])


def blocks(text: str) -> list[tuple[int, int, bool]]:
    """Every pair of braces, and whether it is a function's body."""
    found = []
    stack = []
    for at, character in enumerate(text):
        if character == "{":
            stack.append(at)
        elif character == "}" and stack:
            opened = stack.pop()
            found.append((opened, at, is_function_body(text, opened)))
    return found


def own_text(text: str, start: int, end: int, functions: list[tuple[int, int]]) -> str:
    """The body without the bodies of the functions in it."""
    parts = []
    at = start + 1
    for inner_start, inner_end in sorted(functions):
        if inner_start <= start or inner_end >= end or inner_start < at:
            continue
        parts.append(text[at : inner_start + 1])
        at = inner_end
    parts.append(text[at:end])
    return "".join(parts)


def awaits(text: str) -> bool:
    """Whether a condition or a statement awaits, outside of lambdas in it."""
    return re.search(r"\bco_await\b", re.sub(r"\{[^{}]*\}", "", text)) is not None


def innermost(pairs: list[tuple[int, int]], at: int) -> tuple[int, int] | None:
    return max((pair for pair in pairs if pair[0] < at < pair[1]), default=None)


def branches(text: str, question: int) -> tuple[str, str]:
    """Of the conditional expression whose `?` stands there."""
    ends, at, inner = [], question + 1, 0
    while at < len(text):
        if text[at] in "({[":
            at = closing(text, at)
        elif text[at : at + 2] == "::":
            at += 1
        elif text[at] == "?" and not ends:
            inner += 1
        elif text[at] == ":" and inner:
            inner -= 1
        elif text[at] == ":" and not ends or text[at] in ",;)}]" and len(ends) == 1:
            ends.append(at)
            if len(ends) == 2:
                break
        at += 1
    ends += [at] * (2 - len(ends))
    return text[question + 1 : ends[0]].strip(), text[ends[0] + 1 : ends[1]].strip()


def makes_object(branch: str) -> bool:
    head = OBJECT.match(branch)
    return head is not None and (head.end() == len(branch) or closing(branch, head.end()) == len(branch) - 1)


def objects_of_choices(source: str) -> set[int]:
    """Lines of statements that await and choose between objects by `?:`."""
    source = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", source)
    text = NOT_CODE.sub(lambda match: '""' if match.group().startswith(('"', "R")) and "\n" not in match.group()
                        else "\n" * match.group().count("\n") or " ", source)
    lines = set()
    for match in re.finditer(r"\bco_(?:await|yield)\b", text):
        # The statement around it, with what stands in brackets.
        start = end = match.start()
        depth = 0
        while start > 0 and (depth > 0 or text[start - 1] not in ";{}"):
            start -= 1
            depth += (text[start] in ")]") - (text[start] in "([")
        depth = 0
        while end < len(text) and (depth > 0 or text[end] not in ";}"):
            depth += (text[end] in "({[") - (text[end] in ")}]")
            end += 1
        for question in re.finditer(r"\?", text[start:end]):
            chosen = branches(text[:end], start + question.start())
            literals = sum(branch.startswith('""') for branch in chosen)
            if any(makes_object(branch) for branch in chosen) or literals == 1:
                lines.add(text.count("\n", 0, start + question.start()) + 1)
    return lines


def lines_at_fault(source: str) -> list[int]:
    text = without_comments_and_literals(source)
    all_blocks = blocks(text)
    functions = [(start, end) for start, end, function in all_blocks if function]
    behaviours = {start for start, _ in functions if BEHAVIOUR.search(text[max(0, start - 600) : start])}
    places = set()

    for match in CONDITION.finditer(text):
        opened = match.end() - 1
        around = innermost(functions, opened)
        if around is None or not awaits(text[opened : closing(text, opened) + 1]):
            continue
        start, end = around
        if start in behaviours or not DECLARATION.search(own_text(text, start, end, functions)):
            places.add(match.start())

    block_of_end = {end: start for start, end, _ in all_blocks}
    for match in END_OF_DO.finditer(text):
        start = block_of_end.get(match.start(), 0)
        opened = match.end() - 1
        if re.search(r"\bdo\s*$", text[:start][-40:]) and awaits(text[opened : closing(text, opened) + 1]):
            places.add(text.index("while", match.start()))

    for start, end in functions:
        if start not in behaviours:
            continue
        for statement in re.finditer(r"[^;{}]+", text[start + 1 : end]):
            if awaits(statement.group()) and re.search(r"&&|\|\||\?", statement.group()):
                places.add(start + 1 + statement.start() + len(statement.group()) - len(statement.group().lstrip()))

    return sorted({text.count("\n", 0, place) + 1 for place in places} | objects_of_choices(source))


def check(root: pathlib.Path) -> int:
    findings = 0
    for top in ROOTS:
        for path in sorted((root / top).rglob("*")):
            if path.suffix not in SUFFIXES or not path.is_file():
                continue
            source = path.read_text(encoding="utf-8")
            for line in lines_at_fault(source) if "co_" in source else []:
                findings += 1
                print(f"{path.relative_to(root)}:{line}: g++ 12 makes wrong code of an await in such a condition or beside such a ?: name what is tested or chosen first")
    print(f"check_coroutines: {findings} findings")
    return 1 if findings else 0


BAD = [
    "task<> f(x* on) {\n    if (co_await on->work()) co_return;\n}\n",
    "task<> f(x* on) {\n    while (!co_await on->work()) co_await other();\n}\n",
    "task<> f(x* on) {\n    for (;;) {\n        if (!on->good() || !co_await on->work()) co_return;\n    }\n}\n",
    "void g() {\n    const int other = 1;\n    const auto f = [](x* on) -> task<> {\n        if (co_await on->work()) co_return;\n    };\n}\n",
    "task<> f(x* on) {\n    CORRO_REQUIRE(co_await on->work());\n}\n",
    "task<> f(x* on) {\n    static constexpr int shared = 1;\n    if (co_await on->work(shared)) co_return;\n}\n",
    "task<> f(x* on) {\n    g([](int a) { const int b = a; return b; });\n    if (co_await on->work()) co_return;\n}\n",
    "task<> f(x* on) {\n    for (; co_await on->work();) g();\n}\n",
    "task<> f(x* on) {\n    switch (co_await on->work()) {\n        case 1: g();\n    }\n}\n",
    "task<> f(x* on) {\n    int n = 0;\n    do {\n        if (g(++n)) continue;\n        h();\n    } while (co_await on->work());\n}\n",
    "task<> f(x* on) {\n    int n = 0;\n    do {\n        while (g(++n)) {\n            h();\n        }\n    } while (n < 3 && co_await on->work());\n}\n",
    "behaviour f(agent& me) {\n    int n = 0;\n    while (co_await me.sleep(1)) {\n        g(++n);\n    }\n}\n",
    "market::behaviour f(market::agent& me) {\n    int n = 0;\n    for (; co_await me.sleep(1); ++n) g(n);\n}\n",
    "inline behaviour f(agent& me) {\n    int n = 0;\n    if (co_await me.sleep(1)) g(n);\n}\n",
    "behaviour f(agent& me) {\n    const bool goes_on = g() && co_await me.sleep(1);\n    if (!goes_on) co_return;\n}\n",
    "behaviour f(agent& me) {\n    const bool goes_on = g() ? co_await me.sleep(1) : true;\n    if (!goes_on) co_return;\n}\n",
    "void g() {\n    add([](agent& me) -> market::behaviour {\n        int n = 0;\n        while (co_await me.sleep(1)) h(++n);\n    });\n}\n",
    'task<> f(bool b) {\n    const int n = 1;\n    co_await g(n, b ? "\\1\\0"s : "\\1\\1"s);\n}\n',
    "task<> f(bool b) {\n    const int r = co_await g(b ? text(1) : text(2));\n}\n",
    "task<> f(bool b) {\n    const int r = co_await g(b ? here : some::text<int>{2});\n}\n",
    "task<> f(bool b) {\n    const int r = g(b ? text(1) : here, co_await h());\n}\n",
    "task<> f(bool b) {\n    const int r = co_await h() + g(b ? here : text(1));\n}\n",
    "task<> f(bool b) {\n    const int r = (b ? text(1) : text(2)).size(co_await h());\n}\n",
    "task<> f(bool b) {\n    const int r = co_await g(b ? c ? here : there : make->text(1), 2);\n}\n",
    'task<> f(bool b) {\n    const int r = co_await g(b ? "none" : here);\n}\n',
    "generator<text> f(bool b) {\n    co_yield b ? text(1) : text(2);\n}\n",
]
GOOD = [
    'task<> f(bool b) {\n    const text chosen = b ? text("a") : text("b");\n    const int r = co_await g(chosen);\n}\n',
    'task<> f(bool b) {\n    const int r = co_await g(b ? "yes" : "no", b ? 1 : 2, b ? &here : nullptr, b ? a::b : c->d);\n}\n',
    "task<> f(bool b) {\n    const int r = b ? co_await g() : co_await h();\n}\n",
    "task<> f(bool b) {\n    const int r = co_await g(b ? make(1).size : -1);\n}\n",
    "task<> f(bool b) {\n    // b ? text(1) : text(2)\n    const int r = co_await g();\n    h(b ? text(1) : text(2));\n}\n",
    "task<> f(x* on) {\n    const bool done = co_await on->work();\n    if (done) co_return;\n}\n",
    "task<> f(x* on) {\n    if (const auto error = co_await on->work()) co_return;\n}\n",
    "task<> f(x* on) {\n    std::array<std::byte, 8> buffer{};\n    if (co_await on->work(buffer)) co_return;\n}\n",
    "task<> f(x* on) {\n    for (int i = 0; i < 3; ++i) {\n        if (co_await on->work()) co_return;\n    }\n}\n",
    "task<> f(x* on) {\n    // if (co_await on->work())\n    if (on->good()) co_await on->work();\n}\n",
    "task<> f(x* on) {\n    auto [a, b] = co_await pair();\n    while (co_await on->work(a, b)) g();\n}\n",
    "task<> f(x* on) {\n    int n = 0;\n    do {\n        n += co_await on->work();\n    } while (n < 3);\n}\n",
    "task<> f(x* on) {\n    int n = 0;\n    if (n == 0) {\n        g();\n    }\n    while (co_await on->work(n)) ++n;\n}\n",
    "behaviour f(agent& me) {\n    for (;;) {\n        const bool goes_on = co_await me.sleep(1);\n        if (!goes_on) co_return;\n        g(a && b);\n    }\n}\n",
    "behaviour f(agent& me) {\n    for (int i = 0; i < 3; ++i) {\n        static_cast<void>(co_await me.sleep(i));\n    }\n}\n",
    "behaviour f(agent& me);\ntask<> g(x* on) {\n    int n = 0;\n    while (co_await on->work(n)) ++n;\n}\n",
]


def self_test() -> int:
    wrong = 0
    for expected, samples in ((True, BAD), (False, GOOD)):
        for sample in samples:
            if bool(lines_at_fault(sample)) != expected:
                wrong += 1
                print(f"expected {'a finding' if expected else 'nothing'} in:\n{sample}")
    print(f"check_coroutines: {len(BAD) + len(GOOD)} samples, {wrong} judged wrongly")
    return 1 if wrong else 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent
    return check(root)


if __name__ == "__main__":
    sys.exit(main())
