// `corro lab`: starts the program `corro-lab` from the build folder.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "commands.hpp"

namespace corro::app {
namespace {

/// Replaces this process by the lab. Returns only on failure.
int become_lab(std::vector<std::string> arguments) {
    const std::string lab = std::filesystem::read_symlink("/proc/self/exe").replace_filename("corro-lab").string();
    arguments.insert(arguments.begin(), lab);
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    static_cast<void>(::execv(lab.c_str(), pointers.data()));
    if (errno != ENOENT) throw std::system_error(errno, std::generic_category(), lab);
    fmt::print(stderr,
               "corro: the benchmarks are a separate program, which has not been built: {}\n"
               "To build both programs in the project's folder and measure:\n"
               "  cmake --preset release && cmake --build build/release --target corro corro-lab\n"
               "  build/release/apps/corro/corro lab list\n"
               "With Boost 1.81 or newer (libboost1.81-dev) it also measures Boost.Asio.\n",
               lab);
    return 1;
}

}  // namespace

void add_lab_command(command_line& line) {
    const subcommand command = line.add_subcommand("lab", "Run benchmarks of Corro and its peers on this machine");
    command.takes_the_rest().runs([command] { return become_lab(command.rest()); });
}

}  // namespace corro::app
