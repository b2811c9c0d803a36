// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recorded_quotes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "recorded/formats/lobster.hpp"
#include "recorded/recorded_reader.hpp"
#include "recorded/replay/limits.hpp"
#include "recorded/replay/open_recorded.hpp"

namespace corro::recorded::replay {
namespace {

template <class Decoder>
std::optional<typename Decoder::record> next_record(recorded_reader<Decoder>& reader) {
    auto record = reader.next();
    if (!record) throw replay_error(reader.explain(record.error()));
    return *record;
}

[[noreturn]] void fail(const std::filesystem::path& path, std::uint64_t line, std::string_view what) {
    throw replay_error(fmt::format("{}: line {}: {}", path.string(), line, what));
}

/// Calls `f(message, book)` for each row of the two files.
template <class F>
void for_each_row(const std::filesystem::path& messages, const std::filesystem::path& books, F&& f) {
    auto message_reader = open_recorded<lobster::message_decoder>(messages);
    auto book_reader = open_recorded<lobster::book_decoder>(books);
    for (std::size_t row = 0;; ++row) {
        const auto message = next_record(message_reader);
        const auto book = next_record(book_reader);
        if (!message && !book) {
            if (row == 0) throw replay_error(fmt::format("{}: no message", messages.string()));
            return;
        }
        if (!message) fail(books, book->line, "the message file has ended: the files do not belong together");
        if (!book) fail(messages, message->line, "the book file has ended: the files do not belong together");
        if (row == quote_rows_max) fail(messages, message->line, fmt::format("more than {} messages", quote_rows_max));
        f(*message, *book);
    }
}

/// Whether the levels are best first, without a repeated price and without levels behind an empty one.
bool is_sorted_side(quote_levels levels, domain::side side) {
    for (std::size_t i = 1; i < levels.size(); ++i) {
        const domain::price_ticks better = levels[i - 1].price, worse = levels[i].price;
        if (worse == domain::no_price) continue;
        if (better == domain::no_price) return false;
        if (side == domain::side::buy ? better <= worse : better >= worse) return false;
    }
    return true;
}

class converter {
 public:
    converter(const std::filesystem::path& messages, const std::filesystem::path& books,
              const domain::instrument& instrument)
        : messages_(messages), books_(books), instrument_(instrument) {}

    [[nodiscard]] quote_record convert(const lobster::message& m) const {
        quote_record r{.time = domain::time_ns{m.since_midnight_ns},
                       .order = m.order_id,
                       .action = static_cast<quote_action>(m.type),
                       .side = m.side};
        if (!r.is_visible()) {
            r.size = m.size;
            return r;  // not sent
        }
        r.price = ticks(messages_, m.line, m.price);
        const auto lots = domain::to_lots(instrument_, m.size);
        if (lots.reason != domain::reject_reason::none) fail(messages_, m.line, domain::to_string(lots.reason));
        if (lots.value > instrument_.order_quantity_max) {
            fail(messages_, m.line, "larger than the venue's largest order");
        }
        r.size = lots.value.value;
        return r;
    }

    [[nodiscard]] quote convert(std::uint64_t line, const lobster::quote& q) const {
        if (q.empty()) return {};
        // A level's total is entered as one order where no message names its orders.
        if (q.size > instrument_.order_quantity_max.value) fail(books_, line, "larger than the venue's largest order");
        const auto lots = domain::to_lots(instrument_, static_cast<std::int64_t>(q.size));
        if (lots.reason != domain::reject_reason::none) fail(books_, line, domain::to_string(lots.reason));
        return {ticks(books_, line, q.price), lots.value.value};
    }

 private:
    [[nodiscard]] domain::price_ticks ticks(const std::filesystem::path& path, std::uint64_t line,
                                            domain::price_nano price) const {
        const auto t = domain::to_ticks(instrument_, price);
        if (t.reason != domain::reject_reason::none) fail(path, line, domain::to_string(t.reason));
        if (t.value < instrument_.price_low || t.value > instrument_.price_high) {
            fail(path, line, "price outside the venue's price band");
        }
        return t.value;
    }

    const std::filesystem::path& messages_;
    const std::filesystem::path& books_;
    const domain::instrument& instrument_;
};

}  // namespace

quote_survey survey_quotes(const std::filesystem::path& messages, const std::filesystem::path& books) {
    quote_survey s;
    bool has_price = false;
    const auto count_price = [&](domain::price_nano price) {
        if (price == domain::no_price_nano) return;
        s.price_low = has_price ? std::min(s.price_low, price) : price;
        s.price_high = has_price ? std::max(s.price_high, price) : price;
        s.price_step.value = std::gcd(s.price_step.value, price.value);
        has_price = true;
    };
    for_each_row(messages, books, [&](const lobster::message& m, const lobster::book& book) {
        if (s.rows++ == 0) s.first_time = domain::time_ns{m.since_midnight_ns};
        if (m.type <= lobster::event_type::visible_execution) count_price(m.price);
        s.depth = book.levels.size();
        for (const lobster::level& l : book.levels) {
            count_price(l.ask.price);
            count_price(l.bid.price);
        }
    });
    if (s.price_step.value == 0) s.price_step = domain::price_nano{1'000'000'000};  // no price at all
    return s;
}

quote_recording load_quotes(const std::filesystem::path& messages, const std::filesystem::path& books,
                            const domain::instrument& instrument) {
    const converter convert(messages, books, instrument);
    quote_recording recording;
    for_each_row(messages, books, [&](const lobster::message& m, const lobster::book& book) {
        recording.messages.push_back(convert.convert(m));
        recording.depth = book.levels.size();
        if (recording.quotes.size() + 2 * recording.depth > quotes_max) {
            fail(books, book.line, fmt::format("more than {} quotes", quotes_max));
        }
        for (const lobster::level& l : book.levels) recording.quotes.push_back(convert.convert(book.line, l.bid));
        for (const lobster::level& l : book.levels) recording.quotes.push_back(convert.convert(book.line, l.ask));
        const quote_levels row = quote_levels(recording.quotes).last(2 * recording.depth);
        if (!is_sorted_side(row.first(recording.depth), domain::side::buy) ||
            !is_sorted_side(row.last(recording.depth), domain::side::sell)) {
            fail(books, book.line, "the levels of a side are not in order, best first");
        }
    });
    return recording;
}

}  // namespace corro::recorded::replay
