// SPDX-License-Identifier: Apache-2.0
// Throttles: how many requests a session may send in a window of time.
//
// The times of the commands determine the windows, so that a replay decides alike. Above the first threshold new
// orders, amends, quotes and queries are rejected; above the second the session is logged out. Cancels count, but only
// the second threshold rejects them: clients may always reduce their risk.
//
// A query of all open orders is charged for its answers and for the orders that it reads.
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
    std::uint32_t requests_end = 0;  ///< the request after this many ends the session; 0 for none
    std::int64_t window_ns = 1'000'000'000;
};

class throttle {
 public:
    /// @param sessions_count  Session ids are 1 to this number; others are not throttled.
    throttle(const throttle_options& options, std::uint32_t sessions_count)
        : options_(options), sessions_(options.requests_max == 0 ? 0 : std::size_t{sessions_count} + 1) {}

    /// Counts a command at its time. Returns why its request is rejected: `none`, `throttled` or `flooded`. The
    /// commands of one request count once and get the same result. Commands that no client sent are not counted.
    [[nodiscard]] domain::reject_reason judge(const domain::command& c) noexcept {
        if (c.session.value >= sessions_.size() || c.request() == 0) return domain::reject_reason::none;
        // The venue made this command, long after the client's request.
        if (c.verdict() == domain::reject_reason::request_lost) return domain::reject_reason::none;
        state& s = sessions_[c.session.value];
        const std::int64_t window = c.time.value / options_.window_ns;
        if (c.request() != s.request || window != s.window || s.count == 0) {
            if (window != s.window) s.count = 0;
            s.window = window;
            s.request = c.request();
            ++s.count;
        }
        if (options_.requests_end != 0 && s.count > options_.requests_end) return domain::reject_reason::flooded;
        if (s.count <= options_.requests_max || lessens_risk(c.kind)) return domain::reject_reason::none;
        return domain::reject_reason::throttled;
    }

    /// Charges the cost of an executed query: its answers and the orders that it read count like the requests that
    /// cost as much. It never charges more than the window still allows, so that answers alone log no session out.
    void charge(const domain::command& c, std::uint64_t answers_count, std::uint64_t looks_count) noexcept {
        if (c.kind != domain::command_kind::query_order || c.session.value >= sessions_.size()) return;
        state& s = sessions_[c.session.value];
        if (c.request() != s.request || s.count >= options_.requests_max) return;
        const std::uint64_t more = answers_count / answers_per_request + looks_count / looks_per_request;
        s.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(s.count + more, options_.requests_max));
    }

    /// Saves or loads what was counted. Counts for another window length and of sessions that no longer exist are
    /// dropped.
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
