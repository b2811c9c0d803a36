// SPDX-License-Identifier: Apache-2.0
#include "api/authentication.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "io/loop/context.hpp"

namespace corro::api {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t now_ms = 1'700'000'000'000;
constexpr std::int64_t started_ms = now_ms - 3'600'000;

struct two_keys {
    two_keys() {
        for (const std::string name : {"alice", "bob"}) {
            api_key key;
            key.client_id = name;
            key.secret.fill(static_cast<std::byte>(name.size()));
            accounts.push_back(std::make_unique<account>(context, client::venue_endpoint(), key));
        }
        keys = std::make_unique<authentication>(accounts, context.runs_on(), started_ms);
    }
    static std::string secret(int byte) {
        std::string text;
        for (int k = 0; k < 32; ++k) text += "0" + std::to_string(byte);
        return text;
    }
    /// Signs for alice at `at_ms`.
    account* sign(std::int64_t at_ms, const std::string& nonce, const std::string& signature = "") {
        const std::string timestamp = std::to_string(at_ms);
        const std::string made = signature_of(secret(5), timestamp + "\n" + nonce + "\ndata");
        const std::string& sent = signature.empty() ? made : signature;
        signed_credentials with;
        with.client_id = "alice";
        with.timestamp = timestamp;
        with.nonce = nonce;
        with.data = "data";
        with.signature = sent;
        const auto of = keys->by_signature(with, now);
        why = of ? std::string() : of.error().reason;
        return of.value_or(nullptr);
    }
    /// The same keys after a restart.
    void restart_at(std::int64_t ms) { keys = std::make_unique<authentication>(accounts, context.runs_on(), ms); }

    io::context context;
    std::vector<std::unique_ptr<account>> accounts;
    std::unique_ptr<authentication> keys;
    std::int64_t now = now_ms;
    std::string why;  ///< the last signature was refused
};

TEST(authentication, a_signature_is_that_of_the_standard) {
    // RFC 4231, test case 2.
    EXPECT_EQ(signature_of("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(authentication, only_the_right_secret_of_the_key_counts) {
    two_keys k;
    EXPECT_EQ(k.keys->by_secret("alice", two_keys::secret(5)), k.accounts[0].get());
    EXPECT_EQ(k.keys->by_secret("bob", two_keys::secret(3)), k.accounts[1].get());
    EXPECT_EQ(k.keys->by_secret("bob", two_keys::secret(5)), nullptr) << "the secret of another key";
    for (const std::string& wrong :
         {std::string(), std::string(64, '-'), std::string(64, '0'), two_keys::secret(5) + "0"}) {
        EXPECT_EQ(k.keys->by_secret("alice", wrong), nullptr) << wrong;
        EXPECT_EQ(k.keys->by_secret("nobody", wrong), nullptr) << wrong;
    }
}

TEST(authentication, a_signature_counts_once_and_near_its_time) {
    two_keys k;
    EXPECT_EQ(k.sign(now_ms, "n1"), k.accounts[0].get());
    EXPECT_EQ(k.sign(now_ms, "n1"), nullptr) << "again";
    EXPECT_EQ(k.sign(now_ms, "n2"), k.accounts[0].get());
    EXPECT_EQ(k.sign(now_ms - 60'000, "n3"), k.accounts[0].get());
    EXPECT_EQ(k.sign(now_ms + 1'000, "n3"), k.accounts[0].get());
    EXPECT_EQ(k.sign(now_ms - 60'001, "n4"), nullptr);
    EXPECT_NE(k.why.find("the API's time is 1700000000000"), std::string::npos) << k.why;
    EXPECT_EQ(k.sign(now_ms + 1'001, "n4"), nullptr);
    EXPECT_EQ(k.sign(now_ms, "n5", std::string(64, '0')), nullptr);
    EXPECT_EQ(k.sign(now_ms, "n5", "0"), nullptr);
    EXPECT_EQ(k.why, "") << "a stranger learns nothing";
}

TEST(authentication, a_signature_counts_once_across_a_restart_too) {
    two_keys k;
    EXPECT_EQ(k.sign(now_ms, "n1"), k.accounts[0].get());
    EXPECT_EQ(k.sign(now_ms + 1'000, "n1"), k.accounts[0].get()) << "as far ahead as may be";
    k.restart_at(now_ms);
    EXPECT_EQ(k.sign(now_ms, "n1"), nullptr);
    EXPECT_EQ(k.why, "the API has started since; expected: a timestamp after 1700000001000");
    EXPECT_EQ(k.sign(now_ms + 1'000, "n1"), nullptr);
    k.now = now_ms + 1'001;
    EXPECT_EQ(k.sign(now_ms + 1'000, "n1"), nullptr);
    EXPECT_EQ(k.sign(now_ms + 1'001, "n1"), k.accounts[0].get()) << "a client that signs a second later";
}

TEST(authentication, tokens_expire_and_a_refresh_token_counts_once) {
    two_keys k;
    io::steady_time now{1h};
    const token_pair first = k.keys->issue(*k.accounts[0], now);
    const token_pair other = k.keys->issue(*k.accounts[1], now);
    EXPECT_NE(first.access, other.access);
    EXPECT_EQ(first.access.size(), 64U);
    now += access_token_life - 1s;
    EXPECT_EQ(k.keys->by_token(first.access, now), k.accounts[0].get());
    EXPECT_EQ(k.keys->by_token(other.access, now), k.accounts[1].get());
    EXPECT_EQ(k.keys->by_token(first.refresh, now), nullptr) << "a refresh token is no access token";
    EXPECT_EQ(k.keys->by_token("", now), nullptr);
    now += 1s;
    EXPECT_EQ(k.keys->by_token(first.access, now), nullptr);
    const auto second = k.keys->refresh(first.refresh, now);
    ASSERT_TRUE(second.has_value());
    EXPECT_EQ(k.keys->by_token(second->access, now), k.accounts[0].get());
    EXPECT_FALSE(k.keys->refresh(first.refresh, now).has_value());
    now += refresh_token_life;
    EXPECT_FALSE(k.keys->refresh(second->refresh, now).has_value());
}

TEST(authentication, a_key_has_a_bounded_number_of_tokens) {
    two_keys k;
    const io::steady_time now{1h};
    const token_pair others = k.keys->issue(*k.accounts[1], now);
    const token_pair oldest = k.keys->issue(*k.accounts[0], now);
    for (std::size_t n = 1; n < tokens_per_key_max; ++n) static_cast<void>(k.keys->issue(*k.accounts[0], now));
    EXPECT_NE(k.keys->by_token(oldest.access, now), nullptr);
    static_cast<void>(k.keys->issue(*k.accounts[0], now));
    EXPECT_EQ(k.keys->by_token(oldest.access, now), nullptr);
    EXPECT_NE(k.keys->by_token(others.access, now), nullptr) << "another key's stay";
}

}  // namespace
}  // namespace corro::api
