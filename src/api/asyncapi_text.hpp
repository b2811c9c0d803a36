// SPDX-License-Identifier: Apache-2.0
// The API over WebSocket as a description in AsyncAPI 2.6: its requests from the table of methods, its notifications
// from the table of channels.
//
// Threads: any. Source: docs/spec/api.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace corro::api {

/// A family of channels that a client subscribes to.
struct channel_description {
    std::string_view name{};  ///< "book.{instrument}.{interval}", as in the reference
    /// Of the names, as a regular expression.
    std::string_view pattern{};
    bool is_private = false;    ///< by private/subscribe only
    bool data_is_list = false;  ///< otherwise an object, or either
    std::string_view meaning{};
};

[[nodiscard]] std::span<const channel_description> all_channels() noexcept;

/// The description, JSON. @param host  As clients reach it, "venue.example:7020"; empty leaves the servers out.
/// @param is_secure  Whether they reach it by TLS.
[[nodiscard]] std::string asyncapi_text(std::string_view host, bool is_secure = false);

}  // namespace corro::api
