// SPDX-License-Identifier: Apache-2.0
// The subjects of the matching workloads. A subject is built from a workload and executes its operations. `agreed` must
// be the same for all subjects. `said` depends on the subject's other output, so that the compiler cannot remove work.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "facility/limits.hpp"
#include "facility_reference/facility_reference.hpp"
#include "lab/matching/workload.hpp"
#include "matching/engine.hpp"

namespace corro::lab {

/// The results that all subjects must have in common: each order that rests, leaves, shrinks or trades, in order.
class tally {
 public:
    void traded(domain::order_id resting, std::uint32_t lots) noexcept { add(resting.value + lots); }
    void changed(domain::order_id order, std::uint32_t lots) noexcept { add(order.value + lots); }
    [[nodiscard]] std::uint64_t value() const noexcept { return sum_; }

 private:
    void add(std::uint64_t value) noexcept { sum_ = (sum_ ^ value) * 0x9e3779b97f4a7c15ULL; }
    std::uint64_t sum_ = 0;
};

/// Operations that wait, in the subjects that have a queue.
inline constexpr std::size_t queue_size = 32;

/// The engine alone: acknowledgements, fills and levels, folded into numbers.
class core_subject {
 public:
    explicit core_subject(const workload& w)
        : engine_({.orders_max = w.orders_max, .accounts_max = 64, .books_count = w.books_count}) {
        for (std::uint32_t book = 0; book < w.books_count; ++book) engine_.set_policy(book, w.allocation);
    }

    void run(const operation& o) noexcept {
        switch (o.what) {
            case operation::kind::add:
                engine_.enter(
                    workload_writer::entry(o.side, o.price, o.quantity, o.account, o.book, matching::remainder::rests),
                    sink_);
                break;
            case operation::kind::take:
                engine_.enter(workload_writer::entry(o.side, o.price, o.quantity, o.account, o.book,
                                                     matching::remainder::cancelled),
                              sink_);
                break;
            case operation::kind::cancel:
                if (engine_.is_open(o.order)) engine_.cancel(matching::engine::slot_of(o.order), sink_);
                break;
            case operation::kind::reduce:
                if (engine_.is_open(o.order)) {
                    engine_.reduce(matching::engine::slot_of(o.order), o.quantity, sink_);
                }
                break;
            case operation::kind::replace:
                if (engine_.is_open(o.order)) {
                    engine_.replace(matching::engine::slot_of(o.order),
                                    workload_writer::entry(o.side, o.price, o.quantity, o.account, o.book,
                                                           matching::remainder::rests),
                                    sink_);
                }
                break;
            case operation::kind::cancel_account:
                engine_.cancel_account(o.account, [](std::uint32_t, std::uint32_t) { return true; }, sink_);
                break;
        }
    }
    /// As an engine with operations in its queue. Like the facility, it looks at those that wait in three steps when it
    /// has more orders than the caches hold. The engine has no such function: its caller writes it.
    void run(std::span<const operation> all) noexcept {
        for (; !all.empty(); all = all.subspan(std::min(all.size(), queue_size))) {
            const auto queue = all.first(std::min(all.size(), queue_size));
            if (engine_.open_orders_count() < facility::look_ahead_orders_min) {
                for (const operation& o : queue) run(o);
            } else {
                run_looking_ahead(queue);
            }
        }
    }
    [[nodiscard]] std::uint64_t agreed() const noexcept { return sink_.agreed.value(); }
    [[nodiscard]] std::uint64_t said() const noexcept { return sink_.said; }

