// SPDX-License-Identifier: Apache-2.0
#include "telemetry/event_log.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/task/block_on.hpp"
#include "telemetry/text.hpp"

namespace corro::telemetry {
namespace {

namespace fs = std::filesystem;

struct started_log final : event_log {
    started_log(const event_log_options& options, const domain::instrument& instrument)
        : event_log(io::default_platform(), options, {&instrument, 1}) {
        io::context context;
        io::block_on(context, start());
    }
};

class event_log_test : public testing::Test {
 protected:
    event_log_test() {
        const testing::TestInfo* const info = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = fs::temp_directory_path() / (std::string("corro_event_log_") + info->name());
        fs::remove_all(folder_);
        options_.directory = folder_.string();
        instrument_.id = domain::instrument_id{3};
        instrument_.name = domain::symbol("ESZ6");
        instrument_.tick_size = domain::price_nano{250'000'000};
    }
    ~event_log_test() override { fs::remove_all(folder_); }

    [[nodiscard]] domain::event entered(std::uint64_t sequence) const {
        domain::event e;
        e.command = domain::sequence_number{sequence};
        e.time = domain::time_ns{1'700'000'000'000'000'000 + static_cast<std::int64_t>(sequence)};
        e.instrument = instrument_.id;
        e.kind = domain::event_kind::order_entered;
        e.side = domain::side::sell;
        e.flags = domain::event_flag::last_of_request;
        e.order.order = domain::order_id{71};
        e.order.client_order = domain::client_order_id{5};
        e.order.price = domain::price_ticks{-19'201};
        e.order.quantity = domain::quantity_lots{12};
        e.order.account = domain::account_id{8};
        e.order.session = domain::session_id{2};
        e.order.request = 9;
        return e;
    }

    [[nodiscard]] std::vector<std::string> lines_of(const std::string& name) const {
        std::ifstream in(folder_ / name);
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        return lines;
    }

    fs::path folder_;
    event_log_options options_;
    domain::instrument instrument_;
};

TEST_F(event_log_test, writes_an_event_as_a_line_with_names_and_decimals) {
    {
        started_log log(options_, instrument_);
        const domain::event e = entered(17);
        log.add_producer().note({&e, 1});
    }
    const auto lines = lines_of("events.1.csv");
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0],
              "sequence,time,kind,instrument,side,reason,flags,account,session,request,order,client_order,trade,price,"
              "quantity,leaves,price_2,quantity_2");
    EXPECT_EQ(lines[1], "17,2023-11-14T22:13:20.000000017Z,order_entered,ESZ6,sell,,2,8,2,9,71,5,,-4800.25,12,,,");
}

TEST_F(event_log_test, gives_every_kind_of_event_as_many_columns_as_the_heading_has) {
    {
        started_log log(options_, instrument_);
        producer& mine = log.add_producer();
        for (unsigned kind = 0; kind < 256; ++kind) {
            domain::event e = entered(kind);
            e.kind = static_cast<domain::event_kind>(kind);
            mine.note({&e, 1});
        }
    }
    const auto lines = lines_of("events.1.csv");
    ASSERT_EQ(lines.size(), 257U);
    const auto commas = std::count(lines[0].begin(), lines[0].end(), ',');
    for (const std::string& line : lines) EXPECT_EQ(std::count(line.begin(), line.end(), ','), commas) << line;
}

TEST_F(event_log_test, writes_a_log_record_as_an_object) {
    {
        started_log log(options_, instrument_);
        log_record what(component::gateway, log_record_kind::logon_refused, 4, {});
        what.time = domain::time_ns{-1};
        what.severity = severity::warning;
        what.account = domain::account_id{8};
        log.add_producer().note(what);
    }
    const auto lines = lines_of("records.1.jsonl");
    ASSERT_EQ(lines.size(), 2U);
    const auto object = nlohmann::json::parse(lines[1]);
    EXPECT_EQ(object["time"], "1969-12-31T23:59:59.999999999Z");
    EXPECT_EQ(object["severity"], "warning");
    EXPECT_EQ(object["component"], "gateway");
    EXPECT_EQ(object["what"], "logon_refused");
    EXPECT_EQ(object["number"], 4);
    EXPECT_EQ(object["account"], 8);
    EXPECT_FALSE(object.contains("session"));
}

TEST_F(event_log_test, counts_what_it_loses_and_says_so_in_the_log) {
    options_.events_waiting_max = 64;
    options_.look_interval = std::chrono::hours(1);  // the writer polls only at the end
    {
        started_log log(options_, instrument_);
        producer& mine = log.add_producer();
        const std::vector<domain::event> batch(100, entered(1));
        mine.note(batch);
        EXPECT_EQ(mine.lost_count(), 36U);
        EXPECT_EQ(log.statistics().lost, 36U);
    }
    EXPECT_EQ(lines_of("events.1.csv").size(), 65U);
    const auto log_records = lines_of("records.1.jsonl");
    ASSERT_EQ(log_records.size(), 2U);
    const auto object = nlohmann::json::parse(log_records[1]);
    EXPECT_EQ(object["what"], "events_lost");
    EXPECT_EQ(object["number"], 36);
}

TEST_F(event_log_test, begins_a_new_file_when_one_is_full_and_keeps_the_newest) {
    options_.file_bytes_max = 200'000;
    options_.files_max = 3;
    constexpr std::uint64_t events_count = 20'000;
    {
        started_log log(options_, instrument_);
        producer& mine = log.add_producer();
        for (std::uint64_t i = 1; i <= events_count; ++i) {
            const domain::event e = entered(i);
            mine.note({&e, 1});
            // One batch at a time reaches the disk, as over hours in reality.
            if (i % 1000 == 0) {
                while (log.statistics().events < i) std::this_thread::yield();
            }
        }
    }
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
        if (entry.path().extension() == ".csv") names.push_back(entry.path().filename().string());
    }
    ASSERT_EQ(names.size(), 3U);
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    // Together the files hold the end of the sequence, without a gap.
    std::vector<std::uint64_t> sequences;
    for (const std::string& name : names) {
        const auto lines = lines_of(name);
        ASSERT_FALSE(lines.empty());
        EXPECT_TRUE(lines[0].starts_with("sequence,"));
        for (std::size_t i = 1; i < lines.size(); ++i) sequences.push_back(std::stoull(lines[i]));
    }
    ASSERT_FALSE(sequences.empty());
    EXPECT_EQ(sequences.back(), events_count);
    EXPECT_LT(sequences.size(), events_count);
    for (std::size_t i = 1; i < sequences.size(); ++i) EXPECT_EQ(sequences[i], sequences[i - 1] + 1);
}

