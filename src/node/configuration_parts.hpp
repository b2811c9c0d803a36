// The parts of a configuration file that have a source of their own.
#pragma once

#include <string>
#include <string_view>

#include "node/configuration.hpp"
#include "node/configuration_table.hpp"

namespace corro::node {

/// Every [[instrument]], with its legs.
void read_instruments(const toml::table& root, const std::string& file, configuration& c);
/// Every [[segment]]. After the instruments, each of which belongs to one.
void read_segments(const toml::table& root, const std::string& file, configuration& c);
/// Every [[account]] and [[account_group]].
void read_accounts(const toml::table& root, const std::string& file, configuration& c);

/// Whether a name can stand in files, messages and terminals: ASCII characters without control characters, quotation
/// marks and backslashes.
[[nodiscard]] bool is_printable(std::string_view name) noexcept;
inline constexpr const char* printable_expected =
    "expected printable ASCII characters without quotation marks and backslashes";

/// 64 hexadecimal digits, not all of them zeros.
[[nodiscard]] wire::api_key read_key(table_reader& r, std::string_view name);

/// Of a gateway among several; empty is the name of the only one.
[[nodiscard]] std::string read_gateway_name(table_reader& r);

}  // namespace corro::node
