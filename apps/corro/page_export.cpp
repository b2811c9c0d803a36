// SPDX-License-Identifier: Apache-2.0
#include "page_export.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "api/frame_recording.hpp"
#include "api/json_writer.hpp"
#include "api/market_levels.hpp"
#include "api/market_text.hpp"
#include "dashboard_files.hpp"

namespace corro::app {
namespace {

/// A file whose errors name it. @throws std::system_error, for example when the disk is full.
class checked_file {
 public:
    explicit checked_file(std::filesystem::path path)
        : path_(std::move(path)), out_(path_, std::ios::binary | std::ios::trunc) {
        check();
    }
    void write(std::string_view bytes) {
        out_ << bytes;
        check();
    }
    void close() {
        out_.close();
        check();
    }

 private:
    void check() const {
        if (!out_) throw std::system_error(errno, std::generic_category(), path_.string());
    }

    std::filesystem::path path_;
    std::ofstream out_;
};

void write_whole(const std::filesystem::path& path, std::string_view contents) {
    checked_file file(path);
    file.write(contents);
    file.close();
}

struct level_collector final : facility::book_visitor {
    void visit_level(domain::side side, const domain::level& level) override {
        book[static_cast<std::size_t>(side)].emplace(api::rank_of(side, level.price), level.quantity.value);
    }
    void visit_order(domain::side, const facility::resting_order&) override {}
    std::array<api::level_map, 2> book;
};

/// One instrument's file.
struct instrument_file {
    instrument_file(const std::filesystem::path& path, const domain::instrument& of, std::array<api::level_map, 2> book,
                    std::size_t tick)
        : out(path), recording(of, std::move(book), tick, [this](std::string_view bytes) { out.write(bytes); }) {}

    checked_file out;
    api::frame_recording recording;
};

class page_files final : public facility::event_consumer {
 public:
    page_files(const page_export& options, past& p) : options_(options), past_(&p) {
        for (const domain::instrument& each : p.timeline().state().instruments()) add(each);
    }

    void consume(std::span<const domain::event> events) noexcept override {
        if (!problem_.empty()) return;
        try {
            for (const domain::event& e : events) take(e);
        } catch (const std::exception& error) {
            problem_ = error.what();
        }
    }
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

    std::uint64_t finish() {
        std::uint64_t frames = 0;
        for (auto& [id, file] : files_) {
            file->recording.finish();
            file->out.close();
            frames += file->recording.frames_count();
        }
        write_description();
        return frames;
    }

 private:
    [[nodiscard]] std::filesystem::path path_of(std::uint32_t id) const {
        return options_.directory / fmt::format("market-{}.bin", id);
    }

    void add(const domain::instrument& i) {
        if (options_.only.value != 0 && options_.only != i.id) return;
        level_collector levels;
        past_->timeline().state().visit_book(i.id, levels);
        files_.emplace(i.id.value, std::make_unique<instrument_file>(path_of(i.id.value), i, std::move(levels.book),
                                                                     options_.tick));
    }

    void take(const domain::event& e) {
        const auto found = files_.find(e.instrument.value);
        if (found != files_.end()) {
            found->second->recording.take(e);
        } else if (e.kind == domain::event_kind::instrument_defined) {
            for (const domain::instrument& each : past_->timeline().state().instruments()) {
                if (each.id == e.instrument) add(each);
            }
        }
    }

    /// run.json: the instruments that had a market, with the names of their files.
    void write_description() {
        std::string text;
        api::json_writer out(text);
        out.object([&] {
            out.member("version").number(std::int64_t{1});
            out.member("venue").text(options_.venue_name);
            out.member("markets").list([&] {
                for (const auto& [id, file] : files_) {
                    const api::frame_recording& r = file->recording;
                    if (r.frames_count() == 0) {
                        std::filesystem::remove(path_of(id));
                        continue;
                    }
                    out.object([&] {
                        out.member("file").text(path_of(id).filename().string());
                        out.member("first_timestamp").number(r.first_ns() / 1'000'000);
                        out.member("last_timestamp").number(r.last_ns() / 1'000'000);
                        out.member("instrument");
                        api::write_instrument(out, r.where(), "");
                    });
                }
            });
        });
        write_whole(options_.directory / "run.json", text);
    }

    const page_export& options_;
    past* past_;
    std::map<std::uint32_t, std::unique_ptr<instrument_file>> files_;
    std::string problem_;
};

/// The dashboard's files; its page learns from an attribute that it shows a run.
void write_pages(const std::filesystem::path& directory) {
    if (dashboard_files().empty()) throw std::runtime_error("this program was built without the dashboard");
    for (const api::site_file& each : dashboard_files()) {
        std::string contents(each.contents);
        if (each.path == "index.html") {
            constexpr std::string_view mark = "<html ";
            const std::size_t at = contents.find(mark);
            if (at == std::string::npos) throw std::runtime_error("the dashboard's page has no <html>");
            contents.insert(at + mark.size(), R"(data-run="run.json" )");
        }
        write_whole(directory / each.path, contents);
    }
}

}  // namespace

std::uint64_t export_page(const page_export& options, history::moment to, past& p) {
    write_pages(options.directory);
    page_files files(options, p);
    p.advance(to, files);
    if (!files.problem().empty()) throw std::runtime_error(files.problem());
    return files.finish();
}

}  // namespace corro::app
