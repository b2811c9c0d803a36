# SPDX-License-Identifier: Apache-2.0
# Sourced by ./run and ./test: installs packages, chooses the compiler, configures a preset.
# Expects `set -euo pipefail` and the project's folder as working directory.

say() { printf '==> %s\n' "$*"; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# packages SECTION...: the names in these sections of tools/packages.txt.
packages() {
    local section
    for section in "$@"; do
        awk -v want="[$section]" '/^\[/ { on = ($1 == want); next } on && NF && $1 !~ /^#/ { print $1 }' tools/packages.txt
    done
}

# purpose_of PACKAGE: its comment in tools/packages.txt.
purpose_of() {
    sed -n "s/^$1 *# *//p" tools/packages.txt
}

# removed_in: reads what `apt-get install --simulate` prints; prints the packages that it would remove, on one line.
removed_in() {
    sed -n -E 's/^(Remv|Purg) ([^ ]+).*/\2/p' | paste -s -d ' '
}

# simulate PACKAGE...: prints what apt-get would do. Fails if it cannot install them.
simulate() {
    LC_ALL=C apt-get -q install --simulate --no-install-recommends "$@" 2>&1
}

# choose_installable PACKAGE...: sets `installable` to the packages that apt-get can install without removing any
# package, and `left_out` to the others. Prints the reason for each of these.
choose_installable() {
    local package answer removed
    installable=()
    left_out=()
    if answer=$(simulate "$@") && [ -z "$(removed_in <<<"$answer")" ]; then
        installable=("$@")
        return
    fi
    for package in "$@"; do
        if ! answer=$(simulate "${installable[@]}" "$package"); then
            say "packages: leaving out $package: $(grep -m 1 '^E:' <<<"$answer" || echo 'apt-get cannot install it')"
        else
            removed=$(removed_in <<<"$answer")
            if [ -z "$removed" ]; then
                installable+=("$package")
                continue
            fi
            say "packages: leaving out $package, because installing it would remove: $removed"
        fi
        say "    its purpose here: $(purpose_of "$package")"
        left_out+=("$package")
    done
}

# install_packages required|optional SECTION...: installs those that are missing; does nothing if all are installed.
# Never removes a package. Continues without optional packages: what needs them is left out of the build, or its tests
# skip and print the reason.
install_packages() {
    local need=$1 package missing=()
    shift
    if ! command -v dpkg-query >/dev/null; then
        say "packages: not a Debian system; install what tools/packages.txt lists by other means"
        return
    fi
    for package in $(packages "$@"); do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "packages ($*): all are installed"
        return
    fi
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null; then
            [ "$need" = optional ] || die "run as root or install sudo, or install these yourself: ${missing[*]}"
            say "packages ($*): neither root nor sudo; going on without ${missing[*]}"
            return
        fi
        as_root=(sudo)
    fi
    local log
    log=$(mktemp)
    "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update >"$log" 2>&1 ||
        say "packages: apt-get update failed; the lists of the last one may be good enough"
    choose_installable "${missing[@]}"
    if [ "$need" = required ] && [ ${#left_out[@]} -gt 0 ]; then
        rm -f "$log"
        die "cannot do without: ${left_out[*]}. Nothing was installed or removed."
    fi
    if [ ${#installable[@]} -gt 0 ]; then
        say "packages ($*): installing ${installable[*]}"
        if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-remove --no-install-recommends "${installable[@]}" >>"$log" 2>&1; then
            tail -n 15 "$log" >&2
            rm -f "$log"
            [ "$need" = optional ] || die "could not install: ${installable[*]}"
            say "packages ($*): could not install ${installable[*]}; going on without"
            return
        fi
    fi
    rm -f "$log"
}

# choose_compiler: sets CXX, and `compiler_suffix` for the build folder's name. CXX wins, then CC's C++ sibling.
choose_compiler() {
    if [ -z "${CXX:-}" ]; then
        case "${CC:-}" in
            '') CXX=clang++-19 ;;
            *gcc*) CXX=${CC/gcc/g++} ;;
            *clang*) CXX=${CC/clang/clang++} ;;
            *) CXX=$CC ;;
        esac
    fi
    export CXX
    command -v "$CXX" >/dev/null || die "the compiler $CXX is not there"
    case "$(basename "$CXX")" in
        clang++-19) compiler_suffix= ;;
        g++) compiler_suffix=-gcc ;;
        *) compiler_suffix=-$(basename "$CXX") ;;
    esac
}

# configure PRESET FOLDER [ARGUMENTS...]: configures quietly; starts afresh when the folder was made for another compiler.
# A new folder is built as a whole, so its headers are precompiled, and it has no debug information; with sanitizers and
# counters backtraces name lines. CORRO_PRECOMPILE=OFF changes that. A folder that was configured before keeps its choice.
configure() {
    local preset=$1 folder=$2 fresh=() cached debug=-g0
    shift 2
    case "$preset" in asan | tsan | coverage) debug=-g1 ;; esac
    if [ ! -e "$folder/CMakeCache.txt" ] && [ "${CORRO_PRECOMPILE:-ON}" = ON ]; then
        set -- -DCORRO_PRECOMPILE=ON -DCORRO_DEBUG_FLAGS=$debug "$@"
    fi
    cached=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$folder/CMakeCache.txt" 2>/dev/null || true)
    if [ -n "$cached" ] && [ "$(basename "$cached")" != "$(basename "$CXX")" ]; then fresh=(--fresh); fi
    say "configure: preset $preset with $CXX in $folder"
    mkdir -p "$folder"
    if ! cmake --preset "$preset" -B "$folder" "${fresh[@]}" "$@" >"$folder/configure.log" 2>&1; then
        tail -n 40 "$folder/configure.log" >&2
        die "configuring failed; all of it is in $folder/configure.log"
    fi
}

# build FOLDER TARGET...: shows progress on a terminal; elsewhere is silent and shows what failed.
build() {
    local folder=$1
    shift
    if [ -t 1 ]; then
        cmake --build "$folder" --target "$@" || die "building failed"
    elif ! cmake --build "$folder" --target "$@" >"$folder/build.log" 2>&1; then
        grep -E -m 20 -A 5 'error:|FAILED:' "$folder/build.log" >&2 || tail -n 60 "$folder/build.log" >&2
        die "building failed; all of it is in $folder/build.log"
    fi
}
