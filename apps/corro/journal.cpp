// SPDX-License-Identifier: Apache-2.0
// `corro journal`: inspects a journal without a venue. Of the subcommands in this file only `adopt` changes files.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <expected>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "commands.hpp"
#include "domain/decimal.hpp"
#include "domain/definition.hpp"
#include "domain/long_name.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/manifest.hpp"
#include "journal/reader.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"

namespace corro::app {
namespace {

using domain::command_kind;

struct journal_options {
    std::string directory;
    std::uint64_t from = 0;
    std::uint64_t count = ~std::uint64_t{0};
};

std::string time_of(std::int64_t ns) {
    const std::chrono::sys_time<std::chrono::nanoseconds> point{std::chrono::nanoseconds(ns)};
    const auto seconds = std::chrono::floor<std::chrono::seconds>(point);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:09}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                       (point - seconds).count());
}

std::string_view name_of(command_kind kind) {
    switch (kind) {
        case command_kind::enter_order: return "enter_order";
        case command_kind::amend_order: return "amend_order";
        case command_kind::cancel_order: return "cancel_order";
        case command_kind::cancel_orders: return "cancel_orders";
        case command_kind::enter_quote: return "enter_quote";
        case command_kind::set_protection: return "set_protection";
        case command_kind::reset_protection: return "reset_protection";
        case command_kind::change_phase: return "change_phase";
        case command_kind::set_limits: return "set_limits";
        case command_kind::kill_switch: return "kill_switch";
        case command_kind::settle_instrument: return "settle_instrument";
        case command_kind::query_order: return "query_order";
        case command_kind::new_trading_day: return "new_trading_day";
        case command_kind::define_instrument: return "define_instrument";
        case command_kind::cancel_on_disconnect: return "cancel_on_disconnect";
        case command_kind::define_account: return "define_account";
        case command_kind::set_account_limits: return "set_account_limits";
        case command_kind::reset_session_numbers: return "reset_session_numbers";
        case command_kind::count_messages: return "count_messages";
        case command_kind::name_order: return "name_order";
        default: return "other";
    }
}

std::string_view name_of(journal::tail_state tail) {
    switch (tail) {
        case journal::tail_state::empty: return "there is no segment";
        case journal::tail_state::sealed: return "closed";
        case journal::tail_state::open: return "not closed: the writer is running, or was killed; nothing is damaged";
        case journal::tail_state::torn:
            return "not closed, and the last write is incomplete: the next start cuts it off, which loses nothing that "
                   "a durable mode has acknowledged";
    }
    return "";
}

int say(const journal::problem& problem) {
    fmt::print(stderr, "corro journal: {}\n", problem.text);
    if (const std::string_view advice = journal::advice_for(problem.code); !advice.empty())
        fmt::print(stderr, "{}\n", advice);
    return 1;
}

/// Shows the progress in one line of a terminal, a few times a second. Shows nothing without a terminal.
class progress_line {
 public:
    void show(const journal::reader& reader) {
        const auto now = std::chrono::steady_clock::now();
        if (!is_watched_ || now < due_) return;
        due_ = now + std::chrono::milliseconds(200);
        fmt::print(stderr, "\r{:3.0f} % of {} MiB ",
                   100.0 * static_cast<double>(reader.bytes_done()) / static_cast<double>(reader.bytes_total()),
                   reader.bytes_total() >> 20U);
        is_shown_ = true;
    }
    ~progress_line() {
        if (is_shown_) fmt::print(stderr, "\r{:30}\r", "");
    }
    progress_line() = default;
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

 private:
    bool is_watched_ = ::isatty(STDERR_FILENO) != 0;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
};

using opened_reader = std::expected<std::unique_ptr<journal::reader>, journal::problem>;

/// Calls `each` for every command from `from` on until it returns false.
template <class Each>
io::task<std::expected<void, journal::problem>> read_commands(journal::reader* reader, Each* each) {
    progress_line progress;
    for (;;) {
        const auto commands = co_await reader->next();
        if (!commands) co_return std::unexpected(commands.error());
        if (commands->empty()) break;
        for (const domain::command& command : *commands) {
            if (!(*each)(command)) co_return std::expected<void, journal::problem>();
        }
        progress.show(*reader);
    }
    co_return std::expected<void, journal::problem>();
}

