// F4: the current version reads requests, answers and market data of former versions of the protocol, and still writes
// the same bytes. `corro_wire_samples golden` made the files: a line is a message's name and its bytes.

#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <sstream>
#include <utility>

#include "base/byte_order.hpp"
#include "golden_fixture.hpp"
#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace corro {
namespace {

using testing::golden_bytes;

struct golden_message {
    std::string name;
    golden_bytes bytes;
};

void append_messages(std::vector<golden_message>& messages, const golden_bytes& file) {
    std::istringstream lines(std::string(reinterpret_cast<const char*>(file.data()), file.size()));
    golden_message next;
    std::string digits;
    while (lines >> next.name >> digits) {
        next.bytes.clear();
        for (std::size_t at = 0; at + 1 < digits.size(); at += 2) {
            unsigned value = 0;
            std::from_chars(digits.data() + at, digits.data() + at + 2, value, 16);
            next.bytes.push_back(static_cast<std::byte>(value));
        }
        messages.push_back(next);
    }
}

/// The messages of an addition to a version, by the addition's number.
std::vector<golden_message> added_to(std::uint32_t version, std::uint32_t addition) {
    std::vector<golden_message> messages;
    const auto file =
        testing::read_golden("wire.v" + std::to_string(version) + "." + std::to_string(addition) + ".txt");
    if (file) append_messages(messages, *file);
    return messages;
}

/// All messages of a version with its additions.
std::vector<golden_message> messages_of(std::uint32_t version) {
    std::vector<golden_message> messages;
    const auto file = testing::read_golden("wire.v" + std::to_string(version) + ".txt");
    if (!file) return messages;
    append_messages(messages, *file);
    for (std::uint32_t addition = 1;; ++addition) {
        const auto added = added_to(version, addition);
        if (added.empty()) return messages;
        messages.insert(messages.end(), added.begin(), added.end());
    }
}

const wire::instrument_table& instruments() {
    static const wire::instrument_table table = wire::made_instruments();
    return table;
}

template <class View>
golden_bytes written_again(const wire::frame& from) {
    if (wire::check(from)) return {};
    const auto message = View{from}.value();
    golden_bytes bytes(std::remove_cvref_t<decltype(message)>::frame_bytes);
    static_cast<void>(wire::encode(message, from.sequence, bytes));
    return bytes;
}

golden_bytes session_message_again(const wire::frame& from) {
    switch (from.message) {
        using enum wire::template_id;
        case challenge: return written_again<wire::challenge_view>(from);
        case hello: return written_again<wire::hello_view>(from);
        case hello_ack: return written_again<wire::hello_ack_view>(from);
        case heartbeat: return written_again<wire::heartbeat_view>(from);
        case logout: return written_again<wire::logout_view>(from);
        case logout_ack: return written_again<wire::logout_ack_view>(from);
        case reject: return written_again<wire::reject_view>(from);
        case resend_gap: return written_again<wire::resend_gap_view>(from);
        case venue_status: return written_again<wire::venue_status_view>(from);
        case status_request: return written_again<wire::status_request_view>(from);
        case snapshot_request: return written_again<wire::snapshot_request_view>(from);
        case snapshot_answer: return written_again<wire::snapshot_answer_view>(from);
        case query_order: return written_again<wire::query_order_view>(from);
        case set_protection: return written_again<wire::set_protection_view>(from);
        case reset_protection: return written_again<wire::reset_protection_view>(from);
        case snapshot_begin: return written_again<wire::snapshot_begin_view>(from);
        case snapshot_end: return written_again<wire::snapshot_end_view>(from);
        case instrument_leg: return written_again<wire::instrument_leg_view>(from);
        default: return {};
    }
}

/// Reads a message and writes it with this version; empty if it cannot be read.
golden_bytes again(const wire::frame& from) {
    if (golden_bytes bytes = session_message_again(from); !bytes.empty()) return bytes;
    std::array<std::byte, wire::message_bytes_max> buffer;
    std::size_t size = 0;
    domain::command command;
    domain::event event;
    wire::mass_quote_commands quotes;
    if (const auto definition = wire::decode_instrument(from)) {
        size = wire::encode(*definition, from.sequence, buffer);
    } else if (!wire::decode_event(from, instruments(), event)) {
        size = wire::encode(event, instruments().find_or_nameless(event.instrument), from.sequence, buffer);
    } else if (from.message == wire::template_id::mass_quote) {
        if (wire::decode_mass_quote(from, instruments(), quotes)) return {};
        size = wire::encode_mass_quote(std::span(quotes.commands).first(quotes.count), instruments(),
                                       static_cast<std::uint32_t>(from.sequence), buffer);
    } else if (!wire::decode_command(from, instruments(), command) &&
               command.verdict() == domain::reject_reason::none) {
        size = wire::encode(command, instruments().find_or_nameless(command.instrument), buffer);
    }
    return {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size)};
}

