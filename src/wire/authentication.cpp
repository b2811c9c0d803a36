// SPDX-License-Identifier: Apache-2.0
#include "wire/authentication.hpp"

#include <charconv>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/assert.hpp"
#include "base/byte_order.hpp"

namespace corro::wire {

std::optional<api_key> parse_api_key(std::string_view hexadecimal) noexcept {
    api_key key{};
    if (hexadecimal.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {
        const char* const digits = hexadecimal.data() + 2 * i;
        unsigned value = 0;
        const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
        if (error != std::errc{} || end != digits + 2) return std::nullopt;
        key[i] = static_cast<std::byte>(value);
    }
    return key;
}

std::uint64_t key_id_of(const api_key& key) noexcept {
    const proof made = make_proof(key, std::as_bytes(std::span(std::string_view("corro-key-1"))));
    return base::load_be<std::uint64_t>(made.data());
}

proof make_proof(const api_key& key, std::span<const std::byte> input) noexcept {
    proof result{};
    unsigned int size = 0;
    const unsigned char* done = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                                     reinterpret_cast<const unsigned char*>(input.data()), input.size(),
                                     reinterpret_cast<unsigned char*>(result.data()), &size);
    CORRO_ASSERT(done != nullptr && size == result.size(), "SHA-256 must be available");
    return result;
}

bool equal_in_constant_time(const proof& one, const proof& other) noexcept {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace corro::wire