void print_segments(const journal::reader& reader) {
    fmt::print("{:>10}  {:>12}  {:>12}  {:>5}  {:>12}  {}\n", "segment", "first", "last", "epoch", "bytes", "made");
    for (const journal::segment_summary& each : reader.segments()) {
        const bool is_known = each.last_sequence >= each.header.first_sequence;
        fmt::print("{:>10}  {:>12}  {:>12}  {:>5}  {:>12}  {}\n", each.header.number, each.header.first_sequence,
                   is_known ? fmt::to_string(each.last_sequence) : "-", each.header.epoch, each.bytes,
                   time_of(each.header.created_ns));
    }
}

int print_snapshots(io::context& ctx, journal::storage& files, const std::string& directory) {
    journal::snapshot_store store(&files, directory, std::nullopt);
    const auto all = store.list();
    if (!all) return say(all.error());
    int spoilt_count = 0;
    for (const std::uint64_t sequence : *all) {
        const auto loaded = io::block_on(ctx, store.load(sequence));
        if (loaded) {
            fmt::print("snapshot after {}: {} bytes, made {}, state hash {:016x}\n", sequence, loaded->bytes.size(),
                       time_of(loaded->about.created_ns), loaded->about.state_hash);
        } else {
            ++spoilt_count;
            fmt::print("snapshot after {}: {}; a start ignores it\n", sequence, loaded.error().text);
        }
    }
    return spoilt_count == 0 ? 0 : 1;
}

/// The columns that depend on the command's kind.
struct columns {
    domain::side side = domain::side::buy;
    domain::price_ticks price{};
    std::uint32_t quantity = 0;
    domain::order_id order{};
};

columns columns_of(const domain::command& c) {
    using domain::command_kind;
    switch (c.kind) {
        case command_kind::enter_order:
            return {.side = c.order_terms().side,
                    .price = c.enter_order().price,
                    .quantity = c.enter_order().quantity.value};
        case command_kind::amend_order:
            return {.price = c.amend_order().price,
                    .quantity = c.amend_order().quantity.value,
                    .order = c.amend_order().order};
        case command_kind::cancel_order: return {.order = c.cancel_order().order};
        case command_kind::query_order: return {.order = c.query_order().order};
        case command_kind::enter_quote:
            return {.price = c.enter_quote().bid_price, .quantity = c.enter_quote().bid_quantity.value};
        case command_kind::set_protection: return {.quantity = c.set_protection().quantity_max.value};
        case command_kind::set_limits:
        case command_kind::set_account_limits: return {.quantity = c.set_limits().order_quantity_max.value};
        case command_kind::settle_instrument: return {.price = c.settle_instrument().price};
        case command_kind::define_account: return {.quantity = c.define_account().sessions_count};
        case command_kind::count_messages: return {.quantity = c.count_messages().count};
        default: return {};
    }
}

/// Prints the fields of few commands, behind the columns.
void print_more(const domain::command& c) {
    if (c.may_have_name() && c.request_name().value != 0) fmt::print(" name={}", c.request_name().value);
    if (c.kind == command_kind::count_messages) {
        fmt::print(" number={} next_answer={}", c.count_messages().number, c.count_messages().next_answer);
    }
    if (c.kind == command_kind::name_order) {
        const domain::long_name_text text = domain::long_name_of(c);
        const bool is_readable = domain::long_name(text.view()).value != 0;
        fmt::print(" name={} text={}", c.client_order.value, is_readable ? text.view() : "?");
    }
}

