// The reference: what time does, phases and circuit breakers.
#include "facility/facility_reference.hpp"

namespace corro::facility::testing {

using domain::event_kind;
using domain::reject_reason;
using domain::side;

void facility_reference::settle_due() {
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
            if (b.is_halted && b.resume_time != 0) resume = std::min(resume, b.resume_time);
        }
        const bool resumes = resume <= now && resume != INT64_MAX;
        if (first != nullptr && !(resumes && resume <= first->expire_time)) {
            tell_owner(event_kind::order_cancelled, *first, first->price, first->open, reject_reason::expired, false);
            take_out(*first);
        } else if (resumes) {
            std::vector<std::uint32_t> resumed;
            for (std::uint32_t i = 0; i < books_.size(); ++i) {
                if (!books_[i].is_halted || books_[i].resume_time != resume) continue;
                set_phase(i, false, 0, reject_reason::none);
                resumed.push_back(i);
            }
            for (const std::uint32_t i : resumed) enter_pending(i);
        } else {
            return;
        }
    }
}

void facility_reference::set_phase(std::uint32_t instrument, bool is_halted, std::int64_t resume_time,
                                   reject_reason reason) {
    books_[instrument].is_halted = is_halted;
    books_[instrument].resume_time = resume_time;
    say(event_kind::phase_changed, id_of(instrument), side::buy, reason).phase = {
        is_halted ? domain::trading_phase::halted : domain::trading_phase::continuous,
        {},
        domain::time_ns{resume_time},
        {}};
}

void facility_reference::enter_pending(std::uint32_t instrument) {
    book& b = books_[instrument];
    if (b.is_halted || b.pending_low > b.pending_high) return;
    traded_ = {b.pending_low, b.pending_high};
    b.pending_low = INT64_MAX;
    b.pending_high = INT64_MIN;
    enter_triggered(instrument);
    traded_.clear();
}

void facility_reference::request_done(domain::instrument_id instrument, std::uint32_t account) {
    say(event_kind::request_done, instrument.value, side::buy, reject_reason::none, domain::event_flag::last_of_request)
        .order = {{}, {}, domain::no_price, {}, domain::account_id{account}, command_.session, command_.request};
}

void facility_reference::change_phase() {
    const domain::command& c = command_;
    if (c.is_operator == 0) return refuse(reject_reason::not_authorised);
    if (static_cast<unsigned>(c.phase) > 1) return refuse(reject_reason::invalid_combination);
    const bool halts = c.phase == domain::trading_phase::halted;
    if (halts && c.resume_time.value != 0 && c.resume_time <= c.time) {
        return refuse(reject_reason::invalid_expire_time);
    }
    std::vector<std::uint32_t> covered;
    for (std::uint32_t i = 0; i < books_.size(); ++i) {
        const bool is_named = c.instrument.value != 0 && instruments_[i].id == c.instrument;
        const bool is_of_product =
            c.instrument.value == 0 && (c.product.value == 0 || instruments_[i].product == c.product);
        if (is_named || is_of_product) covered.push_back(i);
    }
    if (covered.empty()) return refuse(reject_reason::unknown_instrument);
    for (const std::uint32_t i : covered) set_phase(i, halts, halts ? c.resume_time.value : 0, reject_reason::none);
    request_done(c.instrument, c.account.value);
    if (halts) return;
    for (const std::uint32_t i : covered) enter_pending(i);
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
        b.pending_low = *std::min_element(traded_.begin(), traded_.end());
        b.pending_high = *std::max_element(traded_.begin(), traded_.end());
    }
    const base::int128 wanted = static_cast<base::int128>(command_.time.value) + i.breaker_halt;
    const std::int64_t resume = i.breaker_halt == 0 || wanted > INT64_MAX ? 0 : static_cast<std::int64_t>(wanted);
    for (std::uint32_t other = 0; other < books_.size(); ++other) {
        const bool is_relative = i.product.value != 0 && instruments_[other].product == i.product &&
                                 mistake_ != defect::circuit_breaker_spares_the_product;
        if (other != instrument && !is_relative) continue;
        const book& before = books_[other];
        const bool is_longer =
            !before.is_halted || (before.resume_time != 0 && (resume == 0 || resume > before.resume_time));
        if (is_longer) set_phase(other, true, resume, reject_reason::circuit_breaker);
    }
    return true;
}

}  // namespace corro::facility::testing
