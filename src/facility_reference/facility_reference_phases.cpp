// SPDX-License-Identifier: Apache-2.0
// The reference: effects of time, phases and circuit breakers.
#include "facility_reference/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

void facility_reference::process_due_times() {
    const std::int64_t now = command_.time.value;
    for (;;) {
        order* first = nullptr;
        for (auto& [id, o] : open_) {
            if (o.time_in_force != domain::time_in_force::gtd) continue;
            const bool is_over =
                mistake_ == defect::orders_expire_at_their_time ? o.expire_time <= now : o.expire_time < now;
            if (!is_over) continue;
            const auto rank = [](const order& x) { return std::pair{x.expire_time, x.expiring_before}; };
            if (first == nullptr || rank(o) < rank(*first)) first = &o;
        }
        std::int64_t resume = INT64_MAX;
        for (const book& b : books_) {
            if (b.resume_time != 0) resume = std::min(resume, b.resume_time);
        }
        const bool resumes = resume <= now && resume != INT64_MAX;
        if (first != nullptr && !(resumes && resume <= first->expire_time)) {
            tell_owner(event_kind::order_cancelled, *first, first->price, first->open, reject_reason::expired, false);
            take_out(*first);
        } else if (resumes) {
            std::vector<std::uint32_t> resumed;
            for (std::uint32_t i = 0; i < books_.size(); ++i) {
                if (books_[i].resume_time != resume) continue;
                set_phase(i, domain::phase_after(books_[i].phase), 0, reject_reason::none);
                resumed.push_back(i);
            }
            go_on_trading(resumed);
        } else {
            return;
        }
    }
}

void facility_reference::set_phase(std::uint32_t instrument, domain::trading_phase phase, std::int64_t resume_time,
                                   reject_reason reason) {
    using domain::trading_phase;
    book& b = books_[instrument];
    const bool matches = phase == trading_phase::continuous || phase == trading_phase::closed;
    if (matches && b.owes_uncross) uncross(instrument);
    if (phase == trading_phase::closed) {
        cancel_book(instrument, reject_reason::expired, [&](const order& o) {
            const bool lasts = o.time_in_force == domain::time_in_force::gtc ||
                               o.time_in_force == domain::time_in_force::gtd ||
                               (mistake_ == defect::day_orders_outlast_the_day && !o.is_quote);
            return o.is_quote || !lasts;
        });
    }
    if (domain::collects(phase)) b.owes_uncross = true;
    b.indicative = {domain::no_price, {}, 0, {}};
    b.phase = phase;
    b.resume_time = resume_time;
    say(event_kind::phase_changed, id_of(instrument), side::buy, reason).phase = {
        phase, {}, domain::time_ns{resume_time}, {}};
}

void facility_reference::go_on_trading(const std::vector<std::uint32_t>& resumed) {
    go_on(resumed);
    for (const std::uint32_t i : resumed) enter_pending(i);
    settle_elsewhere();
}

void facility_reference::enter_pending(std::uint32_t instrument) {
    book& b = books_[instrument];
    if (b.phase != domain::trading_phase::continuous) return;
    wait_for(instrument, std::exchange(elsewhere_[instrument], {}));
    if (b.pending_low > b.pending_high) return;
    traded_ = {b.pending_low, b.pending_high};
    b.pending_low = INT64_MAX;
    b.pending_high = INT64_MIN;
    enter_triggered(instrument);
    traded_.clear();
}

void facility_reference::request_done(domain::instrument_id instrument, std::uint32_t account) {
    say(event_kind::request_done, instrument.value, side::buy, reject_reason::none, domain::event_flag::last_of_request)
        .order = {{}, {}, domain::no_price, {}, domain::account_id{account}, command_.session, command_.request()};
}

