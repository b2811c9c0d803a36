// SPDX-License-Identifier: Apache-2.0
#include "fix/session/signed_logon.hpp"

#include <algorithm>
#include <cstring>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/assert.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

constexpr std::int64_t nanoseconds_in_a_millisecond = 1'000'000;
constexpr std::size_t nonce_characters_min = 16;
constexpr std::size_t nonce_characters_max = 64;
constexpr std::size_t nonce_bytes_min = 12;
constexpr std::size_t nonce_bytes_max = 48;
constexpr std::size_t signature_characters = 44;
constexpr std::size_t time_digits_max = 13;  // until the year 2286
constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::span<const std::byte> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t count = std::min<std::size_t>(bytes.size() - i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits = bits << 8U | (k < count ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= count ? base64_digits[bits >> (18U - 6U * k) & 63U] : '=';
        }
    }
    return text;
}

/// Of 44 characters with one '=' behind them, whose last two bits are zero: each signature has one form.
std::optional<logon_signature> signature_of_base64(std::string_view text) noexcept {
    if (text.size() != signature_characters || text.back() != '=') return std::nullopt;
    text.remove_suffix(1);
    logon_signature signature{};
    std::uint32_t bits = 0;
    std::size_t bits_count = 0;
    std::size_t size = 0;
    for (const char c : text) {
        const std::size_t digit = base64_digits.find(c);
        if (digit == std::string_view::npos) return std::nullopt;
        bits = bits << 6U | static_cast<std::uint32_t>(digit);
        bits_count += 6;
        if (bits_count < 8) continue;
        bits_count -= 8;
        signature[size++] = static_cast<std::byte>(bits >> bits_count);
        bits &= (1U << bits_count) - 1U;
    }
    return bits == 0 && size == signature.size() ? std::optional(signature) : std::nullopt;
}

}  // namespace

std::optional<signed_logon> read_signed_logon(const field_index& logon) noexcept {
    const auto raw = logon.get(tag::raw_data);
    const auto password = logon.get(tag::password);
    if (!raw || !password) return std::nullopt;
    const std::size_t point = raw->find('.');
    if (point == 0 || point > time_digits_max) return std::nullopt;  // there may be none
    const auto time = unsigned_value(raw->substr(0, point));
    const std::string_view nonce = raw->substr(point + 1);
    const auto is_printed = [](char c) { return c > ' ' && c <= '~'; };
    const bool is_sound = nonce.size() >= nonce_characters_min && nonce.size() <= nonce_characters_max &&
                          std::all_of(nonce.begin(), nonce.end(), is_printed);
    const auto signature = signature_of_base64(*password);
    if (!time || !is_sound || !signature) return std::nullopt;
    signed_logon read;
    read.signed_text = *raw;
    // Later than any clock shows, and without an overflow.
    constexpr std::uint64_t latest = 9'000'000'000'000;
    read.time = static_cast<std::int64_t>(std::min(*time, latest)) * nanoseconds_in_a_millisecond;
    read.signature = *signature;
    return read;
}

logon_signature sign(std::string_view text, std::span<const std::byte> secret) noexcept {
    logon_signature signature{};
    unsigned size = 0;
    const unsigned char* const done = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                                           reinterpret_cast<unsigned char*>(signature.data()), &size);
    CORRO_ASSERT(done != nullptr && size == signature.size(), "SHA-256 must be available");
    return signature;
}

bool is_signed_with(const signed_logon& logon, std::span<const std::byte> secret) noexcept {
    const logon_signature right = sign(logon.signed_text, secret);
    return CRYPTO_memcmp(right.data(), logon.signature.data(), right.size()) == 0;
}

void put_signature(message_writer& logon, std::span<const std::byte> secret, std::int64_t time,
                   std::span<const std::byte> nonce) {
    CORRO_ASSERT(nonce.size() >= nonce_bytes_min && nonce.size() <= nonce_bytes_max);
    const std::string text = std::to_string(time / nanoseconds_in_a_millisecond) + "." + to_base64(nonce);
    logon.put_data(tag::raw_data_length, tag::raw_data, text);
    logon.put(tag::password, to_base64(sign(text, secret)));
}

signed_logon_verdict seen_logons::take(const signed_logon& logon, std::uint64_t owner, std::int64_t now) {
    const std::int64_t behind = std::chrono::nanoseconds(options_.behind_max).count();
    const std::int64_t ahead = std::chrono::nanoseconds(options_.ahead_max).count();
    forget_old(now);
    // A process that ended may have accepted those from before the beginning, and those that were ahead then.
    const bool is_in_time = logon.time >= now - behind && logon.time <= now + ahead && logon.time > began_ + ahead;
    if (!is_in_time) return signed_logon_verdict::out_of_time;
    if (signatures_.contains(logon.signature)) return signed_logon_verdict::replayed;
    std::size_t& count = counts_[owner];
    if (in_order_.size() >= options_.remembered_max || count >= options_.remembered_of_one_max) {
        if (count == 0) counts_.erase(owner);
        return signed_logon_verdict::too_many;
    }
    ++count;
    signatures_.insert(logon.signature);
    in_order_.push_back({now + ahead + behind, owner, logon.signature});
    return signed_logon_verdict::accepted;
}

// None is needed any more behind the time until which its Logon would be accepted: `ahead` and `behind` later at most.
// A clock that is set back makes them stay longer.
void seen_logons::forget_old(std::int64_t now) {
    while (!in_order_.empty() && in_order_.front().until < now) {
        const entry& oldest = in_order_.front();
        signatures_.erase(oldest.signature);
        const auto of_owner = counts_.find(oldest.owner);
        if (--of_owner->second == 0) counts_.erase(of_owner);
        in_order_.pop_front();
    }
}

}  // namespace corro::fix