TEST_F(event_log_test, goes_on_behind_the_files_of_the_process_before) {
    for (int start = 0; start < 2; ++start) {
        started_log log(options_, instrument_);
        const domain::event e = entered(static_cast<std::uint64_t>(start) + 1);
        log.add_producer().note({&e, 1});
    }
    EXPECT_EQ(lines_of("events.1.csv").size(), 2U);
    EXPECT_EQ(lines_of("events.2.csv").size(), 2U);
}

TEST_F(event_log_test, begins_each_file_of_records_with_the_version_of_the_format) {
    options_.file_bytes_max = 1;  // a file for each record
    {
        started_log log(options_, instrument_);
        producer& mine = log.add_producer();
        mine.note(log_record(component::venue, log_record_kind::started, 5, {}));
        while (mine.log_records_waiting()) std::this_thread::yield();
    }
    for (const char* const name : {"records.1.jsonl", "records.2.jsonl"}) {
        const auto lines = lines_of(name);
        ASSERT_FALSE(lines.empty()) << name;
        const auto object = nlohmann::json::parse(lines[0]);
        EXPECT_EQ(object["component"], "log");
        EXPECT_EQ(object["what"], "format");
        EXPECT_EQ(object["number"], log_format_version);
        EXPECT_EQ(object["severity"], "info");
        EXPECT_TRUE(object.contains("time")) << "a reader of records may take it for one";
        EXPECT_EQ(format_version_of(lines[0]), log_format_version);
    }
}

