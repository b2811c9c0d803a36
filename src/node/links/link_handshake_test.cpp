// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_handshake.hpp"

#include <gtest/gtest.h>

#include <string>

namespace corro::node {
namespace {

wire::api_key secret_of(int number) {
    wire::api_key key;
    key.fill(static_cast<std::byte>(number));
    return key;
}

const link_nonce gateway_nonce = secret_of(1);
const link_nonce facility_nonce = secret_of(2);

link_greeting greeting_from(std::uint64_t accounts) {
    link_greeting greeting;
    greeting.magic = link_magic;
    greeting.accounts = accounts;
    return greeting;
}

TEST(S9_link_proofs, hold_for_the_end_the_link_and_the_greeting_that_they_were_made_for) {
    const link_proofs ours(secret_of(9), gateway_nonce, facility_nonce);
    const proven_greeting said = ours.sign(link_claim::gateway_greets, greeting_from(5));
    EXPECT_TRUE(ours.check(link_claim::gateway_greets, said));
    EXPECT_FALSE(ours.check(link_claim::facility_greets, said)) << "a proof that is sent back proves nothing";
    EXPECT_FALSE(link_proofs(secret_of(8), gateway_nonce, facility_nonce).check(link_claim::gateway_greets, said))
        << "another secret";
    EXPECT_FALSE(link_proofs(secret_of(9), gateway_nonce, gateway_nonce).check(link_claim::gateway_greets, said))
        << "recorded on another link";
    EXPECT_FALSE(link_proofs(secret_of(9), facility_nonce, facility_nonce).check(link_claim::gateway_greets, said));
    proven_greeting changed = said;
    changed.greeting.accounts = 6;
    EXPECT_FALSE(ours.check(link_claim::gateway_greets, changed));
    changed = said;
    changed.proof[31] ^= std::byte{1};
    EXPECT_FALSE(ours.check(link_claim::gateway_greets, changed));
}

TEST(S9_link_proofs, tell_a_refusal_of_the_facility_from_anyone_elses) {
    const link_proofs ours(secret_of(9), gateway_nonce, facility_nonce);
    const std::string refusal = ours.sign_refusal("other accounts");
    const auto bytes = [](const std::string& text) { return std::as_bytes(std::span(text)); };
    EXPECT_EQ(ours.check_refusal(bytes(refusal)), "other accounts");
    EXPECT_EQ(ours.check_refusal(bytes(refusal + "!")), "");
    EXPECT_EQ(ours.check_refusal(bytes("other accounts")), "");
    EXPECT_EQ(link_proofs(secret_of(8), gateway_nonce, facility_nonce).check_refusal(bytes(refusal)), "");
}

TEST(S9_link_proofs, come_with_nonces_that_are_new_each_time) {
    EXPECT_NE(make_link_hello(io::default_platform()).nonce, make_link_hello(io::default_platform()).nonce);
    EXPECT_EQ(mismatch(make_link_hello(io::default_platform())), "");
    link_hello other = make_link_hello(io::default_platform());
    other.version = link_version - 1;
    EXPECT_NE(mismatch(other), "");
    other.magic = 1;
    EXPECT_NE(mismatch(other), "");
}

}  // namespace
}  // namespace corro::node
