// What the matching workloads are run on. A subject is built from a workload and executes its operations; `checksum`
// depends on everything that it said, so that nothing can be optimised away and nothing can differ unnoticed.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <vector>

#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "lab/matching/workload.hpp"
#include "matching/engine.hpp"

namespace corro::lab {

/// Acknowledgements, fills and levels of the engine alone, folded into a number.
class core_subject {
 public:
    static constexpr const char* name = "core events";
    explicit core_subject(const workload& w)
        : engine_({.orders_max = w.orders_max, .accounts_max = 64, .books_count = w.books_count}),
          orders_(w.adds_count) {}

    void run(const operation& o) noexcept {
        switch (o.what) {
            case operation::kind::add:
                orders_[o.order] = engine_
                                       .enter(workload_writer::entry(o.side, o.price, o.quantity, o.account, o.book,
                                                                     matching::remainder::rests),
                                              sink_)
                                       .order;
                break;
            case operation::kind::take:
                engine_.enter(workload_writer::entry(o.side, o.price, o.quantity, o.account, o.book,
                                                     matching::remainder::cancelled),
                              sink_);
                break;
            case operation::kind::cancel:
                if (const domain::order_id id = orders_[o.order]; engine_.is_open(id)) {
                    engine_.cancel(matching::engine::slot_of(id), sink_);
                }
                break;
            case operation::kind::reduce:
                if (const domain::order_id id = orders_[o.order]; engine_.is_open(id)) {
                    engine_.reduce(matching::engine::slot_of(id), o.quantity, sink_);
                }
                break;
            case operation::kind::cancel_account:
                engine_.cancel_account(o.account, [](std::uint32_t, std::uint32_t) { return true; }, sink_);
                break;
        }
    }
    [[nodiscard]] std::uint64_t checksum() const noexcept { return sink_.sum; }

 private:
    struct summing_sink {
        std::uint64_t sum = 0;
        void add(std::uint64_t value) noexcept { sum = (sum ^ value) * 0x9e3779b97f4a7c15ULL; }
        void level(const matching::level_state& l) noexcept {
            add(static_cast<std::uint64_t>(l.price.value) + l.volume + l.orders_count + (l.top_changed ? 1U : 0U));
        }
        void filled(const matching::fill& f) noexcept {
            add(f.aggressor.value + f.resting.value + f.quantity + f.aggressor_open + f.resting_open);
            level(f.level);
        }
        void rested(const matching::order_change& c) noexcept {
            add(c.order.value + c.open);
            level(c.level);
        }
        void removed(const matching::order_change& c, matching::removal) noexcept {
            add(c.order.value + c.change);
            level(c.level);
        }
        void reduced(const matching::order_change& c, matching::reduction) noexcept {
            add(c.order.value + c.open);
            level(c.level);
        }
        void refreshed(const matching::order_change&) noexcept {}
        void aggressor_decremented(const matching::decrement&) noexcept {}
    };
    matching::engine engine_;
    std::vector<domain::order_id> orders_;
    summing_sink sink_;
};

/// The whole facility: commands in, every derived message written and read.
class facility_subject final : facility::event_consumer {
 public:
    static constexpr const char* name = "all messages";
    explicit facility_subject(const workload& w)
        : orders_(std::size_t{w.adds_count} + 1),
          venue_({.orders_max = w.orders_max, .accounts_max = 64}, instruments(w.books_count), *this) {}

