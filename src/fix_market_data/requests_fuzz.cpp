// SPDX-License-Identifier: Apache-2.0
// Reads the body of any message as a MarketDataRequest. What is taken is within the bounds, and any name can be
// refused.
//
// The committed corpus: src/fix_market_data/fuzz_corpus/requests. Input: a version (2, 4 or 5), then a body such as
// "35=V|262=a|...", SOH as '|'.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix_market_data/entries.hpp"
#include "fix_market_data/limits.hpp"
#include "fix_market_data/request.hpp"
#include "fix_market_data/tags.hpp"

using namespace corro;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const auto version = data[0] == '2'   ? fix_market_data::fix_version::v4_2
                         : data[0] == '4' ? fix_market_data::fix_version::v4_4
                                          : fix_market_data::fix_version::v5_0;
    const std::string text = fix::testing::framed(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
    const fix::frame_result frame = fix::next_frame(text, fix::message_bytes_max_default);
    fix::field_index index;
    if (frame.state != fix::frame_state::complete || index.index(text, frame)) return 0;
    fix_market_data::market_data_request request;
    const fix_market_data::request_problem problem = fix_market_data::read_request(index, version, request);
    if (problem.tag == 0) {
        CORRO_ASSERT(!request.id.empty() && request.id.size() <= fix_market_data::name_bytes_max);
        std::vector<char> room(fix::message_bytes_max_default);
        fix::message_writer writer(room, "FIX.4.4");
        writer.begin("Y");
        fix_market_data::write_refusal(request.id, problem.refusal, "refused", writer);
        const std::string_view written = writer.finish();
        fix::field_index again(16);
        CORRO_ASSERT(!again.index(written, fix::next_frame(written, room.size())));
        CORRO_ASSERT(again.get(fix_market_data::tag::md_req_id) == request.id);
    }
    if (problem.is_there() || request.kind == fix_market_data::request_kind::end) return 0;
    CORRO_ASSERT(request.levels != 0 && request.levels <= fix_market_data::levels_max);
    CORRO_ASSERT(!request.symbols.empty() && request.symbols.size() < fix::fields_max_default);
    CORRO_ASSERT(!request.is_incremental || request.kind == fix_market_data::request_kind::updates);
    for (const std::string_view symbol : request.symbols) CORRO_ASSERT(!symbol.empty());
    return 0;
}
