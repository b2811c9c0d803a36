// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/reference_answers.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fix/codec/test_messages.hpp"
#include "fix/limits.hpp"
#include "fix_gateway/reference_fixture.hpp"

namespace corro::fix_gateway {
namespace {

class fix_reference_answers : public ::testing::Test {
 protected:
    /// The body of a message, with '|' for SOH.
    [[nodiscard]] static std::string body(const std::function<void(fix::message_writer&)>& write) {
        std::vector<char> room(2 * fix::message_bytes_max_default);
        fix::message_writer writer(room, "FIX.4.4");
        writer.begin("y");
        write(writer);
        const std::string text = fix::testing::in_words(writer.finish());
        if (text.empty()) return text;
        EXPECT_LE(text.size(), fix::message_bytes_max_default);
        const std::size_t begin = text.find("35=y|") + 5;
        return text.substr(begin, text.rfind("10=") - begin);
    }
    [[nodiscard]] static reference_answer answer_for(fix_version version, std::size_t total) {
        reference_answer a;
        a.id = "r1";
        a.request = 12;
        a.part = 3;
        a.total = total;
        a.version = version;
        a.market = "CORRO";
        return a;
    }
    [[nodiscard]] std::string listed(fix_version version, std::string_view name) {
        return body([&](fix::message_writer& into) {
            write_list(answer_for(version, 1), directory, *directory.find(name), into);
        });
    }
    [[nodiscard]] std::string defined(fix_version version, std::string_view name) {
        return body([&](fix::message_writer& into) {
            write_definition(answer_for(version, 1), definition_result::as_it_is, directory, *directory.find(name),
                             into);
        });
    }
    [[nodiscard]] std::string status(fix_version version, std::optional<domain::trading_phase> phase) {
        const std::string text = body([&](fix::message_writer& into) {
            write_status("s1", "ESH7", directory.find("BTC"), phase, version, into);
        });
        const std::size_t begin = std::min(text.find("625="), text.find("326="));
        return text.substr(begin);
    }

