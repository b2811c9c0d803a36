// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/configuration.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace corro::node {
namespace {

const std::string key(64, 'a');
const std::string sound = R"(
[venue]
name = "TEST"
orders_max = 1000

[order_entry]
listen = "127.0.0.1:0"

[[instrument]]
id = 1
symbol = "ESH4"
tick_size = "0.25"
price_low = "0"
price_high = "10000"

[[account]]
id = 7
name = "alice"
key = ")" + key + R"("
sessions = 3
)";

/// A key for each account.
std::string key_of(int id) {
    std::string digits = std::to_string(id);
    return std::string(64 - digits.size(), '1') + digits;
}

std::string error_of(const std::string& text) {
    try {
        static_cast<void>(parse_configuration(text, "corro.toml"));
    } catch (const configuration_error& e) {
        return e.what();
    }
    return "no error";
}

std::string with(std::string text, const std::string& what, const std::string& instead) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), instead);
}

TEST(configuration, reads_a_sound_file) {
    const configuration c = parse_configuration(sound, "corro.toml");
    EXPECT_EQ(c.venue_name, "TEST");
    EXPECT_EQ(c.orders_max, 1000U);
    ASSERT_EQ(c.instruments.size(), 1U);
    EXPECT_EQ(c.instruments[0].tick_size.value, 250'000'000);
    EXPECT_EQ(c.instruments[0].price_high.value, 40'000);
    ASSERT_EQ(c.accounts.size(), 1U);
    EXPECT_EQ(c.accounts[0].sessions_count, 3U);
    EXPECT_EQ(c.accounts[0].key[0], std::byte{0xaa});
}

TEST(configuration, keeps_room_for_instruments_that_are_defined_later) {
    EXPECT_EQ(parse_configuration(sound, "corro.toml").instruments_reserved, 0U);
    const std::string some = with(sound, "orders_max = 1000", "instruments_reserved = 7");
    EXPECT_EQ(facility_options_of(parse_configuration(some, "corro.toml"), io::default_platform()).instruments_reserved,
              7U);
    EXPECT_EQ(error_of(with(sound, "orders_max = 1000", "instruments_reserved = 10001")),
              "corro.toml:4: venue.instruments_reserved: expected a number from 0 to 10000, found 10001");
}

TEST(configuration, names_the_key_and_the_line_of_what_is_wrong) {
    EXPECT_EQ(parse_configuration(sound, "corro.toml").account_open_orders_max, 100'000U);
    const std::string limited = with(sound, "orders_max = 1000", "account_open_orders_max = 0");
    EXPECT_EQ(parse_configuration(limited, "corro.toml").account_open_orders_max, 0U);
    EXPECT_EQ(error_of(with(sound, "orders_max = 1000", "orders_max = -1")),
              "corro.toml:4: venue.orders_max: expected a number from 1 to 100000000, found -1");
    EXPECT_EQ(error_of(with(sound, "orders_max = 1000", "orders_max = \"many\"")),
              "corro.toml:4: venue.orders_max: expected a whole number");
    EXPECT_EQ(error_of(with(sound, "orders_max", "order_max")),
              "corro.toml:4: venue.order_max: is not a key of this table; did you mean \"orders_max\"?");
    EXPECT_EQ(error_of(with(sound, "orders_max", "colour")),
              "corro.toml:4: venue.colour: is not a key of this table; known keys: "
              "account_open_orders_max, accounts_max, clock_ahead_max_s, clock_slew_ppm, instruments_reserved, keys, "
              "name, orders_max, sessions_reserved, timing_sample_every");
    EXPECT_EQ(error_of(with(sound, "\"0.25\"", "0.25")),
              "corro.toml:12: instrument.tick_size: expected a text in quotes");
    EXPECT_EQ(error_of(with(sound, "\"0.25\"", "\"0.25x\"")),
              "corro.toml:12: instrument.tick_size: expected a decimal such as \"0.25\" (found \"0.25x\")");
    EXPECT_EQ(error_of(with(sound, "\"10000\"", "\"10000.1\"")),
              "corro.toml:14: instrument.price_high: is not a price of this instrument: price_off_tick");
    EXPECT_EQ(error_of(with(sound, key, "abc")), "corro.toml:19: account.key: expected 64 hexadecimal digits");
    EXPECT_EQ(error_of(with(sound, "symbol = \"ESH4\"\n", "")), "corro.toml:9: instrument.symbol: is missing");
    EXPECT_EQ(error_of(with(sound, "[[account]]", "[account]")),
              "corro.toml:16: account: expected tables headed [[account]]");
    EXPECT_EQ(error_of(sound + "[[instrument]]\nid = 1\nsymbol = \"X\"\ntick_size = \"1\"\n"),
              "corro.toml:22: instrument.id: is used twice");
    for (const char* text : {"[venue\n", "[[[venue]]]\n", "[=venue]\n"}) {
        EXPECT_TRUE(error_of(text).starts_with("corro.toml:1: not TOML: ")) << error_of(text);
    }
    EXPECT_EQ(error_of(""), "corro.toml:1: instrument: the venue needs at least one [[instrument]]");
}

TEST(configuration, names_a_misspelt_key_and_not_the_missing_one_that_it_stands_for) {
    EXPECT_EQ(error_of(with(sound, "symbol", "symbl")),
              "corro.toml:11: instrument.symbl: is not a key of this table; did you mean \"symbol\"?");
    EXPECT_EQ(error_of(with(sound, "[[account]]", "[[acount]]")),
              "corro.toml:16: acount: is not a key of this table; did you mean \"account\"?");
    // The first one of the file, not of the alphabet.
    EXPECT_EQ(error_of(with(with(sound, "sessions", "aaaa"), "key =", "zzzz =")),
              "corro.toml:19: account.zzzz: is not a key of this table; known keys: copies_of, firm, gateway, id, key, "
              "keys, name, notional_max, open_orders_max, operator, order_quantity_max, position_max, sessions");
}

TEST(configuration, refuses_addresses_that_are_none_with_their_line) {
    EXPECT_EQ(error_of(with(sound, "127.0.0.1:0", "127.0.0.1:70001")),
              "corro.toml:7: order_entry.listen: \"127.0.0.1:70001\" has port 70001; the highest port is 65535");
    EXPECT_EQ(error_of(with(sound, "127.0.0.1:0", "")),
              "corro.toml:7: order_entry.listen: \"\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(error_of(with(sound, "listen = \"127.0.0.1:0\"", "tls_listen = \"\"")), "no error");
    EXPECT_EQ(error_of("[link]\nlisten = \"localhost:7010\"\n" + sound),
              "corro.toml:2: link.listen: \"localhost\" is a name; write its numeric address, such as "
              "\"127.0.0.1:7001\"");
    EXPECT_EQ(error_of("[metrics]\nlisten = \"9090\"\n" + sound),
              "corro.toml:2: metrics.listen: \"9090\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(
        error_of("[market_data]\nlines = [\"127.0.0.1:1\", \"x:1\"]\n" + sound),
        "corro.toml:2: market_data.lines: \"x\" is a name; write its numeric address, such as \"127.0.0.1:7001\"");
}

