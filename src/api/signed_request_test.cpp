// SPDX-License-Identifier: Apache-2.0
#include "api/signed_request.hpp"

#include <gtest/gtest.h>

namespace corro::api {
namespace {

TEST(signed_request, has_its_fields_in_any_order) {
    const signed_credentials with = signed_request_of("id=alice,ts=1700000000000,sig=00ff,nonce=x=y");
    EXPECT_EQ(with.client_id, "alice");
    EXPECT_EQ(with.timestamp, "1700000000000");
    EXPECT_EQ(with.signature, "00ff");
    EXPECT_EQ(with.nonce, "x=y");
    for (const char* text : {"", ",", "=", "id", "id=,ts", ",,ts=,=x"}) {
        EXPECT_EQ(signed_request_of(text).client_id, "") << text;
        EXPECT_EQ(signed_request_of(text).timestamp, "") << text;
    }
}

}  // namespace
}  // namespace corro::api
