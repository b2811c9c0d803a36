// SPDX-License-Identifier: Apache-2.0
#include "recorded/formats/itch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "recorded/formats/drain_fixture.hpp"
#include "recorded/formats/itch_fixture.hpp"

namespace corro::recorded::itch {
namespace {

constexpr message_header sample_header{7, 8, 34'200'000'000'001};

domain::price_nano price(std::int64_t ten_thousandths) {
    return domain::price_nano{ten_thousandths * 100'000};
}

read_error error_of(std::span<const std::byte> bytes) {
    decoder d;
    return drain(d, bytes, [](const message&) {}).value_or(read_error{});
}

/// Reads a file of one message and gives it to `check`.
template <class Check>
void expect_one(const writer& file, message_type type, Check check) {
    std::size_t count = 0;
    decoder d;
    const auto error = drain(d, file.bytes, [&](const message& m) {
        ++count;
        EXPECT_EQ(m.type, type);
        EXPECT_EQ(m.header(), sample_header);
        check(m);
    });
    EXPECT_FALSE(error) << to_string(*error);
    EXPECT_EQ(count, 1u);
}

TEST(itch, reads_system_events) {
    for (const char code : {'O', 'S', 'Q', 'M', 'E', 'C'}) {
        expect_one(writer{}.put_system_event(code), message_type::system_event,
                   [&](const message& m) { EXPECT_EQ(static_cast<char>(m.as_system_event().code), code); });
    }
}

TEST(itch, reads_the_stock_directory) {
    expect_one(writer{}.put_stock_directory(), message_type::stock_directory, [](const message& m) {
        const stock_directory s = m.as_stock_directory();
        EXPECT_EQ(s.stock, "AMZN");
        EXPECT_EQ(s.market_category, 'Q');
        EXPECT_EQ(s.financial_status, 'N');
        EXPECT_EQ(s.round_lot_size, 100u);
        EXPECT_FALSE(s.round_lots_only);
        EXPECT_EQ(s.issue_classification, 'C');
        EXPECT_EQ(s.issue_subtype, "Z");
        EXPECT_FALSE(s.is_test);
        EXPECT_EQ(s.short_sale_threshold, 'N');
        EXPECT_EQ(s.initial_public_offering, ' ');
        EXPECT_EQ(s.price_band_tier, '1');
        EXPECT_EQ(s.exchange_traded_product, 'N');
        EXPECT_EQ(s.leverage_factor, 3u);
        EXPECT_TRUE(s.inverse);
    });
}

TEST(itch, reads_trading_actions) {
    expect_one(writer{}.put_trading_action('H'), message_type::trading_action, [](const message& m) {
        EXPECT_EQ(m.as_trading_action().stock, "AMZN");
        EXPECT_EQ(m.as_trading_action().state, trading_state::halted);
        EXPECT_EQ(m.as_trading_action().reason, "IPO1");
    });
}

TEST(itch, reads_new_orders_with_and_without_the_participant) {
    expect_one(writer{}.put_add_order(0x1122334455667788, 'B', 300, 2'238'100), message_type::add_order,
               [](const message& m) {
                   const add_order a = m.as_add_order();
                   EXPECT_EQ(a.order_reference, 0x1122334455667788u);
                   EXPECT_EQ(a.side, domain::side::buy);
                   EXPECT_EQ(a.shares, 300u);
                   EXPECT_EQ(a.stock, "AMZN");
                   EXPECT_EQ(a.price, price(2'238'100));
                   EXPECT_EQ(a.attribution, "");
               });
    expect_one(writer{}.put_add_order_attributed(5), message_type::add_order_attributed, [](const message& m) {
        const add_order a = m.as_add_order();
        EXPECT_EQ(a.side, domain::side::sell);
        EXPECT_EQ(a.price, price(2'239'500));
        EXPECT_EQ(a.attribution, "GSCO");
    });
}

TEST(itch, reads_what_happens_to_orders) {
    expect_one(writer{}.put_order_executed(5, 40), message_type::order_executed, [](const message& m) {
        const order_executed e = m.as_order_executed();
        EXPECT_EQ(e.order_reference, 5u);
        EXPECT_EQ(e.shares, 40u);
        EXPECT_EQ(e.match_number, 900u);
        EXPECT_EQ(e.price, domain::no_price_nano);
        EXPECT_TRUE(e.printable);
    });
    expect_one(writer{}.put_order_executed_with_price(6, 'N'), message_type::order_executed_with_price,
               [](const message& m) {
                   const order_executed e = m.as_order_executed();
                   EXPECT_EQ(e.order_reference, 6u);
                   EXPECT_EQ(e.match_number, 901u);
                   EXPECT_EQ(e.price, price(2'239'400));
                   EXPECT_FALSE(e.printable);
               });
    expect_one(writer{}.put_order_cancel(7, 30), message_type::order_cancel, [](const message& m) {
        EXPECT_EQ(m.as_order_cancel().order_reference, 7u);
        EXPECT_EQ(m.as_order_cancel().shares, 30u);
    });
    expect_one(writer{}.put_order_delete(8), message_type::order_delete,
               [](const message& m) { EXPECT_EQ(m.as_order_delete().order_reference, 8u); });
    expect_one(writer{}.put_order_replace(9, 10), message_type::order_replace, [](const message& m) {
        const order_replace r = m.as_order_replace();
        EXPECT_EQ(r.order_reference, 9u);
        EXPECT_EQ(r.new_order_reference, 10u);
        EXPECT_EQ(r.shares, 70u);
        EXPECT_EQ(r.price, price(2'239'300));
    });
}

TEST(itch, reads_trades) {
    expect_one(writer{}.put_trade(), message_type::trade, [](const message& m) {
        const trade t = m.as_trade();
        EXPECT_EQ(t.side, domain::side::buy);
        EXPECT_EQ(t.shares, 9u);
        EXPECT_EQ(t.stock, "AMZN");
        EXPECT_EQ(t.price, price(2'239'200));
        EXPECT_EQ(t.match_number, 902u);
    });
    expect_one(writer{}.put_cross_trade(), message_type::cross_trade, [](const message& m) {
        const cross_trade t = m.as_cross_trade();
        EXPECT_EQ(t.shares, std::uint64_t{1} << 40);
        EXPECT_EQ(t.stock, "AMZN");
        EXPECT_EQ(t.price, price(2'239'100));
        EXPECT_EQ(t.match_number, 903u);
        EXPECT_EQ(t.cross_type, 'O');
    });
    expect_one(writer{}.put_broken_trade(), message_type::broken_trade,
               [](const message& m) { EXPECT_EQ(m.as_broken_trade().match_number, 904u); });
}

TEST(itch, steps_over_the_other_types_and_counts_them) {
    writer file;
    for (const auto& [type, length] : std::initializer_list<std::pair<char, std::size_t>>{{'Y', 20},
                                                                                          {'L', 26},
                                                                                          {'V', 35},
                                                                                          {'W', 12},
                                                                                          {'K', 28},
                                                                                          {'J', 35},
                                                                                          {'h', 21},
                                                                                          {'I', 50},
                                                                                          {'N', 20},
                                                                                          {'O', 48}}) {
        file.put_other(type, length);
        EXPECT_EQ(message_bytes(type), length) << type;
    }
    file.put_other('z', 60'000).put_order_delete(1);
    std::vector<message_type> types;
    decoder d;
    ASSERT_FALSE(drain(d, file.bytes, [&](const message& m) { types.push_back(m.type); }));
    EXPECT_EQ(types, (std::vector{message_type::order_delete}));
    EXPECT_EQ(d.skipped_count(), 10u);
    EXPECT_EQ(d.unknown_count(), 1u);
    EXPECT_FALSE(d.session_ended());
}

TEST(itch, refuses_every_length_that_is_not_that_of_its_type) {
    for (int c = 0; c < 256; ++c) {
        const char type = static_cast<char>(c);
        const std::size_t right = message_bytes(type);
        if (right == 0) continue;
        for (const std::size_t length : {std::size_t{1}, right - 1, right + 1, std::size_t{65'535}}) {
            writer file;
            file.put_system_event('O');
            const std::size_t at = file.bytes.size();
            file.put<std::uint16_t>(static_cast<std::uint16_t>(length)).put<char>(type);
            EXPECT_EQ(error_of(file.bytes), (read_error{.code = wire::wire_errc::malformed_length, .offset = at}))
                << type << length;
        }
    }
}

TEST(itch, says_which_field_is_wrong) {
    const auto with = [](writer file, std::size_t offset, char value) {
        file.bytes[2 + offset] = static_cast<std::byte>(value);
        return error_of(file.bytes);
    };
    const auto at = [](std::size_t offset) {
        return read_error{.code = wire::wire_errc::malformed_field, .offset = 2 + offset};
    };
    EXPECT_EQ(with(writer{}.put_system_event('O'), 11, 'x'), at(11));
    EXPECT_EQ(with(writer{}.put_add_order(1, 'B', 1, 1), 19, 'b'), at(19));
    EXPECT_EQ(with(writer{}.put_add_order(1, 'B', 1, 1), 25, '\x1B'), at(24));
    EXPECT_EQ(with(writer{}.put_add_order_attributed(1), 39, '\0'), at(36));
    EXPECT_EQ(with(writer{}.put_order_executed_with_price(1, 'Y'), 31, 'y'), at(31));
    EXPECT_EQ(with(writer{}.put_trading_action('T'), 19, 'X'), at(19));
    EXPECT_EQ(with(writer{}.put_stock_directory(), 29, 'X'), at(29));
    EXPECT_EQ(with(writer{}.put_trade(), 19, ' '), at(19));
    EXPECT_EQ(with(writer{}.put_cross_trade(), 39, '\x7F'), at(39));
}

TEST(itch, refuses_a_time_beyond_the_day) {
    const auto error_at = [](std::uint64_t time) {
        return error_of(writer{}.begin(19, 'D', time).put<std::uint64_t>(1).bytes);
    };
    EXPECT_FALSE(error_at(86'399'999'999'999).code);
    EXPECT_EQ(error_at(86'400'000'000'000), (read_error{.code = wire::wire_errc::out_of_range, .offset = 7}));
    EXPECT_EQ(error_at((std::uint64_t{1} << 48) - 1).code, wire::wire_errc::out_of_range);
    EXPECT_EQ(error_of(writer{}.begin(20, 'Y', 86'400'000'000'000).text("", 9).bytes).code,
              wire::wire_errc::out_of_range);
}

TEST(itch, names_the_message_in_which_the_file_ends) {
    writer file;
    file.put_system_event('O').put_order_delete(1).put_add_order(2, 'S', 1, 1);
    for (std::size_t size = 0; size < file.bytes.size(); ++size) {
        const std::size_t begins = size < 14 ? 0 : size < 35 ? 14 : 35;
        const read_error error = error_of(std::span{file.bytes}.first(size));
        if (size == begins) {
            EXPECT_FALSE(error.code) << size;
        } else {
            EXPECT_EQ(error, (read_error{.code = wire::wire_errc::truncated, .offset = begins})) << size;
        }
    }
}

TEST(itch, knows_the_end_of_the_session) {
    writer file;
    file.put_system_event('C').end_session();
    decoder d;
    EXPECT_FALSE(drain(d, file.bytes, [](const message&) {}));
    EXPECT_TRUE(d.session_ended());
    const std::size_t end = file.bytes.size();
    file.put_order_delete(1);
    EXPECT_EQ(error_of(file.bytes), (read_error{.code = wire::wire_errc::malformed_length, .offset = end}));
}

TEST(itch, refuses_files_of_another_kind) {
    for (const std::string& foreign :
         std::initializer_list<std::string>{"DBN\x01 and more", "PK\x03\x04", "Time,Type,OrderId",
                                            std::string(64, '\0'), std::string("\0\x0DS too long for an event", 25)}) {
        EXPECT_EQ(error_of(std::as_bytes(std::span{foreign})),
                  (read_error{.code = wire::wire_errc::foreign_format, .offset = 0}))
            << foreign;
    }
    EXPECT_FALSE(error_of({}).code);
}

}  // namespace
}  // namespace corro::recorded::itch
