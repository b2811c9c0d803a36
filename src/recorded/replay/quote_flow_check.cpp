// SPDX-License-Identifier: Apache-2.0
// The comparing half of quote_flow: executions from their answers, quotes from the public book.
#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "recorded/replay/quote_flow.hpp"

namespace corro::recorded::replay {
namespace {

std::string where(std::size_t row) {
    return row == SIZE_MAX ? std::string("the quotes at the start") : fmt::format("row {}", row);
}

std::string name_text(std::uint64_t name) {
    return name == 0 ? std::string("anonymous volume") : fmt::format("order {}", name);
}

std::string text_of(const quote& q, const difference_log& log) {
    return q.price == domain::no_price ? std::string("nothing") : fmt::format("{} at {}", q.size, log.price(q.price));
}

/// The best level of a side, as all three views of the public book have it; nothing where they contradict each other.
std::optional<quote> best_quote(const feed::book_image& book, domain::side side) {
    const bool buys = side == domain::side::buy;
    const quote top{buys ? book.top().bid_price : book.top().ask_price,
                    buys ? book.top().bid_quantity.value : book.top().ask_quantity.value};
    if (top.price == domain::no_price) return quote{};
    std::uint64_t sum = 0;
    for (const feed::image_order& o : book.orders_at(side, top.price)) sum += o.quantity.value;
    if (sum != top.size) return std::nullopt;
    return top;
}

/// The best levels of a side, at most `depth`; nothing where the views of the public book contradict each other.
std::optional<std::vector<quote>> best_levels(const feed::book_image& book, domain::side side, std::size_t depth) {
    const std::optional<quote> best = best_quote(book, side);
    if (!best) return std::nullopt;
    std::vector<quote> levels;
    if (depth == 1) {
        if (best->price != domain::no_price) levels.push_back(*best);
        return levels;
    }
    for (const feed::image_level& l : book.levels(side, depth)) levels.push_back({l.price, l.quantity.value});
    if ((levels.empty() ? quote{} : levels.front()) != *best) return std::nullopt;
    return levels;
}

/// The first level in which two sides differ.
struct level_difference {
    std::size_t level = 0;  ///< from 1, the best
    quote venue, recorded;
};
level_difference first_difference(quote_levels venue, quote_levels recorded) {
    const auto [ours, theirs] = std::ranges::mismatch(venue, recorded);
    return {static_cast<std::size_t>(ours - venue.begin()) + 1, ours == venue.end() ? quote{} : *ours,
            theirs == recorded.end() ? quote{} : *theirs};
}

}  // namespace

// --- Executions ------------------------------------------------------------------------------------------------------

void quote_flow::answered(const step& of, std::span<const outcome> outcomes) {
    const row_step& s = steps_[static_cast<std::size_t>(of.number - first_step_)];
    if (s.row == before_first || recording_.messages[s.row].action != quote_action::execute) return;
    if (s.is_uncovering) return;
    const quote_record& m = recording_.messages[s.row];
    CORRO_ASSERT(awaits_execution_ && outcomes.size() == 1);
    check_execution(m, outcomes.front());
    for (const fill& f : outcomes.front().fills) ledger_.fill(f.resting, f.quantity.value);
    awaits_execution_ = false;
    must_bring_into_view_ = something_comes_into_view(s.row);
    steps_.back().completes_row = !must_bring_into_view_;
}

void quote_flow::check_execution(const quote_record& m, const outcome& o) {
    const domain::client_order_id id = ledger_.find_name(m.order);
    const quote_ledger::order* const named = ledger_.find(id);
    burst& b = bursts_[{m.side, m.price}];
    b.recorded[m.order] += m.size;
    std::uint64_t on_named = 0;
    std::string met;
    for (const fill& f : o.fills) {
        const quote_ledger::order* const resting = ledger_.find(f.resting);
        const std::uint64_t name = resting == nullptr ? 0 : resting->name;
        b.venue[name] += f.quantity.value;
        if (name == m.order) on_named += f.quantity.value;
        fmt::format_to(std::back_inserter(met), "{}{} of {}", met.empty() ? "" : ", ", f.quantity.value,
                       name_text(name));
    }
    const bool exact = o.fills.size() == 1 && on_named == m.size;
    result_.executions.count(exact);
    result_.executed_lots.count_part(on_named, m.size);
    if (exact) return;
    const bool rests = named != nullptr && named->side == m.side && named->price == m.price && named->open >= m.size;
    b.differing.push_back(
        {next_row_ - 1, m.size - on_named, rests,
         fmt::format("record: {} of order {}; venue: {}", m.size, m.order, met.empty() ? "nothing" : met)});
}

void quote_flow::close_bursts() {
    for (auto& [place, b] : bursts_) {
        const bool same_set = b.recorded == b.venue;
        for (differing_execution& d : b.differing) {
            cause why = cause::fill_differs;
            if (same_set) {
                why = cause::same_time_rows_swapped;
            } else if (d.named_rests) {
                // The venue followed its queue, in which the recorded order is further back.
                why = b.recorded.size() > 1 ? cause::same_time_priority : cause::younger_order_first;
            }
            log_.add(why, d.lots, [&] { return difference{where(d.row), std::move(d.what)}; });
        }
    }
    bursts_.clear();
}

// --- Comparison ------------------------------------------------------------------------------------------------------

void quote_flow::compare(const step& of, std::span<const outcome> outcomes, const feed::book_image& book) {
    CORRO_ASSERT(!steps_.empty() && of.number == first_step_);
    const row_step s = std::move(steps_.front());
    steps_.pop_front();
    ++first_step_;
    for (std::size_t i = 0; i < outcomes.size(); ++i) check_request(s, of.requests[i], s.rests[i], outcomes[i]);
    if (s.row != before_first && s.completes_row) check_quotes(s, book);
}

void quote_flow::check_request(const row_step& s, const request& r, std::uint32_t rests, const outcome& o) {
    if (o.refused != domain::reject_reason::none) {
        log_.add(cause::request_refused, r.quantity.value,
                 [&] { return difference{where(s.row), std::string(domain::to_string(o.refused))}; });
        return;
    }
    const bool takes = r.time_in_force == domain::time_in_force::ioc;
    if (!takes && o.filled.value != 0) {
        log_.add(cause::unexpected_fill, o.filled.value, [&] {
            return difference{where(s.row),
                              fmt::format("{} lots traded on entry at {}", o.filled.value, log_.price(r.price))};
        });
    } else if (o.open.value != rests || (takes && o.filled != r.quantity)) {
        log_.add(cause::remainder_differs, 0, [&] {
            return difference{where(s.row), fmt::format("of {} lots {} traded and {} rest, expected are {}",
                                                        r.quantity.value, o.filled.value, o.open.value, rests)};
        });
    }
}

void quote_flow::check_quotes(const row_step& s, const feed::book_image& book) {
    bool equal = true;
    for (const domain::side side : {domain::side::buy, domain::side::sell}) {
        const quote_levels recorded = recording_.levels(s.row, side);
        const std::optional<std::vector<quote>> venue = best_levels(book, side, recording_.depth);
        const bool same = venue && std::ranges::equal(*venue, recorded);
        const bool is_taken = s.row == 0 || s.taken == side;
        if (is_taken) {
            ++result_.sides_taken;
        } else {
            result_.sides.count(same);
        }
        if (same) continue;
        equal = false;
        log_.add(cause::quotes_differ, 0, [&] {
            const std::string_view name = side == domain::side::buy ? "bid" : "offer";
            if (!venue) return difference{where(s.row), fmt::format("{}: the venue's feed contradicts itself", name)};
            const level_difference d = first_difference(*venue, recorded);
            const std::string level = d.level == 1 ? "" : fmt::format(" {}", d.level);
            return difference{where(s.row), fmt::format("{}{}: venue {}, record {}", name, level,
                                                        text_of(d.venue, log_), text_of(d.recorded, log_))};
        });
    }
    result_.rows.count(equal);
    if (s.row != 0 && !s.taken) result_.rows_untaken.count(equal);
}

}  // namespace corro::recorded::replay
