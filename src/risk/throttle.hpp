// Throttles: how many requests a session may send in a window of time.
//
// Windows follow each other on the clock of the commands themselves, not on the reader's, so that the same commands are
// judged alike whenever they are looked at. At the first threshold new orders, amends, quotes and queries are refused;
// who goes on up to the next is logged out. Cancels count, and only the second threshold refuses them: who wants to
// carry less risk may.
//
// A query of all open orders is charged for its answers as well, and for the orders that were looked at for it.
//
// Threads: one. Cost: a few instructions per request; memory for every session at construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "domain/command.hpp"
#include "risk/limits.hpp"

namespace corro::risk {

struct throttle_options {
    std::uint32_t requests_max = 0;  ///< of one session in a window; 0 for no throttle at all
    std::uint32_t requests_end = 0;  ///< the request after so many ends the session; 0 for none
    std::int64_t window_ns = 1'000'000'000;
};

class throttle {
 public:
    /// @param sessions_count  Session ids are 1 to this number; others are not throttled.
    throttle(const throttle_options& options, std::uint32_t sessions_count)
        : options_(options), sessions_(options.requests_max == 0 ? 0 : std::size_t{sessions_count} + 1) {}

    /// Counts a command at its time and says whether its request is to be refused: `none`, `throttled` or `flooded`.
    /// The commands of one request count once and are judged alike. Commands that no client sent are not judged.
    [[nodiscard]] domain::reject_reason judge(const domain::command& c) noexcept {
        if (c.session.value >= sessions_.size() || c.request == 0) return domain::reject_reason::none;
        // Made by the venue, long after the client sent it.
        if (c.verdict == domain::reject_reason::request_lost) return domain::reject_reason::none;
        state& s = sessions_[c.session.value];
        const std::int64_t window = c.time.value / options_.window_ns;
        if (c.request != s.request || window != s.window || s.count == 0) {
            if (window != s.window) s.count = 0;
            s.window = window;
            s.request = c.request;
            ++s.count;
        }
        if (options_.requests_end != 0 && s.count > options_.requests_end) return domain::reject_reason::flooded;
        if (s.count <= options_.requests_max || lessens_risk(c.kind)) return domain::reject_reason::none;
        return domain::reject_reason::throttled;
    }

    /// Counts what the answer to a query of all orders has cost, once it is known: the orders that it was told of and
    /// those that were looked at for it count like the requests that would have cost as much. It takes what the window
    /// still allows and no more: by its answers alone nobody is logged out.
    void charge(const domain::command& c, std::uint64_t answers_count, std::uint64_t looks_count) noexcept {
        if (c.kind != domain::command_kind::query_order || c.session.value >= sessions_.size()) return;
        state& s = sessions_[c.session.value];
        if (c.request != s.request || s.count >= options_.requests_max) return;
        const std::uint64_t more = answers_count / answers_per_request + looks_count / looks_per_request;
        s.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.count + more, options_.requests_max));
    }

    /// Saves or loads what was counted. Counts of another length of window, and of sessions that there are no longer,
    /// mean nothing here and are left out.
    void transfer(base::archive& a) {
        std::int64_t window_ns = options_.window_ns;
        a.value(window_ns);
        const std::uint32_t count = a.count(sessions_.size(), UINT32_MAX);
        for (std::uint32_t i = 0; i < count && !a.failed(); ++i) {
            state s = i < sessions_.size() ? sessions_[i] : state();
            a.value(s.window, s.count, s.request);
            if (i < sessions_.size() && window_ns == options_.window_ns) sessions_[i] = s;
        }
    }

 private:
    struct state {
        std::int64_t window = 0;
        std::uint32_t count = 0;
        std::uint32_t request = 0;  ///< the one counted last
    };

    [[nodiscard]] static bool lessens_risk(domain::command_kind kind) noexcept {
        return kind == domain::command_kind::cancel_order || kind == domain::command_kind::cancel_orders ||
               kind == domain::command_kind::kill_switch;
    }

    throttle_options options_;
    std::vector<state> sessions_;  ///< by id
};

}  // namespace corro::risk
