#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds tests/outside, a project that knows nothing of this one, against the installed library, and runs it.

    outside_test.py --build FOLDER --compiler CXX [--guide]   installs what was built in FOLDER, and uses that; --guide
                                                              compiles every other program of the guide with it, too
    outside_test.py --package FOLDER --compiler CXX           makes Debian packages of it, unpacks them, and uses those

The second builds one program for each library. What it unpacks is what the first installs, and that one builds every
example, and every public header by itself.

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


def has_fix(build: pathlib.Path) -> bool:
    """Without pugixml, corro::fix was not built."""
    return (build / "src/fix/libcorro_fix.a").exists()


def program_of(build: pathlib.Path) -> pathlib.Path | None:
    """The exchange, where it was built with the libraries."""
    program = build / "apps/corro/corro"
    return program if program.exists() else None


def depends_of(fields: dict[str, str]) -> set[str]:
    return {name.split()[0] for name in fields.get("Depends", "").split(",") if name.strip()}


def files_in(package: pathlib.Path) -> set[str]:
    return {line.split()[-1] for line in run("dpkg-deb", "--contents", package).splitlines() if line.startswith("-")}


def unpack_packages(build: pathlib.Path, into: pathlib.Path, compiler: str) -> pathlib.Path:
    """Makes the Debian packages, checks their descriptions, and unpacks them. Returns their /usr."""
    run(ROOT / "tools/package", "--build", build, "--output", into / "packages")
    packages = {}
    for package in (into / "packages").glob("*.deb"):
        fields = dict(line.split(": ", 1) for line in run("dpkg-deb", "--field", package).splitlines() if ": " in line)
        packages[fields.get("Package")] = (package, fields)
    expected = ["libcorro-client-dev", *(["libcorro-fix-dev"] if has_fix(build) else []), "libcorro-io-dev", "libcorro-sim-dev"]
    if sorted(packages) != expected:
        raise Failed(f"the packages are {sorted(packages)}, expected {expected}")
    package, fields = packages["libcorro-io-dev"]
    if "liburing-dev" not in depends_of(fields):
        raise Failed(f"libcorro-io-dev depends on {fields.get('Depends')}: without liburing-dev find_package fails")
    if "libpugixml-dev" in depends_of(fields):
        raise Failed("libcorro-io-dev depends on libpugixml-dev, which only corro::fix needs")
    run("dpkg-deb", "-x", package, into / "unpacked")
    prefix = into / "unpacked/usr"
    others = [("client", {"libcorro-io-dev"}), ("sim", {"libcorro-io-dev"})]
    if has_fix(build):
        others.append(("fix", {"libcorro-io-dev", "libpugixml-dev"}))
    for component, needed in others:
        # Without the second package there is no component fix, and the first one works by itself.
        configure = configure_command(prefix, compiler)
        run(*configure, "-B", into / f"without_{component}")
        text = run(*configure, "-B", into / f"wrong_without_{component}", f"-DWANTED=io;{component}", expect_failure=True)
        if f"corro has no component '{component}'; what there is: io" not in " ".join(text.split()):
            raise Failed(f"the component of a package that is not installed is refused, but not clearly:\n{text}")
        package, fields = packages[f"libcorro-{component}-dev"]
        if not needed <= depends_of(fields):
            raise Failed(f"libcorro-{component}-dev depends on {fields.get('Depends')}: find_package fails")
        both = files_in(package) & files_in(packages["libcorro-io-dev"][0])
        if both:
            raise Failed(f"dpkg refuses a second package that contains the same files: {sorted(both)}")
        run("dpkg-deb", "-x", package, into / "unpacked")
    return prefix