/// Prints the common columns, then the definition.
void print_definition(const domain::command& c) {
    const domain::definition d = domain::definition_of(c);
    const std::string_view name = d.name.view();
    const bool is_readable = std::all_of(name.begin(), name.end(), [](char x) { return x > ' ' && x <= '~'; });
    fmt::print("{} {} {} {} {} {} buy 0 0 0 0 {} {} name={} like={}", c.sequence.value, time_of(c.time.value),
               name_of(c.kind), c.instrument.value, c.account.value, c.session.value, c.request(),
               static_cast<unsigned>(c.verdict()), is_readable ? name : "?", d.like.value);
    const auto gives = [&d](std::uint8_t field) { return (d.given & field) != 0; };
    if (gives(domain::definition_field::expiry)) fmt::print(" expiry={}", time_of(d.expiry.value));
    if (gives(domain::definition_field::option)) {
        fmt::print(" right={} strike={}", static_cast<unsigned>(d.right),
                   domain::format_decimal(d.strike.value).view());
    }
    if (gives(domain::definition_field::price_low)) {
        fmt::print(" low={}", domain::format_decimal(d.price_low.value).view());
    }
    if (gives(domain::definition_field::price_high)) {
        fmt::print(" high={}", domain::format_decimal(d.price_high.value).view());
    }
    for (const domain::instrument_id leg : d.legs_used()) fmt::print(" leg={}", leg.value);
    fmt::print("\n");
}

class looking {
 public:
    explicit looking(const journal_options& options) : options_(options) {
        // Reads the manifest before the segments, so that a running venue can only add segments after it.
        manifest_ = io::block_on(ctx_, journal::read_manifest(&files_, options.directory));
        journal::reader_options reading;
        reading.from_sequence = options.from;
        reader_ = io::block_on(ctx_, journal::reader::open(&files_, options.directory, reading));
    }

    int stat() {
        if (!reader_) return say(reader_.error());
        const journal::reader& reader = **reader_;
        if (reader.segments().empty()) return print_empty();
        fmt::print("{}: journal of {}\n", options_.directory, describe(reader.segments().front().header.venue));
        print_segments(reader);
        fmt::print("{} segments, {} bytes\n", reader.segments().size(), reader.bytes_total());
        return print_snapshots(ctx_, files_, options_.directory);
    }

    int verify() {
        if (!reader_) return say(reader_.error());
        journal::reader& reader = **reader_;
        if (reader.segments().empty()) return print_empty();
        std::uint64_t count = 0;
        auto each = [&count](const domain::command&) {
            ++count;
            return true;
        };
        const auto start = std::chrono::steady_clock::now();
        const auto done = io::block_on(ctx_, read_commands(&reader, &each));
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        if (!done) {
            fmt::print("{} commands before this are valid:\n", count);
            std::fflush(stdout);
            return say(done.error());
        }
        const journal::journal_end& end = reader.end();
        fmt::print("{} commands in {} segments are valid; checked in {:.2f} s\n", count, end.segments.size(), seconds);
        fmt::print("next sequence number {}; {}\n", end.next_sequence, name_of(end.tail));
        if (end.torn_bytes != 0) fmt::print("the last {} bytes are a torn write\n", end.torn_bytes);
        const int snapshots = print_snapshots(ctx_, files_, options_.directory);
        return check_manifest(end) != 0 ? 1 : snapshots;
    }

    /// Accepts the journal as it is: the next start does not require the missing files.
    int adopt() {
        const auto lock = io::block_on(ctx_, journal::directory_lock::take(&files_, options_.directory));
        if (!lock) return say(lock.error());
        const auto end = io::block_on(ctx_, journal::adopt_journal(&files_, options_.directory));
        if (!end) return say(end.error());
        fmt::print("{}: the manifest lists {} segments; the next sequence number is {}\n", options_.directory,
                   end->segments.size(), end->next_sequence);
        return 0;
    }

    int dump() {
        if (!reader_) return say(reader_.error());
        if ((*reader_)->segments().empty()) return print_empty();
        std::uint64_t left = options_.count;
        fmt::print(
            "sequence time kind instrument account session side price quantity order client_order request verdict\n");
        auto each = [&left](const domain::command& c) {
            if (left == 0) return false;
            --left;
            if (c.kind == domain::command_kind::define_instrument) {
                print_definition(c);
                return left != 0;
            }
            const columns of = columns_of(c);
            fmt::print("{} {} {} {} {} {} {} {} {} {} {} {} {}", c.sequence.value, time_of(c.time.value),
                       name_of(c.kind), c.instrument.value, c.account.value, c.session.value,
                       of.side == domain::side::buy ? "buy" : "sell", of.price.value, of.quantity, of.order.value,
                       c.client_order.value, c.request(), static_cast<unsigned>(c.verdict()));
            print_more(c);
            fmt::print("\n");
            return left != 0;
        };
        const auto done = io::block_on(ctx_, read_commands(&**reader_, &each));
        std::fflush(stdout);
        return done ? 0 : say(done.error());
    }

