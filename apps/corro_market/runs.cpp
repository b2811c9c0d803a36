// SPDX-License-Identifier: Apache-2.0
#include "runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/hash.hpp"
#include "history/csv_field.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/storage.hpp"
#include "market/metrics/metaorder_impact.hpp"
#include "market/metrics/queue_results.hpp"
#include "market/recorded_day/side_by_side.hpp"
#include "market/recording/recording.hpp"
#include "market/whole/repeated_market.hpp"
#include "market/whole/whole_market.hpp"
#include "recorded/replay/recording.hpp"
#include "report.hpp"

namespace corro::app {
namespace {

namespace fs = std::filesystem;
using history::csv_field;

constexpr const char* venue_name = "MARKET";

/// What is measured beside the metrics of the market when agents trade in a recorded day.
class day_measures {
 public:
    day_measures(const market::scenario& what, market::market& world)
        : world_(world),
          prices_(what.day, what.sample_ns),
          results_(world, groups_of(what)),
          impact_(what.day, groups_of(what)) {
        world.observe_with(prices_);
        world.observe_with(results_);
        world.observe_with(impact_);
    }

    /// After the run.
    void add_to(std::vector<market::metric>& all) {
        prices_.finish(world_.now_ns());
        for (market::metric& each : results_.result()) all.push_back(std::move(each));
        for (const market::impact_curve& each : curves()) {
            for (market::metric& point : market::metrics_of(each)) all.push_back(std::move(point));
        }
        const market::recorded_flow& flow = *market::recorded_flow_of(world_);
        all.push_back({"recorded_requests", static_cast<double>(flow.position())});
        all.push_back({"recorded_requests_unchanged", static_cast<double>(flow.unchanged_count())});
        for (const auto& [name, counted] : market::named(flow.departures())) {
            all.push_back({fmt::format("departures.{}", name), static_cast<double>(counted.count)});
            all.push_back({fmt::format("departures.{}_lots", name), static_cast<double>(counted.lots)});
        }
        all.push_back({"middle_departure_mean_ticks", prices_.mean_difference_ticks()});
        all.push_back({"middle_departure_at_end_ticks", prices_.last_difference_ticks()});
    }

    [[nodiscard]] std::vector<market::impact_curve> curves() const { return impact_.curves(world_.now_ns()); }

    [[nodiscard]] std::string prices_csv() const {
        std::string text = "time_ns,recorded_bid_ticks,recorded_ask_ticks,bid_ticks,ask_ticks\n";
        const auto out = std::back_inserter(text);
        const auto add = [&](const market::best_prices& each) {
            if (each.has_both) {
                fmt::format_to(out, ",{},{}", each.bid, each.ask);
            } else {
                text += ",,";
            }
        };
        for (const market::side_by_side::step& each : prices_.steps()) {
            text += std::to_string(each.at_ns);
            add(each.there);
            add(each.here);
            text += '\n';
        }
        return text;
    }

 private:
    static std::vector<std::string> groups_of(const market::scenario& what) {
        std::vector<std::string> names;
        for (const market::agent_group& each : what.groups) names.insert(names.end(), each.count, each.name);
        return names;
    }

    const market::market& world_;
    market::side_by_side prices_;
    market::queue_results results_;
    market::metaorder_impact impact_;
};

run_result result_of(const market::market& world, std::uint64_t seed, market::market_metrics& measured,
                     std::optional<day_measures>& of_day) {
    run_result made;
    made.seed = seed;
    made.commands = world.counts().commands;
    made.trades = world.counts().trades;
    made.digest = world.digest();
    made.state_hash = world.venue().state_hash();
    made.metrics = measured.result(world);
    if (of_day) of_day->add_to(made.metrics);
    return made;
}

/// Notes the digest of a run at each step of the time.
class digest_marks final : public market::market_observer {
 public:
    digest_marks(const market::market& world, std::int64_t step_ns) : world_(world), step_ns_(step_ns) {}

    void on_command(const domain::command& command) override {
        advance(command.time.value - world_.options().start_ns);
        last_ = world_.digest();
    }
    void on_events(std::span<const domain::event> /*events*/) override {}
    /// After the run.
    std::vector<std::uint64_t> take() {
        advance(world_.now_ns());
        return std::move(marks_);
    }

