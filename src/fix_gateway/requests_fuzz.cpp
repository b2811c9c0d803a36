// SPDX-License-Identifier: Apache-2.0
// Reads the body of any message as a request. What becomes a command is of its kind, names its order and is answered by
// messages that can be read again.
//
// The committed corpus: src/fix_gateway/fuzz_corpus/requests. Input: a body such as "35=D|11=1|...", SOH as '|'.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/answers.hpp"
#include "fix_gateway/order_names.hpp"
#include "fix_gateway/positions.hpp"
#include "fix_gateway/quote_names.hpp"
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
    i.id = domain::instrument_id{2};
    i.name = domain::symbol("ESH7");
    table.define(i);
    i.id = domain::instrument_id{3};
    i.kind = domain::instrument_kind::spread;
    i.name = domain::symbol("CAL");
    i.legs[0] = {.instrument = domain::instrument_id{1}, .ratio = 1, .side = domain::side::buy};
    i.legs[1] = {.instrument = domain::instrument_id{2}, .ratio = 1, .side = domain::side::sell};
    i.legs_count = 2;
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

using fix_gateway::fix_version;

/// A message of the venue, which can be read again.
class written {
 public:
    written(const gateway::answer_log::detailed_answer& said, const domain::instrument& i, fix_version version)
        : room_(fix::message_bytes_max_default), writer_(room_, "FIX.4.4"), index_(200) {
        writer_.begin(fix_gateway::message_type_of(said, version));
        fix_gateway::write_body(said, i, version, writer_);
        const std::string_view text = writer_.finish();
        CORRO_ASSERT(!index_.index(text, fix::next_frame(text, room_.size())));
    }
    [[nodiscard]] const fix::field_index& fields() const noexcept { return index_; }

 private:
    std::vector<char> room_;
    fix::message_writer writer_;
    fix::field_index index_;
};

/// What the venue has been told before it answers.
gateway::order_texts texts_before(const fix_gateway::request_texts& found) {
    gateway::order_texts texts;
    for (std::size_t k = 0; k < found.count; ++k) {
        for (std::size_t part = 0; part < domain::name_parts_count(found.texts[k].size()); ++part) {
            domain::name_part said = domain::name_part_of(found.texts[k], part);
            said.name = domain::long_name(found.texts[k]);
            texts.take(said);
        }
    }
    return texts;
}

/// The refusal of the request, as the venue would answer it.
void answer(const domain::command& c, const domain::instrument& i, fix_version version,
            const gateway::order_texts& texts = {}) {
    gateway::answer_log::detailed_answer said;
    said.texts = &texts;
    said.details.texts = gateway::text_of::name | gateway::text_of::of_order | gateway::text_of::order_of_event;
    said.event.kind = domain::event_kind::order_rejected;
    said.event.reason = c.verdict() == domain::reject_reason::none ? domain::reject_reason::throttled : c.verdict();
    said.event.order.client_order = c.client_order;
    said.event.order.price = domain::no_price;
    said.details.name = c.may_have_name() ? c.request_name() : c.client_order;
    said.details.of_order = c.may_have_name() ? c.client_order : domain::client_order_id{};
    said.details.request_kind = c.may_have_name() ? static_cast<std::uint8_t>(c.kind) : std::uint8_t{0};
    const written message(said, i, version);
    const fix::field_index& index = message.fields();
    if (const auto quote = fix_gateway::parts_of(said.details.name)) {
        if (quote->id != 0) CORRO_ASSERT(fix_gateway::quote_id(*index.get(117)) == quote->id);
        if (quote->id != 0) CORRO_ASSERT(*index.get(297) == "5" || *index.get(297) == "9");
        return;
    }
    const bool is_query = c.kind == domain::command_kind::query_order;
    if (fix_gateway::is_about_positions(said)) {
        CORRO_ASSERT(fix_gateway::order_name(*index.get(710)) == said.details.name && *index.get(729) == "2");
        return;
    }
    if (is_query && said.event.reason == domain::reject_reason::throttled) {
        CORRO_ASSERT(fix_gateway::order_name(*index.get(379)) == said.details.name);
        return;
    }
    if (is_query && c.client_order.value == 0) {
        CORRO_ASSERT(fix_gateway::order_name(*index.get(584)) == said.details.name);
        return;
    }
    // The answer to a question is about the order, and has its name.
    CORRO_ASSERT(fix_gateway::order_name(*index.get(11)) == (is_query ? said.details.of_order : said.details.name));
}