    void run(const operation& o) noexcept {
        domain::command c;
        c.sequence = domain::sequence_number{++sequence_};
        c.account = domain::account_id{o.account};
        c.instrument = domain::instrument_id{o.book + 1};
        switch (o.what) {
            case operation::kind::add:
            case operation::kind::take:
                c.side = o.side;
                c.price = domain::price_ticks{o.price};
                c.quantity = domain::quantity_lots{o.quantity};
                if (o.what == operation::kind::add) {
                    c.client_order = domain::client_order_id{std::uint64_t{o.order} + 1};
                } else {
                    c.time_in_force = domain::time_in_force::ioc;
                }
                break;
            case operation::kind::cancel:
                c.kind = domain::command_kind::cancel_order;
                c.order = orders_[o.order + 1].id;
                c.account = orders_[o.order + 1].account;
                break;
            case operation::kind::reduce: {
                // The engine's operation says what stays open; the command says the total.
                const known& k = orders_[o.order + 1];
                c.kind = domain::command_kind::amend_order;
                c.order = k.id;
                c.account = k.account;
                c.price = k.price;
                c.quantity = domain::quantity_lots{k.filled + o.quantity};
                break;
            }
            case operation::kind::cancel_account:
                c.kind = domain::command_kind::cancel_orders;
                c.instrument = {};
                break;
        }
        venue_.apply(c);
    }
    [[nodiscard]] std::uint64_t checksum() const noexcept { return sum_; }

 private:
    struct known {
        domain::order_id id{};
        domain::price_ticks price{};
        domain::account_id account{};
        std::uint32_t filled = 0;
    };
    static std::vector<domain::instrument> instruments(std::uint32_t count) {
        std::vector<domain::instrument> all(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            all[i].id = domain::instrument_id{i + 1};
            all[i].tick_size = domain::price_nano{1};
        }
        return all;
    }
    void consume(std::span<const domain::event> events) noexcept override {
        std::uint64_t sum = sum_;
        for (const domain::event& e : events) {
            sum = (sum ^ (static_cast<std::uint64_t>(e.kind) + e.order.order.value + e.order.client_order.value)) *
                  0x9e3779b97f4a7c15ULL;
            if (e.kind == domain::event_kind::order_entered) {
                orders_[e.order.client_order.value] = {e.order.order, e.order.price, e.order.account, 0};
            } else if (e.kind == domain::event_kind::order_executed) {
                orders_[e.execution.client_order.value].filled += e.execution.quantity.value;
            }
        }
        sum_ = sum;
    }

    std::vector<known> orders_;
    std::uint64_t sum_ = 0;
    std::uint64_t sequence_ = 0;
    facility::facility venue_;
};

/// A book as most people write it: a map of levels, a list of orders in each, a hash table of order ids.
class plain_subject {
 public:
    static constexpr const char* name = "std::map book";
    explicit plain_subject(const workload& w) : books_(w.books_count) { index_.reserve(w.orders_max); }

    void run(const operation& o) noexcept {
        switch (o.what) {
            case operation::kind::add:
            case operation::kind::take: enter(o); break;
            case operation::kind::cancel: cancel(o.order); break;
            case operation::kind::reduce:
                if (const auto at = index_.find(o.order); at != index_.end()) {
                    at->second.level->second.volume -= at->second.place->open - o.quantity;
                    at->second.place->open = o.quantity;
                    say(o.order, at->second.level->second.volume);
                }
                break;
            case operation::kind::cancel_account: {
                auto& mine = accounts_[o.account];
                for (const std::uint32_t number : mine) cancel(number);
                mine.clear();
                break;
            }
        }
    }
    [[nodiscard]] std::uint64_t checksum() const noexcept { return sum_; }

 private:
    struct order {
        std::uint32_t number;
        std::uint32_t open;
        std::uint16_t account;
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
    struct book {
        ladder buy, sell;  // keys of the buy side are negated
    };

    void say(std::uint64_t a, std::uint64_t b) noexcept { sum_ = (sum_ ^ (a + b)) * 0x9e3779b97f4a7c15ULL; }
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
            say(resting.number, at->second.volume);
            if (resting.open == 0) {
                index_.erase(resting.number);
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
        say(o.order, at->second.volume);
    }
    void cancel(std::uint32_t number) {
        const auto found = index_.find(number);
        if (found == index_.end()) return;
        const place p = found->second;
        p.level->second.volume -= p.place->open;
        say(number, p.level->second.volume);
        p.level->second.queue.erase(p.place);
        if (p.level->second.queue.empty()) p.side->erase(p.level);
        index_.erase(found);
    }

    std::vector<book> books_;
    std::unordered_map<std::uint32_t, place> index_;
    std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> accounts_;
    std::uint64_t sum_ = 0;
};

}  // namespace corro::lab