 private:
    void run_looking_ahead(std::span<const operation> queue) noexcept {
        constexpr std::size_t step = facility::look_ahead_step;
        const auto fetch_first = [&]<int Step>(std::size_t count) {
            for (const operation& o : queue.first(std::min(count, queue.size()))) fetch<Step>(o);
        };
        fetch_first.template operator()<0>(3 * step);
        fetch_first.template operator()<1>(2 * step);
        fetch_first.template operator()<2>(step);
        for (std::size_t i = 0; i < queue.size(); ++i) {
            if (i + step < queue.size()) fetch<2>(queue[i + step]);
            if (i + 2 * step < queue.size()) fetch<1>(queue[i + 2 * step]);
            if (i + 3 * step < queue.size()) fetch<0>(queue[i + 3 * step]);
            run(queue[i]);
        }
    }
    template <int Step>
    void fetch(const operation& o) const noexcept {
        if (o.what == operation::kind::cancel_account) return;
        if (o.what != operation::kind::add && o.what != operation::kind::take) {
            const std::uint32_t slot = engine_.likely_slot_of(o.order);
            if (slot == matching::engine::none) return;
            if constexpr (Step == 0) engine_.prefetch(slot);
            if constexpr (Step == 1) engine_.prefetch_place(slot);
            return;
        }
        const domain::price_ticks price{o.price};
        if constexpr (Step == 0) engine_.prefetch_price(o.book, o.side, price);
        if constexpr (Step == 1) engine_.prefetch_level(o.book, o.side, price);
        if constexpr (Step == 2) engine_.prefetch_last(o.book, o.side, price);
        if (Step == 0 || !engine_.would_trade(o.book, o.side, price)) return;
        if constexpr (Step == 1) engine_.prefetch_first(o.book, domain::opposite(o.side));
        if constexpr (Step == 2) engine_.prefetch_second(o.book, domain::opposite(o.side));
    }

    struct summing_sink {
        tally agreed;
        std::uint64_t said = 0;
        void level(const matching::level_state& l) noexcept {
            said += static_cast<std::uint64_t>(l.price.value) + l.volume + l.orders_count + (l.top_changed ? 1U : 0U);
        }
        void filled(const matching::fill& f) noexcept {
            agreed.traded(f.resting, f.quantity);
            said += f.aggressor.value + f.aggressor_open + f.resting_open;
            level(f.level);
        }
        void rested(const matching::order_change& c) noexcept {
            agreed.changed(c.order, c.open);
            level(c.level);
        }
        void removed(const matching::order_change& c, matching::removal) noexcept {
            agreed.changed(c.order, c.change);
            level(c.level);
        }
        void reduced(const matching::order_change& c, matching::reduction) noexcept {
            agreed.changed(c.order, c.change);
            level(c.level);
        }
        void refreshed(const matching::order_change&) noexcept {}
        void aggressor_decremented(const matching::decrement&) noexcept {}
    };
    matching::engine engine_;
    summing_sink sink_;
};

/// Converts operations to the commands that a gateway would make. Each account has one session, which numbers its
/// requests from 1.
class command_maker {
 public:
    [[nodiscard]] domain::command command_of(const operation& o) noexcept {
        domain::command c;
        make(o, c);
        return c;
    }
    /// The same in its place, without a copy.
    void make(const operation& o, domain::command& c) noexcept;

