// SPDX-License-Identifier: Apache-2.0
// Who a client is: credentials, signatures and tokens.
//
// A client proves that it has a key by its secret, or by a signature: HMAC-SHA256, with the secret's 64 characters as
// the key, of timestamp, nonce and data, each behind a line feed but the first. A signature counts once:
// its timestamp must be near the API's time, and later than anything that an earlier life of the API, whose signatures
// are forgotten, can have accepted. The proof gives an access token, which names the key until it expires, and a
// refresh token, which gives new tokens once.
//
// Limits:  tokens_per_key_max, signatures_kept_max. Threads: one context.
// Source:  RFC 2104; docs/spec/api.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/account.hpp"
#include "api/errors.hpp"
#include "io/loop/platform.hpp"
#include "io/loop/timer.hpp"

namespace corro::api {

inline constexpr std::chrono::seconds access_token_life{900};
inline constexpr std::chrono::seconds refresh_token_life{86'400};
/// How old a signature's timestamp may be, by the API's time.
inline constexpr std::chrono::seconds signature_age_max{60};
/// How far it may be ahead. It is short, because an API that starts refuses timestamps up to its start plus this.
inline constexpr std::chrono::seconds signature_lead_max{1};
/// Pairs of tokens of one key; a further one replaces the oldest.
inline constexpr std::size_t tokens_per_key_max = 64;
/// Signatures that are remembered, of one key; more of them within their time are refused.
inline constexpr std::size_t signatures_kept_max = 10'000;

/// What a proof gives.
struct token_pair {
    std::string access;
    std::string refresh;
    account* of = nullptr;
};

/// A client's signature.
struct signed_credentials {
    std::string_view client_id;
    std::string_view timestamp;  ///< milliseconds since 1970, as it is signed
    std::string_view nonce;
    std::string_view data;
    std::string_view signature;  ///< hexadecimal
};

class authentication {
 public:
    /// @param accounts    Outlive it.
    /// @param random      The platform, likewise.
    /// @param started_ms  The API's time now, in milliseconds since 1970.
    authentication(std::span<const std::unique_ptr<account>> accounts, io::platform& random, std::int64_t started_ms);
    authentication(const authentication&) = delete;
    authentication& operator=(const authentication&) = delete;

    /// The key's account if the secret is right; nullptr otherwise, in the same time.
    [[nodiscard]] account* by_secret(std::string_view client_id, std::string_view secret) const noexcept;
    /// The key's account if the signature is right, new, made near `now_ms`, and after the API's start.
    /// @error invalid_credentials; with a reason only if the signature is right.
    [[nodiscard]] std::expected<account*, api_error> by_signature(const signed_credentials& with, std::int64_t now_ms);
    /// Makes tokens.
    [[nodiscard]] token_pair issue(account& of, io::steady_time now);
    /// New tokens in place of those of a refresh token; nothing if it is not valid.
    [[nodiscard]] std::optional<token_pair> refresh(std::string_view token, io::steady_time now);
    /// The account of an access token; nullptr if it has expired or never was one.
    [[nodiscard]] account* by_token(std::string_view token, io::steady_time now) const noexcept;

 private:
    struct issued {
        account* of = nullptr;
        std::string access;
        std::string refresh;
        io::steady_time access_ends;
        io::steady_time refresh_ends;
    };
    struct known_key {
        account* of = nullptr;
        std::string secret;                                         ///< 64 hexadecimal digits
        std::set<std::pair<std::int64_t, std::string>> signatures;  ///< by timestamp
    };

    [[nodiscard]] std::string random_token();

    std::map<std::string, known_key, std::less<>> keys_;
    std::vector<issued> issued_;  ///< oldest first
    io::platform* random_;
    std::int64_t started_ms_;
};

/// HMAC-SHA256 of a text under a text, as 64 hexadecimal digits.
[[nodiscard]] std::string signature_of(std::string_view secret, std::string_view text);

}  // namespace corro::api
