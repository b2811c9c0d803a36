// SPDX-License-Identifier: Apache-2.0
// The keys of the API: each [[api_key]] of a configuration's file. Only the process of the API reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/account.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::node {

/// Reads the keys from the text of the configuration.
/// @param file  For messages. @throws configuration_error
[[nodiscard]] std::vector<api::api_key> parse_api_keys(std::string_view text, const std::string& file,
                                                       const configuration& c);

/// Reads the keys from the configuration's file; none without a file.
/// @throws configuration_error, also when the file cannot be read.
[[nodiscard]] std::vector<api::api_key> load_api_keys(const configuration& c);

}  // namespace corro::node
