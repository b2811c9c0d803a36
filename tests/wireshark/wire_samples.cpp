// SPDX-License-Identifier: Apache-2.0
// Writes sample messages of the Corro Binary protocol, encoded by the codec, for the fuzzer's corpus and the test of
// the Wireshark dissector.
//
//   corro_wire_samples stream COUNT SEED   COUNT of every message, one after the other, to standard output
//   corro_wire_samples corpus FOLDER       one file per message, named after it, into an existing folder
//   corro_wire_samples golden              a line per message, its name and its bytes; for tests/golden
//   corro_wire_samples golden N            the same of the Nth addition to the current version, from 1; none: exit code
//   1 corro_wire_samples version             of the schema
//
// The committed corpus comes from `corro_wire_samples corpus src/wire/fuzz_corpus/wire_binary`.

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "wire/binary_codec.hpp"
#include "wire/messages_fixture.hpp"

namespace {

using namespace corro;

struct sample {
    std::string name;
    std::vector<std::byte> bytes;
};

class sampler {
 public:
    explicit sampler(std::uint64_t seed) : make_(seed) {}

    /// Returns one of every message, with random fields.
    [[nodiscard]] std::vector<sample> round() {
        samples_.clear();
        session_messages();
        requests();
        events();
        reference_data();
        operators_messages();
        return samples_;
    }

 private:
    template <class Message>
    void add(const Message& message) {
        std::vector<std::byte> bytes(Message::frame_bytes);
        store(message, make_.number<std::uint64_t>(), bytes.data());
        samples_.push_back({std::string{to_string(Message::message_id)}, std::move(bytes)});
    }

    void add(wire::template_id message, std::span<const std::byte> bytes) {
        samples_.push_back({std::string{to_string(message)}, {bytes.begin(), bytes.end()}});
    }

    template <std::size_t Size>
    std::array<std::byte, Size> random_bytes() {
        std::array<std::byte, Size> bytes;
        for (std::byte& each : bytes) each = static_cast<std::byte>(make_.from(0, 255));
        return bytes;
    }

    domain::time_ns time() { return domain::time_ns{make_.number<std::int64_t>()}; }
    wire::logout_reason logout_reason() { return static_cast<wire::logout_reason>(make_.from(0, 13)); }

