// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as a request of JSON-RPC and answers it. The answer is JSON, has the request's id, and its error is
// one of the table.
//
// The committed corpus: src/api/fuzz_corpus/requests. Input: the text of a request.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/json_value.hpp"
#include "api/public_methods.hpp"
#include "api/request.hpp"
#include "api/test_market.hpp"
#include "base/assert.hpp"

using namespace corro;

namespace {

api::testing::test_market& market() {
    static api::testing::test_market one;
    static const bool is_filled = [] {
        for (std::int64_t k = 1; k < 20; ++k) {
            one.set_level(1, domain::side::buy, 100 - k, static_cast<std::uint64_t>(k));
            one.trade(2, k, 1, domain::side::sell);
        }
        return true;
    }();
    CORRO_ASSERT(is_filled);
    return one;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const api::read_request read = api::request_of_json(text);
    std::expected<std::string, api::api_error> answer = std::unexpected(api::api_error(api::error_code::bad_request));
    const bool is_public = read.what && read.what->method->over == api::transport::any &&
                           !read.what->method->is_private() && read.what->method->id != api::method_id::auth;
    if (!read.what) {
        answer = std::unexpected(read.what.error());
    } else if (is_public) {
        api::public_state state;
        state.markets = &market().view;
        state.is_joined = true;
        state.currency = "USD";
        answer = api::answer_public(*read.what, state);
    }
    const std::string response = answer ? api::response_text(read.id, *answer, api::request_times(), false)
                                        : api::error_text(read.id, answer.error(), api::request_times(), false);
    const auto back = api::parse_json(response);
    CORRO_ASSERT(back.has_value() || back.error() == api::json_problem::too_large, "a response must be JSON");
    if (!back || read.id.empty()) return 0;
    const auto sent = api::parse_json(text);
    CORRO_ASSERT(sent && sent->find("id")->text == back->find("id")->text, "a response has the request's id");
    return 0;
}
