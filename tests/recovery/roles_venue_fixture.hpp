// SPDX-License-Identifier: Apache-2.0
// Test support: facility, gateways and distributor of one venue, each in its own process.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../system/exchange_fixture.hpp"
#include "client/feed_session.hpp"
#include "io/task/task.hpp"
#include "node/links/distributor_role.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"
#include "role_process_fixture.hpp"

namespace corro::testing {

struct report {
    std::uint64_t commands_count = 0;
    std::uint64_t state_hash = 0;
    std::uint64_t cancels_executed = 0;
    std::uint16_t port = 0;  ///< of a gateway
    std::uint16_t metrics_port = 0;
};
using process = role_process<report>;

inline std::string loopback(std::uint16_t port) {
    return "127.0.0.1:" + std::to_string(port);
}

/// A port that a listener keeps over restarts. It is below the range from which Linux chooses free ports by default. A
/// socket that never listens is bound to it: listeners with `SO_REUSEADDR` can use the port, and no other program gets
/// it.
class lasting_port {
 public:
    lasting_port() {
        std::random_device random;
        do {
            if (socket_ >= 0) ::close(socket_);
            socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            number_ = static_cast<std::uint16_t>(15'000 + random() % 17'000);
        } while (!reserve());
    }
    ~lasting_port() { ::close(socket_); }
    lasting_port(const lasting_port&) = delete;
    lasting_port& operator=(const lasting_port&) = delete;

    [[nodiscard]] std::string on_loopback() const { return loopback(number_); }

 private:
    // Binds without the option first, which fails if another socket is bound. Allows sharing afterwards.
    [[nodiscard]] bool reserve() const {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(number_);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int one = 1;
        return ::bind(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0 &&
               ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0;
    }

    int socket_ = -1;
    std::uint16_t number_ = 0;
};

/// The processes of one venue. A restarted process listens on its former port.
struct roles_venue {
    /// @param names      The gateways' names; accounts are assigned to them in turn.
    /// @param threading  Of the facility.
    roles_venue(const std::string& directory, const std::string& link, const std::vector<std::string>& names = {""},
                node::threading_mode threading = node::threading_mode::inline_) {
        at_facility = small_venue(threading);
        at_facility.link_secret.fill(std::byte{0x5c});
        for (std::size_t i = 0; i < at_facility.accounts.size(); ++i)
            at_facility.accounts[i].gateway = names[i % names.size()];
        at_distributor = at_facility;
        at_gateways.assign(names.size(), at_facility);
        at_facility.journal_directory = directory + "/journal";
        // So short that the space for the next segment is often not ready. No request is refused for that.
        at_facility.journal_segment_bytes = 64U * 1024;
        at_facility.link_listen = link;
        for (std::size_t i = 0; i < names.size(); ++i) {
            at_gateways[i].link_connect = link;
            at_gateways[i].link_gateway = names[i];
        }
        for (node::configuration* c : {&at_facility, &at_distributor}) {
            c->feed_listen = ports.emplace_back().on_loopback();
            c->snapshot_listen = ports.emplace_back().on_loopback();
        }
        for (node::configuration& c : at_gateways) c.order_entry_listen = ports.emplace_back().on_loopback();
        gateways.resize(names.size());
    }

    /// Divides the venue before its start: every instrument is a partition. The distributor publishes the feed of the
    /// second one.
    void divide() {
        for (const domain::instrument& i : at_facility.instruments) {
            node::partition_configuration p;
            p.name = "PART" + std::to_string(i.id.value);
            p.instruments = {i.id};
            p.orders_max = at_facility.orders_max;
            p.feed_listen = ports.emplace_back().on_loopback();
            p.snapshot_listen = ports.emplace_back().on_loopback();
            for (node::configuration* c : all_configurations()) c->partitions.push_back(p);
        }
        node::configuration own = node::configuration_of_partition(at_distributor, 1);
        own.feed_listen = at_distributor.feed_listen;
        own.snapshot_listen = at_distributor.snapshot_listen;
        at_distributor = own;
    }
    [[nodiscard]] std::vector<node::configuration*> all_configurations() {
        std::vector<node::configuration*> all{&at_facility, &at_distributor};
        for (node::configuration& c : at_gateways) all.push_back(&c);
        return all;
    }

