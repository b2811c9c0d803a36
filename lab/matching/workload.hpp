// SPDX-License-Identifier: Apache-2.0
// The matching workloads: operations drawn from a seed before the run, so that every subject does exactly the same.
//
// Cancels and reductions name an order by its order id, as a client's message does. A workload is drawn against a
// scratch engine. Every engine of the same size assigns the same ids for the same operations, and each named order is
// open at its operation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "matching/engine.hpp"

namespace corro::lab {

struct operation {
    enum class kind : std::uint8_t { add, cancel, reduce, replace, take, cancel_account };
    std::int64_t price = 0;
    domain::order_id
        order{};  ///< add: the id that the order will get, 0 if it will not rest; else: the order concerned
    std::uint32_t quantity = 0;  ///< reduce, replace: the new open quantity
    std::uint32_t total = 0;     ///< reduce, replace: the same plus the filled quantity
    std::uint32_t name = 0;      ///< add: the client's own number of the order
    std::uint8_t book = 0;
    std::uint8_t account = 0;
    kind what = kind::add;
    domain::side side = domain::side::buy;
};
static_assert(sizeof(operation) == 32);

struct workload {
    std::string name;
    std::uint32_t orders_max = 1U << 16;
    std::uint32_t books_count = 1;
    bool times_only_account_cancels = false;  ///< then the figure is per order cancelled
    domain::allocation_policy allocation{};   ///< of every book
    std::uint64_t measured_orders = 0;        ///< divisor of the total time
    std::vector<operation> setup{};
    std::vector<operation> measured{};
};

/// Ignores everything.
struct deaf_sink {
    void filled(const matching::fill&) noexcept {}
    void rested(const matching::order_change&) noexcept {}
    void removed(const matching::order_change&, matching::removal) noexcept {}
    void reduced(const matching::order_change&, matching::reduction) noexcept {}
    void refreshed(const matching::order_change&) noexcept {}
    void aggressor_decremented(const matching::decrement&) noexcept {}
};

class workload_writer {
 public:
    workload_writer(const workload& out, std::uint64_t seed)
        : random_(seed), engine_({.orders_max = out.orders_max, .accounts_max = 64, .books_count = out.books_count}) {
        for (std::uint32_t book = 0; book < out.books_count; ++book) engine_.set_policy(book, out.allocation);
    }

    base::prng& random() noexcept { return random_; }
    void into(std::vector<operation>& list) noexcept { list_ = &list; }
    [[nodiscard]] std::size_t open_count() const noexcept { return engine_.open_orders_count(); }