 private:
    /// Compares the journal with the manifest and lists the bytes that starts have cut off. @return 0 if nothing is
    /// missing.
    int check_manifest(const journal::journal_end& end) {
        if (!manifest_) return say(manifest_.error());
        if (const auto names = files_.list(options_.directory)) {
            for (const std::string& name : *names) {
                const auto number = journal::torn_number(name);
                if (!number) continue;
                fmt::print("{}/{}: a start has cut these bytes off segment {}: they were an incomplete block\n",
                           options_.directory, name, *number);
            }
        }
        const auto now = io::block_on(ctx_, journal::read_manifest(&files_, options_.directory));
        if (now && *now != *manifest_) {
            fmt::print("the venue was running meanwhile: the end of the journal was not checked\n");
            return 0;
        }
        if (!*manifest_) {
            if (end.segments.back().header.version == 1) return 0;
            return say({journal::journal_errc::missing_manifest,
                        fmt::format("{}: the manifest is missing or damaged", options_.directory)});
        }
        const std::uint64_t oldest = end.segments.front().header.number;
        if ((*manifest_)->oldest_segment < oldest) {
            fmt::print("segments before number {} are missing, and the venue has not removed them\n", oldest);
        }
        const auto whole = journal::check_end(**manifest_, end, options_.directory);
        if (!whole) return say(whole.error());
        if (end.tail != journal::tail_state::sealed) {
            fmt::print("the journal is not closed: a loss of blocks at its end cannot be detected\n");
        }
        return 0;
    }

    /// A venue creates its first segment when it starts, so a directory without one is an error.
    int print_empty() const {
        fmt::print(
            stderr,
            "corro journal: {}: {}; is this the directory of a journal? A venue with partitions has one in each folder "
            "with a partition's name.\n",
            options_.directory, name_of(journal::tail_state::empty));
        return 1;
    }

    journal_options options_;
    io::context ctx_;
    journal::disk_storage files_{ctx_};
    std::expected<std::optional<journal::manifest>, journal::problem> manifest_;
    opened_reader reader_;
};

subcommand add(const subcommand& parent, const std::string& name, const std::string& what,
               const std::shared_ptr<journal_options>& options) {
    const subcommand command = parent.add_subcommand(name, what);
    command.add_option("directory", options->directory, "The journal's directory").required();
    return command;
}

}  // namespace

void add_journal_command(command_line& line) {
    const auto options = std::make_shared<journal_options>();
    const subcommand command =
        line.add_subcommand("journal", "Inspect a journal: check it, print its commands, list its files");
    command.requires_subcommand();
    const subcommand verify =
        add(command, "verify", "Read every byte of segments and snapshots, and report whether all are valid", options);
    verify.runs([options] { return looking(*options).verify(); });
    const subcommand dump = add(command, "dump", "Print commands in order, one per line", options);
    dump.add_option("--from", options->from, "The first sequence number (default: the oldest in the journal)");
    dump.add_option("--count", options->count, "Maximum number of commands (default: all)");
    dump.runs([options] { return looking(*options).dump(); });
    const subcommand stat =
        add(command, "stat", "List segments and snapshots; read only the headers of the segments", options);
    stat.runs([options] { return looking(*options).stat(); });
    const subcommand adopt =
        add(command, "adopt",
            "Accept a journal as it is, without missing files: the next start continues after the existing commands",
            options);
    adopt.runs([options] { return looking(*options).adopt(); });
    command.footer(
        "Only `adopt` and `index` write to the journal. Only `adopt` needs a stopped venue.\n"
        "Exit code: 0 if everything is valid, 1 if something is damaged, missing or cannot be read.");
}

}  // namespace corro::app
