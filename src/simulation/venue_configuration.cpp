// SPDX-License-Identifier: Apache-2.0
#include "simulation/venue_configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::uint16_t link_port = 7'000;
constexpr std::uint16_t order_entry_port = 7'001;  // of gateway 0; each gateway has the next
constexpr std::uint16_t feed_port = 7'100;         // of partition 0; each partition has the next
constexpr std::uint16_t snapshot_port = 7'200;
constexpr std::uint16_t distributed_feed_port = 7'300;
constexpr std::uint16_t distributed_snapshot_port = 7'400;
constexpr std::uint16_t fix_port = 7'500;  // of gateway 0; each gateway has the next

constexpr std::size_t feed_log_bytes_max = std::size_t{16} * 1024 * 1024;
constexpr std::size_t seats_max = 1'000;  // more than the traders of any run

io::endpoint at(std::size_t host, std::uint16_t first_port, std::size_t index) noexcept {
    return address_of_host(host).with_port(static_cast<std::uint16_t>(first_port + index));
}

std::string name_of_partition(std::size_t index) {
    return fmt::format("PART{}", index + 1);
}
std::string name_of_gateway(std::size_t index) {
    return fmt::format("gateway{}", index + 1);
}

/// At least two, and one for each partition.
std::uint32_t instruments_count(const venue_shape& shape) noexcept {
    return std::max<std::uint32_t>(2, static_cast<std::uint32_t>(shape.partitions_count));
}

/// Matching differs between instruments and runs.
domain::match_algorithm algorithm_of(std::uint64_t seed, std::uint32_t instrument) noexcept {
    constexpr std::array<domain::match_algorithm, 4> all{
        domain::match_algorithm::fifo, domain::match_algorithm::pro_rata, domain::match_algorithm::allocation,
        domain::match_algorithm::threshold};
    return all[base::mix64(seed * 31 + instrument) % all.size()];
}

