// SPDX-License-Identifier: Apache-2.0
// The Authorization field of a signed HTTP request.
//
// Threads: any. Source: docs/spec/api.md, "Authentication".
#pragma once

#include <string_view>

#include "api/authentication.hpp"

namespace corro::api {

/// Reads "id=...,ts=...,sig=...,nonce=...", in any order; `data` stays empty. What is missing is empty. The views are
/// into `text`.
[[nodiscard]] signed_credentials signed_request_of(std::string_view text) noexcept;

}  // namespace corro::api