TEST_F(event_log_test, continues_files_of_its_own_and_of_earlier_versions_and_refuses_those_of_later_ones) {
    fs::create_directories(folder_);
    const auto start = [this](const std::string& first_line) -> std::string {
        std::ofstream(folder_ / "records.7.jsonl") << first_line;
        try {
            const started_log log(options_, instrument_);
            fs::remove(folder_ / "records.8.jsonl");
            return {};
        } catch (const std::system_error& error) {
            EXPECT_FALSE(fs::exists(folder_ / "records.8.jsonl")) << "it has begun a file all the same";
            return error.what();
        }
    };
    EXPECT_EQ(start(""), "");
    EXPECT_EQ(start("{\"time\":\"2026-01-01T00:00:00.000000000Z\",\"what\":\"started\",\"number\":9}\n"), "");
    EXPECT_EQ(start("no object\n"), "");
    EXPECT_EQ(start("{\"what\":\"format\",\"number\":2}\n{}\n"), "");
    const std::string refusal = start("{\"what\":\"format\",\"number\":3}\n");
    EXPECT_NE(refusal.find("has files of format version 3, which a newer program has written; this program writes "
                           "version 2. Choose another directory"),
              std::string::npos)
        << refusal;
    EXPECT_NE(refusal.find(options_.directory), std::string::npos) << refusal;
}

TEST_F(event_log_test, opens_nothing_before_its_start_and_keeps_what_was_recorded_before_it) {
    {
        event_log log(io::default_platform(), options_, {&instrument_, 1});
        EXPECT_FALSE(fs::exists(folder_));
        const domain::event early = entered(1);
        log.add_producer().note({&early, 1});
        EXPECT_FALSE(fs::exists(folder_));
        io::context context;
        io::block_on(context, log.start());
        EXPECT_TRUE(fs::exists(folder_ / "events.1.csv"));
    }
    EXPECT_EQ(lines_of("events.1.csv").size(), 2U) << "the heading and the event";
    options_.directory = (folder_ / "never").string();
    {
        const event_log unused(io::default_platform(), options_, {&instrument_, 1});
    }
    EXPECT_FALSE(fs::exists(folder_ / "never"));
}

TEST_F(event_log_test, says_which_directory_it_cannot_write_to) {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "file") << "x";
    options_.directory = (folder_ / "file" / "below").string();
    try {
        const started_log log(options_, instrument_);
        FAIL() << "a directory below a file";
    } catch (const std::system_error& error) {
        EXPECT_NE(std::string(error.what()).find(options_.directory), std::string::npos);
    }
}

TEST_F(event_log_test, takes_events_from_several_threads_and_keeps_the_order_of_each) {
    constexpr std::uint64_t each = 30'000;
    {
        started_log log(options_, instrument_);
        std::vector<std::thread> threads;
        for (std::uint32_t account = 1; account <= 2; ++account) {
            producer& mine = log.add_producer();
            threads.emplace_back([this, account, &mine] {
                for (std::uint64_t i = 1; i <= each; ++i) {
                    domain::event e = entered(i);
                    e.order.account = domain::account_id{account};
                    mine.note({&e, 1});
                }
            });
        }
        for (std::thread& t : threads) t.join();
        EXPECT_EQ(log.statistics().lost, 0U);
    }
    std::uint64_t last[3] = {};
    for (const std::string& line : lines_of("events.1.csv")) {
        if (line.starts_with("sequence")) continue;
        std::vector<std::string> columns;
        std::istringstream in(line);
        for (std::string column; std::getline(in, column, ',');) columns.push_back(column);
        const auto account = std::stoul(columns[7]);
        ASSERT_EQ(std::stoull(columns[0]), last[account] + 1);
        ++last[account];
    }
    EXPECT_EQ(last[1], each);
    EXPECT_EQ(last[2], each);
}

}  // namespace
}  // namespace corro::telemetry