/// The positions that the venue could answer with.
void answer_positions(const domain::command& c, const domain::instrument& i, fix_version version,
                      const gateway::order_texts& texts) {
    gateway::answer_log::detailed_answer said;
    said.texts = &texts;
    said.details.texts = gateway::text_of::name;
    said.event.kind = domain::event_kind::position_reported;
    said.event.position = {};
    said.event.position.quantity = domain::volume_lots{c.request_name().value >> 24U};
    said.event.position.last = domain::price_ticks{static_cast<std::int64_t>(c.request_name().value % 1'000'000)};
    said.details.name = c.request_name();
    said.details.request_kind = static_cast<std::uint8_t>(c.kind);
    const written count(said, domain::instrument(), version);
    CORRO_ASSERT(*count.fields().get(35) == "AO" && *count.fields().get(728) == "2");
    said.event.instrument = i.id;
    const written report(said, i, version);
    const fix::field_index& index = report.fields();
    CORRO_ASSERT(*index.get(35) == "AP" && fix_gateway::order_name(*index.get(710)) == said.details.name);
    CORRO_ASSERT(*index.get(704) == std::to_string(said.event.position.quantity.value * i.lot_size));
}

void check_quotes(const fix_gateway::request_commands& all, const domain::instrument& i, fix_version version) {
    CORRO_ASSERT(all.count != 0 && all.count <= all.commands.size());
    for (std::size_t k = 0; k < all.count; ++k) {
        const domain::command& c = all.commands[k];
        CORRO_ASSERT(c.session.value == 0 && c.request() == 0 && !c.is_operator());
        if (c.kind == domain::command_kind::enter_quote) {
            const bool has_more = (c.enter_quote().flags & domain::quote_flag::more) != 0;
            CORRO_ASSERT(has_more == (k + 1 < all.count) && fix_gateway::parts_of(c.client_order));
        } else {
            CORRO_ASSERT(all.count == 1 && c.kind == domain::command_kind::cancel_orders);
        }
        answer(c, i, version);
    }
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
    const domain::instrument& instrument = *table.find(domain::instrument_id{1});
    const fix_version version = body.size() % 2 == 0 ? fix_version::v4_4 : fix_version::v5_0_sp;
    if (fix_gateway::may_have_several(index.message_type())) {
        fix_gateway::request_commands all;
        if (!fix_gateway::read_quotes(index, known, all).is_there()) check_quotes(all, instrument, version);
        return 0;
    }
    domain::command c;
    const fix_gateway::request_problem problem = fix_gateway::read_request(index, known, version, c);
    if (problem.is_there()) return 0;
    CORRO_ASSERT(c.session.value == 0 && c.request() == 0 && !c.is_operator());
    if (c.may_have_name()) {
        CORRO_ASSERT(c.request_name().value != 0);
    } else {
        CORRO_ASSERT(c.client_order.value != 0);
    }
    const gateway::order_texts texts = texts_before(fix_gateway::texts_of(index, c));
    CORRO_ASSERT(!domain::is_long_name(c.client_order) || !texts.find({}, c.client_order).empty());
    CORRO_ASSERT(!c.may_have_name() || !domain::is_long_name(c.request_name()) ||
                 !texts.find({}, c.request_name()).empty());
    CORRO_ASSERT(!texts.is_empty() == fix_gateway::has_long_name(c));
    answer(c, instrument, version, texts);
    if (c.client_order == fix_gateway::positions_mark) {
        CORRO_ASSERT(c.kind == domain::command_kind::query_order);
        fix_gateway::check_positions_account(index, c);
        answer_positions(c, instrument, version, texts);
    }
    return 0;
}
