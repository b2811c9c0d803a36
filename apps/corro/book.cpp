// SPDX-License-Identifier: Apache-2.0
// `corro book`: prints any book at any moment of a journal.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/corro/desk/price_text.hpp"
#include "commands.hpp"
#include "history/recorded_times.hpp"
#include "past.hpp"

namespace corro::app {
namespace {

struct book_options {
    past_options past;
    std::string at;
    std::string instrument;
    std::string times;
    std::uint32_t depth = 10;
    bool shows_orders = false;
    bool explains = false;
};

struct side_of_book {
    struct level {
        domain::level total;
        std::vector<facility::resting_order> orders;
    };
    std::vector<level> levels;  ///< best first
};

struct collector final : facility::book_visitor {
    explicit collector(std::uint32_t levels_max) : depth(levels_max) {}
    void visit_level(domain::side side, const domain::level& level) override {
        side_of_book& s = side == domain::side::buy ? bids : asks;
        is_beyond = s.levels.size() == depth;
        if (!is_beyond) s.levels.push_back({level, {}});
    }
    void visit_order(domain::side side, const facility::resting_order& order) override {
        if (!is_beyond) (side == domain::side::buy ? bids : asks).levels.back().orders.push_back(order);
    }
    std::uint32_t depth;
    bool is_beyond = false;
    side_of_book bids;
    side_of_book asks;
};

void print_levels(const domain::instrument& i, const collector& book) {
    fmt::print("{:>8}{:>14}{:>16}  |{:>16}{:>14}{:>8}\n", "orders", "quantity", "bid", "ask", "quantity", "orders");
    const std::size_t rows = std::max(book.bids.levels.size(), book.asks.levels.size());
    for (std::size_t row = 0; row < rows; ++row) {
        std::string left;
        std::string right;
        if (row < book.bids.levels.size()) {
            const domain::level& l = book.bids.levels[row].total;
            left = fmt::format("{:>8}{:>14}{:>16}", l.orders_count, l.quantity.value * i.lot_size,
                               format_price(i, l.price));
        }
        if (row < book.asks.levels.size()) {
            const domain::level& l = book.asks.levels[row].total;
            right = fmt::format("{:>16}{:>14}{:>8}", format_price(i, l.price), l.quantity.value * i.lot_size,
                                l.orders_count);
        }
        fmt::print("{:>38}  |{}\n", left, right);
    }
    if (rows == 0) fmt::print("{:>38}  |{:>16}\n", "none", "none");
}

void print_orders(const domain::instrument& i, const char* side, const side_of_book& from) {
    for (const side_of_book::level& level : from.levels) {
        for (const facility::resting_order& o : level.orders) {
            fmt::print("{:<5}{:>16}{:>12}{:>12}{:>22}{:>10}{:>22}\n", side, format_price(i, o.price),
                       o.open.value * i.lot_size, o.filled.value * i.lot_size, o.order.value, o.account.value,
                       o.client_order.value);
        }
    }
}

void print_book(const facility::facility& state, const domain::instrument& i, const book_options& options) {
    collector book(options.depth);
    state.visit_book(i.id, book);
    const domain::price_summary prices = state.prices_of(i.id);
    const domain::volume_summary volumes = state.volumes_of(i.id);
    fmt::print("\n{}   last {}  high {}  low {}  open {}  volume {}  open interest {}\n", i.name.view(),
               format_price(i, prices.last), format_price(i, prices.high), format_price(i, prices.low),
               format_price(i, prices.open), volumes.volume.value * i.lot_size,
               volumes.open_interest.value * i.lot_size);
    print_levels(i, book);
    const domain::top implied = state.implied_top_of(i.id);
    if (implied.bid_quantity.value + implied.ask_quantity.value != 0) {
        fmt::print("{:>8}{:>14}{:>16}  |{:>16}{:>14}\n", "implied", implied.bid_quantity.value * i.lot_size,
                   format_price(i, implied.bid_price), format_price(i, implied.ask_price),
                   implied.ask_quantity.value * i.lot_size);
    }
    if (!options.shows_orders) return;
    fmt::print("{:<5}{:>16}{:>12}{:>12}{:>22}{:>10}{:>22}\n", "side", "price", "open", "filled", "order", "account",
               "client order");
    print_orders(i, "buy", book.bids);
    print_orders(i, "sell", book.asks);
}

/// Prints the books of one journal; of one instrument, unless `only` is null.
void print_books(past& p, const domain::instrument* only, const book_options& options) {
    const facility::facility& state = p.timeline().state();
    const facility::snapshot_position here = state.position();
    if (here.sequence.value == 0) {
        fmt::print("before the first command\n");
    } else {
        fmt::print("after command {} at {}, {} open orders\n", here.sequence.value, history::format_time(here.time),
                   state.open_orders_count());
    }
    for (const domain::instrument& i : state.instruments()) {
        if (only == nullptr || only->id == i.id) print_book(state, i, options);
    }
    if (options.explains) {
        fmt::print("\nstate hash {:016x}\n", state.state_hash());
        fmt::print(stderr, "snapshot after command {}, {} commands executed\n", p.timeline().loaded_sequence(),
                   p.timeline().executed_count());
    }
}

/// Finds the last command before the first one that was recorded later than a time.
class recorded_moment final : facility::event_consumer, history::command_listener {
 public:
    recorded_moment(const history::recorded_times& times, domain::time_ns at) : times_(times), at_(at) {}