 private:
    std::uint64_t sequence_ = 0;
    std::array<std::uint32_t, 256> requests_{};  ///< by account: the last number
};

inline void command_maker::make(const operation& o, domain::command& c) noexcept {
    c = {};
    c.sequence = domain::sequence_number{++sequence_};
    c.account = domain::account_id{o.account};
    c.session = domain::session_id{o.account + 1U};
    c.set_request(++requests_[o.account]);
    c.instrument = domain::instrument_id{o.book + 1U};
    const auto enters = [&] {
        c.order_terms().side = o.side;
        c.enter_order().price = domain::price_ticks{o.price};
        c.enter_order().quantity = domain::quantity_lots{o.quantity};
    };
    switch (o.what) {
        case operation::kind::add:
            enters();
            c.client_order = domain::client_order_id{o.name};
            break;
        case operation::kind::take:
            enters();
            c.order_terms().time_in_force = domain::time_in_force::ioc;
            break;
        case operation::kind::cancel:
            c.kind = domain::command_kind::cancel_order;
            c.cancel_order().order = o.order;
            break;
        case operation::kind::reduce:
        case operation::kind::replace:
            c.kind = domain::command_kind::amend_order;
            c.amend_order().order = o.order;
            c.amend_order().price = domain::price_ticks{o.price};
            c.amend_order().quantity = domain::quantity_lots{o.total};
            break;
        case operation::kind::cancel_account:
            c.kind = domain::command_kind::cancel_orders;
            c.instrument = {};
            break;
    }
}

[[nodiscard]] inline std::vector<domain::instrument> instruments_of(const workload& w) {
    std::vector<domain::instrument> all(w.books_count);
    for (std::uint32_t i = 0; i < w.books_count; ++i) {
        all[i].id = domain::instrument_id{i + 1};
        all[i].tick_size = domain::price_nano{1};
        all[i].allocation = w.allocation;
    }
    return all;
}

/// Reads events like a consumer that checks everything.
class event_reader {
 public:
    void read(std::span<const domain::event> events) noexcept {
        std::uint64_t said = said_;
        for (const domain::event& e : events) {
            said += static_cast<std::uint64_t>(e.kind) ^ e.command.value ^ e.order.order.value ^
                    static_cast<std::uint64_t>(e.order.price.value);
            switch (e.kind) {
                case domain::event_kind::order_added:
                case domain::event_kind::order_reduced:
                case domain::event_kind::order_deleted: agreed_.changed(e.book.order, e.book.change.value); break;
                default: break;
            }
        }
        said_ = said;
    }
    [[nodiscard]] std::uint64_t agreed() const noexcept { return agreed_.value(); }
    [[nodiscard]] std::uint64_t said() const noexcept { return said_; }

 private:
    tally agreed_;
    std::uint64_t said_ = 0;
};

/// The whole facility: executes commands, writes and reads every derived message.
class facility_subject final : facility::event_consumer {
 public:
    explicit facility_subject(const workload& w)
        : venue_({.orders_max = w.orders_max, .accounts_max = 64}, instruments_of(w), *this) {}

    void run(const operation& o) noexcept { venue_.apply(commands_.command_of(o)); }
    /// As a facility with commands in its queue.
    void run(std::span<const operation> all) noexcept {
        while (!all.empty()) {
            const std::size_t count = std::min(all.size(), queue_size);
            for (std::size_t i = 0; i < count; ++i) commands_.make(all[i], queue_[i]);
            venue_.apply(std::span(queue_).first(count));
            all = all.subspan(count);
        }
    }
    [[nodiscard]] std::uint64_t agreed() const noexcept { return reader_.agreed(); }
    [[nodiscard]] std::uint64_t said() const noexcept { return reader_.said(); }

 private:
    void consume(std::span<const domain::event> events) noexcept override { reader_.read(events); }

    event_reader reader_;
    command_maker commands_;
    std::array<domain::command, queue_size> queue_;
    facility::facility venue_;
};

/// The reference implementation that the differential test compares with the facility.
class reference_subject {
 public:
    explicit reference_subject(const workload& w)
        : venue_({.orders_max = w.orders_max, .accounts_max = 64}, instruments_of(w)) {}

    void run(const operation& o) {
        const domain::command c = commands_.command_of(o);
        // It treats ids as names. An order that will not rest gets a unique one.
        const bool rests = o.what == operation::kind::add && o.order.value != 0;
        const domain::order_id next = rests ? o.order : domain::order_id{~c.sequence.value};
        reader_.read(venue_.apply(c, next, {}));
    }
    [[nodiscard]] std::uint64_t agreed() const noexcept { return reader_.agreed(); }
    [[nodiscard]] std::uint64_t said() const noexcept { return reader_.said(); }

