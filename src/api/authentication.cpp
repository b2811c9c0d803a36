// SPDX-License-Identifier: Apache-2.0
#include "api/authentication.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "api/json_value.hpp"
#include "base/assert.hpp"

namespace corro::api {
namespace {

static_assert(signature_age_max.count() == 60 && signature_lead_max.count() == 1, "errors state both");

std::string hexadecimal(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte each : bytes) {
        text += digits[std::to_integer<std::size_t>(each) >> 4U];
        text += digits[std::to_integer<std::size_t>(each) & 0xFU];
    }
    return text;
}

/// In a time that depends on the lengths only.
bool equal_in_constant_time(std::string_view one, std::string_view other) noexcept {
    return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

/// Upper and lower case of hexadecimal digits are the same.
std::string lower(std::string_view text) {
    std::string result(text);
    for (char& c : result) {
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    }
    return result;
}

}  // namespace

std::string signature_of(std::string_view secret, std::string_view text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> room{};
    unsigned int size = 0;
    const unsigned char* const made =
        HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
             reinterpret_cast<const unsigned char*>(text.data()), text.size(), room.data(), &size);
    CORRO_ASSERT(made != nullptr, "HMAC-SHA256 must be available");
    return hexadecimal(std::as_bytes(std::span(room).first(size)));
}

authentication::authentication(std::span<const std::unique_ptr<account>> accounts, io::platform& random,
                               std::int64_t started_ms)
    : random_(&random), started_ms_(started_ms) {
    for (const std::unique_ptr<account>& each : accounts) {
        known_key known;
        known.of = each.get();
        known.secret = hexadecimal(each->key().secret);
        keys_.emplace(each->key().client_id, std::move(known));
    }
}

account* authentication::by_secret(std::string_view client_id, std::string_view secret) const noexcept {
    static const std::string nobody(64, '-');
    const auto found = keys_.find(client_id);
    const std::string& wanted = found == keys_.end() ? nobody : found->second.secret;
    const bool is_equal = equal_in_constant_time(lower(secret), wanted);
    return is_equal && found != keys_.end() ? found->second.of : nullptr;
}

std::expected<account*, api_error> authentication::by_signature(const signed_credentials& with, std::int64_t now_ms) {
    const auto refused = [](std::string param = {}, std::string why = {}) {
        return refuse(error_code::invalid_credentials, std::move(param), std::move(why));
    };
    const auto found = keys_.find(with.client_id);
    const std::optional<std::int64_t> timestamp = scaled_integer(with.timestamp, 0);
    if (found == keys_.end() || !timestamp) return refused();
    known_key& key = found->second;
    std::string text(with.timestamp);
    text.append("\n").append(with.nonce).append("\n").append(with.data);
    const std::string given = lower(with.signature);
    if (!equal_in_constant_time(given, signature_of(key.secret, text))) return refused();
    constexpr std::int64_t age_max = std::chrono::milliseconds(signature_age_max).count();
    constexpr std::int64_t lead_max = std::chrono::milliseconds(signature_lead_max).count();
    if (*timestamp < now_ms - age_max || *timestamp > now_ms + lead_max) {
        return refused("timestamp",
                       "expected: at most 60 s before the API's time and 1 s after it; the API's time is " +
                           std::to_string(now_ms));
    }
    // An API before this one may have accepted what was signed up to here; its signatures are forgotten.
    if (*timestamp <= started_ms_ + lead_max) {
        return refused("timestamp", "the API has started since; expected: a timestamp after " +
                                        std::to_string(started_ms_ + lead_max));
    }
    // Those whose time is over can be forgotten: their timestamp is refused.
    while (!key.signatures.empty() && key.signatures.begin()->first < now_ms - age_max) {
        key.signatures.erase(key.signatures.begin());
    }
    if (key.signatures.size() >= signatures_kept_max) return refused("signature", "too many within a minute");
    const bool is_new = key.signatures.emplace(*timestamp, given).second;
    if (!is_new) return refused("signature", "it was used before");
    return key.of;
}

std::string authentication::random_token() {
    std::array<std::byte, 32> bytes;
    random_->fill_random(bytes);
    return hexadecimal(bytes);
}

token_pair authentication::issue(account& of, io::steady_time now) {
    std::erase_if(issued_, [now](const issued& each) { return each.refresh_ends <= now; });
    const auto is_of = [&of](const issued& each) { return each.of == &of; };
    if (static_cast<std::size_t>(std::ranges::count_if(issued_, is_of)) >= tokens_per_key_max) {
        issued_.erase(std::ranges::find_if(issued_, is_of));
    }
    issued& made = issued_.emplace_back();
    made.of = &of;
    made.access = random_token();
    made.refresh = random_token();
    made.access_ends = now + access_token_life;
    made.refresh_ends = now + refresh_token_life;
    token_pair pair;
    pair.access = made.access;
    pair.refresh = made.refresh;
    pair.of = &of;
    return pair;
}

std::optional<token_pair> authentication::refresh(std::string_view token, io::steady_time now) {
    for (auto each = issued_.begin(); each != issued_.end(); ++each) {
        if (each->refresh_ends <= now || !equal_in_constant_time(token, each->refresh)) continue;
        account& of = *each->of;
        issued_.erase(each);
        return issue(of, now);
    }
    return std::nullopt;
}

account* authentication::by_token(std::string_view token, io::steady_time now) const noexcept {
    account* found = nullptr;
    for (const issued& each : issued_) {
        if (equal_in_constant_time(token, each.access) && each.access_ends > now) found = each.of;
    }
    return found;
}

}  // namespace corro::api
