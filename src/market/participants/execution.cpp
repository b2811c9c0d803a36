// SPDX-License-Identifier: Apache-2.0
// Participants that execute one long order.

#include <algorithm>
#include <cmath>
#include <utility>

#include "market/participants/participants.hpp"
#include "market/participants/quoting.hpp"

namespace corro::market {

double done_by(const execution_options& how, double part) noexcept {
    part = std::clamp(part, 0.0, 1.0);
    switch (how.kind) {
        case schedule_kind::vwap: {
            if (how.curve.empty()) return part;
            double all = 0;
            for (const double each : how.curve) all += each;
            const double place = part * static_cast<double>(how.curve.size());
            double sum = 0;
            for (std::size_t i = 0; i < how.curve.size(); ++i) {
                sum += how.curve[i] * std::clamp(place - static_cast<double>(i), 0.0, 1.0);
            }
            return sum / all;
        }
        case schedule_kind::almgren_chriss: {
            // What is left is sinh(kappa (T - t)) / sinh(kappa T).
            const double kappa = how.urgency_per_second * static_cast<double>(how.duration_ns) / 1e9;
            if (kappa < 1e-6) return part;
            const auto sinh_of = [](double x) { return (exp_of(x) - exp_of(-x)) / 2; };
            const double most = std::min(kappa, 300.0);
            return 1 - sinh_of(most * (1 - part)) / sinh_of(most);
        }
        default: return part;
    }
}

behaviour execution(agent& me, execution_options how) {
    const bool begins = co_await me.sleep(std::max<std::int64_t>(how.begin_ns - me.now_ns(), 0));
    if (!begins) co_return;
    const std::int64_t begin = me.now_ns();
    const std::uint64_t volume_before = me.book(how.in).volume_lots;
    const std::int64_t position_before = me.position(how.in);
    const auto done = [&] { return std::abs(me.position(how.in) - position_before); };
    me.note("arrival_price", me.book(how.in).reference(0));
    while (done() < how.lots) {
        const double part = static_cast<double>(me.now_ns() - begin) / static_cast<double>(how.duration_ns);
        double target = 0;
        if (how.kind == schedule_kind::pov) {
            // A part p of the volume of others is p / (1 - p) of it for each lot of theirs.
            const double all = static_cast<double>(me.book(how.in).volume_lots - volume_before);
            const double others = std::max(all - static_cast<double>(done()), 0.0);
            target = others * how.participation / (1 - how.participation);
        } else {
            // A slice is due at its beginning.
            const double slice = static_cast<double>(how.slice_ns) / static_cast<double>(how.duration_ns);
            target = static_cast<double>(how.lots) * done_by(how, part + slice);
        }
        const std::int64_t due = std::min(how.lots, static_cast<std::int64_t>(std::ceil(target - 1e-9))) - done() -
                                 working_lots(me, how.in, how.side);
        if (due > 0)
            take(me, how.in, how.side, domain::quantity_lots{static_cast<std::uint32_t>(due)}, how.reach_ticks);
        const bool is_late = how.kind != schedule_kind::pov && part > 2;  // the market does not give it
        if (is_late) co_return;
        const bool goes_on = co_await me.sleep(how.slice_ns);
        if (!goes_on) co_return;
    }
    me.note("executed", static_cast<double>(done()));
}

}  // namespace corro::market
