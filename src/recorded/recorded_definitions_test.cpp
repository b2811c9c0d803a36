// SPDX-License-Identifier: Apache-2.0
#include "recorded/recorded_definitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "recorded/recorded_reader.hpp"

namespace corro::recorded {
namespace {

using strings = std::vector<std::string>;

dbn::instrument_definition future(std::string_view symbol) {
    dbn::instrument_definition d;
    d.raw_symbol = symbol;
    d.instrument_class = dbn::instrument_class::future;
    d.update_action = 'A';
    d.min_price_increment = domain::price_nano{250'000'000};
    d.low_limit_price = d.high_limit_price = d.strike_price = domain::no_price_nano;
    d.expiration = dbn::no_time;
    return d;
}

TEST(recorded_definitions, make_futures_and_the_spread_that_is_named_after_them) {
    recorded_definitions all;
    dbn::instrument_definition spread = future("ESH4-ESM4");
    spread.instrument_class = dbn::instrument_class::future_spread;
    spread.min_price_increment = domain::price_nano{50'000'000};
    all.add(spread);
    dbn::instrument_definition near = future("ESH4");
    near.low_limit_price = domain::price_nano{4'500'000'000'000};
    near.high_limit_price = domain::price_nano{5'000'000'000'000};
    near.expiration = domain::time_ns{1'710'509'400'000'000'000};
    all.add(near);
    all.add(future("ESM4"));
    all.add(near);  // the same definition again changes nothing
    const recorded_instruments made = all.finish();
    EXPECT_EQ(made.left_out, strings{});
    ASSERT_EQ(made.instruments.size(), 3U);
    EXPECT_EQ(
        to_configuration(made.instruments[0]),
        "[[instrument]]\nid = 1\nsymbol = \"ESH4-ESM4\"\nkind = \"spread\"\ntick_size = \"0.05\"\n"
        "legs = [{ instrument = 2, side = \"buy\", ratio = 1 }, { instrument = 3, side = \"sell\", ratio = 1 }]\n");
    EXPECT_EQ(to_configuration(made.instruments[1]),
              "[[instrument]]\nid = 2\nsymbol = \"ESH4\"\nkind = \"future\"\ntick_size = \"0.25\"\n"
              "price_low = \"4500\"\nprice_high = \"5000\"\nexpiry = 2024-03-15T13:30:00Z\n");
}

TEST(recorded_definitions, take_legs_from_records_of_their_own) {
    recorded_definitions all;
    all.add(future("A"));
    all.add(future("B"));
    dbn::instrument_definition spread = future("BUTTERFLY");
    spread.instrument_class = dbn::instrument_class::future_spread;
    spread.leg = {.count = 2,
                  .index = 0,
                  .raw_symbol = "A",
                  .side = dbn::side::bid,
                  .quantity_ratio_numerator = 4,
                  .quantity_ratio_denominator = 2};
    all.add(spread);
    spread.leg.index = 1;
    spread.leg.raw_symbol = "B";
    spread.leg.side = dbn::side::ask;
    spread.leg.quantity_ratio_numerator = 1;
    spread.leg.quantity_ratio_denominator = 1;
    all.add(spread);
    const recorded_instruments made = all.finish();
    EXPECT_EQ(made.left_out, strings{});
    ASSERT_EQ(made.instruments.size(), 3U);
    ASSERT_EQ(made.instruments[2].legs_count, 2);
    EXPECT_EQ(made.instruments[2].legs[0], (domain::leg{domain::instrument_id{1}, 2, domain::side::buy}));
    EXPECT_EQ(made.instruments[2].legs[1], (domain::leg{domain::instrument_id{2}, 1, domain::side::sell}));
}

TEST(recorded_definitions, say_what_they_leave_out) {
    recorded_definitions all;
    dbn::instrument_definition option = future("ESM4 C3550");
    option.instrument_class = dbn::instrument_class::call;
    option.min_price_increment = domain::no_price_nano;
    all.add(option);
    dbn::instrument_definition spread = future("ESM4-ESU4");
    spread.instrument_class = dbn::instrument_class::future_spread;
    all.add(spread);
    dbn::instrument_definition gone = future("GONE");
    gone.update_action = 'D';
    all.add(gone);
    const recorded_instruments made = all.finish();
    EXPECT_TRUE(made.instruments.empty());
    EXPECT_EQ(made.left_out, (strings{"ESM4 C3550: the definition names no tick size",
                                      "ESM4-ESU4: a leg is not an instrument of the venue"}));
}

TEST(recorded_definitions, of_the_recorded_session_become_instruments) {
    const char* const given = std::getenv("CORRO_DATA_DIR");
    const std::filesystem::path folder = given != nullptr
                                             ? std::filesystem::path{given}
                                             : std::filesystem::path{CORRO_SOURCE_DIR} / ".." / "shared" / "data";
    recorded_definitions all(domain::price_nano{50'000'000});
    for (const char* name : {"fut", "futspread", "opt"}) {
        const auto path = folder / (std::string("definition-glbx-es-") + name + ".dbn.zst");
        if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent: set CORRO_DATA_DIR to its folder";
        auto reader = recorded_reader<dbn::decoder>::open(path);
        ASSERT_TRUE(reader);
        for (;;) {
            const auto record = reader->next();
            ASSERT_TRUE(record) << reader->explain(record.error());
            if (!*record) break;
            all.add((*record)->as_instrument_definition());
        }
    }
    const recorded_instruments made = all.finish();
    const auto has = [&](std::string_view symbol, domain::instrument_kind kind) {
        return std::any_of(made.instruments.begin(), made.instruments.end(),
                           [&](const domain::instrument& i) { return i.name.view() == symbol && i.kind == kind; });
    };
    EXPECT_TRUE(has("ESM3", domain::instrument_kind::future));
    EXPECT_TRUE(has("ESM4 C3550", domain::instrument_kind::option));
    // The files define the spread but not its legs.
    EXPECT_EQ(
        std::count(made.left_out.begin(), made.left_out.end(), "ESM4-ESU4: a leg is not an instrument of the venue"),
        1);
}

}  // namespace
}  // namespace corro::recorded