 private:
    void advance(std::int64_t now_ns) {
        while ((static_cast<std::int64_t>(marks_.size()) + 1) * step_ns_ <= now_ns) marks_.push_back(last_);
    }

    const market::market& world_;
    std::int64_t step_ns_;
    std::uint64_t last_ = 0;  // without the command that comes now
    std::vector<std::uint64_t> marks_;
};

constexpr const char* digests_head = "time_ns,digest\n";

std::string digests_csv(const std::vector<std::uint64_t>& digests, std::int64_t step_ns) {
    std::string text = digests_head;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        text += fmt::format("{},{:016x}\n", static_cast<std::int64_t>(i + 1) * step_ns, digests[i]);
    }
    return text;
}

std::string impact_csv(const std::vector<market::impact_curve>& curves) {
    std::string text = "group,phase,percent,time_ns,recorded_middle_ticks,middle_ticks,impact_ticks\n";
    std::string group;
    for (const market::impact_curve& curve : curves) {
        for (const market::impact_point& each : curve.points) {
            text +=
                fmt::format("{},{},{},{},{},{},{}\n", csv_field(curve.group, group), each.is_after ? "after" : "done",
                            each.percent, each.at_ns, each.recorded_middle, each.middle, each.impact_ticks);
        }
    }
    return text;
}

std::string agents_csv(const market::market& world) {
    std::string text = "account,name,instrument,lots,cash_ticks,traded_lots,fees_nano\n";
    std::string name;
    std::string symbol;
    for (std::size_t i = 0; i < world.agents_count(); ++i) {
        const market::agent& who = world.agent_at(i);
        if (who.true_holdings().empty())
            text += fmt::format("{},{},,0,0,0,0\n", i + 1, csv_field(world.name_of(i), name));
        for (const market::holding& each : who.true_holdings()) {
            text += fmt::format("{},{},{},{},{},{},{}\n", i + 1, csv_field(world.name_of(i), name),
                                csv_field(world.rules(each.instrument).name.view(), symbol), each.lots, each.cash,
                                each.traded_lots, each.fees);
        }
    }
    return text;
}

std::string notes_csv(const market::market& world) {
    std::string text = "time_ns,account,name,what,value\n";
    std::string name;
    for (const market::note& each : world.notes()) {
        text += fmt::format("{},{},{},{},{}\n", each.at_ns, each.agent + 1, csv_field(world.name_of(each.agent), name),
                            world.note_name(each.what), each.value);
    }
    return text;
}

}  // namespace

std::string read_text(const fs::path& file) {
    std::optional<std::string> text = recorded::replay::read_text_file(file.string());
    if (!text) throw std::runtime_error(fmt::format("{}: cannot be read", file.string()));
    return std::move(*text);
}

void write_file(const fs::path& file, const std::string& text) {
    const fs::path draft = file.string() + ".part";
    std::ofstream out(draft, std::ios::binary);
    out << text;
    out.close();
    if (!out) {
        const std::error_code why(errno, std::generic_category());
        std::error_code ignored;
        fs::remove(draft, ignored);
        throw std::runtime_error(fmt::format("{}: cannot be written: {}", file.string(), why.message()));
    }
    fs::rename(draft, file);
}

void require_writable(const fs::path& file) {
    if (fs::is_directory(file)) throw std::runtime_error(fmt::format("{}: is a folder", file.string()));
    const fs::path draft = file.string() + ".part";
    const bool is_there = fs::exists(draft);
    const std::ofstream out(draft, std::ios::binary | std::ios::app);
    if (!out) {
        const std::error_code why(errno, std::generic_category());
        throw std::runtime_error(fmt::format("{}: cannot be written: {}", file.string(), why.message()));
    }
    if (!is_there) fs::remove(draft);
}

void write_scenario(const fs::path& folder, const market::scenario& what) {
    for (const market::scenario_file& each : what.files) {
        const fs::path file = folder / each.name;
        fs::create_directories(file.parent_path());
        write_file(file, each.text);
    }
    write_file(folder / "scenario.toml", what.text);
}