    report start_facility() {
        facility = std::make_unique<process>(
            [this](io::context& context) {
                auto role = std::make_unique<node::testing::started_facility>(context, at_facility);
                process::say(say(*role));
                return role;
            },
            say);
        return facility->read();
    }
    /// Does not wait until it is linked.
    [[nodiscard]] std::unique_ptr<process> make_gateway(std::size_t index) {
        return std::make_unique<process>(
            [this, index](io::context& context) {
                return std::make_unique<node::gateway_role>(context, at_gateways[index], [](io::endpoint where) {
                    report r;
                    r.port = where.port();
                    if (std::exchange(gateway_has_spoken, true)) return;
                    process::say(r);
                });
            },
            [](const node::gateway_role&) { return report(); });
    }
    void start_gateway(std::size_t index = 0) {
        gateways[index] = make_gateway(index);
        static_cast<void>(gateways[index]->read());
    }
    void start_distributor() {
        distributor = std::make_unique<process>(
            [this](io::context& context) {
                const bool is_divided = !at_facility.partitions.empty();
                const std::string& feed = is_divided ? at_facility.partitions[1].feed_listen : at_facility.feed_listen;
                const std::string& snapshots =
                    is_divided ? at_facility.partitions[1].snapshot_listen : at_facility.snapshot_listen;
                auto role = std::make_unique<node::distributor_role>(
                    context, at_distributor, *io::endpoint::parse(feed), *io::endpoint::parse(snapshots));
                process::say(report());
                return role;
            },
            [](const node::distributor_role&) { return report(); });
        static_cast<void>(distributor->read());
    }
    void start() {
        start_facility();
        for (std::size_t i = 0; i < gateways.size(); ++i) start_gateway(i);
        start_distributor();
    }
    static report say(const node::venue& role) {
        report r;
        r.commands_count = role.commands_count();
        for (std::size_t k = 0; k < role.partitions_count(); ++k) {
            r.state_hash = r.state_hash * 31 + role.at(k).host.state().state_hash();
        }
        r.cancels_executed = role.links()->cancels_executed();
        if (const auto metrics = role.metrics_endpoint()) r.metrics_port = metrics->port();
        return r;
    }

    /// Returns the address of the gateway that serves a trader.
    [[nodiscard]] io::endpoint order_entry(std::uint32_t trader = 0) const {
        return *io::endpoint::parse(at_gateways[trader % at_gateways.size()].order_entry_listen);
    }
    [[nodiscard]] io::endpoint feed() const { return *io::endpoint::parse(at_distributor.feed_listen); }
    [[nodiscard]] io::endpoint snapshots() const { return *io::endpoint::parse(at_distributor.snapshot_listen); }

    static inline bool gateway_has_spoken = false;
    std::deque<lasting_port> ports;
    node::configuration at_facility;
    std::vector<node::configuration> at_gateways;
    node::configuration at_distributor;
    std::unique_ptr<process> facility;
    std::vector<std::unique_ptr<process>> gateways;
    std::unique_ptr<process> distributor;
};

inline std::string link_name() {
    static int count = 0;
    return "@corro-roles-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
}

/// The orders that rest in the first book, by a snapshot of the distributor's.
inline io::task<std::size_t> open_orders(const roles_venue* v) {
    const io::endpoint where = *io::endpoint::parse(v->at_facility.snapshot_listen);
    const auto truth = co_await client::feed_session::fetch_snapshot(where);
    co_return truth ? truth->book(domain::instrument_id{1})->orders_count() : 0;
}

}  // namespace corro::testing
