// SPDX-License-Identifier: Apache-2.0
#include "gateway/session/wrong_proofs.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::account_id;

const wrong_proofs::clock::time_point start{1h};

TEST(wrong_proofs, wait_longer_and_longer_and_are_forgiven) {
    const auto proofs = std::make_unique<wrong_proofs>();
    for (std::uint32_t i = 0; i < wrong_proofs_free; ++i) EXPECT_EQ(proofs->count(1, account_id{1}, start), 0ms);
    EXPECT_EQ(proofs->count(1, account_id{1}, start), wrong_proof_wait);
    EXPECT_EQ(proofs->count(1, account_id{1}, start), 2 * wrong_proof_wait);
    for (int i = 0; i < 1'000; ++i) static_cast<void>(proofs->count(1, account_id{1}, start));
    EXPECT_GE(proofs->count(1, account_id{1}, start), 30min);
    EXPECT_EQ(proofs->count(1, account_id{1}, start + wrong_proofs_counted_max * wrong_proof_forgiven), 0ms);
}

TEST(wrong_proofs, count_for_the_address_and_for_the_account) {
    const auto proofs = std::make_unique<wrong_proofs>();
    for (std::uint32_t i = 0; i < 10; ++i) static_cast<void>(proofs->count(1, account_id{100 + i}, start));
    EXPECT_GT(proofs->count(1, account_id{5}, start), 0ms) << "one address tries all accounts";
    for (std::uint64_t i = 0; i < 10; ++i) static_cast<void>(proofs->count(100 + i, account_id{6}, start));
    EXPECT_GT(proofs->count(2, account_id{6}, start), 0ms) << "many addresses try one account";
    EXPECT_EQ(proofs->count(3, account_id{7}, start), 0ms) << "others are not concerned";
}

}  // namespace
}  // namespace corro::gateway