    wire::instrument_table table = testing::instruments_of_each_kind();
    symbols names{table};
    reference_directory directory{names};
    std::vector<domain::instrument> sixteen;
};

TEST_F(fix_reference_answers, a_list_has_the_terms_that_the_version_has_and_the_others_as_text) {
    EXPECT_EQ(listed(fix_version::v4_4, "ESZ6"),
              "320=r1|322=12-3|560=0|393=1|893=Y|146=1|55=ESZ6|48=3|22=8|461=FXXXXX|167=FUT|541=20261218|561=10|"
              "58=MinPriceIncrement=0.25 LowLimitPrice=-1 HighLimitPrice=10000.25 MaxTradeVol=5000|");
    EXPECT_EQ(listed(fix_version::v5_0, "ESZ6"),
              "320=r1|322=12-3|560=0|393=1|893=Y|146=1|55=ESZ6|48=3|22=8|461=FXXXXX|167=FUT|541=20261218|"
              "1079=14:30:00Z|969=0.25|561=10|58=LowLimitPrice=-1 HighLimitPrice=10000.25 MaxTradeVol=5000|");
    EXPECT_EQ(listed(fix_version::v5_0_sp, "ESZ6"),
              "320=r1|322=12-3|560=0|393=1|893=Y|146=1|55=ESZ6|48=3|22=8|1151=7|461=FXXXXX|167=FUT|541=20261218|"
              "1079=14:30:00Z|969=0.25|1148=-1|1149=10000.25|1140=5000|561=10|");
}

TEST_F(fix_reference_answers, a_definition_has_them_too) {
    EXPECT_EQ(defined(fix_version::v4_2, "ESZ6"),
              "320=r1|322=12-3|323=1|393=1|55=ESZ6|48=3|22=8|167=FUT|200=202612|205=18|"
              "58=MinPriceIncrement=0.25 RoundLot=10 LowLimitPrice=-1 HighLimitPrice=10000.25 MaxTradeVol=5000|");
    EXPECT_EQ(defined(fix_version::v4_4, "ESH7"),
              "320=r1|322=12-3|323=1|55=ESH7|48=4|22=8|461=FXXXXX|167=FUT|"
              "58=MinPriceIncrement=0.25 LowLimitPrice=-1 HighLimitPrice=10000.25 MaxTradeVol=5000|561=10|");
    EXPECT_EQ(defined(fix_version::v5_0_sp, "ESH7"),
              "320=r1|322=12-3|323=1|55=ESH7|48=4|22=8|1151=7|461=FXXXXX|167=FUT|969=0.25|1310=1|1301=CORRO|1148=-1|"
              "1149=10000.25|1140=5000|561=10|");
}

TEST_F(fix_reference_answers, an_option_has_its_right_and_its_strike) {
    const auto has = [&](fix_version version, std::string_view fields) {
        return defined(version, "ESZ6-C6000").find(fields) != std::string::npos;
    };
    EXPECT_TRUE(has(fix_version::v4_2, "|167=OPT|200=202612|205=18|202=6000.5|201=1|58="));
    EXPECT_TRUE(has(fix_version::v4_4, "|461=OCXXXX|167=OPT|541=20261218|202=6000.5|58="));
    EXPECT_TRUE(has(fix_version::v5_0, "|461=OCXXXX|167=OPT|541=20261218|1079=14:30:00Z|202=6000.5|201=1|969="));
    domain::instrument put = *directory.find("ESZ6-C6000");
    put.right = domain::option_right::put;
    table.define(put);
    EXPECT_TRUE(has(fix_version::v4_2, "|201=0|"));
    EXPECT_TRUE(has(fix_version::v4_4, "|461=OPXXXX|"));
}

TEST_F(fix_reference_answers, a_strategy_has_its_legs) {
    const auto has = [&](const std::string& text, std::string_view fields) {
        return text.find(fields) != std::string::npos;
    };
    EXPECT_TRUE(has(listed(fix_version::v4_4, "ESZ6-ESH7"),
                    "|167=MLEG|555=2|600=ESZ6|602=3|603=8|623=1|624=1|600=ESH7|602=4|603=8|623=2|624=2|561=10|"));
    EXPECT_TRUE(has(defined(fix_version::v5_0_sp, "ESZ6-ESH7"), "|555=2|600=ESZ6|602=3|603=8|623=1|624=1|600=ESH7|"));
    EXPECT_TRUE(has(defined(fix_version::v4_2, "ESZ6-ESH7"), "|167=NONE|"));
    EXPECT_TRUE(has(defined(fix_version::v4_2, "ESZ6-ESH7"), "|146=2|311=ESZ6|319=1|54=1|311=ESH7|319=2|54=2|"));
    EXPECT_TRUE(has(listed(fix_version::v4_4, "BTC"), "|167=NONE|561=10|"));
}

TEST_F(fix_reference_answers, only_the_last_part_of_a_list_is_marked) {
    ASSERT_EQ(directory.count(), 5U);
    const auto part = [&](std::size_t first, std::size_t count) {
        return body([&](fix::message_writer& into) {
            write_list(answer_for(fix_version::v4_4, 5), directory, first, count, into);
        });
    };
    EXPECT_EQ(part(0, 3).find("320=r1|322=12-3|560=0|393=5|893=N|146=3|55=ESZ6|"), 0U);
    EXPECT_EQ(part(3, 2).find("320=r1|322=12-3|560=0|393=5|893=Y|146=2|55=ESZ6-ESH7|"), 0U);
}

TEST_F(fix_reference_answers, what_is_not_found_is_said_by_a_result) {
    EXPECT_EQ(body([&](fix::message_writer& into) {
                  write_empty_list(answer_for(fix_version::v4_4, 0), list_result::nothing_found, into);
              }),
              "320=r1|322=12-3|560=2|");
    const auto none = [&](fix_version version, std::string_view symbol) {
        return body([&](fix::message_writer& into) {
            write_no_definition(answer_for(version, 0), definition_result::no_match, symbol, "why", into);
        });
    };
    EXPECT_EQ(none(fix_version::v4_2, "NONE"), "320=r1|322=12-3|323=6|393=0|55=NONE|58=why|");
    EXPECT_EQ(none(fix_version::v4_4, ""), "320=r1|322=12-3|323=6|58=why|");
}

TEST_F(fix_reference_answers, each_phase_has_a_status) {
    using domain::trading_phase;
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::continuous), "625=3|326=17|58=continuous|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::halted), "326=2|58=halted|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::pre_open), "625=1|326=21|58=pre_open|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::opening_auction), "625=2|326=22|58=opening_auction|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::volatility_auction), "326=5|58=volatility_auction|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::closing_auction), "625=4|326=5|58=closing_auction|");
    EXPECT_EQ(status(fix_version::v4_4, trading_phase::closed), "625=5|326=18|58=closed|");
    EXPECT_EQ(status(fix_version::v4_2, trading_phase::opening_auction), "326=5|");
    EXPECT_EQ(status(fix_version::v4_2, trading_phase::pre_open), "326=1|");
    EXPECT_EQ(status(fix_version::v5_0, std::nullopt), "326=20|");
    EXPECT_EQ(body([&](fix::message_writer& into) {
                  write_status("s1", "NONE", nullptr, std::nullopt, fix_version::v4_4, into);
              }),
              "324=s1|55=NONE|326=20|");
}

