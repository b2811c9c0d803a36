// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/distribution.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "fix_market_data/limits.hpp"

namespace corro::fix_market_data {
namespace {

std::size_t levels_of(const request_terms& r) noexcept {
    return (r.types.has(entry_type::bid) ? r.levels : 0U) + (r.types.has(entry_type::offer) ? r.levels : 0U);
}

/// A turn serves one client after the other, so that one with many requests does not delay the others.
constexpr std::size_t entries_per_client = entries_per_turn / 4;

}  // namespace

client_subscriptions::client_subscriptions(distribution& among, outlet& to, fix_version version)
    : among_(among), to_(to), version_(version) {}

client_subscriptions::~client_subscriptions() {
    behind_.clear();
    for (const auto& each : all_) each->is_marked = false;
    while (!all_.empty()) remove(*all_.back());
    std::erase(among_.ready_, this);
}

request_problem client_subscriptions::take(const market_data_request& request) {
    const auto known = requests_.find(request.id);
    if (request.kind == request_kind::end) {
        if (known == requests_.end()) return refused(refusal_reason::none, "no request has this MDReqID (262)");
        end(*known->second);
        return {};
    }
    if (known != requests_.end()) return refused(refusal_reason::duplicate_id, "this MDReqID (262) is in use");
    return begin(request);
}

request_problem client_subscriptions::begin(const market_data_request& request) {
    std::vector<market*> about;
    for (const std::string_view symbol : request.symbols) {
        market* const found = among_.all_.find(symbol);
        if (found == nullptr) return refused(refusal_reason::unknown_symbol, "there is no such Symbol (55)");
        if (std::ranges::find(about, found) == about.end()) about.push_back(found);
    }
    auto terms = std::make_unique<request_terms>();
    terms->id = request.id;
    terms->kind = request.kind;
    terms->version = version_;
    terms->levels = request.levels;
    terms->is_incremental = request.is_incremental;
    terms->wants_aggressor = request.wants_aggressor;
    terms->types = request.types;
    if (all_.size() + about.size() > subscriptions_max) {
        return refused(refusal_reason::insufficient_bandwidth, "more than 1024 instruments of all requests");
    }
    if (levels_count_ + about.size() * levels_of(*terms) > subscribed_levels_max) {
        return refused(refusal_reason::insufficient_bandwidth, "more than 16384 levels of all requests");
    }
    request_terms& to = *requests_.emplace(terms->id, std::move(terms)).first->second;
    for (market* const each : about) add(to, *each);
    resume();
    return {};
}

void client_subscriptions::add(request_terms& to, market& about) {
    subscription& made = *all_.emplace_back(std::make_unique<subscription>(*this, to, about));
    made.place_in_client = all_.size() - 1;
    ++to.subscriptions_count;
    levels_count_ += levels_of(to);
    if (to.kind == request_kind::updates) {
        made.place_in_market = about.subscribers.size();
        about.subscribers.push_back(&made);
    }
    mark(made);
}

void client_subscriptions::end(request_terms& request) {
    std::vector<subscription*> gone;
    for (const auto& each : all_) {
        if (&each->request() == &request) gone.push_back(each.get());
    }
    std::erase_if(behind_, [&](subscription* each) { return &each->request() == &request; });
    for (subscription* const each : gone) each->is_marked = false;
    for (subscription* const each : gone) remove(*each);
}

// The last one of a request takes the request with it.
void client_subscriptions::remove(subscription& gone) {
    if (gone.is_marked) std::erase(behind_, &gone);
    request_terms& of = gone.request();
    if (of.kind == request_kind::updates) {
        std::vector<subscription*>& others = gone.about().subscribers;
        others.back()->place_in_market = gone.place_in_market;
        others[gone.place_in_market] = others.back();
        others.pop_back();
    }
    levels_count_ -= levels_of(of);
    const std::size_t place = gone.place_in_client;
    all_.back()->place_in_client = place;
    std::swap(all_[place], all_.back());
    all_.pop_back();
    if (--of.subscriptions_count == 0) requests_.erase(requests_.find(of.id));
}

void client_subscriptions::mark(subscription& what) {
    if (std::exchange(what.is_marked, true)) return;
    behind_.push_back(&what);
}

void client_subscriptions::resume() {
    if (is_ready_ || behind_.empty()) return;
    is_ready_ = true;
    among_.ready_.push_back(this);
}

/// @return The entries of the message; 0 when there was nothing to send, or when the session can send no more.
std::size_t client_subscriptions::write(subscription& what) {
    std::vector<entry>& entries = among_.entries_;
    const subscription::lack lack = what.collect(among_.all_, entries);
    if (lack == subscription::lack::nothing) return 0;
    if (lack == subscription::lack::trades) {
        to_.give_up();
        return 0;
    }
    fix::session& session = to_.session();
    const domain::instrument& i = among_.all_.definition(what.about());
    const entry_context context{version_, what.request().id, i.name.view()};
    const fix::instant now = to_.now();
    if (lack == subscription::lack::snapshot) {
        write_snapshot(context, entries, session.begin_message("W", now));
    } else {
        write_changes(context, entries, what.number(entries.size()), session.begin_message("X", now));
    }
    const std::uint64_t sent = session.send(now);
    CORRO_ASSERT(sent != 0, "the limits of entries leave room for every message");
    among_.entries_written_ += entries.size();
    return entries.size() + 1;
}

/// @return What of `entries_max` is left. The client is ready still if there is more to do.
std::size_t client_subscriptions::serve(std::size_t entries_max) {
    std::size_t left = std::min(entries_max, entries_per_client);
    const std::size_t allowed = left;
    while (!behind_.empty() && left != 0 && to_.session().may_send() && to_.has_room()) {
        subscription& next = *behind_.front();
        behind_.pop_front();
        next.is_marked = false;
        left -= std::min(left, write(next) + 1);
        if (next.request().kind == request_kind::snapshot) {
            remove(next);
        } else if (next.is_behind()) {
            mark(next);
        }
    }
    if (left != allowed) to_.flush();
    if (!behind_.empty() && left == 0 && to_.has_room()) resume();
    return entries_max - (allowed - left);
}

void distribution::begin_round() {
    for (market* const each : of_round_) all_.trim(*each);
    all_.take_changed(of_round_);
    for (market* const changed : of_round_) {
        for (subscription* const each : changed->subscribers) {
            ++all_.steps();
            each->owner().mark(*each);
            if (each->owner().to_.has_room()) each->owner().resume();
        }
    }
}

bool distribution::take_turn() {
    if (!all_.is_between_commands()) return false;
    if (ready_.empty()) begin_round();
    std::size_t left = entries_per_turn;
    while (!ready_.empty() && left != 0) {
        client_subscriptions& next = *ready_.front();
        ready_.pop_front();
        next.is_ready_ = false;
        left = next.serve(left);
    }
    return has_work();
}

}  // namespace corro::fix_market_data
