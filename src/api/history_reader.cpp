// SPDX-License-Identifier: Apache-2.0
#include "api/history_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/frame_writer.hpp"
#include "api/history_rows.hpp"
#include "api/market_columns.hpp"
#include "api/market_levels.hpp"
#include "api/time_units.hpp"
#include "journal/errors.hpp"

namespace corro::api {
namespace {

using history::moment;

/// Commands between two looks at whether an answer is full.
constexpr std::uint64_t commands_per_step = 2'000;

/// Without the text of the journal, which names folders of the venue's machine.
api_error unreadable() {
    return api_error(error_code::system_maintenance, {}, "the journal cannot be read");
}

api_error too_far() {
    return api_error(error_code::system_maintenance, {},
                     "no snapshot is near enough to this moment; make an index with: corro journal index");
}

api_error given_up() {
    return api_error(error_code::system_maintenance, {}, "the client has ended its connection");
}

/// @param param  The one that has named the moment.
api_error no_such_moment(std::string_view param) {
    return api_error(error_code::invalid_params, std::string(param), "the journal has no such command");
}

/// The levels of a book.
struct level_collector final : facility::book_visitor {
    void visit_level(domain::side side, const domain::level& level) override {
        book[static_cast<std::size_t>(side)].emplace(rank_of(side, level.price), level.quantity.value);
    }
    void visit_order(domain::side, const facility::resting_order&) override {}
    market_columns::book book;
};

market_columns::book levels_of(const facility::facility& state, domain::instrument_id of) {
    level_collector levels;
    state.visit_book(of, levels);
    return std::move(levels.book);
}

/// Columns of the changes of an instrument's levels.
struct column_recorder final : facility::event_consumer {
    column_recorder(domain::instrument_id which, market_columns::book now, std::int64_t time_us, std::int64_t length_us)
        : of(which), book(std::move(now)), columns(book, time_us, length_us) {}

    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            if (e.instrument != of) continue;
            if (e.kind == domain::event_kind::level_changed) {
                end_slots(e);
                const std::int64_t rank = rank_of(e.side, e.level.price);
                level_map& levels = book[static_cast<std::size_t>(e.side)];
                const auto found = levels.find(rank);
                const std::uint64_t before = found == levels.end() ? 0 : found->second;
                const std::uint64_t after = e.level.quantity.value;
                if (after == 0) {
                    levels.erase(rank);
                } else {
                    levels[rank] = after;
                }
                columns.on_level(e.side, rank, before, after);
            } else if (e.kind == domain::event_kind::trade) {
                end_slots(e);
                columns.on_trade(e.side, e.trade.price, e.trade.quantity.value);
            }
        }
    }
    void end_slots(const domain::event& e) { columns.end_slots_until(e.time.value / ns_per_us, book, ended); }

    domain::instrument_id of;
    market_columns::book book;
    market_columns columns;
    std::vector<market_column> ended;
};

}  // namespace

history_reader::history_reader(journal::storage* files, history_source source)
    : files_(files), source_(std::move(source)) {}

bool history_reader::is_configured(std::string_view instrument) const noexcept {
    return std::ranges::any_of(source_.venue.instruments,
                               [&](const domain::instrument& each) { return each.name.view() == instrument; });
}

const domain::instrument* history_reader::find(std::string_view name) const noexcept {
    for (const domain::instrument& each : past_->state().instruments()) {
        if (each.name.view() == name) return &each;
    }
    return nullptr;
}

void history_reader::stamp(history_answer& answer) const noexcept {
    answer.sequence = past_->state().position().sequence.value;
    answer.time_ns = past_->state().position().time.value;
}

io::task<std::optional<api_error>> history_reader::go_to(moment at, std::string_view param) {
    past_->limit_work(commands_per_step);
    auto done = co_await past_->go_to(at);
    commands_count_ += past_->executed_count();
    bool goes_on = done && past_->is_cut();
    for (std::uint64_t executed = commands_per_step; goes_on && executed < history_commands_max;
         executed += commands_per_step) {
        if (is_given_up()) co_return given_up();
        done = co_await past_->advance(at);
        commands_count_ += commands_per_step;
        goes_on = done && past_->is_cut();
    }
    if (!done) {
        const bool is_missing = done.error().code == journal::journal_errc::out_of_reach;
        past_.reset();
        co_return is_missing ? no_such_moment(param) : unreadable();
    }
    if (goes_on) co_return too_far();
    const bool is_beyond =
        !at.is_time && at != history::latest() && past_->state().position().sequence.value < at.sequence.value;
    if (is_beyond) co_return no_such_moment(param);
    co_return std::nullopt;
}

/// Opens the journal unless it is open, and looks for new snapshots.
io::task<bool> history_reader::open() {
    if (past_ == nullptr) {
        auto opened = co_await history::timeline::open(files_, source_.directory, source_.venue);
        if (!opened) co_return false;
        past_ = std::move(*opened);
    }
    co_return past_->index().look().has_value();
}

io::task<history_result> history_reader::answer(const history_query* asked, const std::atomic<bool>* given_up) {
    given_up_ = given_up;
    const bool is_open = co_await open();
    if (!is_open) co_return std::unexpected(unreadable());
    if (asked->pictures) co_return co_await pictures_of(asked);
    const std::string_view param = asked->table == history_table::book ? "at" : "from";
    std::optional<api_error> problem = co_await go_to(asked->from, param);
    if (problem && asked->from == moment(domain::sequence_number{0})) {
        // The first segments may have been removed: all is what follows the oldest snapshot.
        const bool is_open_again = co_await open();
        const std::vector<std::uint64_t> all =
            is_open_again ? past_->index().sequences() : std::vector<std::uint64_t>();
        if (!all.empty()) problem = co_await go_to(moment(domain::sequence_number{all.front()}), param);
    }
    if (problem) co_return std::unexpected(*problem);
    switch (asked->table) {
        case history_table::book: co_return book_of(*asked);
        case history_table::columns: co_return co_await columns_of(asked);
        default: co_return co_await rows_of(asked);
    }
}

