// SPDX-License-Identifier: Apache-2.0
// The handshake of a link: both ends prove that they have its secret before any other message.
//
// 1. The gateway sends `hello` with a nonce of its own, and the facility answers with a `hello` and another nonce.
// 2. The gateway sends its greeting. Its proof is an HMAC-SHA256 with the secret over a label, both nonces and the
//    greeting.
// 3. The facility checks the proof and sends its own greeting with a proof under another label, or a refusal with a
//    proof. Neither accepts a message without a proof.
//
// The nonces are new for each link, so that a recorded handshake cannot be replayed; the labels differ, so that a
// proof cannot be reflected to its sender.
//
// Threads: one context. Limits: link_stranger_frame_bytes_max, link_patience.
// Source: RFC 2104 (HMAC), FIPS 180-4 (SHA-256).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "node/links/link_messages.hpp"
#include "wire/authentication.hpp"

namespace corro::node {

using link_nonce = std::array<std::byte, 32>;

/// The first message in both directions.
struct link_hello {
    std::uint64_t magic = link_magic;
    std::uint32_t version = link_version;
    std::uint32_t reserved = 0;
    link_nonce nonce{};
};
static_assert(std::has_unique_object_representations_v<link_hello>);

/// A `hello` with an unpredictable nonce.
[[nodiscard]] link_hello make_link_hello(io::platform& on) noexcept;

/// Why the two ends are incompatible, as a sentence; empty when they are compatible.
[[nodiscard]] std::string mismatch(const link_hello& theirs);

/// The end and the message that a proof belongs to.
enum class link_claim : std::uint8_t { gateway_greets, facility_greets, facility_refuses };

/// The proofs of one link, when both nonces are known.
class link_proofs {
 public:
    link_proofs(const wire::api_key& secret, const link_nonce& gateway, const link_nonce& facility) noexcept
        : secret_(secret), gateway_(gateway), facility_(facility) {}

    [[nodiscard]] wire::proof make(link_claim claim, std::span<const std::byte> what) const;
    [[nodiscard]] bool holds(link_claim claim, std::span<const std::byte> what, const wire::proof& proof) const {
        return wire::equal_in_constant_time(make(claim, what), proof);
    }

    /// A greeting with its proof behind it; and the check of one. False when it is not a greeting or its proof is
    /// wrong.
    [[nodiscard]] proven_greeting sign(link_claim claim, const link_greeting& greeting) const;
    [[nodiscard]] bool check(link_claim claim, const proven_greeting& said) const;

    /// The same for a sentence, with the proof in front of it.
    [[nodiscard]] std::string sign_refusal(std::string_view sentence) const;
    /// The sentence; empty when this is not a refusal with a valid proof.
    [[nodiscard]] std::string check_refusal(std::span<const std::byte> payload) const;

 private:
    wire::api_key secret_;
    link_nonce gateway_;
    link_nonce facility_;
};

}  // namespace corro::node
