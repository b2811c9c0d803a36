// SPDX-License-Identifier: Apache-2.0
#include "simulation/state_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "client/feed_session.hpp"
#include "facility/facility.hpp"
#include "feed/book_image.hpp"
#include "fix_gateway/quote_names.hpp"
#include "node/venue/partition_map.hpp"

namespace corro::simulation {
namespace {

/// An order's id in the venue: it has the partition's number.
domain::order_id id_in_venue(domain::order_id in_partition, std::size_t partition) {
    domain::event e;
    e.kind = domain::event_kind::order_added;
    e.book.order = in_partition;
    node::partition_map::leave_partition(e, partition);
    return e.book.order;
}

/// The digest that a book image of the facility's orders would have.
std::uint64_t digest_of_orders(const facility::facility& state, std::size_t partition,
                               domain::instrument_id instrument) {
    struct order_digests final : facility::book_visitor {
        explicit order_digests(std::size_t of) : index(of) {}
        std::size_t index;
        std::uint64_t sum = 0;
        void visit_level(domain::side, const domain::level&) override {}
        void visit_order(domain::side side, const facility::resting_order& o) override {
            sum += feed::order_digest(id_in_venue(o.order, index), side, o.price, o.open);
        }
    } orders(partition);
    state.visit_book(instrument, orders);
    return orders.sum;
}

/// Sides of quotes; FIX clients do not follow them.
std::size_t quotes_count(const facility::facility& state) {
    struct quotes final : facility::book_visitor {
        std::size_t count = 0;
        void visit_level(domain::side, const domain::level&) override {}
        void visit_order(domain::side, const facility::resting_order& o) override {
            count += fix_gateway::parts_of(o.client_order) ? 1U : 0U;
        }
    } all;
    for (const domain::instrument& i : state.instruments()) state.visit_book(i.id, all);
    return all.count;
}

void check_partition(const node::partition& of, const client::feed_session& seen,
                     const std::set<domain::account_id>& accounts, findings* found) {
    const facility::facility& state = of.host.state();
    for (const domain::instrument& i : state.instruments()) {
        const feed::book_image* const book = seen.book(i.id);
        if (book == nullptr || book->digest() != digest_of_orders(state, of.index(), i.id)) {
            found->add("N1", fmt::format("the book of instrument {} that was rebuilt from the feed is not the venue's",
                                         i.id.value));
        }
        std::int64_t sum = 0;
        for (const domain::account_id account : accounts) sum += state.position_of(account, i.id);
        if (sum != 0) found->add("C2", fmt::format("the positions in instrument {} sum to {}", i.id.value, sum));
    }
}

}  // namespace

bool are_feeds_current(const node::venue& venue, const clients& all) {
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const client::feed_session* feed = all.subscribers()[k]->session();
        if (feed == nullptr || feed->next_sequence() != venue.at(k).feed.publisher().next_sequence()) return false;
    }
    return true;
}

std::uint64_t feed_messages_missing(const node::venue& venue, const clients& all) {
    std::uint64_t missing = 0;
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const client::feed_session* const feed = all.subscribers()[k]->session();
        const std::uint64_t next = venue.at(k).feed.publisher().next_sequence();
        if (feed != nullptr) missing += next - std::min(next, feed->next_sequence());
    }
    return missing;
}

void check_state(const node::venue& venue, const clients& all, findings* found) {
    std::size_t known = 0;
    std::set<domain::account_id> accounts;
    for (const trader* each : all.sessions()) {
        known += each->flow()->open_orders_count();
        accounts.insert(each->settings().who.account);
    }
    for (const fix_client* each : all.by_fix()) {
        known += each->trader().open_orders_count();
        accounts.insert(each->settings().account);
    }
    std::size_t open = 0;
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const node::matching_host& host = venue.at(k).host;
        open += host.state().open_orders_count() - quotes_count(host.state());
        if (host.released_count() != host.emitted_count()) {
            found->add("O2", fmt::format("{} events wait although everything is answered",
                                         host.emitted_count() - host.released_count()));
        }
        check_partition(venue.at(k), *all.subscribers()[k]->session(), accounts, found);
    }
    if (known != open) found->add("D1", fmt::format("clients know of {} open orders, the venue of {}", known, open));
}

void check_orders_are_gone(const node::venue& venue, const std::set<std::uint32_t>& sessions, findings* found) {
    struct orders_left final : facility::book_visitor {
        explicit orders_left(const std::set<std::uint32_t>& all) : of(all) {}
        const std::set<std::uint32_t>& of;
        std::size_t count = 0;
        std::size_t quotes_count = 0;
        std::uint32_t last = 0;
        void visit_level(domain::side, const domain::level&) override {}
        void visit_order(domain::side, const facility::resting_order& o) override {
            if (!of.contains(o.session.value)) return;
            ++count;
            quotes_count += fix_gateway::parts_of(o.client_order) ? 1U : 0U;
            last = o.session.value;
        }
    } left(sessions);
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const facility::facility& state = venue.at(k).host.state();
        for (const domain::instrument& i : state.instruments()) state.visit_book(i.id, left);
    }
    if (left.count == 0) return;
    found->add("S2", fmt::format("{} orders, {} of them of quotes, are left of sessions that asked for a cancel on "
                                 "disconnect and are gone, the last of session {}",
                                 left.count, left.quotes_count, left.last));
}

void check_sessions_are_gone(const node::venue& venue, findings* found) {
    if (venue.orders() == nullptr) return;
    const std::uint32_t now = venue.gateway_statistics().sessions_now;
    if (now != 0) found->add("N3", fmt::format("{} sessions are on although their clients are silent", now));
}

std::string held_for_clients(const node::venue& venue, bool serves_feeds) {
    std::uint64_t connections = 0;
    std::uint64_t commands = 0;
    std::uint64_t subscribers = 0;
    if (venue.orders() != nullptr) {
        connections = venue.gateway_statistics().connections_now;
        commands = venue.orders()->commands().pushed_count() - venue.orders()->commands().answered_count();
    }
    for (std::size_t k = 0; serves_feeds && k < venue.partitions_count(); ++k) {
        subscribers += venue.at(k).feed.statistics().subscribers_now;
    }
    if (connections + commands + subscribers == 0) return {};
    return fmt::format("{} connections of order entry, {} of market data, {} commands without an answer", connections,
                       subscribers, commands);
}

std::vector<std::uint64_t> state_hashes_of(const node::venue& venue) {
    std::vector<std::uint64_t> all;
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) all.push_back(venue.at(k).host.state().state_hash());
    return all;
}

}  // namespace corro::simulation