history_result history_reader::book_of(const history_query& asked) const {
    const domain::instrument* const of = find(asked.instrument);
    if (of == nullptr) return std::unexpected(api_error(error_code::invalid_instrument));
    struct collector final : facility::book_visitor {
        void visit_level(domain::side side, const domain::level& level) override {
            std::uint64_t& count = counts[static_cast<std::size_t>(side)];
            if (++count > depth) return;
            table.columns[0].add(std::string_view(side == domain::side::buy ? "buy" : "sell"));
            table.columns[1].add(level.price.value * of->tick_size.value);
            table.columns[2].add(static_cast<std::int64_t>(level.quantity.value * of->lot_size));
            table.columns[3].add(static_cast<std::int64_t>(level.orders_count));
        }
        void visit_order(domain::side, const facility::resting_order&) override {}
        const domain::instrument* of = nullptr;
        std::uint64_t depth = 0;
        std::array<std::uint64_t, 2> counts{};
        row_table table;
    } levels;
    levels.of = of;
    levels.depth = asked.depth;
    levels.table.columns = {{"side", column_type::text},
                            {"price", column_type::decimal},
                            {"quantity", column_type::integer},
                            {"orders", column_type::integer}};
    past_->state().visit_book(of->id, levels);
    history_answer answer;
    stamp(answer);
    if (asked.wants_digest) answer.digest = past_->state().state_hash();
    answer.body = text_of(levels.table, asked.format);
    return answer;
}

io::task<history_result> history_reader::rows_of(const history_query* asked) {
    const domain::instrument* const of = find(asked->instrument);
    if (of == nullptr) co_return std::unexpected(api_error(error_code::invalid_instrument));
    history_rows rows(*asked, *of);
    past_->limit_work(commands_per_step);
    std::uint64_t executed = 0;
    history_answer answer;
    while (true) {
        const auto done = co_await past_->advance(asked->to, &rows);
        if (!done) co_return std::unexpected(unreadable());
        stamp(answer);
        executed += commands_per_step;
        commands_count_ += commands_per_step;
        if (is_given_up()) co_return std::unexpected(given_up());
        if (rows.full_after()) {
            // The step has executed further than the rows go.
            answer.next = rows.full_after();
            answer.sequence = *answer.next;
            answer.time_ns = rows.last_time_ns();
            break;
        }
        if (!past_->is_cut()) break;
        if (executed < history_commands_max) continue;
        answer.next = answer.sequence;
        break;
    }
    answer.body = text_of(rows.table(), asked->format);
    co_return answer;
}

io::task<history_result> history_reader::columns_of(const history_query* asked) {
    const domain::instrument* const of = find(asked->instrument);
    if (of == nullptr) co_return std::unexpected(api_error(error_code::invalid_instrument));
    const facility::snapshot_position here = past_->state().position();
    // Before the first command there is no time; the first event gives it.
    column_recorder recorder(of->id, levels_of(past_->state(), of->id), here.time.value / ns_per_us, asked->column_us);
    market_column first = recorder.columns.whole();
    past_->limit_work(commands_per_step);
    std::uint64_t executed = 0;
    history_answer answer;
    while (true) {
        const auto done = co_await past_->advance(asked->to, &recorder);
        if (!done) co_return std::unexpected(unreadable());
        stamp(answer);
        executed += commands_per_step;
        commands_count_ += commands_per_step;
        if (is_given_up()) co_return std::unexpected(given_up());
        if (!past_->is_cut()) break;
        const bool is_full = executed >= history_commands_max || recorder.ended.size() >= history_columns_max;
        if (!is_full) continue;
        answer.next = answer.sequence;
        break;
    }
    if (!answer.next && asked->to.is_time) {
        recorder.columns.end_slots_until(asked->to.time.value / ns_per_us, recorder.book, recorder.ended);
    }
    frame_writer frame;
    frame.begin_history(answer.sequence, answer.time_ns / ns_per_us);
    frame.add_column(first);
    for (const market_column& each : recorder.ended) frame.add_column(each);
    answer.body = frame.bytes();
    co_return answer;
}

/// Books at snapshots of the index, which cost no command: the way to show a long time.
io::task<history_result> history_reader::pictures_of(const history_query* asked) {
    const std::vector<std::uint64_t> all = past_->index().sequences();
    const std::size_t begin = co_await past_->index().count_until(asked->from);
    const std::size_t end = co_await past_->index().count_until(asked->to);
    const std::size_t there = end - std::min(begin, end);
    const std::size_t count = std::min<std::size_t>(there, *asked->pictures);
    frame_writer frame;
    frame.begin_history(0, 0);
    history_answer answer;
    market_columns::book shown;
    market_column last;
    for (std::size_t k = 0; k < count; ++k) {
        if (is_given_up()) co_return std::unexpected(given_up());
        const std::uint64_t sequence = all[begin + (k + 1) * there / count - 1];
        const std::optional<api_error> problem = co_await go_to(moment(domain::sequence_number{sequence}), "from");
        if (problem) co_return std::unexpected(*problem);
        const domain::instrument* const of = find(asked->instrument);
        if (of == nullptr) continue;
        stamp(answer);
        market_columns::book now = levels_of(past_->state(), of->id);
        frame.add_column(difference(shown, now, answer.time_ns / ns_per_us));
        shown = std::move(now);
    }
    frame.set_position(answer.sequence, answer.time_ns / ns_per_us);
    answer.body = frame.bytes();
    co_return answer;
}

}  // namespace corro::api