bool has_scenario(const fs::path& folder, const market::scenario& what) {
    if (read_text(folder / "scenario.toml") != what.text) return false;
    return std::ranges::all_of(what.files, [&](const market::scenario_file& each) {
        return recorded::replay::read_text_file((folder / each.name).string()) == each.text;
    });
}

market::scenario load_scenario(const fs::path& file, const fs::path& data_folder) {
    market::scenario_files from;
    from.data_folder = data_folder.string();
    return market::parse_scenario(read_text(file), file.string(), from);
}

std::string json_of(const market::scenario& what, const run_result& result) {
    nlohmann::ordered_json metrics;
    for (const market::metric& each : result.metrics) metrics[each.name] = each.value;
    nlohmann::ordered_json all{
        {"scenario", what.name},
        {"scenario_hash", fmt::format("{:016x}", base::hash_bytes(std::as_bytes(std::span(what.text))))},
        {"version", CORRO_VERSION},
        {"seed", result.seed},
        {"duration_ns", what.duration_ns},
        {"commands", result.commands},
        {"trades", result.trades},
        {"digest", fmt::format("{:016x}", result.digest)},
        {"state_hash", fmt::format("{:016x}", result.state_hash)},
        {"metrics", metrics}};
    if (result.whole) {
        all["whole"] = {{"equals_direct", result.whole->is_equal()},
                        {"direct_digest", fmt::format("{:016x}", result.whole->direct_digest)},
                        {"direct_state_hash", fmt::format("{:016x}", result.whole->direct_state_hash)},
                        {"difference", result.whole->difference}};
    }
    return all.dump(2) + "\n";
}

run_result read_result(const fs::path& file) {
    try {
        const auto all = nlohmann::ordered_json::parse(read_text(file));
        run_result made;
        made.seed = all.at("seed").get<std::uint64_t>();
        made.version = all.at("version").get<std::string>();
        if (all.contains("whole")) made.whole.emplace();
        made.commands = all.at("commands").get<std::uint64_t>();
        made.trades = all.at("trades").get<std::uint64_t>();
        made.digest = std::stoull(all.at("digest").get<std::string>(), nullptr, 16);
        made.state_hash = std::stoull(all.at("state_hash").get<std::string>(), nullptr, 16);
        for (const auto& [name, value] : all.at("metrics").items()) made.metrics.push_back({name, value.get<double>()});
        return made;
    } catch (const nlohmann::json::exception& e) {
        throw std::runtime_error(fmt::format("{}: not a result of a run: {}", file.string(), e.what()));
    }
}

std::vector<std::uint64_t> read_digests(const fs::path& file) {
    const std::string text = read_text(file);
    const auto fail = [&] { throw std::runtime_error(fmt::format("{}: not the digests of a run", file.string())); };
    if (!text.starts_with(digests_head)) fail();
    std::vector<std::uint64_t> made;
    for (std::size_t at = std::string_view(digests_head).size(); at < text.size();) {
        const std::size_t comma = text.find(',', at);
        const std::size_t end = text.find('\n', at);
        if (comma == std::string::npos || end != comma + 17) fail();
        std::uint64_t digest = 0;
        const auto [rest, error] = std::from_chars(text.data() + comma + 1, text.data() + end, digest, 16);
        if (error != std::errc() || rest != text.data() + end) fail();
        made.push_back(digest);
        at = end + 1;
    }
    return made;
}

run_result run_seed(const market::scenario& what, std::uint64_t seed) {
    return *run_seed(what, seed, nullptr);
}

std::optional<run_result> run_seed(const market::scenario& what, std::uint64_t seed,
                                   const std::atomic<bool>* stopping) {
    const auto world = what.build(seed, false);
    market::market_metrics measured(world->options(), what.sample_ns);
    world->observe_with(measured);
    std::optional<day_measures> of_day;
    if (what.day != nullptr) of_day.emplace(what, *world);
    if (stopping == nullptr) {
        world->run(what.duration_ns);
    } else {
        while (world->now_ns() < what.duration_ns) {
            if (*stopping) return {};
            world->run(std::min(world->now_ns() + what.sample_ns, what.duration_ns));
        }
    }
    return result_of(*world, seed, measured, of_day);
}

