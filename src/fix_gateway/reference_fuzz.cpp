// SPDX-License-Identifier: Apache-2.0
// Reads the body of any message as a question about instruments, in each version. What is found is answered by a
// message that can be read again.
//
// The committed corpus: src/fix_gateway/fuzz_corpus/reference. Input: a body such as "35=x|320=1|559=4|", SOH as '|'.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/reference_answers.hpp"
#include "fix_gateway/reference_fixture.hpp"
#include "fix_gateway/reference_requests.hpp"
#include "fix_gateway/tags.hpp"

namespace {

using namespace corro;
using namespace corro::fix_gateway;

/// Writes the answer. @return Its type.
const char* write(const reference_request& asked, fix_version version, reference_directory& instruments,
                  fix::message_writer& into) {
    reference_answer a;
    a.id = asked.id;
    a.version = version;
    a.market = "CORRO";
    a.total = asked.finding == reference_finding::all ? instruments.count() : 1;
    switch (asked.question) {
        case reference_question::status:
            into.begin("f");
            write_status(asked.id, asked.symbol, asked.instrument, domain::trading_phase::closed, version, into);
            return "f";
        case reference_question::session:
            into.begin("h");
            write_session_status(
                asked.id, asked.symbol.empty() ? trading_session_name : asked.symbol,
                asked.finding == reference_finding::found ? session_state::open : session_state::no_such_session, into);
            return "h";
        case reference_question::list:
            into.begin("y");
            if (asked.instrument != nullptr) {
                write_list(a, instruments, *asked.instrument, into);
            } else if (asked.finding == reference_finding::all) {
                write_list(a, instruments, 0, a.total, into);
            } else {
                write_empty_list(a, list_result::nothing_found, into);
            }
            return "y";
        default: break;
    }
    into.begin("d");
    if (asked.instrument != nullptr) {
        write_definition(a, definition_result::as_it_is, instruments, *asked.instrument, into);
    } else {
        write_no_definition(a, definition_result::no_match, asked.symbol, {}, into);
    }
    return "d";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const wire::instrument_table table = fix_gateway::testing::instruments_of_each_kind();
    static symbols names(table);
    static reference_directory instruments(names);
    const std::string text = fix::testing::framed(std::string(reinterpret_cast<const char*>(data), size));
    const fix::frame_result frame = fix::next_frame(text, fix::message_bytes_max_default);
    fix::field_index index(200);
    if (frame.state != fix::frame_state::complete || index.index(text, frame)) return 0;
    for (const fix_version version : {fix_version::v4_2, fix_version::v4_4, fix_version::v5_0, fix_version::v5_0_sp}) {
        if (!is_reference_request(index.message_type(), version)) continue;
        reference_request asked;
        if (read_reference_request(index, version, instruments, asked).is_there()) continue;
        CORRO_ASSERT(!asked.id.empty() && asked.id.size() <= reference_text_max);
        const bool is_one = asked.finding == reference_finding::found || asked.finding == reference_finding::reversed;
        const bool is_of_session = asked.question == reference_question::session;
        CORRO_ASSERT((is_one && !is_of_session) == (asked.instrument != nullptr));
        std::vector<char> room(fix::message_bytes_max_default);
        fix::message_writer writer(room, "FIX.4.4");
        const char* const type = write(asked, version, instruments, writer);
        const std::string written(writer.finish());
        fix::field_index again(200);
        CORRO_ASSERT(!again.index(written, fix::next_frame(written, room.size())));
        CORRO_ASSERT(again.message_type() == type);
        const std::uint32_t id = is_of_session                                  ? tag::trad_ses_req_id
                                 : asked.question == reference_question::status ? tag::security_status_req_id
                                                                                : tag::security_req_id;
        CORRO_ASSERT(again.get(id) == asked.id);
    }
    return 0;
}