void facility_reference::begin_day() {
    const domain::command& c = command_;
    const domain::new_trading_day& day = c.new_trading_day();
    if (!c.is_operator()) return refuse(reject_reason::not_authorised);
    std::size_t begun = 0;
    std::size_t settled = 0;
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        if (c.instrument.value != 0 && instruments_[i].id != c.instrument) continue;
        if (c.instrument.value == 0 && day.product.value != 0 && instruments_[i].product != day.product) continue;
        book& b = books_[i];
        if (b.is_settled) {
            ++settled;
            continue;
        }
        ++begun;
        b.volume_seen -= b.volume;
        if (mistake_ != defect::volume_outlasts_the_day) b.volume = 0;
        b.turnover = 0;
        b.leg_volume = 0;
        if (mistake_ != defect::high_outlasts_the_day) b.prices.high = domain::no_price;
        b.prices.open = b.prices.low = domain::no_price;
        if (b.prices.last != domain::no_price) say(event_kind::price_update, id_of(i), side::buy).prices = b.prices;
        say_statistics(i, side::buy);
    }
    if (begun != 0) return request_done(c.instrument, c.account.value);
    refuse(settled != 0 ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
}

void facility_reference::change_phase() {
    const domain::command& c = command_;
    const domain::change_phase& wanted = c.change_phase();
    if (!c.is_operator()) return refuse(reject_reason::not_authorised);
    if (static_cast<unsigned>(wanted.phase) > 6) return refuse(reject_reason::invalid_combination);
    const bool may_end = wanted.phase == domain::trading_phase::halted || domain::collects(wanted.phase);
    if (may_end && wanted.resume_time.value != 0 && wanted.resume_time <= c.time) {
        return refuse(reject_reason::invalid_expire_time);
    }
    bool is_any_settled = false;
    std::vector<std::uint32_t> covered;
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        const bool is_named = c.instrument.value != 0 && instruments_[i].id == c.instrument;
        const bool is_of_product =
            c.instrument.value == 0 && (wanted.product.value == 0 || instruments_[i].product == wanted.product);
        if (!is_named && !is_of_product) continue;
        if (books_[i].is_settled) {
            is_any_settled = true;
        } else {
            covered.push_back(i);
        }
    }
    if (covered.empty()) {
        return refuse(is_any_settled ? reject_reason::instrument_settled : reject_reason::unknown_instrument);
    }
    std::vector<std::uint32_t> resumed;
    for (const std::uint32_t i : covered) {
        if (books_[i].phase != domain::trading_phase::continuous) resumed.push_back(i);
        set_phase(i, wanted.phase, may_end ? wanted.resume_time.value : 0, reject_reason::none);
    }
    request_done(c.instrument, c.account.value);
    go_on_trading(resumed);
}

bool facility_reference::breaks_circuit(std::uint32_t instrument) {
    const domain::instrument& i = instruments_[instrument];
    book& b = books_[instrument];
    if (i.breaker_move == 0 || b.volume_seen == b.volume) return false;
    if (command_.time.value >= b.window_end) {
        b.reference = b.last_seen == domain::no_price ? b.prices.last : b.last_seen;
        const base::int128 end = static_cast<base::int128>(command_.time.value) + i.breaker_window;
        b.window_end = end > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(end);
    }
    b.last_seen = b.prices.last;
    b.volume_seen = b.volume;
    if (std::abs(b.last_seen.value - b.reference.value) <= i.breaker_move) return false;
    b.window_end = INT64_MIN;
    if (mistake_ != defect::halts_forget_what_has_triggered) {
        wait_for(instrument, traded_);
    }
    const bool auctions = i.volatility_auction != 0 && mistake_ != defect::circuit_breaker_always_halts;
    const std::int64_t length = auctions ? i.volatility_auction : i.breaker_halt;
    const base::int128 wanted = static_cast<base::int128>(command_.time.value) + length;
    const std::int64_t resume = length == 0 || wanted > INT64_MAX ? 0 : static_cast<std::int64_t>(wanted);
    for (std::uint32_t other = 0; other < books_.size(); ++other) {
        const bool is_relative = i.product.value != 0 && instruments_[other].product == i.product &&
                                 mistake_ != defect::circuit_breaker_spares_the_product;
        if (other != instrument && !is_relative) continue;
        using domain::trading_phase;
        const book& before = books_[other];
        if (before.phase != trading_phase::continuous && before.phase != trading_phase::halted) continue;
        const bool is_longer = before.phase == trading_phase::continuous ||
                               (before.resume_time != 0 && (resume == 0 || resume > before.resume_time));
        if (!is_longer) continue;
        set_phase(other, auctions ? trading_phase::volatility_auction : trading_phase::halted, resume,
                  reject_reason::circuit_breaker);
    }
    return true;
}

}  // namespace corro::facility::testing
