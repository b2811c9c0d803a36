// Reads the body of any message as a request. What becomes a command is of its kind, names its order and is answered by
// messages that can be read again.
//
// The committed corpus: src/fix_gateway/fuzz_corpus/requests. Input: a body such as "35=D|11=1|...", SOH as '|'.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/requests.hpp"

namespace {

using namespace corro;

wire::instrument_table instruments_of_test() {
    wire::instrument_table table;
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol("ESZ6");
    i.tick_size = domain::price_nano{250'000'000};
    i.lot_size = 10;
    table.define(i);
    return table;
}

std::string framed(const std::string& body) {
    std::string text =
        "8=FIX.4.4\x01"
        "9=" +
        std::to_string(body.size()) + "\x01" + body;
    unsigned sum = 0;
    for (const char c : text) sum += static_cast<unsigned char>(c);
    const std::string digits = std::to_string(sum % 256);
    return text + "10=" + std::string(3 - digits.size(), '0') + digits + "\x01";
}

/// The refusal of the request, as the venue would answer it.
void answer(const domain::command& c, const domain::instrument& i) {
    gateway::answer_log::detailed_answer said;
    said.event.kind = domain::event_kind::order_rejected;
    said.event.reason = c.verdict();
    said.event.order.client_order = c.client_order;
    said.event.order.price = domain::no_price;
    said.details.name = c.may_have_name() ? c.request_name() : c.client_order;
    said.details.of_order = c.may_have_name() ? c.client_order : domain::client_order_id{};
    said.details.request_kind = c.may_have_name() ? static_cast<std::uint8_t>(c.kind) : std::uint8_t{0};
    std::vector<char> room(fix::message_bytes_max_default);
    fix::message_writer writer(room, "FIX.4.4");
    writer.begin(fix_gateway::message_type_of(said));
    fix_gateway::write_body(said, i, fix_gateway::fix_version::v4_4, writer);
    const std::string_view written = writer.finish();
    fix::field_index index(200);
    CORRO_ASSERT(!index.index(written, fix::next_frame(written, room.size())));
    // The answer to a question is about the order, and has its name.
    const bool is_question = c.kind == domain::command_kind::query_order;
    CORRO_ASSERT(fix_gateway::order_name(*index.get(11)) == (is_question ? said.details.of_order : said.details.name));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const wire::instrument_table table = instruments_of_test();
    static fix_gateway::symbols known(table);
    std::string body(reinterpret_cast<const char*>(data), size);
    for (char& c : body) {
        if (c == '|') c = '\x01';
    }
    const std::string text = framed(body);
    const fix::frame_result frame = fix::next_frame(text, fix::message_bytes_max_default);
    fix::field_index index(200);
    if (frame.state != fix::frame_state::complete || index.index(text, frame)) return 0;
    domain::command c;
    const fix_gateway::request_problem problem = fix_gateway::read_request(index, known, c);
    if (problem.is_there()) return 0;
    CORRO_ASSERT(c.session.value == 0 && c.request() == 0 && !c.is_operator());
    if (c.kind == domain::command_kind::enter_order) {
        CORRO_ASSERT(c.client_order.value != 0);
    } else {
        CORRO_ASSERT(c.may_have_name() && c.request_name().value != 0);
    }
    answer(c, *table.find(domain::instrument_id{1}));
    return 0;
}
