// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "recorded/recorded_file.hpp"
#include "recorded/replay/order_flow.hpp"
#include "recorded/replay/quote_flow.hpp"
#include "recorded/replay/recorded_itch.hpp"
#include "recorded/replay/recorded_orders.hpp"
#include "recorded/replay/recorded_quotes.hpp"

namespace corro::recorded::replay {
namespace {

/// Returns an instrument with this tick size whose band includes `low` to `high`.
domain::instrument suitable_instrument(const std::string& name, domain::price_nano tick, domain::price_nano low,
                                       domain::price_nano high) {
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{name.empty() ? std::string_view("REPLAY") : std::string_view(name)};
    i.tick_size = tick;
    i.price_low = domain::price_ticks{low.value / tick.value};
    i.price_high = domain::price_ticks{high.value / tick.value};
    return i;
}

/// Databento DBN, market by order.
class order_recording final : public recording {
 public:
    explicit order_recording(const recording_options& options)
        : files_(options.files), survey_(survey_orders(options.files, options.recorded_instrument)) {
        if (options.opening == "auction") survey_.how = opening::auction;
        if (options.opening == "continuous") survey_.how = opening::continuous;
    }

    domain::instrument instrument() const override {
        return suitable_instrument(survey_.name, survey_.price_step, survey_.price_low, survey_.price_high);
    }
    std::uint64_t orders_max() const override { return survey_.adds; }
    bool begins_before_auction() const override { return survey_.how == opening::auction; }
    domain::time_ns first_time() const override { return survey_.first_time; }
    std::uint64_t total() const override { return survey_.records; }
    flow& open(const domain::instrument& instrument, difference_log& log) override {
        require_fit(survey_, instrument);
        flow_.emplace(open_orders(files_, survey_, instrument), survey_.how, log);
        return *flow_;
    }
    void finish(const feed::book_image& book) override { flow_->compare_at_end(book); }
    std::vector<report_section> sections() const override { return sections_of(*flow_); }

 private:
    std::vector<std::filesystem::path> files_;
    order_survey survey_;
    std::optional<order_flow> flow_;
};

/// LOBSTER: a message file and its book file.
class quotes_recording final : public recording {
 public:
    explicit quotes_recording(const recording_options& options) {
        if (options.files.size() != 2) {
            throw replay_error(
                fmt::format("{}: not a DBN or ITCH file; a LOBSTER recording needs two files: messages and orderbook",
                            options.files.front().string()));
        }
        messages_ = options.files[0];
        books_ = options.files[1];
        if (is_book(messages_) && !is_book(books_)) std::swap(messages_, books_);
        survey_ = survey_quotes(messages_, books_);
    }

    domain::instrument instrument() const override {
        const std::string file = messages_.filename().string();
        return suitable_instrument(file.substr(0, file.find_first_of("_.")), survey_.price_step, survey_.price_low,
                                   survey_.price_high);
    }
    std::uint64_t orders_max() const override { return 2 * survey_.rows; }
    /// The messages have the time since midnight, the file name has the day.
    domain::time_ns times_begin() const override {
        const std::string file = messages_.filename().string();
        int year = 0;
        unsigned month = 0;
        unsigned day = 0;
        const std::size_t at = file.find('_');
        if (at == std::string::npos || std::sscanf(file.c_str() + at, "_%4d-%2u-%2u_", &year, &month, &day) != 3) {
            return {};
        }
        const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                               std::chrono::day{day}};
        if (!date.ok()) return {};
        return domain::time_ns{std::chrono::nanoseconds(std::chrono::sys_days{date}.time_since_epoch()).count()};
    }
    domain::time_ns first_time() const override { return survey_.first_time; }
    std::uint64_t total() const override { return survey_.rows; }
    flow& open(const domain::instrument& instrument, difference_log& log) override {
        recording_ = load_quotes(messages_, books_, instrument);
        flow_.emplace(recording_, log);
        return *flow_;
    }
    void finish(const feed::book_image& /*book*/) override {}
    std::vector<report_section> sections() const override { return sections_of(*flow_); }

 private:
    static bool is_book(const std::filesystem::path& path) {
        return path.filename().string().find("orderbook") != std::string::npos;
    }

    std::filesystem::path messages_, books_;
    quote_survey survey_;
    quote_recording recording_;
    std::optional<quote_flow> flow_;
};

/// Nasdaq TotalView-ITCH: one stock of a day.
class itch_recording final : public recording {
 public:
    explicit itch_recording(const recording_options& options) : file_(options.files.front()) {
        if (options.files.size() != 1) {
            throw replay_error(fmt::format("{}: an ITCH recording is one file", options.files[1].string()));
        }
        survey_ = survey_itch(file_, options.stock);
    }

    domain::instrument instrument() const override {
        return suitable_instrument(survey_.name, survey_.price_step, survey_.price_low, survey_.price_high);
    }
    std::uint64_t orders_max() const override { return survey_.adds; }
    domain::time_ns first_time() const override { return survey_.first_time; }
    std::uint64_t total() const override { return survey_.records; }
    flow& open(const domain::instrument& instrument, difference_log& log) override {
        require_fit(survey_, instrument);
        flow_.emplace(open_itch(file_, survey_, instrument), survey_.how, log);
        return *flow_;
    }
    void finish(const feed::book_image& book) override { flow_->compare_at_end(book); }
    std::vector<report_section> sections() const override {
        std::vector<report_section> all = sections_of(*flow_);
        all.insert(all.begin() + 1, section_of(survey_.not_replayed));
        return all;
    }

 private:
    std::filesystem::path file_;
    itch_survey survey_;
    std::optional<order_flow> flow_;
};

/// The format that the first bytes show: "dbn", "itch", or "lobster" for all others.
std::string_view format_of(const std::filesystem::path& path) {
    auto file = recorded_file::open(path);
    if (!file) throw replay_error(fmt::format("{}: {}", path.string(), file.error().message()));
    const auto piece = file->read();
    if (!piece) throw replay_error(fmt::format("{}: {}", path.string(), to_string(piece.error())));
    if (piece->size() < 3) return "lobster";
    if (std::memcmp(piece->data(), "DBN", 3) == 0) return "dbn";
    // A day of ITCH begins with a system event of 12 bytes.
    return std::memcmp(piece->data(), "\0\014S", 3) == 0 ? "itch" : "lobster";
}

}  // namespace

std::vector<std::filesystem::path> find_recording(const std::vector<std::string>& names, const std::string& beside,
                                                  const std::string& data_folder) {
    std::vector<std::filesystem::path> found;
    for (const std::string& each : names) {
        std::filesystem::path near = std::filesystem::path(beside).parent_path() / each;
        std::error_code ignored;
        const bool is_near = data_folder.empty() || std::filesystem::exists(near, ignored);
        found.push_back(is_near ? std::move(near) : std::filesystem::path(data_folder) / each);
    }
    return found;
}

std::optional<std::string> read_text_file(const std::string& file) {
    std::error_code ignored;
    std::ifstream in(file, std::ios::binary);
    if (!in || std::filesystem::is_directory(file, ignored)) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<recording> survey_recording(const recording_options& options) {
    const std::string_view format = options.format == "auto" ? format_of(options.files.front()) : options.format;
    if (format == "dbn") return std::make_unique<order_recording>(options);
    if (format == "itch") return std::make_unique<itch_recording>(options);
    return std::make_unique<quotes_recording>(options);
}

}  // namespace corro::recorded::replay