void add_instruments(node::configuration& c, const plan& whole) {
    for (std::uint32_t id = 1; id <= instruments_count(whole.shape.venue); ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.name = domain::symbol{fmt::format("I{}", id)};
        i.tick_size = domain::price_nano{250'000'000};
        i.price_low = domain::price_ticks{0};
        i.price_high = domain::price_ticks{20'000};
        i.allocation.algorithm = algorithm_of(whole.seed, id);
        c.instruments.push_back(i);
    }
}

/// The last sessions of the accounts of traders, in turn.
void name_fix_sessions(gateway::account& of, std::size_t clients_count) {
    const std::size_t most = (clients_count + accounts_count - 1) / accounts_count;
    of.fix_names.resize(of.sessions_count);
    for (std::size_t k = of.id.value - 1; k < clients_count; k += accounts_count) {
        of.fix_names[of.sessions_count - most + k / accounts_count] = fmt::format("CLIENT{}", k + 1);
    }
}

void add_accounts(node::configuration& c, const run_shape& of) {
    const venue_shape& shape = of.venue;
    const auto traders_of_account = static_cast<std::uint32_t>(of.traders_count / accounts_count + 1);
    for (std::uint32_t id = 1; id <= accounts_count + 1; ++id) {
        gateway::account a;
        a.id = domain::account_id{id};
        a.name = fmt::format("account {}", id);
        a.key.fill(static_cast<std::byte>(id));
        a.sessions_count = std::max(sessions_of_account_min, traders_of_account);
        a.is_operator = id > accounts_count;
        if (!a.is_operator) name_fix_sessions(a, of.fix_clients_count);
        if (shape.gateways_count > 1) a.gateway = name_of_gateway((id - 1) % shape.gateways_count);
        c.accounts.push_back(a);
    }
}

void divide(node::configuration& c, const venue_shape& shape) {
    for (std::size_t k = 0; k < shape.partitions_count; ++k) {
        node::partition_configuration p;
        p.name = name_of_partition(k);
        for (std::size_t i = k; i < c.instruments.size(); i += shape.partitions_count) {
            p.instruments.push_back(c.instruments[i].id);
        }
        p.orders_max = c.orders_max;
        c.partitions.push_back(p);
    }
}

node::configuration drawn_venue(const plan& whole) {
    node::configuration c;
    c.orders_max = orders_reserved_max;
    c.instruments_reserved = instruments_reserved;
    c.feed_log_bytes = feed_log_bytes_max;
    c.answers_kept = 100'000;
    c.session_answers_kept = 50'000;
    add_instruments(c, whole);
    add_accounts(c, whole.shape);
    if (whole.shape.venue.partitions_count > 1) divide(c, whole.shape.venue);
    return c;
}

/// Reserves no more than a run can fill.
node::configuration venue_of(const venue_file& file) {
    node::configuration c = file.venue;
    c.orders_max = std::min(c.orders_max, orders_reserved_max);
    for (node::partition_configuration& p : c.partitions) p.orders_max = std::min(p.orders_max, orders_reserved_max);
    c.instruments_reserved = std::min(c.instruments_reserved, instruments_reserved_max);
    c.feed_log_bytes = std::min(c.feed_log_bytes, feed_log_bytes_max);
    return c;
}

/// The venue itself, without what the processes of a run need.
node::configuration venue_of(const plan& whole) {
    return whole.file == nullptr ? drawn_venue(whole) : venue_of(*whole.file);
}

/// What all processes of a venue have in common.
node::configuration common_configuration(const plan& whole) {
    node::configuration c = venue_of(whole);
    c.threading = whole.shape.venue.threading;
    c.busy_poll = 0us;
    c.order_entry_listen = order_entry_of(whole.shape.venue, 0).to_string();
    c.feed_listen = facility_feed(0).to_string();
    c.snapshot_listen = facility_snapshots(0).to_string();
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        c.partitions[k].feed_listen = facility_feed(k).to_string();
        c.partitions[k].snapshot_listen = facility_snapshots(k).to_string();
    }
    c.durability = whole.durability;
    c.journal_segment_bytes = whole.segment_bytes;
    c.snapshot_every = whole.snapshot_every;
    c.snapshots_kept = whole.snapshots_kept;
    c.output_buffer_bytes = whole.output_buffer_bytes;
    c.ends_with_journal = whole.ends_with_journal;
    c.disk_patience = whole.disk_patience;
    c.cancel_grace = whole.cancel_grace;
    c.requests_max = whole.requests_max;
    c.fix_listen.clear();
    c.link_listen.clear();
    c.link_connect.clear();
    c.link_gateway.clear();
    c.link_secret.fill(std::byte{0x5c});
    return c;
}

/// Of gateway `index`; empty for the only one of a drawn venue, which needs none.
std::string name_of_gateway(const plan& whole, std::size_t index) {
    if (whole.file != nullptr) return gateway_names_of(whole.file->venue)[index];
    return whole.shape.venue.gateways_count > 1 ? name_of_gateway(index) : std::string();
}

std::string fix_address_of(const plan& whole, std::size_t gateway) {
    return whole.shape.fix_clients_count == 0 ? std::string() : fix_of(whole.shape.venue, gateway).to_string();
}

/// The sessions that speak FIX, or all others.
std::vector<seat> seats_of(const plan& whole, bool by_fix) {
    std::vector<gateway::account> accounts = venue_of(whole).accounts;
    std::erase_if(accounts, [](const gateway::account& a) { return !is_of_trader(a); });
    if (whole.file != nullptr && !accounts.empty()) {
        const std::uint64_t first = base::mix64(whole.seed) % accounts.size();
        std::ranges::rotate(accounts, accounts.begin() + static_cast<std::ptrdiff_t>(first));
    }
    std::vector<seat> seats;
    std::uint32_t sessions_max = 0;
    for (const gateway::account& a : accounts) sessions_max = std::max(sessions_max, a.sessions_count);
    for (std::uint32_t number = 1; number <= sessions_max; ++number) {
        for (const gateway::account& a : accounts) {
            if (number <= a.sessions_count && a.speaks_fix(number) == by_fix) seats.push_back({a, number});
            if (seats.size() == seats_max) return seats;
        }
    }
    return seats;
}

}  // namespace