TEST_F(fix_reference_answers, the_trading_session_is_halted_while_the_journal_does_not_take_everything) {
    using gateway::journal_state;
    EXPECT_EQ(state_of(journal_state::no_journal), session_state::open);
    EXPECT_EQ(state_of(journal_state::takes_everything), session_state::open);
    EXPECT_EQ(state_of(journal_state::takes_cancels), session_state::halted);
    EXPECT_EQ(state_of(journal_state::takes_nothing), session_state::halted);
    const auto written = [](std::string_view session, session_state state) {
        return body([&](fix::message_writer& into) { write_session_status("t1", session, state, into); });
    };
    EXPECT_EQ(written("1", session_state::open), "325=N|335=t1|336=1|340=2|");
    EXPECT_EQ(written("1", session_state::halted), "325=N|335=t1|336=1|340=1|58=The journal does not take new orders|");
    EXPECT_EQ(written("2", session_state::no_such_session), "325=N|335=t1|336=2|340=6|567=1|");
}

// The largest message of a list: the longest names, prices and legs.
TEST_F(fix_reference_answers, a_message_with_the_longest_instruments_fits) {
    wire::instrument_table longest;
    for (std::uint32_t id = 65'521; id <= 65'536; ++id) {
        domain::instrument i = testing::made_instrument(
            id, std::string(domain::symbol_size_max - 5, 'X') + std::to_string(id), domain::instrument_kind::option);
        i.right = domain::option_right::call;
        i.product = domain::product_id{std::numeric_limits<std::uint32_t>::max()};
        i.lot_size = std::numeric_limits<std::uint32_t>::max();
        i.order_quantity_max = domain::quantity_lots{domain::order_quantity_lots_max};
        i.tick_size = domain::price_nano{2'000'000'001};
        i.price_low = domain::price_ticks{-domain::price_ticks_max};
        i.price_high = domain::price_ticks{domain::price_ticks_max};
        i.strike = domain::price_nano{-9'000'000'000'000'000'001};
        i.expiry = domain::time_ns{1'797'604'200'000'000'000};
        longest.define(i);
        // Its kind has no legs: written as if it had.
        i.legs_count = domain::legs_max;
        for (domain::leg& each : i.legs) each = {i.id, domain::leg_ratio_max, domain::side::sell};
        sixteen.push_back(i);
    }
    symbols long_names(longest);
    reference_directory all(long_names);
    ASSERT_EQ(all.count(), instruments_per_list_max);
    for (const fix_version version : {fix_version::v4_2, fix_version::v4_4, fix_version::v5_0, fix_version::v5_0_sp}) {
        const std::string plain = body([&](fix::message_writer& into) {
            write_list(answer_for(version, instruments_per_list_max), all, 0, instruments_per_list_max, into);
        });
        ASSERT_FALSE(plain.empty());
        for (const domain::instrument& i : sixteen) {
            const std::string one = body([&](fix::message_writer& into) {
                write_list(answer_for(version, instruments_per_list_max), all, i, into);
            });
            EXPECT_LE(one.size(), instrument_bytes_max);
        }
    }
}

}  // namespace
}  // namespace corro::fix_gateway