    /// Returns the order's id; 0 if it does not rest.
    domain::order_id add(domain::side side, std::int64_t price, std::uint32_t quantity, std::uint8_t account,
                         std::uint8_t book = 0) {
        const auto result =
            engine_.enter(entry(side, price, quantity, account, book, matching::remainder::rests), sink_);
        const bool rests = result.what == matching::outcome::rested;
        // A client's numbers increase and are never reused.
        list_->push_back({.price = price,
                          .order = rests ? result.order : domain::order_id{},
                          .quantity = quantity,
                          .name = ++names_count_,
                          .book = book,
                          .account = account,
                          .what = operation::kind::add,
                          .side = side});
        if (rests) open_.push_back({result.order, price, quantity, account, side});
        return rests ? result.order : domain::order_id{};
    }
    void forget_closed() {
        std::erase_if(open_, [&](const known& o) { return !engine_.is_open(o.id); });
    }
    /// An immediate order that reaches every price.
    void take(domain::side side, std::uint32_t quantity, std::uint8_t account) {
        take(side, side == domain::side::buy ? domain::price_ticks_max : -domain::price_ticks_max, quantity, account);
    }
    void take(domain::side side, std::int64_t price, std::uint32_t quantity, std::uint8_t account) {
        engine_.enter(entry(side, price, quantity, account, 0, matching::remainder::cancelled), sink_);
        list_->push_back(
            {.price = price, .quantity = quantity, .account = account, .what = operation::kind::take, .side = side});
    }
    void cancel_any() {
        if (const known* o = pick()) {
            engine_.cancel(matching::engine::slot_of(o->id), sink_);
            list_->push_back({.order = o->id, .account = o->account, .what = operation::kind::cancel, .side = o->side});
        }
    }
    void reduce_any() {
        known* const o = pick();
        if (o == nullptr) return;
        const std::uint32_t slot = matching::engine::slot_of(o->id);
        const std::uint32_t open = engine_.order_at(slot).open;
        if (open < 2) return;
        engine_.reduce(slot, open - 1, sink_);
        --o->total;
        list_->push_back({.price = o->price,
                          .order = o->id,
                          .quantity = open - 1,
                          .total = o->total,
                          .account = o->account,
                          .what = operation::kind::reduce,
                          .side = o->side});
    }
    void cancel(domain::order_id order, std::uint8_t account) {
        engine_.cancel(matching::engine::slot_of(order), sink_);
        list_->push_back({.order = order, .account = account, .what = operation::kind::cancel});
    }
    /// Changes an open order's price, its total quantity (above the filled quantity), or both.
    void amend(domain::order_id order, std::int64_t price, std::uint32_t total, std::uint32_t filled,
               std::uint8_t account) {
        const std::uint32_t slot = matching::engine::slot_of(order);
        const matching::level_state level = engine_.level_of(slot);
        const std::uint32_t open = engine_.order_at(slot).open;
        const std::uint32_t wanted = total - filled;
        operation o{.price = price,
                    .order = order,
                    .quantity = wanted,
                    .total = total,
                    .account = account,
                    .what = operation::kind::replace,
                    .side = level.side};
        if (level.price.value == price && wanted <= open) {
            if (wanted == open) return;
            o.what = operation::kind::reduce;
            engine_.reduce(slot, wanted, sink_);
        } else {
            engine_.replace(slot, entry(level.side, price, wanted, account, 0, matching::remainder::rests), sink_);
        }
        list_->push_back(o);
    }
    /// Returns an order's open quantity; 0 if it is closed.
    [[nodiscard]] std::uint32_t open_of(domain::order_id order) const noexcept {
        return engine_.is_open(order) ? engine_.order_at(matching::engine::slot_of(order)).open : 0;
    }
    void cancel_account(std::uint8_t account) {
        engine_.cancel_account(account, [](std::uint32_t, std::uint32_t) { return true; }, sink_);
        list_->push_back({.account = account, .what = operation::kind::cancel_account});
    }

    [[nodiscard]] static matching::entry entry(domain::side side, std::int64_t price, std::uint32_t quantity,
                                               std::uint32_t account, std::uint32_t book, matching::remainder rest) {
        return {.book = book,
                .account = account,
                .side = side,
                .rest = rest,
                .price = domain::price_ticks{price},
                .quantity = domain::quantity_lots{quantity}};
    }

 private:
    struct known {
        domain::order_id id;
        std::int64_t price;
        std::uint32_t total;
        std::uint8_t account;
        domain::side side;
    };
    known* pick() {
        while (!open_.empty()) {
            known& at = open_[random_.below(open_.size())];
            if (engine_.is_open(at.id)) return &at;
            at = open_.back();
            open_.pop_back();
        }
        return nullptr;
    }

