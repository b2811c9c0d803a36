// SPDX-License-Identifier: Apache-2.0
// Signed Logons: a client proves that it has a secret without sending it, and a recorded Logon cannot be played again.
//
// RawData (96) contains when the Logon was signed, and a nonce; Password (554) contains the signature:
//
//   RawData   milliseconds since 1970, a '.', and 16 to 64 characters from ! to ~
//   Password  base64 of HMAC-SHA256(secret, RawData), 44 characters
//
// An acceptor checks the signature, the time, and that it has not seen this Logon before. It remembers those that it
// has accepted for as long as their time would be accepted.
//
// Units:   times are nanoseconds of the wall clock since 1970, UTC.
// Limits:  signed_logon_options. Threads: one for each object.
// Cost:    one HMAC per Logon; an allocation for each that is remembered.
// Source:  RFC 2104 (HMAC), FIPS 180-4 (SHA-256), RFC 4648, section 4 (base64); the fields are those of Deribit's
//          FIX API.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"

namespace corro::fix {

/// HMAC-SHA256.
using logon_signature = std::array<std::byte, 32>;

/// What a signed Logon contains.
struct signed_logon {
    std::string_view signed_text;  ///< RawData (96), in the message
    std::int64_t time = 0;         ///< at which it was signed
    logon_signature signature{};   ///< Password (554)
};

/// Reads the fields of a Logon.
/// @return  Nothing if RawData (96) or Password (554) is missing or does not have the form above.
[[nodiscard]] std::optional<signed_logon> read_signed_logon(const field_index& logon) noexcept;

/// The signature of a text.
[[nodiscard]] logon_signature sign(std::string_view text, std::span<const std::byte> secret) noexcept;

/// Whether the secret has made the signature. Takes the same time wherever the two differ.
[[nodiscard]] bool is_signed_with(const signed_logon& logon, std::span<const std::byte> secret) noexcept;

/// Writes RawData (96) and Password (554).
/// @param nonce  At least 12 bytes from a generator of random numbers that nobody can predict; at most 48.
void put_signature(message_writer& logon, std::span<const std::byte> secret, std::int64_t time,
                   std::span<const std::byte> nonce);

/// How long a signed Logon may take to come, and how many are remembered.
struct signed_logon_options {
    std::chrono::milliseconds behind_max{5'000};  ///< of the time of day of the acceptor
    std::chrono::milliseconds ahead_max{1'000};   ///< of the same
    std::size_t remembered_max = 65'536;          ///< of all owners; further Logons are refused
    std::size_t remembered_of_one_max = 64;       ///< of one owner; further ones of this owner are refused
};

/// Why a signed Logon is not accepted.
enum class signed_logon_verdict : std::uint8_t {
    accepted,
    out_of_time,  ///< signed too long ago, or in the future, or before this process began
    replayed,     ///< it was accepted before
    too_many,     ///< more cannot be remembered now
};

/// Remembers the Logons that were accepted, so that each counts once.
class seen_logons {
 public:
    /// @param began  When the process began to accept Logons: another may have accepted those that were signed earlier.
    seen_logons(signed_logon_options options, std::int64_t began) : options_(options), began_(began) {}

    /// Accepts a Logon whose signature is right, and remembers it.
    /// @param owner  Of the secret; an owner without end uses up the room of its own only.
    [[nodiscard]] signed_logon_verdict take(const signed_logon& logon, std::uint64_t owner, std::int64_t now);

    [[nodiscard]] std::size_t remembered_count() const noexcept { return in_order_.size(); }

 private:
    struct entry {
        std::int64_t until = 0;
        std::uint64_t owner = 0;
        logon_signature signature{};
    };

    void forget_old(std::int64_t now);

    signed_logon_options options_;
    std::int64_t began_;
    std::deque<entry> in_order_;  ///< of their coming
    std::set<logon_signature> signatures_;
    std::map<std::uint64_t, std::size_t> counts_;  ///< by owner
};

}  // namespace corro::fix
