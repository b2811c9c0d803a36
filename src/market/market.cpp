// SPDX-License-Identifier: Apache-2.0
#include "market/market.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "domain/prefetch_hint.hpp"
#include "domain/private_event.hpp"
#include "market/limits.hpp"

namespace corro::market {
namespace {

using domain::command_kind;
using domain::event_kind;

constexpr std::uint32_t first_flight_slot = agents_max;
/// Agents that the second-level cache holds, with their frames; prefetching costs more than it gives below.
constexpr std::size_t cached_agents = 4'096;

const link& no_link() {
    static const link none;
    return none;
}

std::uint64_t rest_key(std::uint32_t agent, domain::client_order_id order) noexcept {
    return std::uint64_t{agent} << 32U | static_cast<std::uint32_t>(order.value);
}

bool may_trade(command_kind kind) noexcept {
    return kind == command_kind::enter_order || kind == command_kind::amend_order || kind == command_kind::enter_quote;
}

}  // namespace

market::market(market_options options)
    : options_(std::move(options)), venue_random_(options_.seed, "venue"), flights_(1), messages_(1) {
    CORRO_ASSERT(!options_.instruments.empty(), "a market has an instrument");
    CORRO_ASSERT(options_.times.gateways_count != 0, "a venue has a gateway");
    gateway_free_ns_.resize(options_.times.gateways_count);
    public_.resize(options_.instruments.size());
    for (std::size_t i = 0; i < options_.instruments.size(); ++i) {
        const std::uint32_t id = options_.instruments[i].id.value;
        if (index_of_id_.size() <= id) index_of_id_.resize(id + 1);
        index_of_id_[id] = static_cast<std::uint32_t>(i) + 1;
    }
    options_.fees.resize(options_.instruments.size());
    reach_ns_ = options_.reach_ns;
}

market::~market() = default;

agent& market::add_agent(agent_options with, std::function<behaviour(agent&)> make) {
    CORRO_ASSERT(!has_started_ && outside_ == nullptr, "agents are added before the market runs");
    CORRO_ASSERT(agents_.size() < agents_max, "a market has at most agents_max agents");
    const link* way = &no_link();
    if (with.way != nullptr) {
        way = with.way.get();
        if (links_.empty() || links_.back() != with.way) links_.push_back(with.way);
        reach_ns_ = std::max(reach_ns_, way->market_data.most_ns());
    }
    const auto index = static_cast<std::uint32_t>(agents_.size());
    const delay* compute = nullptr;
    if (!with.compute.is_constant() || with.compute.least_ns() != 0) {
        computes_.push_back(std::make_unique<const delay>(with.compute));
        compute = computes_.back().get();
    }
    agents_.emplace_back(*this, index, with.name, options_.seed, *way, compute, with.clock);
    names_.push_back(std::move(with.name));
    operators_.push_back(with.is_operator);
    makers_.push_back(std::move(make));
    return agents_.back();
}

const facility::facility& market::venue() const noexcept {
    CORRO_ASSERT(facility_ != nullptr, "the market has run");
    return *facility_;
}

facility::facility_options market::venue_options() const noexcept {
    facility::facility_options made;
    made.orders_max = options_.orders_max;
    // At least as many as an exchange's configuration has, so that one can read a recording.
    made.accounts_max = std::max({1'024U, options_.accounts_max, static_cast<std::uint32_t>(agents_.size()) + 1});
    made.positions_max = std::max(made.positions_max, options_.orders_max);
    made.touch = options_.touches_memory ? base::page_touch::yes : base::page_touch::no;
    return made;
}

void market::start() {
    has_started_ = true;
    if (outside_ == nullptr) {
        facility_ = std::make_unique<facility::facility>(venue_options(), options_.instruments,
                                                         static_cast<facility::event_consumer&>(*this));
    }
    is_large_ = agents_.size() > cached_agents;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
        agent& each = agents_[i];
        each.behaviour_ = makers_[each.index_](each);
        if (!each.behaviour_.valid()) continue;  // an agent that does nothing
        each.waiter_ = each.behaviour_.coroutine();
        each.is_waiting_ = true;
        each.deadline_ns_ = 0;
        plan_wake(each, 0);
    }
    makers_.clear();
    makers_.shrink_to_fit();
}

void market::prefetch_coming() const noexcept {
    schedule_.visit_soon([this](std::size_t place, std::uint32_t slot) {
        if (slot >= first_flight_slot) return;
        const agent& who = agents_[slot];
        if (place != 0) {
            constexpr std::size_t line = 64;
            const auto* const first = reinterpret_cast<const std::byte*>(&who);
            for (std::size_t at = 0; at < sizeof(agent); at += line) __builtin_prefetch(first + at);
            return;
        }
        // Its lines are on their way since it was further behind: what it points to comes now.
        const auto* const frame = static_cast<const std::byte*>(who.waiter_.address());
        for (std::size_t at = 0; at < 256; at += 64) __builtin_prefetch(frame + at);
        __builtin_prefetch(who.orders_.data());
        __builtin_prefetch(&messages_[who.inbox_first_]);
    });
}

void market::take_commands_from(std::shared_ptr<command_source> source) {
    CORRO_ASSERT(!has_started_ && source_ == nullptr && outside_ == nullptr, "one source, before the market runs");
    source_ = std::move(source);
}

void market::trade_at(outside_venue& elsewhere, std::span<const std::uint32_t> feed_of_agent) {
    CORRO_ASSERT(!has_started_ && source_ == nullptr, "where to trade is decided before the market runs");
    CORRO_ASSERT(feed_of_agent.size() == agents_.size(), "each agent has a feed");
    const venue_times& times = options_.times;
    CORRO_ASSERT(
        times.gateway.most_ns() == 0 && times.engine.most_ns() == 0 && times.bump_ns == 0 && times.resting_ns == 0,
        "a venue elsewhere has times of its own");
    outside_ = &elsewhere;
    std::uint32_t feeds_count = 1;
    for (std::size_t i = 0; i < agents_.size(); ++i) {
        agents_[i].link_ = &no_link();
        agents_[i].first_public_ = feed_of_agent[i] * static_cast<std::uint32_t>(options_.instruments.size());
        feeds_count = std::max(feeds_count, feed_of_agent[i] + 1);
    }
    reach_ns_ = 0;
    public_.resize(feeds_count * options_.instruments.size());
}

std::int64_t market::next_ns() const noexcept {
    if (!has_started_) return 0;
    return schedule_.empty() ? never_ns : static_cast<std::int64_t>(schedule_.next().at_ns);
}

void market::ask_source() {
    now_ns_ = std::max(now_ns_, source_->next_ns());
    domain::command c;
    if (!source_->take(*this, c)) return;
    published_at_ns_ = now_ns_;
    execute_command(c);
    source_->on_executed(*this);
}

bool market::run(std::int64_t until_ns, std::size_t commands_max) {
    if (!has_started_) start();
    for (;;) {
        const std::int64_t next_ns = schedule_.empty() ? INT64_MAX : static_cast<std::int64_t>(schedule_.next().at_ns);
        const bool is_of_source = source_ != nullptr && source_->next_ns() <= std::min(next_ns, until_ns);
        if (!is_of_source && (schedule_.empty() || next_ns > until_ns)) break;
        if (kept_commands_.size() >= commands_max) return false;
        if (is_of_source) {
            ask_source();
            continue;
        }
        const schedule::entry next = schedule_.take();
        now_ns_ = static_cast<std::int64_t>(next.at_ns);
        if (is_large_) prefetch_coming();
        if (const std::uint32_t slot = next.slot(); slot >= first_flight_slot) {
            arrive(slot - first_flight_slot);
        } else {
            wake(agents_[slot], next.number());
        }
    }
    now_ns_ = std::max(now_ns_, until_ns);
    return true;
}

void market::stop(agent& which) {
    which.is_stopping_ = true;
    if (which.is_waiting_) plan_wake(which, now_ns_);
}

void market::change_link(agent& of, std::shared_ptr<const link> way) {
    if (outside_ != nullptr) throw std::runtime_error("links do not change where the venue is elsewhere");
    if (way->market_data.most_ns() > reach_ns_) reach_ns_ = way->market_data.most_ns();
    of.link_ = way.get();
    if (links_.empty() || links_.back() != way) links_.push_back(std::move(way));
}

// --- Agents ---------------------------------------------------------------------------------------------------------

void market::plan_wake(agent& who, std::int64_t at_ns) {
    if (at_ns >= who.planned_at_ns_ || at_ns >= never_ns) return;
    who.planned_at_ns_ = at_ns;
    who.planned_number_ = schedule_.add(at_ns, who.index_);
}

void market::plan_next(agent& who) {
    std::int64_t at = std::min(who.deadline_ns_, who.news_due_ns_);
    if (((who.news_kinds_ & news::answers) != 0 || who.awaited_ != 0) && who.inbox_first_ != 0) {
        at = std::min(at, messages_[who.inbox_first_].at_ns);
    }
    plan_wake(who, std::max(at, now_ns_));
}

void market::wake(agent& who, std::uint64_t number) {
    if (number != who.planned_number_) return;  // another wake was planned since
    who.planned_number_ = 0;
    who.planned_at_ns_ = never_ns;
    if (who.busy_until_ns_ > now_ns_) {
        plan_wake(who, who.busy_until_ns_);
        return;
    }
    if (who.inbox_first_ != 0) take_messages(who);
    if (is_over(who)) {
        resume(who);
    } else {
        plan_next(who);
    }
}

bool market::is_over(agent& who) noexcept {
    if (who.is_stopping_) return true;
    if (who.awaited_ != 0) {
        who.woken_as_wanted_ = who.last_answer_.arrived;
    } else if ((who.news_kinds_ & news::answers) != 0 && who.heard_) {
        who.woken_as_wanted_ = true;
    }
    if (who.news_due_ns_ <= now_ns_) {
        who.seen_ns_ = std::max(who.seen_ns_, who.news_from_ns_);
        who.woken_as_wanted_ = true;
    }
    return who.woken_as_wanted_ || who.deadline_ns_ <= now_ns_;
}

void market::resume(agent& who) {
    if ((who.news_kinds_ & (news::trades | news::tops)) != 0 && who.news_due_ns_ == never_ns) remove_waiting(who);
    who.is_waiting_ = false;
    ++counts_.wakes;
    if (who.compute_ != nullptr) {
        who.busy_until_ns_ = now_ns_ + who.draw(*who.compute_, agent::stream::compute);
    }
    who.waiter_.resume();
    if (who.is_waiting_) return;
    if (who.behaviour_.done()) {
        const behaviour ended = std::move(who.behaviour_);
        if (ended.failure()) std::rethrow_exception(ended.failure());
    }
}

void market::take_messages(agent& who) {
    while (who.inbox_first_ != 0 && messages_[who.inbox_first_].at_ns <= now_ns_) {
        const std::uint32_t place = who.inbox_first_;
        message& taken = messages_[place];
        who.inbox_first_ = taken.next;
        if (taken.next == 0) who.inbox_last_ = 0;
        who.hear(taken.event);
        taken.next = free_message_;
        free_message_ = place;
    }
}

void market::await_public(agent& who) {
    // What was published before, and is still on its way, counts as well.
    public_state& of = public_of(who, who.news_instrument_);
    const std::int64_t delayed = who.draw(who.link_->market_data, agent::stream::market_data);
    const std::int64_t seen = std::max(who.seen_ns_, now_ns_ - delayed);
    const book_view& known = of.history.as_of(seen);
    of.history.visit_after(seen, [&](const book_view& each) {
        if (!is_news(known, each, who.news_kinds_)) return true;
        who.news_from_ns_ = each.at_ns;
        who.news_due_ns_ = std::max(now_ns_, each.at_ns + delayed);
        return false;
    });
    if (who.news_due_ns_ != never_ns) return;
    of.waiting_agents.push_back({who.index_, who.news_kinds_});
}

bool market::is_news(const book_view& before, const book_view& after, std::uint8_t kinds) noexcept {
    const bool has_traded = before.trades_count != after.trades_count;
    const bool is_other_top = before.bid != after.bid || before.ask != after.ask || before.bid_lots != after.bid_lots ||
                              before.ask_lots != after.ask_lots || before.phase != after.phase;
    return ((kinds & news::trades) != 0 && has_traded) || ((kinds & news::tops) != 0 && is_other_top);
}

void market::remove_waiting(agent& who) noexcept {
    std::vector<waiting>& all = public_of(who, who.news_instrument_).waiting_agents;
    const auto found = std::ranges::find(all, who.index_, &waiting::agent);
    if (found != all.end()) all.erase(found);
}

void market::take_note(std::uint32_t from, std::string_view what, double value) {
    if (!options_.keeps_notes) return;
    const auto found = std::ranges::find(note_names_, what);
    const auto index = static_cast<std::uint32_t>(found - note_names_.begin());
    if (found == note_names_.end()) note_names_.emplace_back(what);
    notes_.push_back({now_ns_, from, index, value});
}

// --- Requests -------------------------------------------------------------------------------------------------------

domain::command& market::prepare(agent& from, bool is_tracked) {
    if (is_tracked && outside_ != nullptr) {
        throw std::runtime_error("places in queues are not followed where the venue is elsewhere");
    }
    std::uint32_t place = free_flight_;
    if (place != 0) {
        free_flight_ = flights_[place].next_free;
    } else {
        place = static_cast<std::uint32_t>(flights_.size());
        if (place >= flights_max) {
            throw std::runtime_error(std::to_string(flights_max) +
                                     " requests are on their way to the venue at once: lengthen the pauses of agents, "
                                     "or shorten delays");
        }
        flights_.emplace_back();
    }
    flight& taken = flights_[place];
    taken.command = domain::command();
    taken.agent = from.index_;
    taken.is_at_gateway = false;
    taken.is_at_engine = false;
    taken.is_tracked = is_tracked;
    taken.command.session = domain::session_id{from.index_ + 1};
    taken.command.account = from.account();
    taken.command.set_request(++from.last_number_);
    if (operators_[from.index_]) taken.command.set_operator(true);
    departing_ = place;
    return taken.command;
}

void market::depart(agent& from) {
    const flight& leaving = flights_[departing_];
    std::int64_t at = std::max(now_ns_, from.busy_until_ns_) + from.draw(from.link_->request, agent::stream::request);
    if (from.link_->in_order) {
        at = std::max(at, from.request_at_ns_);
        from.request_at_ns_ = at;
    }
    const std::int64_t bump_ns = options_.times.bump_ns + from.link_->bump_ns;
    if (bump_ns != 0 && may_trade(leaving.command.kind)) at += bump_ns;
    schedule_.add(at, first_flight_slot + departing_);
    if (is_large_ && outside_ == nullptr) {
        const domain::command& c = leaving.command;
        domain::prefetch_hint hint;
        hint.account = c.account;
        hint.session = c.session;
        hint.instrument = c.instrument;
        hint.request = c.request();
        hint.client_order = c.client_order;
        hint.enters = c.kind == command_kind::enter_order;
        if (c.kind == command_kind::cancel_order) hint.order = c.cancel_order().order;
        facility_->expect(std::span(&hint, 1));
    }
}

void market::arrive(std::uint32_t flight_index) {
    const venue_times& times = options_.times;
    flight& arrived = flights_[flight_index];
    if (outside_ != nullptr) {
        outside_->send(agents_[arrived.agent], arrived.command);
        arrived.next_free = free_flight_;
        free_flight_ = flight_index;
        return;
    }
    if (times.resting_ns != 0 && !arrived.is_at_gateway) {
        if (const std::int64_t allowed = allowed_ns(arrived); allowed > now_ns_) {
            schedule_.add(allowed, first_flight_slot + flight_index);
            return;
        }
    }
    std::int64_t done = now_ns_;
    if (!arrived.is_at_gateway) {
        arrived.is_at_gateway = true;
        std::int64_t& free = gateway_free_ns_[arrived.agent % times.gateways_count];
        free = std::max(now_ns_, free) + times.gateway.draw(venue_random_.generator());
        done = free;
        if (times.gateways_count > 1 && done != now_ns_) {  // gateways may finish in another order
            schedule_.add(done, first_flight_slot + flight_index);
            return;
        }
    }
    if (!arrived.is_at_engine) {
        engine_free_ns_ = std::max(done, engine_free_ns_) + times.engine.draw(venue_random_.generator());
        arrived.is_at_engine = true;
        if (source_ != nullptr && engine_free_ns_ != now_ns_) {  // commands of the source come in between
            schedule_.add(engine_free_ns_, first_flight_slot + flight_index);
            return;
        }
    }
    execute(flight_index);
}

std::int64_t market::allowed_ns(const flight& arrived) const noexcept {
    const domain::command& c = arrived.command;
    std::int64_t since = -options_.times.resting_ns;
    if (c.kind == command_kind::cancel_order || c.kind == command_kind::amend_order) {
        const auto known = rests_since_.find(rest_key(arrived.agent, c.client_order));
        if (known != rests_since_.end()) since = known->second;
    } else if (c.kind == command_kind::cancel_orders && arrived.agent < newest_rests_since_.size()) {
        since = newest_rests_since_[arrived.agent];
    }
    return since + options_.times.resting_ns;
}

void market::execute(std::uint32_t flight_index) {
    flight& one = flights_[flight_index];
    published_at_ns_ = source_ == nullptr ? engine_free_ns_ : now_ns_;
    executing_ = &one;
    execute_command(one.command);
    executing_ = nullptr;
    for (const auto& [owner, e] : to_track_) {
        public_of(e.instrument)
            .trackers.emplace_back(owner,
                                   queue_tracker(*facility_, e.instrument, e.side, e.order.order, published_at_ns_));
        ++trackers_count_;
    }
    to_track_.clear();
    one.next_free = free_flight_;
    free_flight_ = flight_index;
}

void market::follow_rest(const domain::event& e) {
    const bool is_fill = e.kind == event_kind::order_executed;
    if (is_fill && e.execution.leaves.value != 0) return;
    const std::uint32_t owner = (is_fill ? e.execution.session : e.order.session).value - 1;
    if (owner >= agents_.size()) return;
    const std::uint64_t key = rest_key(owner, is_fill ? e.execution.client_order : e.order.client_order);
    if (e.kind != event_kind::order_entered) {
        rests_since_.erase(key);
        return;
    }
    rests_since_[key] = published_at_ns_;
    newest_rests_since_.resize(agents_.size(), -options_.times.resting_ns);
    newest_rests_since_[owner] = published_at_ns_;
}

void market::execute_command(domain::command& c) {
    c.sequence = domain::sequence_number{++counts_.commands};
    c.time = domain::time_ns{options_.start_ns + published_at_ns_};
    digest_ = base::hash_bytes(std::as_bytes(std::span(&c, 1)), digest_);
    if (options_.keeps_commands) kept_commands_.push_back(c);
    for (market_observer* each : observers_) each->on_command(c);
    facility_->apply(c);
    for (const std::uint32_t index : changed_) publish(index);
    changed_.clear();
}

}  // namespace corro::market
