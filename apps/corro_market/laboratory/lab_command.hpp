// SPDX-License-Identifier: Apache-2.0
// The subcommand `lab`: a laboratory until the program is interrupted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace corro::app {

struct lab_options {
    std::string file;
    std::string data_folder;
    std::string listen = "127.0.0.1:7040";
    std::optional<std::uint32_t> seed;
};

/// @return The process's exit code. @throws node::configuration_error, std::runtime_error
[[nodiscard]] int run_laboratory(const lab_options& options);

}  // namespace corro::app
