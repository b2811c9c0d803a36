// SPDX-License-Identifier: Apache-2.0
// The configuration file of `corro-fix-echo`: its sessions, and the dictionaries that they check messages against.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fix/session/settings.hpp"

namespace corro::app {

/// The file cannot be used. `what` contains file, line, key and what to change.
class echo_configuration_error : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// Reads the sessions of a TOML file. Paths of dictionaries are relative to it.
/// @throws echo_configuration_error, fix::dictionary_error
[[nodiscard]] std::vector<fix::session_settings> read_echo_sessions(const std::filesystem::path& file);

}  // namespace corro::app
