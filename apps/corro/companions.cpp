// SPDX-License-Identifier: Apache-2.0
// `corro lab`, `corro simulate` and `corro market`: start programs of their own from the build folder.

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"

namespace corro::app {
namespace {

/// Replaces this process by another program of the build folder. Returns only on failure.
/// @param advice  What to do if it was not built.
int become(const std::string& program, std::vector<std::string> arguments, std::string_view advice) {
    const std::string path = std::filesystem::read_symlink("/proc/self/exe").replace_filename(program).string();
    arguments.insert(arguments.begin(), path);
    std::vector<char*> pointers;
    for (std::string& each : arguments) pointers.push_back(each.data());
    pointers.push_back(nullptr);
    static_cast<void>(::execv(path.c_str(), pointers.data()));
    if (errno != ENOENT) throw std::system_error(errno, std::generic_category(), path);
    fmt::print(stderr, "corro: this subcommand is a separate program, which has not been built: {}\n{}", path, advice);
    return 1;
}

constexpr std::string_view lab_advice =
    "To build both programs in the project's folder and measure:\n"
    "  cmake --preset release && cmake --build build/release --target corro corro-lab\n"
    "  build/release/apps/corro/corro lab list\n"
    "With Boost 1.81 or newer (libboost1.81-dev) it also measures Boost.Asio.\n";

constexpr std::string_view simulate_advice =
    "To build both programs in the project's folder and run a seed:\n"
    "  cmake --preset release && cmake --build build/release --target corro corro-simulate\n"
    "  build/release/apps/corro/corro simulate --seed 1\n";

constexpr std::string_view market_advice =
    "To build both programs in the project's folder and run a market:\n"
    "  cmake --preset release && cmake --build build/release --target corro corro-market\n"
    "  build/release/apps/corro/corro market run config/markets/calm.toml\n";

}  // namespace

void add_lab_command(command_line& line) {
    const subcommand command = line.add_subcommand("lab", "Run benchmarks of Corro and its peers on this machine");
    command.takes_the_rest().runs([command] { return become("corro-lab", command.rest(), lab_advice); });
}

void add_simulate_command(command_line& line) {
    const subcommand command = line.add_subcommand("simulate", "Run venues in simulated worlds, under seeded faults");
    command.takes_the_rest().runs([command] {
        std::vector<std::string> arguments = command.rest();
        arguments.insert(arguments.begin(), "run");
        return become("corro-simulate", std::move(arguments), simulate_advice);
    });
}

void add_market_command(command_line& line) {
    const subcommand command =
        line.add_subcommand("market", "Run markets of agents in virtual time, and compare their rules");
    command.takes_the_rest().runs([command] { return become("corro-market", command.rest(), market_advice); });
}

}  // namespace corro::app