std::optional<wire::frame> frame_of(const golden_bytes& bytes) {
    const auto found = wire::next_frame(bytes);
    if (!found || !*found || (*found)->size() != bytes.size()) return std::nullopt;
    return **found;
}

TEST(golden_wire, F4_every_message_of_every_version_is_read) {
    const auto versions = testing::golden_versions("wire", ".txt");
    ASSERT_FALSE(versions.empty());
    for (const std::uint32_t version : versions) {
        const auto messages = messages_of(version);
        EXPECT_GT(messages.size(), 20U);
        for (const golden_message& m : messages) {
            SCOPED_TRACE(m.name + ", version " + std::to_string(version));
            const auto frame = frame_of(m.bytes);
            ASSERT_TRUE(frame);
            EXPECT_EQ(wire::to_string(frame->message), m.name);
            EXPECT_EQ(frame->version, version);
            // A message that is read, written and read again is the same.
            const golden_bytes once = again(*frame);
            if (once.empty()) {
                EXPECT_TRUE(version == 1 && m.name == "instrument_definition") << "is not read any more";
                continue;  // it became longer before any version was released, and no venue of version 1 exists
            }
            const auto second = frame_of(once);
            ASSERT_TRUE(second);
            EXPECT_EQ(again(*second), once);
        }
    }
}

TEST(golden_wire, F4_every_message_of_the_current_version_is_written_with_the_same_bytes) {
    const auto messages = messages_of(wire::schema_version);
    if (messages.empty()) GTEST_SKIP() << "this version of the protocol has no golden file yet";
    for (const golden_message& m : messages) {
        const auto frame = frame_of(m.bytes);
        ASSERT_TRUE(frame) << m.name;
        EXPECT_EQ(again(*frame), m.bytes) << m.name;
    }
}

// Round trips would not notice two fields that change places. So this test reads the bytes at the offsets of the
// specification of version 1.
TEST(golden_wire, F4_an_order_means_what_it_meant) {
    for (const std::uint32_t version : testing::golden_versions("wire", ".txt")) {
        std::uint32_t orders_count = 0;
        for (const golden_message& m : messages_of(version)) {
            if (m.name != "enter_order") continue;
            ++orders_count;
            domain::command c;
            const auto frame = frame_of(m.bytes);
            ASSERT_TRUE(frame && !wire::decode_command(*frame, instruments(), c));
            const auto& i = *instruments().find(c.instrument);
            const std::byte* const block = m.bytes.data() + wire::header_bytes;
            EXPECT_EQ(base::load_be<std::uint64_t>(block), c.client_order.value);
            const auto price = base::load_be<std::int64_t>(block + 8);
            const bool is_priced = price != std::numeric_limits<std::int64_t>::min();
            EXPECT_EQ(is_priced ? price : 0, c.enter_order().price.value * i.tick_size.value);
            EXPECT_EQ(base::load_be<std::uint64_t>(block + 16),
                      std::uint64_t{c.enter_order().quantity.value} * i.lot_size);
            EXPECT_EQ(base::load_be<std::uint32_t>(block + 24), c.instrument.value);
            EXPECT_EQ(static_cast<domain::side>(block[28]), c.order_terms().side);
        }
        EXPECT_EQ(orders_count, 1U);
    }
}

TEST(golden_wire, F4_session_days_mean_what_they_meant) {
    const auto messages = added_to(2, 2);
    ASSERT_EQ(messages.size(), 3U);
    const auto byte_at = [&messages](std::size_t message, std::size_t offset) {
        return std::to_integer<int>(messages[message].bytes[wire::header_bytes + offset]);
    };
    EXPECT_EQ(byte_at(0, 0), 16);
    EXPECT_EQ(wire::logout_reason::session_day_ended, static_cast<wire::logout_reason>(16));
    EXPECT_EQ(byte_at(1, 23), 254);
    EXPECT_EQ(byte_at(2, 51), 255);
    const auto hello = frame_of(messages[1].bytes);
    const auto ack = frame_of(messages[2].bytes);
    ASSERT_TRUE(hello && !wire::check(*hello) && ack && !wire::check(*ack));
    EXPECT_EQ(wire::hello_view(*hello).session_day(), 254U);
    EXPECT_EQ(wire::hello_ack_view(*ack).session_day(), 255U);
}