    void session_messages() {
        add(wire::challenge{
            .nonce = random_bytes<32>(), .time = time(), .protocol_version = 1, .protocol_version_min = 1});
        add(wire::hello{.account = domain::account_id{make_.number<std::uint32_t>()},
                        .session_number = make_.number<std::uint32_t>(),
                        .next_sequence = domain::sequence_number{make_.number<std::uint64_t>()},
                        .heartbeat_interval_ms = make_.from(100, 60'000),
                        .protocol_version = 1,
                        .hello_flags = static_cast<std::uint8_t>(make_.from(0, 1)),
                        .key_id = make_.number<std::uint64_t>(),
                        .client_nonce = random_bytes<16>(),
                        .proof = random_bytes<32>()});
        add(wire::hello_ack{.next_request = domain::sequence_number{make_.number<std::uint64_t>()},
                            .next_sequence = domain::sequence_number{make_.number<std::uint64_t>()},
                            .time = time(),
                            .session = domain::session_id{make_.number<std::uint32_t>()},
                            .heartbeat_interval_ms = make_.from(100, 60'000),
                            .trading_date = make_.from(20'200'101, 20'991'231),
                            .instruments_count = make_.number<std::uint32_t>(),
                            .requests_per_second_max = make_.number<std::uint32_t>(),
                            .orders_max = make_.number<std::uint32_t>(),
                            .protocol_version = 1,
                            .hello_flags = static_cast<std::uint8_t>(make_.from(0, 1))});
        add(wire::heartbeat{.test_id = make_.number<std::uint64_t>(), .echo_id = make_.number<std::uint64_t>()});
        add(wire::logout{.logout_reason = logout_reason()});
        add(wire::logout_ack{.logout_reason = logout_reason()});
        add(wire::resend_gap{.next_sequence = domain::sequence_number{make_.number<std::uint64_t>()},
                             .first_missing = domain::sequence_number{make_.number<std::uint64_t>()}});
        add(wire::reject{.refused_sequence = domain::sequence_number{make_.number<std::uint64_t>()},
                         .refused_template = make_.number<std::uint16_t>(),
                         .refused_field = make_.number<std::uint16_t>(),
                         .session_reject_reason = static_cast<wire::session_reject_reason>(make_.from(0, 10))});
    }

    // Comes last, so that the other samples do not change.
    void operators_messages() {
        add(wire::venue_status{.question = make_.number<std::uint64_t>(),
                               .time = time(),
                               .last_command = domain::sequence_number{make_.number<std::uint64_t>()},
                               .durable_command = domain::sequence_number{make_.number<std::uint64_t>()},
                               .snapshot_command = domain::sequence_number{make_.number<std::uint64_t>()},
                               .commands_waiting = make_.number<std::uint64_t>(),
                               .feed_sequence = domain::sequence_number{make_.number<std::uint64_t>()},
                               .sessions_count = make_.number<std::uint32_t>(),
                               .sessions_max = make_.number<std::uint32_t>(),
                               .journal_state = static_cast<wire::journal_state>(make_.from(0, 3)),
                               .trading_phase = static_cast<domain::trading_phase>(make_.from(0, 6)),
                               .segment = make_.number<std::uint8_t>(),
                               .segments_count = make_.number<std::uint8_t>(),
                               .instrument = domain::instrument_id{make_.number<std::uint32_t>()}});
        add(wire::status_request{.question = make_.number<std::uint64_t>(),
                                 .instrument = domain::instrument_id{make_.number<std::uint32_t>()}});
        add(wire::snapshot_request{.question = make_.number<std::uint64_t>()});
        add(wire::snapshot_answer{.question = make_.number<std::uint64_t>(),
                                  .durable_command = domain::sequence_number{make_.number<std::uint64_t>()},
                                  .snapshot_outcome = static_cast<wire::snapshot_outcome>(make_.from(0, 4))});
    }

    void requests() {
        for (std::uint8_t kind = 1; kind <= 4;) {
            const domain::command command = make_.command();
            if (command.kind != static_cast<domain::command_kind>(kind)) continue;
            std::array<std::byte, wire::message_bytes_max> buffer;
            const auto size = wire::encode(command, instruments_.find_or_nameless(command.instrument), buffer);
            add(static_cast<wire::template_id>(15 + kind), std::span{buffer}.first(size));
            ++kind;
        }
        add(wire::query_order{.client_order = domain::client_order_id{make_.number<std::uint64_t>()},
                              .order = domain::order_id{make_.number<std::uint64_t>()},
                              .target_request = make_.number<std::uint32_t>(),
                              .query_flags = static_cast<std::uint8_t>(make_.from(0, 3))});
        add_definition();
        for (std::uint8_t kind = 11; kind <= 13;) {
            const domain::command command = make_.command();
            if (command.kind != static_cast<domain::command_kind>(kind)) continue;
            std::array<std::byte, wire::message_bytes_max> buffer;
            const auto size = wire::encode(command, instruments_.find_or_nameless(command.instrument), buffer);
            add(static_cast<wire::template_id>(16 + kind), std::span{buffer}.first(size));
            ++kind;
        }
        add_quotes();
    }

    void add_definition() {
        domain::command command = make_.command();
        while (command.kind != domain::command_kind::define_instrument) command = make_.command();
        std::array<std::byte, wire::message_bytes_max> buffer;
        add(wire::template_id::define_instrument,
            std::span{buffer}.first(wire::encode(command, domain::instrument{}, buffer)));
    }

    void add_quotes() {
        std::vector<domain::command> quotes;
        while (quotes.size() < wire::mass_quote_max) {
            const domain::command command = make_.command();
            if (command.kind == domain::command_kind::enter_quote) quotes.push_back(command);
        }
        std::array<std::byte, wire::message_bytes_max> buffer;
        const auto one = wire::encode(quotes[0], instruments_.find_or_nameless(quotes[0].instrument), buffer);
        add(wire::template_id::enter_quote, std::span{buffer}.first(one));
        const auto all = wire::encode_mass_quote(quotes, instruments_, make_.number<std::uint32_t>(), buffer);
        add(wire::template_id::mass_quote, std::span{buffer}.first(all));
        add(wire::set_protection{.fills_max = make_.number<std::uint32_t>(),
                                 .lots_max = make_.number<std::uint32_t>(),
                                 .window_ms = make_.number<std::uint32_t>()});
        add(wire::reset_protection{});
    }

    void events() {
        for (const int kind :
             {1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 28, 29, 35, 36, 37}) {
            const domain::event event = make_.event(static_cast<domain::event_kind>(kind));
            std::array<std::byte, wire::message_bytes_max> buffer;
            const auto size = wire::encode(event, instruments_.find_or_nameless(event.instrument),
                                           make_.number<std::uint64_t>(), buffer);
            add(wire::message_of(event.kind), std::span{buffer}.first(size));
        }
    }

    void reference_data() {
        std::array<std::byte, wire::message_bytes_max> buffer;
        const auto size = wire::encode(wire::made_instrument(make_.from(1, wire::instruments_made)), 0, buffer);
        add(wire::template_id::instrument_definition, std::span{buffer}.first(size));
        const auto leg_size = wire::encode_leg(wire::made_instrument(2), make_.from(0, 1), 0, buffer);
        add(wire::template_id::instrument_leg, std::span{buffer}.first(leg_size));
        const domain::sequence_number sequence{make_.number<std::uint64_t>()};
        const domain::sequence_number command{make_.number<std::uint64_t>()};
        const auto count = make_.number<std::uint32_t>();
        add(wire::snapshot_begin{.last_sequence = sequence, .last_command = command, .instruments_count = count});
        add(wire::snapshot_end{.last_sequence = sequence, .last_command = command, .instruments_count = count});
    }

    wire::message_maker make_;
    wire::instrument_table instruments_ = wire::made_instruments();
    std::vector<sample> samples_;
};

/// Enter-order messages with one error each, and one that a later version might send.
std::vector<sample> odd_ones(const sample& order) {
    const auto with = [&](const char* name, std::size_t at, std::initializer_list<int> values, std::size_t size) {
        sample changed{name, order.bytes};
        for (const int value : values) changed.bytes[at++] = static_cast<std::byte>(value);
        changed.bytes.resize(size);
        return changed;
    };
    const std::size_t size = order.bytes.size();
    return {
        with("odd_truncated", 0, {}, size - 1),
        with("odd_schema", 4, {0, 1}, size),
        with("odd_version_0", 6, {0, 0}, size),
        with("odd_length", 0, {0, 41}, size + 1),
        with("odd_too_large", 0, {0xFF, 0xF8}, size),
        with("odd_template", 2, {0x7F, 0xFF}, size),
        with("odd_short_block", 0, {0, 32}, size - 8),
        with("odd_newer_version", 0, {0, 48, 0, 16, 0x10, 0x1D, 0, 2}, size + 8),
        with("odd_side", wire::header_bytes + 28, {7}, size),
        with("odd_quantity", wire::header_bytes + 16, {0x80, 0, 0, 0, 0, 0, 0, 0}, size),
        with("odd_price", wire::header_bytes + 8, {0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, size),
        with("odd_instrument", wire::header_bytes + 24, {0xFF, 0xFF, 0xFF, 0xFF}, size),
    };
}

// --- Messages and values that came after the first golden file of the current version
// ---------------------------------

class addition {
 public:
    template <class Message>
    void add(const Message& message, std::uint64_t sequence = 0) {
        std::vector<std::byte> bytes(Message::frame_bytes);
        store(message, sequence, bytes.data());
        all_.push_back({std::string{to_string(Message::message_id)}, std::move(bytes)});
    }
    void add(const domain::event& event) {
        std::array<std::byte, wire::message_bytes_max> buffer;
        const std::size_t size =
            wire::encode(event, instruments_.find_or_nameless(event.instrument), all_.size() + 1, buffer);
        all_.push_back({std::string{to_string(wire::message_of(event.kind))}, {buffer.begin(), buffer.begin() + size}});
    }
    [[nodiscard]] std::vector<sample> all() && { return std::move(all_); }

 private:
    wire::instrument_table instruments_ = wire::made_instruments();
    std::vector<sample> all_;
};

domain::event answer(domain::event_kind kind, std::uint32_t number) {
    domain::event e;
    e.kind = kind;
    e.command = domain::sequence_number{1'000 + number};
    e.time = domain::time_ns{1'700'000'000'000'000'000 + number};
    e.instrument = domain::instrument_id{1};
    e.order = {.order = domain::order_id{2'000 + number},
               .client_order = domain::client_order_id{3'000 + number},
               .account = domain::account_id{4'000 + number},
               .session = domain::session_id{5'000 + number},
               .request = 6'000 + number};
    return e;
}

/// Failed journals, keys, session takeovers, pages of a query, trading days, and refusals because of a limit.
std::vector<sample> first_addition() {
    addition a;
    a.add(wire::reject{.refused_sequence = domain::sequence_number{11},
                       .refused_template = 16,
                       .session_reject_reason = wire::session_reject_reason::journal_failed});
    a.add(wire::logout{.logout_reason = wire::logout_reason::taken_over});
    a.add(wire::logout{.logout_reason = wire::logout_reason::journal_failed});
    a.add(wire::hello{.account = domain::account_id{7},
                      .session_number = 2,
                      .next_sequence = domain::sequence_number{12},
                      .heartbeat_interval_ms = 1'000,
                      .protocol_version = 2,
                      .hello_flags = wire::hello_flag::cancel_on_disconnect | wire::hello_flag::take_over,
                      .key_id = 0x0123'4567'89AB'CDEF});
    a.add(wire::query_order{.order = domain::order_id{13},
                            .query_flags = wire::query_flag::all_of_account | wire::query_flag::behind},
          14);
    a.add(wire::new_trading_day{.instrument = domain::instrument_id{1}}, 15);
    a.add(wire::new_trading_day{.product = domain::product_id{3}}, 16);
    std::uint32_t number = 0;
    for (const domain::reject_reason reason :
         {domain::reject_reason::count_limit, domain::reject_reason::request_lost}) {
        domain::event refused = answer(domain::event_kind::order_rejected, ++number);
        refused.reason = reason;
        refused.flags = domain::event_flag::last_of_request;
        a.add(refused);
    }
    for (const std::uint8_t flag : {domain::event_flag::more_behind, domain::event_flag::only_a_place}) {
        domain::event status = answer(domain::event_kind::order_status, ++number);
        status.flags = static_cast<std::uint8_t>(domain::event_flag::last_of_request | flag);
        a.add(status);
    }
    return std::move(a).all();
}

/// Session days.
std::vector<sample> second_addition() {
    addition a;
    a.add(wire::logout{.logout_reason = wire::logout_reason::session_day_ended});
    a.add(wire::hello{.account = domain::account_id{7},
                      .session_number = 2,
                      .next_sequence = domain::sequence_number{12},
                      .heartbeat_interval_ms = 1'000,
                      .protocol_version = 2,
                      .session_day = 254});
    a.add(wire::hello_ack{.next_request = domain::sequence_number{1},
                          .next_sequence = domain::sequence_number{1},
                          .session = domain::session_id{3},
                          .heartbeat_interval_ms = 1'000,
                          .trading_date = 20'260'302,
                          .protocol_version = 2,
                          .session_day = 255});
    return std::move(a).all();
}

std::vector<sample> addition_of(std::uint64_t number) {
    if (number == 1) return first_addition();
    return number == 2 ? second_addition() : std::vector<sample>();
}

int print(const std::vector<sample>& samples) {
    for (const sample& each : samples) {
        std::printf("%s ", each.name.c_str());
        for (const std::byte b : each.bytes) std::printf("%02x", static_cast<unsigned>(b));
        std::printf("\n");
    }
    return std::fflush(stdout) == 0 && !samples.empty() ? 0 : 1;
}

bool write(const sample& each, const std::string& folder) {
    std::ofstream out(folder + "/" + each.name, std::ios::binary);
    std::vector<char> characters(each.bytes.size());
    std::memcpy(characters.data(), each.bytes.data(), characters.size());
    if (out.write(characters.data(), static_cast<std::streamsize>(characters.size())).flush()) return true;
    std::fprintf(stderr, "cannot write %s into %s\n", each.name.c_str(), folder.c_str());
    return false;
}

std::uint64_t number(std::string_view text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> arguments(argv, argv + argc);
    if (argc == 4 && arguments[1] == "stream") {
        sampler samples{number(arguments[3])};
        for (std::uint64_t i = 0; i < number(arguments[2]); ++i) {
            for (const sample& each : samples.round()) std::fwrite(each.bytes.data(), 1, each.bytes.size(), stdout);
        }
        return std::fflush(stdout) == 0 ? 0 : 1;
    }
    if (argc == 3 && arguments[1] == "corpus") {
        std::vector<sample> samples = sampler{1}.round();
        for (const sample& each : samples) {
            if (each.name != to_string(wire::template_id::enter_order)) continue;
            const std::vector<sample> odd = odd_ones(each);
            samples.insert(samples.end(), odd.begin(), odd.end());
            break;
        }
        for (const sample& each : samples) {
            if (!write(each, std::string{arguments[2]})) return 1;
        }
        return 0;
    }
    if (argc == 2 && arguments[1] == "golden") return print(sampler{1}.round());
    if (argc == 3 && arguments[1] == "golden") return print(addition_of(number(arguments[2])));
    if (argc == 2 && arguments[1] == "version") return std::printf("%u\n", unsigned{wire::schema_version}) > 0 ? 0 : 1;
    std::fprintf(stderr, "usage: corro_wire_samples stream COUNT SEED | corpus FOLDER | golden [N] | version\n");
    return 2;
}
