#!/usr/bin/env python3
"""Builds tests/outside, a project that knows nothing of this one, against the installed library, and runs it.

    outside_test.py --build FOLDER --compiler CXX             installs what was built in FOLDER, and uses that
    outside_test.py --package FOLDER --compiler CXX           makes a Debian package of it, unpacks that, and uses it

Exit code 77 means: skipped, for the reason printed.
"""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    pass


def run(*command: object, expect_failure: bool = False) -> str:
    words = [str(word) for word in command]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if (done.returncode != 0) != expect_failure:
        raise Failed(f"{' '.join(words)}\n{done.stdout}\nexit code {done.returncode}")
    return done.stdout


def unpack_package(build: pathlib.Path, into: pathlib.Path) -> pathlib.Path:
    """Makes the Debian package, checks its description, and unpacks it. Returns its /usr."""
    run(ROOT / "tools/package", "--build", build, "--output", into / "packages")
    [package] = (into / "packages").glob("*.deb")
    fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", package).splitlines() if ": " in line)
    if fields.get("Package") != "libcorro-io-dev":
        raise Failed(f"the package is called {fields.get('Package')}")
    depends = {name.split()[0] for name in fields.get("Depends", "").split(",") if name.strip()}
    if "liburing-dev" not in depends:
        raise Failed(f"the package depends on {sorted(depends)}: without liburing-dev find_package fails")
    run("dpkg-deb", "-x", package, into / "unpacked")
    return into / "unpacked/usr"


def use(prefix: pathlib.Path, compiler: str, work: pathlib.Path) -> None:
    print(run(sys.executable, ROOT / "tools/check_install.py", prefix).strip())
    configure = ["cmake", "-S", ROOT / "tests/outside", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
                 f"-DCMAKE_PREFIX_PATH={prefix}"]
    text = run(*configure, "-B", work / "wrong", "-DWANTED=exchange", expect_failure=True)
    if "corro has no component 'exchange'; what there is: io" not in " ".join(text.split()):
        raise Failed(f"an unknown component is refused, but not clearly:\n{text}")
    asio = any(prefix.rglob("corroAsioTargets.cmake"))
    if asio:
        # Components that need Boost report its absence; the others work without it.
        without = [*configure, "-DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON"]
        run(*without, "-B", work / "without_boost")
        text = run(*without, "-B", work / "without_boost_asio", "-DWANTED=io;io_asio", expect_failure=True)
        if "corro's component 'io_asio' needs Boost 1.81 or later" not in " ".join(text.split()):
            raise Failed(f"the bridge without Boost is refused, but not clearly:\n{text}")
    run(*configure, "-B", work / "build", *(["-DWANTED=io;io_asio"] if asio else []))
    # The package must come from the prefix, not from a library that happens to be installed on this machine.
    cache = (work / "build/CMakeCache.txt").read_text()
    if f"corro_DIR:PATH={prefix}" not in cache:
        raise Failed("find_package found another corro than the one under test")
    run("cmake", "--build", work / "build")
    print(run(work / "build/outside").strip())
    print(run(work / "build/outside_web").strip())
    if asio:
        print(run(work / "build/outside_asio").strip())
        # The programs of the guide's page on coming from Asio.
        before, after = (run(work / "build" / name) for name in ("asio_before", "migration"))
        if before != after:
            raise Failed(f"asio_before and migration differ:\n{before}\n{after}")
    else:
        print("without the bridge to Asio: Boost was not there when the library was built")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--build", type=pathlib.Path)
    what.add_argument("--package", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    arguments = parser.parse_args()
    if arguments.package and not shutil.which("dpkg-deb"):
        print("skipped: dpkg-deb is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="corro-outside-") as name:
        work = pathlib.Path(name)
        try:
            if arguments.package:
                prefix = unpack_package(arguments.package.resolve(), work)
            else:
                prefix = work / "prefix"
                run("cmake", "--install", arguments.build, "--prefix", prefix)
            use(prefix, arguments.compiler, work)
        except Failed as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
