// SPDX-License-Identifier: Apache-2.0
// The API of a venue in this process, on its own thread.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "dashboard_files.hpp"
#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/api_role.hpp"
#include "node/venue/venue.hpp"

namespace corro::app {

/// A client of the venue's feeds, like any other. It costs the venue's thread nothing but its subscription.
class api_thread {
 public:
    api_thread(node::configuration configuration, std::vector<api::feed_address> feeds, client::venue_endpoint orders,
               std::vector<api::api_key> keys, std::vector<api::timed_stage> stages)
        : role_(context_, configuration, std::move(feeds), std::move(orders), std::move(keys), dashboard_files(),
                std::move(stages)),
          close_(context_) {
        thread_ = std::thread([this] { run(); });
    }
    ~api_thread() { close(); }
    api_thread(const api_thread&) = delete;
    api_thread& operator=(const api_thread&) = delete;

    /// Disconnects the clients and waits until the thread has ended.
    void close() {
        if (!thread_.joinable()) return;
        close_.set();
        thread_.join();
    }

    [[nodiscard]] const node::api_role& role() const noexcept { return role_; }

 private:
    static io::task<void> close_on_signal(api_thread* self) {
        const std::error_code stopped = co_await self->close_.wait();
        if (!stopped) self->role_.close();
    }
    static io::task<void> run_all(api_thread* self) {
        io::task_scope watching(self->context_);
        watching.spawn(close_on_signal(self));
        co_await self->role_.run();
        watching.request_stop();
        co_await watching.join();
    }
    void run() {
        // The venue goes on without its API.
        try {
            io::block_on(context_, run_all(this));
        } catch (const std::exception& e) {
            fmt::print(stderr, "corro: the API has ended: {}\n", e.what());
        }
    }

    io::context context_;
    node::api_role role_;
    io::remote_event close_;
    std::thread thread_;
};

/// Calls `visit(http, ws, address)` with the schemes and the address of each port of an API.
template <class Visit>
void for_each_address(const node::api_role& web, Visit visit) {
    if (web.where().port() != 0) visit("http", "ws", web.where().to_string());
    if (web.secure_where()) visit("https", "wss", web.secure_where()->to_string());
}

/// The stages of a venue's requests, for the API's thread.
[[nodiscard]] inline std::vector<api::timed_stage> stages_of(const node::venue& venue) {
    std::vector<api::timed_stage> all;
    for (std::size_t kind = 0; kind < node::timed_kinds.size(); ++kind) {
        for (std::size_t stage = 0; stage < node::timed_stages.size(); ++stage) {
            all.push_back(
                {node::timed_kinds[kind].second, node::timed_stages[stage], &venue.latencies().live(kind, stage)});
        }
    }
    return all;
}

/// The API beside a venue that has started; nullptr if the configuration has none.
[[nodiscard]] inline std::unique_ptr<api_thread> start_api(const node::configuration& c, const node::venue& venue,
                                                           std::vector<api::api_key> keys) {
    if (c.api_listen.empty() && c.api_tls_listen.empty()) return nullptr;
    node::configuration own = c;
    own.metrics_listen.clear();  // the venue's
    std::vector<api::feed_address> feeds;
    for (std::size_t k = 0; k < venue.partitions_count(); ++k) {
        const auto& feed = venue.at(k).feed;
        feeds.push_back(node::feed_address_of(feed.feed_endpoint(), feed.snapshot_endpoint()));
    }
    client::venue_endpoint orders = node::order_entry_nearby(c, venue.order_entry_endpoint());
    return std::make_unique<api_thread>(std::move(own), std::move(feeds), std::move(orders), std::move(keys),
                                        stages_of(venue));
}

}  // namespace corro::app
