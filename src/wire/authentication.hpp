// SPDX-License-Identifier: Apache-2.0
// Challenge and response at logon: a client proves that it has an account's key without sending it, and a recorded
// logon cannot be replayed.
//
// Source: RFC 2104 (HMAC), FIPS 180-4 (SHA-256); for the authenticated bytes see docs/spec/corro_binary.md, message
// hello.
// Threads: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace corro::wire {

/// 256 bits shared by the venue and one account; the key of its HMAC-SHA256 proofs.
using api_key = std::array<std::byte, 32>;
using proof = std::array<std::byte, 32>;  ///< An HMAC-SHA256.

/// Reads a key from sixty-four hexadecimal digits; empty when the text is anything else.
[[nodiscard]] std::optional<api_key> parse_api_key(std::string_view hexadecimal) noexcept;

/// An identifier of a key that does not reveal it: the first 8 bytes, as a big-endian number, of HMAC-SHA256 under it
/// of the 11 ASCII characters `corro-key-1`. Source: docs/spec/corro_binary.md, message hello.
[[nodiscard]] std::uint64_t key_id_of(const api_key& key) noexcept;

/// HMAC-SHA256 of `input` under `key`.
[[nodiscard]] proof make_proof(const api_key& key, std::span<const std::byte> input) noexcept;

/// Compares in a time that does not depend on where the two differ.
[[nodiscard]] bool equal_in_constant_time(const proof& one, const proof& other) noexcept;

}  // namespace corro::wire
