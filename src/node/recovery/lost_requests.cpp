// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/lost_requests.hpp"

#include <algorithm>
#include <limits>

#include "base/defect.hpp"

namespace corro::node {
namespace {

/// The number of gaps at which closed ones are removed; the next time at twice as many.
constexpr std::size_t gaps_before_look = 4'096;

/// The command that rejects a lost request. It changes no order, and may use the reserve for cancels.
domain::command refusal_of(std::uint32_t session, domain::account_id account, std::uint32_t request) noexcept {
    domain::command c;
    c.kind = domain::command_kind::cancel_order;
    c.session = domain::session_id{session};
    c.account = account;
    c.set_request(request);
    c.set_verdict(domain::reject_reason::request_lost);
    return c;
}

bool is_refusal(const domain::command& c) noexcept {
    return c.verdict() == domain::reject_reason::request_lost;
}

bool has_more_behind(const domain::command& c) noexcept {
    return c.kind == domain::command_kind::enter_quote && (c.enter_quote().flags & domain::quote_flag::more) != 0;
}

}  // namespace

lost_requests::lost_requests(std::size_t partitions_count, std::vector<std::uint32_t> last_requests,
                             std::uint64_t saved)
    : sessions_(last_requests.size()),
      last_arrivals_(partitions_count, saved),
      last_arrival_(saved),
      gaps_before_forgetting_(gaps_before_look) {
    for (std::size_t id = 0; id < sessions_.size(); ++id) sessions_[id].last = last_requests[id];
}

void lost_requests::replayed(std::size_t partition, const domain::command& c) {
    last_arrival_ = c.arrival().number;
    // A reject of a lost request may be in any journal, so it does not show how far this one goes.
    if (!is_refusal(c)) last_arrivals_[partition] = last_arrival_;
    if (c.kind == domain::command_kind::reset_session_numbers) return begin_again(c);
    const std::uint32_t id = c.session.value;
    if (c.request() == 0 || id >= sessions_.size()) return;
    session_past& s = sessions_[id];
    if (is_refusal(c)) {
        // An earlier start has rejected it.
        take_out(id, c.request());
        if (c.request() == s.last) s.has_more = false;
    }
    const domain::command_arrival& place = c.arrival();
    if (c.request() > s.last) {
        if (s.has_more) add(id, c.account, s.last, s.last, last_arrival_);
        const std::uint32_t last =
            place.has_place() ? std::min(place.previous_request(), c.request() - 1) : c.request() - 1;
        if (last > s.last) add(id, c.account, s.last + 1, last, last_arrival_);
        s = {.last = c.request(), .legs = 0, .is_counted = true, .has_more = false, .account = c.account};
    }
    if (is_refusal(c) || c.request() != s.last) return;
    // Copies of a command to all partitions have the same index.
    if (c.arrival().copies == 0 && place.has_place()) {
        if (s.is_counted && place.leg != s.legs) add(id, c.account, c.request(), c.request(), last_arrival_);
        s.legs = place.leg + 1U;
        s.is_counted = true;
    }
    s.has_more = has_more_behind(c);
    s.account = c.account;
}

// A reset that is not in all journals has no effect: it is repeated before the session can send a request.
void lost_requests::begin_again(const domain::command& c) {
    if (c.session.value >= sessions_.size()) return;
    session_past& s = sessions_[c.session.value];
    if (s.reset != c.arrival().number) s.resets = 0;
    s.reset = c.arrival().number;
    if (++s.resets != last_arrivals_.size()) return;
    s = session_past();
    gaps_.erase(gaps_.lower_bound({c.session.value, 0}), gaps_.lower_bound({c.session.value + 1, 0}));
}

void lost_requests::replayed_partly(const domain::command& c) {
    if (CORRO_DEFECT(half_lost_request_not_rejected)) return;
    if (c.request() == 0 || c.session.value >= sessions_.size()) return;
    add(c.session.value, c.account, c.request(), c.request(), c.arrival().number);
}

void lost_requests::add(std::uint32_t session, domain::account_id account, std::uint32_t first, std::uint32_t last,
                        std::uint64_t before) {
    gaps_[{session, first}] = {.last = last, .account = account, .before = before};
    if (gaps_.size() >= gaps_before_forgetting_) forget_rejected();
}

void lost_requests::take_out(std::uint32_t session, std::uint32_t request) {
    auto at = gaps_.upper_bound({session, request});
    if (at == gaps_.begin()) return;
    --at;
    const std::uint32_t first = at->first.second;
    const gap found = at->second;
    if (at->first.first != session || found.last < request) return;
    gaps_.erase(at);
    gap rest = found;
    rest.last = request - 1;
    if (first < request) gaps_[{session, first}] = rest;
    if (request < found.last) gaps_[{session, request + 1}] = found;
}

std::uint64_t lost_requests::complete() const noexcept {
    return std::ranges::min(last_arrivals_);
}

void lost_requests::forget_rejected() {
    const std::uint64_t until = complete();
    std::erase_if(gaps_, [until](const auto& each) { return each.second.before <= until; });
    gaps_before_forgetting_ = std::max(gaps_before_look, 2 * gaps_.size());
}

std::deque<domain::command> lost_requests::refusals(std::size_t most) {
    if (CORRO_DEFECT(lost_request_not_rejected)) return {};
    for (std::uint32_t id = 0; id < sessions_.size(); ++id) {
        session_past& s = sessions_[id];
        if (s.has_more) add(id, s.account, s.last, s.last, std::numeric_limits<std::uint64_t>::max());
        s.has_more = false;
    }
    forget_rejected();
    std::map<std::uint32_t, std::uint64_t> counts;  // by session
    for (const auto& [id, each] : gaps_) counts[id.first] += std::uint64_t{each.last} - id.second + 1;
    const std::uint64_t share = counts.empty() ? 0 : std::max<std::uint64_t>(1, most / counts.size());
    std::deque<domain::command> all;
    for (const auto& [id, each] : gaps_) {
        std::uint64_t& left = counts[id.first];
        for (std::uint64_t request = id.second; request <= each.last;) {
            if (left > share) {
                const std::uint64_t skipped = std::min(left - share, each.last - request + 1);
                passed_over_count_ += skipped;
                left -= skipped;
                request += skipped;
                continue;
            }
            all.push_back(refusal_of(id.first, each.account, static_cast<std::uint32_t>(request)));
            ++request;
            // Keeps the newest ones, within the session's share.
        }
    }
    return all;
}

}  // namespace corro::node
