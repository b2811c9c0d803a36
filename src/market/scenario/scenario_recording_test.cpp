// SPDX-License-Identifier: Apache-2.0
// Scenarios with a recording.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "market/scenario/scenario.hpp"
#include "node/configuration/configuration.hpp"
#include "recorded/formats/itch_fixture.hpp"
#include "recorded/replay/order_tape_fixture.hpp"

namespace corro::market {
namespace {

const std::string sound_recording = R"([market]
name = "day"

[recording]
files = ["tape.dbn"]
policy = "same_orders"

[[agents]]
group = "taker"
kind = "twap"
lots = 2
duration = "2ms"
slice = "1ms"
)";

/// A folder with a recording of a few orders.
struct data_folder {
    data_folder() {
        file = folder.write("tape.dbn", recorded::replay::dbn_bytes({
                                            "snapshot; A B 1 97 5; A A 2 102 5; A A 3 102 4",
                                            "A A 4 102 3",
                                            "T B 9 102 6; F A 2 102 5; F A 3 102 1; C A 2 102 5; M A 3 102 3",
                                        }));
        from.data_folder = file.parent_path().string();
    }
    recorded::replay::scratch_folder folder;
    std::filesystem::path file;
    scenario_files from;
};

std::string with(const std::string& before, const std::string& after) {
    std::string text = sound_recording;
    text.replace(text.find(before), before.size(), after);
    return text;
}

TEST(scenario_recording, the_market_has_the_instrument_the_times_and_the_flow_of_the_recording) {
    const data_folder data;
    const scenario made = parse_scenario(sound_recording, "day.toml", data.from);
    ASSERT_NE(made.day, nullptr);
    EXPECT_EQ(made.duration_ns, 1'000'000'000);
    EXPECT_EQ(made.options.start_ns, made.day->start_ns);
    ASSERT_EQ(made.options.instruments.size(), 1U);
    EXPECT_EQ(made.options.instruments[0].tick_size.value, recorded::replay::tape_tick_nano);
    EXPECT_EQ(made.recorded.policy, recorded_policy::same_orders);
    EXPECT_NE(made.instruments_toml.find("[[instrument]]"), std::string::npos);
    const auto world = made.build(1);
    world->run(made.duration_ns);
    const recorded_flow* flow = recorded_flow_of(*world);
    ASSERT_NE(flow, nullptr);
    EXPECT_EQ(flow->position(), made.day->requests.size());
    EXPECT_EQ(flow->departures().taken_by_agents.lots, 2U);
    EXPECT_EQ(world->agent_at(0).true_holdings()[0].lots, 2);
    const auto again = made.build(1);
    again->run(made.duration_ns);
    EXPECT_EQ(again->digest(), world->digest());
}

TEST(scenario_recording, names_the_line_and_the_key_of_every_error) {
    const data_folder data;
    struct bad_file {
        std::string text;
        std::string error;
    };
    const std::vector<bad_file> all{
        {with("[\"tape.dbn\"]", "[]"), "day.toml:5: recording.files: expected the files of a recording"},
        {with("[\"tape.dbn\"]", "\"tape.dbn\""), "day.toml:5: recording.files: expected a list"},
        {with("tape.dbn", "none.dbn"), "day.toml:5: recording.files: "},
        {with("policy = ", "polizy = "), "day.toml:6: recording.polizy: is not a key of this table"},
        {with("same_orders", "same"), "day.toml:6: recording.policy: expected one of: what_is_left, same_orders"},
        {with("policy = \"same_orders\"", "leftovers = \"go\""),
         "day.toml:6: recording.leftovers: expected one of: stay, leave"},
        {with("policy = \"same_orders\"", "refill_mean = 3"), "day.toml:6: recording.refill_mean: expected a duration"},
        {with("policy = \"same_orders\"", "scale_most = 0.5"),
         "day.toml:6: recording.scale_most: expected a number from 1"},
        {with("policy = \"same_orders\"", "instrument = 7"),
         "day.toml:5: recording.files: the files have no orders of instrument 7"},
        {with("name = \"day\"", "name = \"day\"\nstart = 2026-01-05T14:30:00Z"),
         "day.toml:3: market.start: the recording has its own"},
        {with("kind = \"twap\"", "kind = \"twap\"\ncount = 1000"),
         "day.toml:11: agents.count: expected fewer than 1000 agents"},
        {sound_recording + "[[instrument]]\nid = 1\n", "instrument: the recording has its own"},
    };
    for (const bad_file& each : all) {
        std::string found = "no error";
        try {
            static_cast<void>(parse_scenario(each.text, "day.toml", data.from));
        } catch (const node::configuration_error& e) {
            found = e.what();
        }
        EXPECT_NE(found.find(each.error), std::string::npos) << "found: " << found << "\nexpected: " << each.error;
    }
}

TEST(scenario_recording, agents_trade_in_the_chosen_stock_of_an_itch_file) {
    recorded::itch::writer w;
    const auto orders_of = [&w](const char* stock, std::uint16_t locate, std::uint64_t first, std::uint32_t price) {
        w.stock = stock;
        w.stock_locate = locate;
        w.put_add_order(first, 'B', 100, price).put_add_order(first + 1, 'S', 40, price + 200);
    };
    w.put_system_event('O');
    orders_of("AMZN", 7, 1, 2'239'300);
    orders_of("MSFT", 8, 11, 503'300);
    w.end_session();
    const recorded::replay::scratch_folder folder;
    scenario_files from;
    from.data_folder = folder.write("day.itch", w.bytes).parent_path().string();
    const auto named = [](const std::string& stock) {
        return with("files = [\"tape.dbn\"]", "files = [\"day.itch\"]\nstock = \"" + stock + "\"");
    };
    const scenario made = parse_scenario(named("MSFT"), "day.toml", from);
    ASSERT_NE(made.day, nullptr);
    EXPECT_EQ(made.options.instruments[0].name.view(), "MSFT");
    ASSERT_EQ(made.day->requests.size(), 2U);
    const auto world = made.build(1);
    world->run(made.duration_ns);
    EXPECT_EQ(world->agent_at(0).true_holdings()[0].lots, 2) << "bought from the order of 40 shares";
    const auto error_of = [&](const std::string& text) -> std::string {
        try {
            static_cast<void>(parse_scenario(text, "day.toml", from));
        } catch (const node::configuration_error& e) {
            return e.what();
        }
        return "no error";
    };
    EXPECT_NE(error_of(named("NONE")).find("day.toml:5: recording.files: "), std::string::npos)
        << error_of(named("NONE"));
    const std::string without = error_of(with("tape.dbn", "day.itch"));
    EXPECT_NE(without.find("or the key stock of a scenario"), std::string::npos) << without;
}

TEST(scenario_recording, a_file_beside_the_scenario_comes_first) {
    const data_folder data;
    std::vector<std::filesystem::path> asked;
    scenario_files from;
    from.data_folder = "/nowhere";
    from.load = [&](const recorded::replay::recording_options& files) {
        asked = files.files;
        return load_recorded_day(files);
    };
    static_cast<void>(parse_scenario(sound_recording, (data.file.parent_path() / "day.toml").string(), from));
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0], data.file);
}

}  // namespace
}  // namespace corro::market
