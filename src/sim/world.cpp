// SPDX-License-Identifier: Apache-2.0
#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "sim/backend.hpp"

namespace corro::sim {
namespace {

constexpr std::uint64_t never = agenda::never;

std::uint64_t in_ns(io::steady_time time) noexcept {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(time.time_since_epoch()).count());
}

}  // namespace

world::world(std::uint64_t seed)
    : seed_(seed), network_(*this), machine_(&add_host("machine", {}).start_process("main")) {}

world::~world() {
    CORRO_ASSERT(agenda_.empty(), "the contexts of a world go before it");
}

host& world::add_host(std::string name, std::vector<io::endpoint> addresses) {
    for (const auto& each : hosts_) CORRO_ASSERT(each->name() != name, "hosts have different names");
    for (const io::endpoint& each : addresses) {
        CORRO_ASSERT(!network_.has_address(each), "an address belongs to one host");
    }
    return *hosts_.emplace_back(std::make_unique<host>(*this, hosts_.size(), std::move(name), std::move(addresses)));
}

void world::set_isolated(const host& one, bool isolated) {
    for (const auto& each : hosts_) {
        if (each.get() == &one) continue;
        link_between(one, *each).set_cut(isolated);
        link_between(*each, one).set_cut(isolated);
    }
}

std::uint64_t world::seed_of(std::string_view purpose) const noexcept {
    return base::hash_bytes(std::as_bytes(std::span(purpose)), seed_);
}

std::vector<io::endpoint> world::addresses_of(const std::string& name) const {
    if (const auto found = names_.find(name); found != names_.end()) return found->second;
    for (const auto& each : hosts_) {
        if (each->name() == name) return each->addresses();
    }
    return {};
}

void world::plan(std::uint64_t at_ns, std::function<void()> what) {
    plan_inside(at_ns, [this, act = std::move(what)] {
        set_clocks();
        act();
        agenda_.list_all();
    });
}

void world::plan_after(std::chrono::nanoseconds time, std::function<void()> what) {
    plan(now_ns_ + static_cast<std::uint64_t>(time.count()), std::move(what));
}

void world::record(std::uint64_t from, std::uint64_t to, std::span<const std::byte> bytes) noexcept {
    digest_ = base::hasher(digest_).add(now_ns_).add(from).add(to).add_bytes(bytes).value();
}

/// One turn of every context that has something to do and is not being run. @return Whether any of them did something.
bool world::step_others() {
    CORRO_ASSERT(++turns_at_this_time_count_ <= turns_at_one_time_max_, "a task of this world runs and never waits");
    bool any = false;
    agenda_.begin_turn();
    // A step may make contexts and destroy others.
    while (agenda::member* const next = agenda_.take_next()) {
        auto& each = static_cast<backend&>(*next);
        io::context& where = each.where();
        host& on = each.of().on();
        if (where.running()) {
            agenda_.list(each);  // for when it is not
            continue;
        }
        if (on.is_paused()) {
            agenda_.set_due(each, never);
            continue;
        }
        on.clock().advance(now_ns_);
        ++steps_count_;
        const bool had_news = each.take_news();
        const bool did = where.step();
        any = did || had_news || any;
        if (did) {
            agenda_.list(each);
        } else {
            const io::steady_time own = where.next_due();
            const bool waits = own != io::steady_time::max();
            agenda_.set_due(each, waits ? on.clock().world_time_of(in_ns(own)) : never);
        }
    }
    return any;
}

/// When something will happen if nobody does anything now.
std::uint64_t world::next_due_ns() const noexcept {
    return std::min(events_.empty() ? never : events_.next_ns(), agenda_.next_due_ns());
}

void world::set_clocks() noexcept {
    for (const auto& each : hosts_) each->clock().advance(now_ns_);
}

/// Moves the time, and lets happen what is planned until then.
void world::advance(std::uint64_t to_ns) {
    turns_at_this_time_count_ = 0;
    now_ns_ = std::max(now_ns_, to_ns);
    agenda_.list_due(now_ns_);
    while (!events_.empty() && events_.next_ns() <= now_ns_) events_.take()();
}

/// Goes on until `is_done`, or until `end`.
template <class Condition>
void world::go_on(std::uint64_t end, Condition is_done) {
    agenda_.list_all();
    while (now_ns_ < end) {
        const bool any = step_others();
        if (is_done()) break;
        if (any) continue;
        const std::uint64_t due = std::min(end, next_due_ns());
        CORRO_ASSERT(due != never, "every task of this world waits for something that does not come");
        advance(due);
        if (is_done()) break;
    }
    set_clocks();
}

void world::wait(backend& waiting, std::chrono::nanoseconds timeout) {
    if (waiting.take_news() || timeout.count() == 0) return;
    if (waiting.where().is_stepping()) return;  // its turn is over; the others have theirs
    host_clock& clock = waiting.of().on().clock();
    clock.advance(now_ns_);
    go_on(
        timeout.count() < 0 ? never : clock.world_time_of(clock.now_ns() + static_cast<std::uint64_t>(timeout.count())),
        [&waiting] { return waiting.take_news(); });
}

void world::run_until_done(const std::function<bool()>& is_done) {
    if (!is_done()) go_on(never, is_done);
}

void world::run_until(io::steady_time end) {
    agenda_.list_all();
    for (;;) {
        if (step_others()) continue;
        const std::uint64_t due = next_due_ns();
        if (due > in_ns(end)) break;
        advance(due);
    }
    advance(in_ns(end));
    set_clocks();
}

}  // namespace corro::sim
