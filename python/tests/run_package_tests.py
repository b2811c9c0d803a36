#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the Python package against the native library of a build.

usage: run_package_tests.py --build FOLDER --library FILE --compiler CXX --generator NAME --version TEXT
                            --program FILE --market-program FILE [--sanitize LIST] [-- PYTEST-ARGUMENT...]

Makes a virtual environment in FOLDER with what the module needs (from PyPI), builds the extension module there, and runs
pytest. Exits with 77, after a line with the reason, where that cannot be: without Python's headers, or without PyPI.

With --sanitize address,undefined the module is built with Clang's sanitizers, as the library must be, and each Python that
runs it is started with their runtime.
"""

import argparse
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NEEDED = ["nanobind>=3.0", "numpy>=1.24", "pytest>=7"]
# Other libraries that take our frames, and the checker of types. The tests that need a missing one skip.
WANTED = ["pyarrow", "polars", "pandas", "duckdb", "matplotlib", "gymnasium", "pettingzoo", "mypy"]
SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*command, **options):
    return subprocess.run([str(each) for each in command], **options)


def make_environment(folder):
    """Returns the interpreter of the environment."""
    interpreter = folder / "bin" / "python"
    done = folder / "installed.txt"
    wanted = "\n".join(NEEDED + WANTED) + f"\n{sys.version}\n"
    if done.exists() and done.read_text() == wanted and run(interpreter, "-c", "").returncode == 0:
        return interpreter
    shutil.rmtree(folder, ignore_errors=True)
    made = run(sys.executable, "-m", "venv", folder, text=True, capture_output=True)
    if made.returncode != 0:
        skip(f"no virtual environment (Debian: python3-venv): {(made.stderr or made.stdout).strip().splitlines()[-1:]}")
    pip = [interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--timeout", "20",
           "--retries", "1"]
    installed = run(*pip, *NEEDED, text=True, capture_output=True)
    if installed.returncode != 0:
        skip(f"pip cannot install {', '.join(NEEDED)}: {installed.stderr.strip().splitlines()[-1:]}")
    if run(*pip, *WANTED).returncode != 0:
        print(f"pip cannot install {', '.join(WANTED)}; the tests with them skip")
    else:
        done.write_text(wanted)
    return interpreter


def build_module(arguments, interpreter):
    """Returns the folder that holds the package with its module."""
    folder = arguments.build / "bindings"
    launcher = shutil.which("ccache")
    configured = run(
        "cmake", "-S", ROOT / "python" / "bindings", "-B", folder, "-G", arguments.generator,
        f"-DCMAKE_CXX_COMPILER={arguments.compiler}", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O1",
        f"-DCMAKE_CXX_FLAGS={sanitizer_flags(arguments.sanitize)}",
        f"-DCORRO_PYTHON_LIBRARY={arguments.library}", f"-DCORRO_VERSION={arguments.version}",
        f"-DPython_EXECUTABLE={interpreter}", *([f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}"] if launcher else []),
        text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if configured.returncode != 0:
        sys.exit(configured.stdout)
    built = run("cmake", "--build", folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if built.returncode != 0:
        sys.exit(built.stdout)
    package = arguments.build / "package"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "corro", package / "corro", ignore=shutil.ignore_patterns("__pycache__"))
    for module in folder.glob("_corro*.so"):
        shutil.copy2(module, package / "corro")
    return package


def sanitizer_flags(sanitizers):
    # As in cmake/corro_toolchain.cmake.
    return f"-fsanitize={sanitizers} -fno-sanitize-recover=all -fno-sanitize=vptr -fno-omit-frame-pointer" if sanitizers else ""


# Each interpreter begins with this: others start as it did, but the programs of the build bring a runtime of their own.
BEGIN = """import os, sys
sys.executable = os.environ["CORRO_SANITIZED_PYTHON"]
os.environ.pop("LD_PRELOAD", None)
"""


def sanitized_python(arguments, interpreter, package):
    """Returns a program that starts the interpreter with the runtime of the sanitizers, which must be there first."""
    def path_of(library):
        return run(arguments.compiler, f"-print-file-name={library}", text=True, stdout=subprocess.PIPE).stdout.strip()

    runtime = path_of(f"libclang_rt.asan-{platform.machine()}.so")
    if not os.path.isabs(runtime):
        skip(f"{arguments.compiler} has no shared runtime of its sanitizers (Debian: libclang-rt-19-dev)")
    made = arguments.build / "sanitized_python"
    # libstdc++ is there at the start as well: without it the runtime does not find what throws.
    # Python keeps memory until it ends, which is no leak of ours.
    made.write_text(f"""#!/bin/sh
export ASAN_OPTIONS="detect_leaks=0:${{ASAN_OPTIONS:-}}"
LD_PRELOAD="{runtime}:{path_of("libstdc++.so.6")}" exec "{interpreter}" "$@"
""")
    made.chmod(0o755)
    (package / "sitecustomize.py").write_text(BEGIN)
    return made


def main():
    parser = argparse.ArgumentParser(description="Test the Python package against the native library of a build.")
    for name in ("build", "library", "program", "market-program"):
        parser.add_argument(f"--{name}", type=pathlib.Path, required=True)
    for name in ("compiler", "generator", "version"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--sanitize", default="")
    parser.add_argument("pytest", nargs="*")
    arguments = parser.parse_args()
    arguments.build = arguments.build.absolute()  # CMake takes a relative interpreter for none
    if sys.version_info < (3, 11):
        skip(f"the package needs Python 3.11 or later; this is {sys.version.split()[0]}")
    if not (pathlib.Path(sysconfig.get_path("include")) / "Python.h").exists():
        skip("Python.h is missing (Debian: python3-dev)")
    arguments.build.mkdir(parents=True, exist_ok=True)
    interpreter = make_environment(arguments.build / "environment")
    package = build_module(arguments, interpreter)
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg",
                   "CORRO_PROGRAM": str(arguments.program), "CORRO_MARKET_PROGRAM": str(arguments.market_program)}
    if arguments.sanitize:
        interpreter = sanitized_python(arguments, interpreter, package)
        environment["CORRO_SANITIZED_PYTHON"] = str(interpreter)
    tested = run(interpreter, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-p", "corro.pytest_plugin",
                 "--rootdir", ROOT,
                 *(arguments.pytest or [ROOT / "python" / "tests"]), env=environment, cwd=arguments.build)
    sys.exit(tested.returncode)


if __name__ == "__main__":
    main()