 private:
    event_reader reader_;
    command_maker commands_;
    facility::testing::facility_reference venue_;
};

/// A book in the usual design: a map of levels, a list of orders in each, a hash table of order ids.
class plain_subject {
 public:
    explicit plain_subject(const workload& w) : books_(w.books_count) { index_.reserve(w.orders_max); }

    void run(const operation& o) noexcept {
        switch (o.what) {
            case operation::kind::add:
            case operation::kind::take: enter(o); break;
            case operation::kind::cancel: cancel(o.order); break;
            case operation::kind::replace:
                cancel(o.order);
                enter(o);
                break;
            case operation::kind::reduce:
                if (const auto at = index_.find(o.order); at != index_.end()) {
                    const std::uint32_t less = at->second.place->open - o.quantity;
                    at->second.level->second.volume -= less;
                    at->second.place->open = o.quantity;
                    agreed_.changed(o.order, less);
                    said_ += at->second.level->second.volume;
                }
                break;
            case operation::kind::cancel_account: {
                auto& mine = accounts_[o.account];
                for (const domain::order_id id : mine) cancel(id);
                mine.clear();
                break;
            }
        }
    }
    [[nodiscard]] std::uint64_t agreed() const noexcept { return agreed_.value(); }
    [[nodiscard]] std::uint64_t said() const noexcept { return said_; }

 private:
    struct order {
        domain::order_id id;
        std::uint32_t open;
        std::uint32_t account;
    };
    struct level {
        std::list<order> queue;
        std::uint64_t volume = 0;
    };
    using ladder = std::map<std::int64_t, level>;
    struct place {
        ladder* side;
        ladder::iterator level;
        std::list<order>::iterator place;
    };
    struct id_hash {
        std::size_t operator()(domain::order_id id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
    };
    struct book {
        ladder buy, sell;  // keys of the buy side are negated
    };

    void enter(const operation& o) {
        book& b = books_[o.book];
        const bool buys = o.side == domain::side::buy;
        ladder& against = buys ? b.sell : b.buy;
        const std::int64_t limit = buys ? o.price : -o.price;
        std::uint32_t open = o.quantity;
        while (open != 0 && !against.empty() && against.begin()->first <= limit) {
            const auto at = against.begin();
            order& resting = at->second.queue.front();
            const std::uint32_t lots = std::min(open, resting.open);
            open -= lots;
            resting.open -= lots;
            at->second.volume -= lots;
            agreed_.traded(resting.id, lots);
            said_ += at->second.volume + open;
            if (resting.open == 0) {
                index_.erase(resting.id);
                at->second.queue.pop_front();
                if (at->second.queue.empty()) against.erase(at);
            }
        }
        if (open == 0 || o.what == operation::kind::take) return;
        ladder& own = buys ? b.buy : b.sell;
        const auto at = own.try_emplace(buys ? -o.price : o.price).first;
        at->second.queue.push_back({o.order, open, o.account});
        at->second.volume += open;
        index_.emplace(o.order, place{&own, at, std::prev(at->second.queue.end())});
        if (books_.size() > 1) accounts_[o.account].push_back(o.order);
        agreed_.changed(o.order, open);
        said_ += at->second.volume;
    }
    void cancel(domain::order_id id) {
        const auto found = index_.find(id);
        if (found == index_.end()) return;
        const place p = found->second;
        p.level->second.volume -= p.place->open;
        agreed_.changed(id, p.place->open);
        said_ += p.level->second.volume;
        p.level->second.queue.erase(p.place);
        if (p.level->second.queue.empty()) p.side->erase(p.level);
        index_.erase(found);
    }

    std::vector<book> books_;
    std::unordered_map<domain::order_id, place, id_hash> index_;
    std::unordered_map<std::uint32_t, std::vector<domain::order_id>> accounts_;
    tally agreed_;
    std::uint64_t said_ = 0;
};

}  // namespace corro::lab