def configure_command(prefix: pathlib.Path, compiler: str) -> list[object]:
    return ["cmake", "-S", ROOT / "tests/outside", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DCMAKE_PREFIX_PATH={prefix}"]


def use(prefix: pathlib.Path, compiler: str, work: pathlib.Path, fix: bool, program: pathlib.Path | None,
        whole: bool, guide: bool) -> None:
    print(run(sys.executable, ROOT / "tools/check_install.py", prefix).strip())
    configure = configure_command(prefix, compiler)
    text = run(*configure, "-B", work / "wrong", "-DWANTED=exchange", expect_failure=True)
    if "corro has no component 'exchange'; what there is: io" not in " ".join(text.split()):
        raise Failed(f"an unknown component is refused, but not clearly:\n{text}")
    # Components that need a package of their own report its absence; the others work without it.
    asio = any(prefix.rglob("corroAsioTargets.cmake"))
    components = [("io_asio", "Boost", "Boost 1.81 or later")] if asio else []
    if fix:
        components.append(("fix", "pugixml", "pugixml (Debian: libpugixml-dev)"))
    for component, package, needs in components:
        without = [*configure, f"-DCMAKE_DISABLE_FIND_PACKAGE_{package}=ON"]
        run(*without, "-B", work / f"without_{package}")
        text = run(*without, "-B", work / f"{component}_without_{package}", f"-DWANTED={component}", expect_failure=True)
        if f"corro's component '{component}' needs {needs}" not in " ".join(text.split()):
            raise Failed(f"component {component} without {package} is refused, but not clearly:\n{text}")
    run(*configure, "-B", work / "build", f"-DWHOLE={'ON' if whole else 'OFF'}", f"-DGUIDE={'ON' if guide else 'OFF'}",
        f"-DWANTED={';'.join(['client', 'sim', *(name for name, _, _ in components)])}")
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
        before, after = (run(work / "build" / name) for name in ("asio_before", "migration")) if whole else ("", "")
        if before != after:
            raise Failed(f"asio_before and migration differ:\n{before}\n{after}")
    else:
        print("without the bridge to Asio: Boost was not there when the library was built")
    if not whole:
        if "usage" not in run(work / "build/client/orders", expect_failure=True):
            raise Failed("an example of the client says no usage")
    elif program:
        print(run(sys.executable, ROOT / "examples/client/client_test.py", program, ROOT, work / "build/client").strip().splitlines()[-1])
    else:
        print("the client's examples were built and not run: the exchange was not built")
    if whole and "answer 5 after 20 ms" not in run(work / "build/simulated_hosts"):
        raise Failed("simulated_hosts gets no fifth answer in 20 ms")
    if fix:
        print(run(work / "build/outside_fix").strip())
        if whole and "message 2 is rejected: Required tag missing, tag 55" not in run(work / "build/fix_dictionary"):
            raise Failed("fix_dictionary accepts an order without a symbol")
    else:
        print("without corro::fix: pugixml was not there when the library was built")


def use_pkg_config(prefix: pathlib.Path, compiler: str, work: pathlib.Path) -> None:
    """The same program without CMake."""
    folder = next(prefix.rglob("corro-io.pc")).parent
    environment = ["env", f"PKG_CONFIG_PATH={folder}"]
    flags = run(*environment, "pkg-config", "--cflags", "--libs", "corro-io").split()
    run(compiler, "-std=c++23", "-O2", ROOT / "tests/outside/main.cpp", "-o", work / "by_pkg_config", *flags)
    print(run(work / "by_pkg_config").strip())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--build", type=pathlib.Path)
    what.add_argument("--package", type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--guide", action="store_true")
    arguments = parser.parse_args()
    if arguments.package and not shutil.which("dpkg-deb"):
        print("skipped: dpkg-deb is not installed")
        return 77
    with tempfile.TemporaryDirectory(prefix="corro-outside-") as name:
        work = pathlib.Path(name)
        try:
            if arguments.package:
                prefix = unpack_packages(arguments.package.resolve(), work, arguments.compiler)
            else:
                prefix = work / "prefix"
                run("cmake", "--install", arguments.build, "--prefix", prefix)
            build = arguments.package or arguments.build
            use(prefix, arguments.compiler, work, has_fix(build), program_of(build.resolve()),
                whole=arguments.build is not None, guide=arguments.guide)
            if shutil.which("pkg-config"):
                use_pkg_config(prefix, arguments.compiler, work)
            else:
                print("without pkg-config, which is not installed")
        except Failed as failure:
            print(failure)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