    base::prng random_;
    matching::engine engine_;
    deaf_sink sink_;
    std::uint32_t names_count_ = 0;
    std::vector<operation>* list_ = nullptr;
    std::vector<known> open_;
};

/// 45% add, 45% cancel, 5% reduce, 5% take against `resting` orders, at distances from a moving middle that `distance`
/// draws.
template <class Distance>
workload mixed(std::string name, std::uint64_t seed, std::uint32_t resting, std::uint64_t operations, bool moves,
               Distance&& distance) {
    workload w{.name = std::move(name), .orders_max = resting + resting / 4 + 64};
    w.setup.reserve(resting);
    w.measured.reserve(operations);
    workload_writer writer(w, seed);
    std::int64_t middle = 0;
    const auto add_one = [&] {
        const domain::side side = writer.random().below(2) == 0 ? domain::side::buy : domain::side::sell;
        const std::int64_t away = 1 + distance(writer.random());
        writer.add(side, side == domain::side::buy ? middle - away : middle + away,
                   static_cast<std::uint32_t>(1 + writer.random().below(20)),
                   static_cast<std::uint8_t>(writer.random().below(64)));
    };
    writer.into(w.setup);
    while (writer.open_count() < resting) add_one();
    writer.into(w.measured);
    while (w.measured.size() < operations) {
        if (moves && writer.random().below(64) == 0) middle += writer.random().below(2) == 0 ? 1 : -1;
        const std::uint64_t dice = writer.random().below(100);
        if (dice < 5) {
            const domain::side side = writer.random().below(2) == 0 ? domain::side::buy : domain::side::sell;
            writer.take(side, static_cast<std::uint32_t>(1 + writer.random().below(20)), 0);
        } else if (dice < 10) {
            writer.reduce_any();
        } else if (writer.open_count() < resting || (dice < 55 && writer.open_count() < resting + resting / 8)) {
            add_one();
        } else {
            writer.cancel_any();
        }
    }
    w.measured_orders = w.measured.size();
    return w;
}

[[nodiscard]] inline workload typical(std::uint64_t seed, std::uint64_t operations) {
    return mixed("typical", seed, 10'000, operations, true, [](base::prng& random) {
        const double u = static_cast<double>(random.below(1U << 20) + 1) / static_cast<double>(1U << 20);
        return static_cast<std::int64_t>(-std::log(u) * 40);
    });
}
[[nodiscard]] inline workload deep(std::uint64_t seed, std::uint64_t operations, std::uint32_t resting = 1'000'000) {
    return mixed("deep", seed, resting, operations, true,
                 [](base::prng& random) { return static_cast<std::int64_t>(random.below(10'000)); });
}
[[nodiscard]] inline workload sparse(std::uint64_t seed, std::uint64_t operations) {
    return mixed("sparse", seed, 10'000, operations, false,
                 [](base::prng& random) { return static_cast<std::int64_t>(random.below(500'000'000)); });
}
/// Ten resting orders `step` ticks apart, then one order that takes all; per operation.
[[nodiscard]] inline workload sweep(std::string name, std::uint64_t seed, std::uint64_t operations, std::int64_t step) {
    workload w{.name = std::move(name)};
    workload_writer writer(w, seed);
    writer.into(w.measured);
    while (w.measured.size() < operations) {
        for (std::int64_t i = 0; i < 10; ++i)
            writer.add(domain::side::sell, 1'000 + i * step, 1, static_cast<std::uint8_t>(1 + i));
        writer.take(domain::side::buy, 10, 0);
        writer.forget_closed();
    }
    w.measured_orders = w.measured.size();
    return w;
}
/// A thousand orders of different sizes rest at one price, and every operation shares `lots` pro rata among them. The
/// figure is per resting order, with or without a share.
[[nodiscard]] inline workload pro_rata(std::string name, std::uint64_t seed, std::uint64_t operations,
                                       std::uint32_t lots) {
    constexpr std::uint64_t orders_count = 1'000;
    workload w{.name = std::move(name),
               .allocation = {.algorithm = domain::match_algorithm::pro_rata, .pro_rata_minimum = 1}};
    workload_writer writer(w, seed);
    writer.into(w.setup);
    for (std::uint64_t i = 0; i < orders_count; ++i) {
        const auto quantity = static_cast<std::uint32_t>(5'000'000 + writer.random().below(10'000'000));
        writer.add(domain::side::sell, 1'000, quantity, static_cast<std::uint8_t>(1 + i % 60));
    }
    writer.into(w.measured);
    while (w.measured.size() * orders_count < operations) writer.take(domain::side::buy, lots, 0);
    w.measured_orders = w.measured.size() * orders_count;
    return w;
}
/// An account quotes both sides of 100 books and cancels all of it at once; per order cancelled.
[[nodiscard]] inline workload mass_cancel(std::string name, std::uint64_t seed, std::uint64_t rounds, bool full_books) {
    workload w{.name = std::move(name), .books_count = 100, .times_only_account_cancels = true};
    workload_writer writer(w, seed);
    writer.into(w.setup);
    if (full_books) {
        for (std::uint8_t book = 0; book < 100; ++book) {
            for (std::int64_t i = 0; i < 100; ++i) {
                writer.add(domain::side::buy, 900 - i, 5, 2, book);
                writer.add(domain::side::sell, 1'100 + i, 5, 2, book);
            }
        }
    }
    writer.into(w.measured);
    for (std::uint64_t round = 0; round < rounds; ++round) {
        for (std::uint8_t book = 0; book < 100; ++book) {
            writer.add(domain::side::buy, 990, 5, 1, book);
            writer.add(domain::side::sell, 1'010, 5, 1, book);
        }
        writer.cancel_account(1);
        writer.forget_closed();
    }
    w.measured_orders = rounds * 200;
    return w;
}

}  // namespace corro::lab