namespace {

void create(const fs::path& folder) {
    if (fs::exists(folder)) {
        throw std::runtime_error(fmt::format("{} exists; name a new folder with --out, or remove it", folder.string()));
    }
    fs::create_directories(folder);
}

/// Runs a market that has not run, and writes all of its result folder except for the result.
run_result record_into(const market::scenario& what, std::unique_ptr<market::market> world, std::uint64_t seed,
                       const fs::path& folder, bool shows_progress) {
    market::market_metrics measured(world->options(), what.sample_ns);
    world->observe_with(measured);
    digest_marks marks(*world, what.sample_ns);
    world->observe_with(marks);
    std::optional<day_measures> of_day;
    if (what.day != nullptr) of_day.emplace(what, *world);
    price_sampler prices(*world, what.duration_ns);
    world->observe_with(prices);
    market::recording_options recording;
    recording.directory = (folder / "journal").string();
    recording.venue_name = venue_name;
    int shown = -1;
    if (shows_progress && ::isatty(STDERR_FILENO) != 0) {
        recording.progress = [&](std::int64_t now_ns) {
            const auto percent =
                static_cast<int>(100 * static_cast<double>(now_ns) / static_cast<double>(what.duration_ns));
            if (percent == shown) return;
            shown = percent;
            fmt::print(stderr, "\r{:3} %  {} commands", percent, world->counts().commands);
        };
    }
    io::context context;
    journal::disk_storage disk(context);
    const journal::problem failed =
        io::block_on(context, market::record(world.get(), what.duration_ns, &disk, std::move(recording)));
    if (shown >= 0) fmt::print(stderr, "\r");
    if (failed.code) throw std::runtime_error(journal::with_advice(failed));
    run_result made = result_of(*world, seed, measured, of_day);
    made.digests = marks.take();
    write_file(folder / "digests.csv", digests_csv(made.digests, what.sample_ns));
    write_scenario(folder, what);
    write_file(folder / "venue.toml", market::venue_toml(*world, venue_name, "journal", what.instruments_toml));
    write_file(folder / "agents.csv", agents_csv(*world));
    write_file(folder / "private.csv", notes_csv(*world));
    std::vector<market::impact_curve> curves;
    if (of_day) {
        curves = of_day->curves();
        write_file(folder / "recorded.csv", of_day->prices_csv());
        write_file(folder / "impact.csv", impact_csv(curves));
    }
    write_file(folder / "report.html", run_html(what, made, prices.paths(), curves));
    return made;
}

}  // namespace

run_result run_into(const market::scenario& what, std::uint64_t seed, const fs::path& folder, bool shows_progress) {
    create(folder);
    try {
        run_result made = record_into(what, what.build(seed, true), seed, folder, shows_progress);
        write_file(folder / "result.json", json_of(what, made));
        return made;
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        throw;
    }
}

run_result run_whole_into(const market::scenario& what, std::uint64_t seed, const fs::path& folder,
                          bool shows_progress) {
    market::scenario timed = what;
    timed.options.start_ns = market::whole_market::start_ns();
    create(folder);
    try {
        const market::whole_record record = market::run_whole(timed.build(seed, false), timed.duration_ns);
        market::market_options options = timed.options;
        options.seed = seed;
        options.keeps_commands = true;
        options.keeps_notes = true;
        run_result made = record_into(timed, market::repeat(record, std::move(options)), seed, folder, shows_progress);
        const auto direct = timed.build(seed, true);
        direct->run(timed.duration_ns);
        whole_comparison& with = made.whole.emplace();
        with.direct_digest = direct->digest();
        with.direct_state_hash = direct->venue().state_hash();
        with.has_own_state_hash = made.state_hash == record.state_hash;
        with.difference = market::difference_of(direct->commands(), record.commands);
        write_file(folder / "result.json", json_of(what, made));
        return made;
    } catch (...) {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
        throw;
    }
}

}  // namespace corro::app