std::vector<seat> seats_of(const plan& whole) {
    return seats_of(whole, false);
}

std::vector<seat> fix_seats_of(const plan& whole) {
    return seats_of(whole, true);
}

domain::session_id session_of(const seat& one, const plan& whole) {
    const gateway::account_directory accounts = node::account_directory_of(venue_of(whole));
    return domain::session_id{accounts.find(one.account.id)->first_session.value + one.session_number - 1};
}

bool has_operator(const plan& whole) {
    return whole.file == nullptr || std::ranges::any_of(whole.file->venue.accounts, &gateway::account::is_operator);
}

gateway::account operator_of(const plan& whole) {
    const std::vector<gateway::account> accounts = venue_of(whole).accounts;
    const auto found = std::ranges::find_if(accounts, &gateway::account::is_operator);
    CORRO_ASSERT(found != accounts.end(), "a run with an operator has an account for it");
    return *found;
}

std::size_t gateway_of(const gateway::account& a, const plan& whole) {
    for (std::size_t k = 0; k < whole.shape.venue.gateways_count; ++k) {
        if (name_of_gateway(whole, k) == a.gateway) return k;
    }
    return 0;
}

io::endpoint address_of_host(std::size_t host) noexcept {
    return io::endpoint::ipv4({10, 0, 0, static_cast<std::uint8_t>(host + 1)}, 0);
}

io::endpoint order_entry_of(const venue_shape& shape, std::size_t gateway) noexcept {
    const std::size_t process = shape.is_in_roles() ? shape.process_of_gateway(gateway) : 0;
    return at(shape.host_of(process), order_entry_port, gateway);
}
io::endpoint fix_of(const venue_shape& shape, std::size_t gateway) noexcept {
    return order_entry_of(shape, gateway).with_port(static_cast<std::uint16_t>(fix_port + gateway));
}
io::endpoint feed_of(const venue_shape& shape, std::size_t partition) noexcept {
    if (!shape.has_distributors) return facility_feed(partition);
    return at(shape.host_of(shape.process_of_distributor(partition)), distributed_feed_port, partition);
}
io::endpoint snapshots_of(const venue_shape& shape, std::size_t partition) noexcept {
    if (!shape.has_distributors) return facility_snapshots(partition);
    return at(shape.host_of(shape.process_of_distributor(partition)), distributed_snapshot_port, partition);
}
io::endpoint facility_feed(std::size_t partition) noexcept {
    return at(0, feed_port, partition);
}
io::endpoint facility_snapshots(std::size_t partition) noexcept {
    return at(0, snapshot_port, partition);
}

node::configuration configuration_of_facility(const plan& whole) {
    node::configuration c = common_configuration(whole);
    c.journal_directory = journal_directory;
    if (whole.shape.venue.is_in_roles()) {
        c.link_listen = at(0, link_port, 0).to_string();
    } else {
        c.fix_listen = fix_address_of(whole, 0);
    }
    return c;
}

node::configuration configuration_of_gateway(const plan& whole, std::size_t gateway) {
    node::configuration c = common_configuration(whole);
    c.order_entry_listen = order_entry_of(whole.shape.venue, gateway).to_string();
    c.fix_listen = fix_address_of(whole, gateway);
    c.link_connect = at(0, link_port, 0).to_string();
    c.link_gateway = name_of_gateway(whole, gateway);
    return c;
}

node::configuration configuration_of_distributor(const plan& whole, std::size_t partition) {
    node::configuration c = configuration_of_partition(whole, partition);
    c.feed_listen = feed_of(whole.shape.venue, partition).to_string();
    c.snapshot_listen = snapshots_of(whole.shape.venue, partition).to_string();
    return c;
}

node::configuration configuration_of_partition(const plan& whole, std::size_t partition) {
    node::configuration c = common_configuration(whole);
    return c.partitions.empty() ? c : node::configuration_of_partition(c, partition);
}

std::string journal_of(const plan& whole, std::size_t partition) {
    const std::string all(journal_directory);
    const node::configuration c = venue_of(whole);
    return c.partitions.empty() ? all : all + "/" + c.partitions[partition].name;
}

}  // namespace corro::simulation