    /// Executes the journal from its beginning. @throws std::runtime_error
    [[nodiscard]] history::moment find(const journal_source& journal) {
        past p(journal);
        p.advance(history::latest(), *this, this);
        return history::moment(found_);
    }

 private:
    void executing(const domain::command& command) noexcept override {
        const auto recorded = times_.of(command.session, command.request());
        is_over_ = is_over_ || (recorded && *recorded > at_);
        if (!is_over_) found_ = command.sequence;
    }
    void consume(std::span<const domain::event> /*events*/) noexcept override {}

    const history::recorded_times& times_;
    domain::time_ns at_;
    domain::sequence_number found_{};
    bool is_over_ = false;
};

constexpr const char* end_of_journal = "end";

int run(const book_options& options) {
    const bool is_end = options.at == end_of_journal;
    history::moment at = is_end ? history::latest() : moment_of("--at", options.at);
    const std::vector<journal_source> journals = journals_of(options.past, options.instrument);
    if (!at.is_time && !is_end) require_one(journals, "--at " + options.at);
    if (!options.times.empty()) {
        require_one(journals, "--times");
        if (!at.is_time) throw std::runtime_error("--times: --at has to be a time");
        const history::recorded_times times = history::recorded_times::load(options.times);
        at = recorded_moment(times, at.time).find(journals.front());
    }
    unknown_instrument unknown(options.instrument, journals);
    bool is_printed = false;
    for (const journal_source& journal : journals) {
        past p(journal);
        p.go_to(at);
        const domain::instrument* const only = options.instrument.empty() ? nullptr : p.find(options.instrument);
        if (only == nullptr && !options.instrument.empty()) {
            unknown.add_known(p);
            continue;
        }
        if (journals.size() > 1) fmt::print("{}partition {}: ", is_printed ? "\n" : "", journal.partition);
        print_books(p, only, options);
        is_printed = true;
    }
    if (!is_printed) unknown.report();
    return 0;
}

}  // namespace

void add_book_command(command_line& line) {
    const auto options = std::make_shared<book_options>();
    const subcommand command =
        line.add_subcommand("book", "Print the book of any instrument at any moment of a journal");
    add_past_options(command, options->past);
    command
        .add_option("--at", options->at,
                    "State after this command, or after the last command not later than this time (UTC, as\n"
                    "2026-11-22T09:30:00.123456789); end: after all commands")
        .required();
    command.add_option(
        "--times", options->times,
        "Take the time of --at as a recorded one: `corro replay --times` wrote those of its requests to this file");
    command.add_option("--instrument", options->instrument, "Print only the book of this instrument");
    command.add_option("--depth", options->depth, "Number of levels of each side")
        .shows_default()
        .in_range(1U, history::depth_max);
    command.add_flag("--orders", options->shows_orders, "Print also every order of these levels, by priority");
    command.add_flag("--explain", options->explains,
                     "Print also the state hash, the snapshot used and the number of commands after it");
    command.add_flag("--no-index", options->past.ignores_index, "Execute every command from the first on");
    command.footer(
        "`corro journal index` makes this fast for long journals. docs/howto/history.md shows examples.\n"
        "Exit code: 0 if the book was printed, 1 if the journal has no such moment or cannot be read.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