// The numbers of the additions to version 2 are those of the specification.
TEST(golden_wire, F4_what_was_added_to_version_2_means_what_it_meant) {
    const auto messages = added_to(2, 1);
    ASSERT_EQ(messages.size(), 11U);
    const auto byte_at = [&messages](std::size_t message, std::size_t offset) {
        return std::to_integer<int>(messages[message].bytes[wire::header_bytes + offset]);
    };
    EXPECT_EQ(byte_at(0, 12), 13);
    EXPECT_EQ(wire::session_reject_reason::journal_failed, static_cast<wire::session_reject_reason>(13));
    EXPECT_EQ(byte_at(1, 0), 14);
    EXPECT_EQ(wire::logout_reason::taken_over, static_cast<wire::logout_reason>(14));
    EXPECT_EQ(byte_at(2, 0), 15);
    EXPECT_EQ(wire::logout_reason::journal_failed, static_cast<wire::logout_reason>(15));
    const auto hello = frame_of(messages[3].bytes);
    ASSERT_TRUE(hello);
    EXPECT_EQ(byte_at(3, 22), 1 | 2);
    EXPECT_EQ(wire::hello_flag::take_over, 2);
    EXPECT_EQ(base::load_be<std::uint64_t>(messages[3].bytes.data() + wire::header_bytes + 24), 0x0123'4567'89AB'CDEFU);
    EXPECT_EQ(wire::hello_view(*hello).key_id(), 0x0123'4567'89AB'CDEFU);
    domain::command c;
    for (const std::size_t query_or_day : {4U, 5U, 6U}) {
        const auto frame = frame_of(messages[query_or_day].bytes);
        ASSERT_TRUE(frame && !wire::decode_command(*frame, instruments(), c));
        if (query_or_day == 4) {
            EXPECT_EQ(byte_at(4, 20), 2 | 4);
            EXPECT_EQ(c.query_order().flags, domain::query_flag::all_of_account | domain::query_flag::behind);
            EXPECT_EQ(c.query_order().order.value, 13U);
            continue;
        }
        EXPECT_EQ(messages[query_or_day].bytes[3], std::byte{22});
        EXPECT_EQ(c.kind, domain::command_kind::new_trading_day);
        EXPECT_EQ(c.instrument.value, query_or_day == 5 ? 1U : 0U);
        EXPECT_EQ(c.new_trading_day().product.value, query_or_day == 5 ? 0U : 3U);
    }
    const std::array<domain::reject_reason, 2> reasons{domain::reject_reason::count_limit,
                                                       domain::reject_reason::request_lost};
    const std::array<std::uint8_t, 2> flags{domain::event_flag::more_behind, domain::event_flag::only_a_place};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto frame = frame_of(messages[7 + i].bytes);
        domain::event e;
        ASSERT_TRUE(frame && !wire::decode_event(*frame, instruments(), e));
        EXPECT_EQ(e.order.order.value, 2'001 + i);
        EXPECT_EQ(e.kind, i < 2 ? domain::event_kind::order_rejected : domain::event_kind::order_status);
        EXPECT_EQ(e.reason, i < 2 ? reasons[i] : domain::reject_reason::none);
        EXPECT_EQ(e.flags, domain::event_flag::last_of_request | (i < 2 ? 0 : flags[i - 2]));
    }
}

// The control: the test notices a change of any byte of a golden message, as another message, another value, or an
// error.
TEST(golden_wire, F4_control_a_changed_byte_is_noticed) {
    std::uint64_t unnoticed_count = 0;
    std::uint64_t changed_count = 0;
    for (const golden_message& m : messages_of(testing::golden_versions("wire", ".txt").back())) {
        for (std::size_t at = 0; at < m.bytes.size(); ++at) {
            golden_bytes changed = m.bytes;
            changed[at] ^= std::byte{1};
            const auto frame = frame_of(changed);
            ++changed_count;
            unnoticed_count += frame && again(*frame) == m.bytes ? 1U : 0U;
        }
    }
    ASSERT_GT(changed_count, 1'000U);
    // The codec does not read the header's version and the reserved bytes of a block.
    EXPECT_LT(unnoticed_count, changed_count / 5);
}

}  // namespace
}  // namespace corro