TEST(configuration, keeps_the_places_of_its_keys_for_later_messages) {
    const configuration c = parse_configuration(sound, "corro.toml");
    EXPECT_EQ(place_of(c, "order_entry.listen"), "corro.toml:7: order_entry.listen");
    EXPECT_EQ(place_of(c, "order_entry.tls_listen"), "corro.toml: order_entry.tls_listen");
    EXPECT_EQ(place_of(configuration(), "order_entry.listen"), "order_entry.listen");
}

TEST(configuration, reads_on_how_many_threads_the_exchange_runs) {
    EXPECT_EQ(parse_configuration(sound, "corro.toml").threading, threading_mode::inline_);
    const configuration c =
        parse_configuration("[facility]\nthreading = \"split\"\nbusy_poll_us = 7\n" + sound, "corro.toml");
    EXPECT_EQ(c.threading, threading_mode::split);
    EXPECT_EQ(c.busy_poll.count(), 7);
    EXPECT_EQ(error_of("[facility]\nthreading = \"many\"\n" + sound),
              "corro.toml:2: facility.threading: expected \"inline\" or \"split\"");
}

TEST(configuration, reads_what_protects_an_instrument) {
    const configuration plain = parse_configuration(sound, "corro.toml");
    EXPECT_EQ(plain.instruments[0].product.value, 0U);
    EXPECT_EQ(plain.instruments[0].dynamic_band, 0) << "nothing protects unless it is asked for";
    EXPECT_EQ(plain.instruments[0].breaker_move, 0);
    EXPECT_EQ(plain.instruments[0].breaker_window, 0);
    EXPECT_EQ(plain.instruments[0].breaker_halt, 0);

    const std::string keys =
        "product = 4\nprice_high = \"10000\"\ndynamic_band = \"12.5\"\nbreaker_move = \"25\"\n"
        "breaker_window_ms = 60000\nbreaker_halt_ms = 300000\nvolatility_auction_ms = 120000\n";
    const std::string protected_file = with(sound, "price_high = \"10000\"\n", keys);
    const configuration c = parse_configuration(protected_file, "corro.toml");
    EXPECT_EQ(c.instruments[0].product.value, 4U);
    EXPECT_EQ(c.instruments[0].dynamic_band, 50) << "ticks of 0.25";
    EXPECT_EQ(c.instruments[0].breaker_move, 100);
    EXPECT_EQ(c.instruments[0].breaker_window, 60'000'000'000);
    EXPECT_EQ(c.instruments[0].breaker_halt, 300'000'000'000);
    EXPECT_EQ(c.instruments[0].volatility_auction, 120'000'000'000);

    EXPECT_EQ(error_of(with(protected_file, "\"12.5\"", "\"12.6\"")),
              "corro.toml:16: instrument.dynamic_band: is not a price of this instrument: price_off_tick");
    EXPECT_EQ(error_of(with(protected_file, "\"12.5\"", "\"-12.5\"")),
              "corro.toml:16: instrument.dynamic_band: expected a distance, found a negative price");
    EXPECT_EQ(error_of(with(protected_file, "\"25\"", "25")),
              "corro.toml:17: instrument.breaker_move: expected a text in quotes");
    EXPECT_EQ(error_of(with(protected_file, "60000", "-1")),
              "corro.toml:18: instrument.breaker_window_ms: expected a number from 0 to 1099511627776, found -1");
    EXPECT_EQ(error_of(with(protected_file, "breaker_halt_ms", "breaker_halt")),
              "corro.toml:19: instrument.breaker_halt: is not a key of this table; did you mean \"breaker_halt_ms\"?");
}

TEST(configuration, reads_how_the_orders_at_one_price_share) {
    using domain::match_algorithm;
    EXPECT_EQ(parse_configuration(sound, "corro.toml").instruments[0].allocation.algorithm, match_algorithm::fifo);

    const std::string keys =
        "price_high = \"10000\"\n[instrument.matching]\nalgorithm = \"K\"\nfifo_percent = 40\nlevelling = true\n"
        "top_minimum = 2\ntop_maximum = 50\npro_rata_minimum = 3\n"
        "lead_market_makers = [{account = 7, percent = 20}, {account = 9, percent = 5}]\n";
    const std::string file = with(sound, "price_high = \"10000\"\n", keys);
    const domain::allocation_policy p = parse_configuration(file, "corro.toml").instruments[0].allocation;
    EXPECT_EQ(p.algorithm, match_algorithm::split);
    EXPECT_EQ(p.fifo_percent, 40U);
    EXPECT_TRUE(p.levels);
    EXPECT_EQ(p.top_minimum, 2U);
    EXPECT_EQ(p.top_maximum, 50U);
    EXPECT_EQ(p.pro_rata_minimum, 3U);
    EXPECT_EQ(p.makers[0].account.value, 7U);
    EXPECT_EQ(p.makers[0].percent, 20U);
    EXPECT_EQ(p.makers[1].account.value, 9U);
    EXPECT_EQ(p.makers[2].percent, 0U);

    EXPECT_EQ(error_of(with(file, "\"K\"", "\"X\"")),
              "corro.toml:16: instrument.matching.algorithm: expected one of: A, C, F, K, O, Q, S, T");
    EXPECT_EQ(error_of(with(file, "\"K\"", "\"C\"")),
              "corro.toml:16: instrument.matching.algorithm: only algorithm K has levelling and a FIFO percentage");
    EXPECT_EQ(error_of(with(file, "percent = 20", "percent = 96")),
              "corro.toml:16: instrument.matching.algorithm: the percentages of the lead market makers add up to more "
              "than 100");
    EXPECT_EQ(error_of(with(file, "account = 9", "acount = 9")),
              "corro.toml:22: instrument.matching.lead_market_makers.acount: is not a key of this table; did you mean "
              "\"account\"?");
    EXPECT_EQ(error_of(with(sound, "price_high = \"10000\"\n", "price_high = \"10000\"\nmatching = \"K\"\n")),
              "corro.toml:15: instrument.matching: expected a table");
}

constexpr const char* strategies = R"([[instrument]]
id = 2
symbol = "ESM4"
kind = "future"
tick_size = "0.25"
price_low = "1000"
price_high = "10000"
expiry = 2024-06-21T13:30:00Z
[[instrument]]
id = 3
symbol = "ESH4-ESM4"
kind = "spread"
tick_size = "0.25"
price_low = "-500"
price_high = "500"
legs = [{ instrument = 1, side = "buy" }, { instrument = 2, side = "sell", ratio = 2 }]
[[instrument]]
id = 4
symbol = "ESM4-P5000"
kind = "option"
right = "put"
strike = "5000"
tick_size = "0.05"
)";

TEST(configuration, reads_options_and_strategies) {
    const std::string file = with(sound, "[[account]]", std::string(strategies) + "[[account]]");
    const configuration c = parse_configuration(file, "corro.toml");
    EXPECT_EQ(c.instruments[1].expiry, domain::time_ns{1'718'976'600'000'000'000});
    const domain::instrument& spread = c.instruments[2];
    ASSERT_EQ(spread.legs_count, 2);
    EXPECT_EQ(spread.legs[0], (domain::leg{domain::instrument_id{1}, 1, domain::side::buy}));
    EXPECT_EQ(spread.legs[1], (domain::leg{domain::instrument_id{2}, 2, domain::side::sell}));
    EXPECT_EQ(spread.order_quantity_max.value, domain::order_quantity_lots_max / 2) << "as much as its legs can hold";
    EXPECT_EQ(c.instruments[3].right, domain::option_right::put);
    EXPECT_EQ(c.instruments[3].strike, domain::price_nano{5'000'000'000'000});

    EXPECT_FALSE(spread.implied);

    const auto fails = [&](const char* from, const char* to) { return error_of(with(file, from, to)); };
    EXPECT_TRUE(fails("side = \"sell\", ratio = 2 }]", "side = \"sell\" }]\nimplied = true")
                    .ends_with("legs: implied matching needs a product"));
    EXPECT_TRUE(fails("side = \"sell\", ratio = 2 }]", "side = \"sell\", ratio = 2 }]\nimplied = true")
                    .ends_with("legs: implied matching needs two legs of ratio 1, one bought and one sold"));
    EXPECT_TRUE(
        fails("{ instrument = 1,", "{ instrument = 9,").ends_with("legs: a leg is not an instrument of the venue"));
    EXPECT_TRUE(fails("{ instrument = 1,", "{ instrument = 2,").ends_with("legs: two legs have the same instrument"));
    EXPECT_TRUE(fails("{ instrument = 1,", "{ instrument = 3,").ends_with("legs: a leg must not have legs itself"));
    EXPECT_TRUE(fails("ratio = 2", "ratio = 1001").ends_with("ratio: expected a number from 1 to 1000, found 1001"));
    EXPECT_TRUE(fails("side = \"buy\" }", "side = \"both\" }").ends_with("side: expected one of: buy, sell"));
    EXPECT_TRUE(fails("side = \"buy\" }", "side = \"buy\", ratio = 2 }")
                    .ends_with("legs: one leg needs the ratio 1, so that the prices of the legs can add up exactly"));
    EXPECT_TRUE(fails("right = \"put\"", "").ends_with("an option is either a call or a put"));
    EXPECT_TRUE(fails("21T13:30:00Z", "21T13:30:00").ends_with("expiry: expected a time such as 2026-12-18T14:30:00Z"));
}

TEST(configuration, makes_an_operator_only_of_an_account_that_is_called_one) {
    EXPECT_FALSE(parse_configuration(sound, "corro.toml").accounts[0].is_operator);
    EXPECT_TRUE(parse_configuration(sound + "operator = true\n", "corro.toml").accounts[0].is_operator);
    EXPECT_FALSE(parse_configuration(sound + "operator = false\n", "corro.toml").accounts[0].is_operator);
    EXPECT_EQ(error_of(sound + "operator = 1\n"), "corro.toml:21: account.operator: expected true or false");
    EXPECT_EQ(error_of(sound + "operator = \"true\"\n"), "corro.toml:21: account.operator: expected true or false");
}

TEST(configuration, gives_an_account_one_key_or_several_of_its_own) {
    const std::string one = "key = \"" + key + "\"\n";
    const auto list = [](const std::string& texts) { return "keys = [" + texts + "]\n"; };
    const auto quoted = [](int id) { return "\"" + key_of(id) + "\""; };
    const configuration c =
        parse_configuration(with(sound, one, list(quoted(1) + ", " + quoted(2) + ", " + quoted(3))), "corro.toml");
    EXPECT_EQ(c.accounts[0].key, *wire::parse_api_key(key_of(1)));
    EXPECT_EQ(c.accounts[0].more_keys,
              (std::vector<wire::api_key>{*wire::parse_api_key(key_of(2)), *wire::parse_api_key(key_of(3))}));
    const auto fails = [&](const std::string& keys) { return error_of(with(sound, one, keys)); };
    EXPECT_EQ(fails(list("")), "corro.toml:19: account.keys: expected 1 to 4 keys");
    EXPECT_EQ(fails(list("\"abc\"")), "corro.toml:19: account.keys: expected 64 hexadecimal digits");
    EXPECT_EQ(fails(one + list(quoted(1))), "corro.toml:20: account.keys: expected either key or keys, not both");
    EXPECT_EQ(fails(list(quoted(1) + ", " + quoted(1))),
              "corro.toml:19: account.keys: is used twice; each account needs keys of its own");
    EXPECT_TRUE(fails(list(quoted(1) + ", " + quoted(2) + ", " + quoted(3) + ", " + quoted(4) + ", " + quoted(5)))
                    .starts_with("corro.toml:19: account.keys: expected a list of at most 4"));
    const std::string another = "[[account]]\nid = 8\n";
    EXPECT_EQ(error_of(sound + another + one),
              "corro.toml:23: account.key: is used twice; each account needs keys of its own");
    EXPECT_EQ(fails("key = \"" + std::string(64, '0') + "\"\n"),
              "corro.toml:19: account.key: 64 zeros are not a key; make one with openssl rand -hex 32");
    EXPECT_FALSE(c.keys_are_public);
    EXPECT_TRUE(parse_configuration(with(sound, "orders_max = 1000", "keys = \"public\""), "c").keys_are_public);
    EXPECT_EQ(error_of(with(sound, "orders_max = 1000", "keys = \"known\"")),
              "corro.toml:4: venue.keys: expected \"secret\" or \"public\"");
}

TEST(configuration, gives_an_account_limits_if_the_file_has_any) {
    EXPECT_FALSE(parse_configuration(sound, "c").accounts[0].limits);
    const configuration c = parse_configuration(
        sound + "order_quantity_max = 5\nnotional_max = 1000000\nposition_max = 7\nopen_orders_max = 9\nfirm = 3000\n",
        "c");
    EXPECT_EQ(c.accounts[0].limits, (domain::account_limits{.notional_max = 1'000'000,
                                                            .order_quantity_max = 5,
                                                            .position_max = 7,
                                                            .open_orders_max = 9,
                                                            .firm = 3'000}));
    EXPECT_EQ(facility_options_of(c, io::default_platform()).accounts_max, 3'001U)
        << "firms are numbered like accounts";
    EXPECT_EQ(parse_configuration(sound + "firm = 0\n", "c").accounts[0].limits, domain::account_limits());
    EXPECT_EQ(error_of(sound + "firm = 1000001\n"),
              "corro.toml:21: account.firm: expected a number from 0 to 1000000, found 1000001");
}

TEST(configuration, refuses_names_that_do_not_print) {
    const auto named = [](const std::string& name) { return error_of(with(sound, "\"ESH4\"", name)); };
    const std::string wrong =
        "corro.toml:11: instrument.symbol: expected printable ASCII characters without quotation marks and backslashes";
    for (const char* name : {R"("ES\u001b[2J")", R"("ES\n")", R"('E"H4')", R"("E'H4")", R"("E\\H4")", R"("E\u007fH4")",
                             R"("\u00c4SH4")", R"("E`H4")"}) {
        EXPECT_EQ(named(name), wrong) << name;
    }
    EXPECT_EQ(named("\"CL:BF F4-G4-H4\""), "no error");
    EXPECT_EQ(error_of(with(sound, "\"TEST\"", "\"TE\\tST\"")).substr(0, 27), "corro.toml:3: venue.name: e");
    EXPECT_EQ(error_of(with(sound, "\"alice\"", "\"al\\u0007ice\"")).substr(0, 29), "corro.toml:18: account.name: ");
}

TEST(configuration, divides_accounts_among_gateways_by_name) {
    EXPECT_EQ(parse_configuration(sound, "corro.toml").accounts[0].gateway, "");
    const configuration c = parse_configuration(
        sound + "gateway = \"north\"\n[link]\nlisten = \"@link\"\ngateway = \"south\"\n", "corro.toml");
    EXPECT_EQ(c.accounts[0].gateway, "north");
    EXPECT_EQ(c.link_gateway, "south");
    EXPECT_EQ(error_of(sound + "gateway = \"" + std::string(gateway_name_max + 1, 'n') + "\"\n"),
              "corro.toml:21: account.gateway: expected at most 31 characters in a gateway's name");
    std::string many = sound;
    for (int id = 100; id < 165; ++id) {
        many += "[[account]]\nid = " + std::to_string(id) + "\nkey = \"" + key_of(id) + "\"\ngateway = \"" +
                std::to_string(id) + "\"\n";
    }
    EXPECT_TRUE(error_of(many).ends_with("account.gateway: expected at most 64 gateways")) << error_of(many);
}

TEST(configuration, gives_an_account_the_copies_of_a_named_group) {
    const auto account = [](int id) {
        return "\n[[account]]\nkey = \"" + key_of(id) + "\"\nid = " + std::to_string(id) + "\n";
    };
    const std::string desk = sound + account(8) + account(9) + "copies_of = \"desk\"\n";
    const std::string group = "\n[[account_group]]\nname = \"desk\"\nmembers = [7, 8]\n";
    const configuration c = parse_configuration(desk + group, "corro.toml");
    ASSERT_EQ(c.accounts.size(), 3U);
    EXPECT_EQ(c.accounts[2].copies_of, (std::vector{domain::account_id{7}, domain::account_id{8}}));
    EXPECT_TRUE(c.accounts[1].copies_of.empty()) << "a member of a group is told nothing for that";
    const auto ends = [](const std::string& text, const std::string& with_this) {
        const std::string error = error_of(text);
        EXPECT_TRUE(error.ends_with(with_this)) << error;
    };
    ends(desk, "account.copies_of: there is no [[account_group]] of this name");
    ends(desk + group + group, "account_group.name: is used twice");
    ends(desk + with(group, "[7, 8]", "[]"), "account_group.members: a group needs at least one account");
    ends(desk + with(group, "[7, 8]", "[7, 7]"), "account_group.members: account 7 is named twice");
    ends(desk + with(group, "[7, 8]", "[7, 6]"), "account_group.members: there is no [[account]] 6");
    ends(desk + group + "colour = 1\n", "account_group.colour: is not a key of this table; known keys: members, name");
    ends(with(desk, "copies_of = \"desk\"", "copies_of = \"desk\"\noperator = true") + group,
         "account.copies_of: an operator's account cannot be a drop copy");
}

TEST(configuration, reads_what_the_facility_keeps) {
    const configuration plain = parse_configuration(sound, "corro.toml");
    EXPECT_EQ(plain.snapshot_every, 10'000'000U);
    EXPECT_EQ(plain.snapshots_kept, 3U);
    EXPECT_EQ(plain.journal_segments_kept, ~std::uint64_t{0}) << "by default nothing is forgotten";
    EXPECT_EQ(plain.journal_bytes_kept, ~std::uint64_t{0});
    const std::string facility = R"([facility]
journal = "data"
durability = "each"
journal_segment_bytes = 8192
snapshots_kept = 2
snapshot_every = 500
journal_segments_kept = 4
journal_bytes_kept = 0
busy_poll_us = 7
disk_patience_ms = 5000
)";
    const configuration c = parse_configuration(facility + sound, "corro.toml");
    EXPECT_EQ(c.journal_directory, "data");
    EXPECT_EQ(c.durability, journal::durability::each);
    EXPECT_EQ(c.journal_segment_bytes, 8'192U);
    EXPECT_EQ(c.snapshots_kept, 2U);
    EXPECT_EQ(c.snapshot_every, 500U);
    EXPECT_EQ(c.journal_segments_kept, 4U);
    EXPECT_EQ(c.journal_bytes_kept, 0U);
    EXPECT_EQ(c.busy_poll.count(), 7);
    EXPECT_EQ(c.disk_patience.count(), 5'000);
    EXPECT_EQ(plain.disk_patience.count(), 30'000);
    const auto fails = [&](const char* what, const char* instead) {
        return error_of(with(facility, what, instead) + sound);
    };
    EXPECT_EQ(fails("\"each\"", "\"always\""),
              "corro.toml:3: facility.durability: expected one of: none, async, group, each");
    EXPECT_EQ(fails("8192", "8193"), "corro.toml:4: facility.journal_segment_bytes: expected a multiple of 512");
    EXPECT_TRUE(fails("snapshots_kept = 2", "snapshots_kept = 0").starts_with("corro.toml:5: facility.snapshots_kept"));
    EXPECT_EQ(fails("= 5000", "= 999"), "corro.toml:10: facility.disk_patience_ms: expected 0 or at least 1000");
    EXPECT_EQ(fails("= 5000", "= 0"), "no error");
    EXPECT_TRUE(fails("= 500", "= -1").starts_with("corro.toml:6: facility.snapshot_every: expected a number"));
}

TEST(configuration, reads_what_order_entry_allows) {
    const std::string allowed = R"(requests_max = 100
requests_end = 200
requests_window_ms = 250
output_buffer_bytes = 8192
answers_kept = 50
logon_timeout_ms = 20
strangers_per_address_max = 21
handshake_steps_per_second = 22
logons_max = 23
tls_listen = "127.0.0.1:1"
unix_listen = "@corro"
shm_listen = "/run/corro/orders_shm"
websocket_listen = "127.0.0.1:2"
secure_websocket_listen = "127.0.0.1:3"
certificate = "chain.pem"
client_issuers = "clients.pem"
private_key = "key.pem"
)";
    const std::string text = with(sound, "[[instrument]]", allowed + "\n[[instrument]]");
    const configuration c = parse_configuration(text, "corro.toml");
    EXPECT_EQ(c.requests_max, 100U);
    EXPECT_EQ(c.requests_end, 200U);
    EXPECT_EQ(c.requests_window.count(), 250);
    EXPECT_EQ(c.output_buffer_bytes, 8'192U);
    EXPECT_EQ(c.answers_kept, 50U);
    EXPECT_EQ(c.session_answers_kept, 50U) << "one session has no more than all together";
    EXPECT_EQ(c.logon_timeout.count(), 20);
    EXPECT_EQ(c.strangers_per_address_max, 21U);
    EXPECT_EQ(c.handshake_steps_max, 22U);
    EXPECT_EQ(c.logons_max, 23U);
    EXPECT_EQ(c.order_entry_tls_listen, "127.0.0.1:1");
    EXPECT_EQ(c.order_entry_unix_listen, "@corro");
    EXPECT_EQ(c.order_entry_shm_listen, "/run/corro/orders_shm");
    EXPECT_EQ(c.order_entry_websocket_listen, "127.0.0.1:2");
    EXPECT_EQ(c.order_entry_secure_websocket_listen, "127.0.0.1:3");
    EXPECT_EQ(c.order_entry_certificate, "chain.pem");
    EXPECT_EQ(c.order_entry_client_issuers, "clients.pem");
    EXPECT_EQ(c.order_entry_private_key, "key.pem");
    const risk::throttle_options throttle = throttle_options_of(c);
    EXPECT_EQ(throttle.requests_max, 100U);
    EXPECT_EQ(throttle.requests_end, 200U);
    EXPECT_EQ(throttle.window_ns, 250'000'000);
    EXPECT_TRUE(error_of(with(text, "requests_end = 200", "requests_end = 99"))
                    .ends_with("order_entry.requests_end: expected at least requests_max"));
    EXPECT_TRUE(error_of(with(text, "certificate = \"chain.pem\"\n", ""))
                    .ends_with("order_entry.certificate: is required for TLS"));
    EXPECT_TRUE(error_of(with(text, "private_key = \"key.pem\"\n", ""))
                    .ends_with("order_entry.private_key: is required for TLS"));
    EXPECT_TRUE(error_of(with(sound, "[order_entry]\n", "[order_entry]\nclient_issuers = \"clients.pem\"\n"))
                    .ends_with("order_entry.client_issuers: needs tls_listen or secure_websocket_listen"));
    EXPECT_TRUE(error_of(with(sound, "[[instrument]]", "[fix]\nclient_issuers = \"clients.pem\"\n[[instrument]]"))
                    .ends_with("fix.client_issuers: needs tls_listen"));
    const std::string fix = "[fix]\ntls_listen = \"127.0.0.1:4\"\nclient_issuers = \"buyers.pem\"\n";
    EXPECT_EQ(parse_configuration(text + fix, "corro.toml").fix_client_issuers, "buyers.pem");
}

TEST(configuration, reads_when_the_day_of_sessions_begins) {
    const auto begins = [](const std::string& text) {
        return with(sound, "[order_entry]\n", "[order_entry]\nsession_day_begins = \"" + text + "\"\n");
    };
    EXPECT_FALSE(parse_configuration(sound, "corro.toml").session_day_begins) << "never by itself";
    EXPECT_EQ(parse_configuration(begins("17:05"), "corro.toml").session_day_begins,
              std::chrono::hours(17) + std::chrono::minutes(5));
    EXPECT_EQ(parse_configuration(begins("00:00"), "corro.toml").session_day_begins, std::chrono::seconds(0));
    EXPECT_EQ(parse_configuration(begins("23:59"), "corro.toml").session_day_begins, std::chrono::minutes(1'439));
    for (const char* wrong : {"24:00", "12:60", "5:00", "17:00:00", "17-00", "5 pm"}) {
        EXPECT_NE(error_of(begins(wrong)).find("expected a time of day in UTC"), std::string::npos) << wrong;
    }
}

TEST(configuration, reads_how_market_data_leaves) {
    const std::string said = R"([market_data]
feed_listen = "127.0.0.1:4"
shm_listen = "@corro-feed"
snapshot_listen = "127.0.0.1:5"
feed_log_bytes = 134217728
lines = ["239.1.1.1:6", "239.1.1.2:6"]
retransmission_listen = "127.0.0.1:7"
retransmit_beyond_local_network = true
multicast_interface = 2
multicast_hops = 3
depth_listen = "127.0.0.1:8"
depth_levels = 4
conflation_interval_ms = 9
[event_log]
directory = "log"
file_bytes_max = 4096
files_max = 2
[metrics]
listen = "127.0.0.1:10"
[link]
listen = "@link"
users = [1001, 0]
secret = "0011223344556677889900112233445566778899001122334455667788990011"
)";
    const configuration c = parse_configuration(said + sound, "corro.toml");
    EXPECT_EQ(c.feed_listen, "127.0.0.1:4");
    EXPECT_EQ(c.feed_shm_listen, "@corro-feed");
    EXPECT_EQ(c.snapshot_listen, "127.0.0.1:5");
    EXPECT_EQ(c.feed_log_bytes, 134'217'728U);
    EXPECT_EQ(c.lines, (std::vector<std::string>{"239.1.1.1:6", "239.1.1.2:6"}));
    EXPECT_EQ(c.retransmission_listen, "127.0.0.1:7");
    EXPECT_TRUE(c.retransmit_beyond_local_network);
    EXPECT_FALSE(parse_configuration(sound, "corro.toml").retransmit_beyond_local_network);
    EXPECT_EQ(c.multicast_interface, 2U);
    EXPECT_EQ(c.multicast_hops, 3U);
    EXPECT_EQ(c.depth_listen, "127.0.0.1:8");
    EXPECT_EQ(c.depth_levels, 4U);
    EXPECT_EQ(c.conflation_interval.count(), 9);
    EXPECT_EQ(c.event_log.directory, "log");
    EXPECT_EQ(c.event_log.file_bytes_max, 4'096U);
    EXPECT_EQ(c.event_log.files_max, 2U);
    EXPECT_EQ(c.metrics_listen, "127.0.0.1:10");
    EXPECT_EQ(c.link_listen, "@link");
    EXPECT_EQ(c.link_connect, "@link") << "both ends read the same file";
    EXPECT_EQ(c.link_users, (std::vector<std::uint32_t>{1'001, 0}));
    EXPECT_EQ(c.link_secret[1], std::byte{0x11});
    EXPECT_TRUE(error_of(with(said, "secret = \"0", "secret = \"") + sound)
                    .ends_with("link.secret: expected 64 hexadecimal digits"));
    EXPECT_TRUE(error_of(sound + "[link]\nsecret = \"" + std::string(64, '0') + "\"\n")
                    .ends_with("link.secret: 64 zeros are not a key; make one with openssl rand -hex 32"));
    EXPECT_TRUE(error_of(with(said, "lines = [\"239.1.1.1:6\", \"239.1.1.2:6\"]\n", "") + sound)
                    .ends_with("retransmission_listen: needs market_data.lines"));
    EXPECT_EQ(error_of(with(said, "feed_log_bytes = 134217728", "feed_log_bytes = 1048576") + sound), "no error");
    EXPECT_TRUE(error_of(with(said, "directory = \"log\"\n", "") + sound).ends_with("event_log.directory: is missing"));
}

TEST(configuration, N6_gives_every_facility_a_hash_key_by_chance) {
    const configuration c = parse_configuration(sound, "corro.toml");
    const std::uint64_t given = facility_options_of(c, io::default_platform()).hash_key;
    EXPECT_NE(given, facility_options_of(c, io::default_platform()).hash_key)
        << "who has the program would know a constant";
    EXPECT_NE(given, facility::facility_options().hash_key);
}

TEST(configuration, says_that_a_file_cannot_be_opened) {
    EXPECT_THROW(static_cast<void>(load_configuration("/does/not/exist.toml")), configuration_error);
}

}  // namespace
}  // namespace corro::node
