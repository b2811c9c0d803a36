// SPDX-License-Identifier: Apache-2.0
// The parts of a configuration file that are read in their own source files.
#pragma once

#include <string>
#include <string_view>

#include "node/configuration/configuration.hpp"
#include "node/configuration/configuration_table.hpp"

namespace corro::node {

/// Reads every [[instrument]], with its legs.
void read_instruments(const toml::table& root, const std::string& file, configuration& c);
/// Reads every [[partition]]. To be called after the instruments, each of which belongs to one.
void read_partitions(const toml::table& root, const std::string& file, configuration& c);
/// The text of a configuration's file. @throws configuration_error when it cannot be read.
[[nodiscard]] std::string text_of_file(const std::string& path);
/// Reads every [[account]] and [[account_group]].
void read_accounts(const toml::table& root, const std::string& file, configuration& c);

/// Whether a name is safe in files, messages and terminals: ASCII characters without control characters, quotation
/// marks and backslashes.
[[nodiscard]] bool is_printable(std::string_view name) noexcept;
inline constexpr const char* printable_expected =
    "expected printable ASCII characters without quotation marks and backslashes";

/// Reads a key: 64 hexadecimal digits, not all of them zeros.
[[nodiscard]] wire::api_key read_key(table_reader& r, std::string_view name);

/// Reads the name of a gateway; empty for a gateway without a name.
[[nodiscard]] std::string read_gateway_name(table_reader& r);

}  // namespace corro::node
