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

# install_packages required|optional SECTION...: installs those that are missing; does nothing when none is.
# Without optional packages the work goes on: the tests that need them skip and say so.
install_packages() {
    local need=$1 package missing=()
    shift
    if ! command -v dpkg-query >/dev/null; then
        say "packages: not a Debian system; what tools/packages.txt lists has to be there already"
        return
    fi
    for package in $(packages "$@"); do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "packages ($*): everything is there"
        return
    fi
    say "packages ($*): installing ${missing[*]}"
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "run as root or install sudo, or install these yourself: ${missing[*]}"
        as_root=(sudo)
    fi
    if ! { "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 \
            install --no-install-recommends "${missing[@]}"; } >/tmp/corro-apt.$$ 2>&1; then
        tail -n 15 /tmp/corro-apt.$$ >&2
        rm -f /tmp/corro-apt.$$
        [ "$need" = optional ] || die "could not install: ${missing[*]}"
        say "packages ($*): could not install ${missing[*]}; the tests that need them will skip"
        return
    fi
    rm -f /tmp/corro-apt.$$
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
configure() {
    local preset=$1 folder=$2 fresh=() cached
    shift 2
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
