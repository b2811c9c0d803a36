// SPDX-License-Identifier: Apache-2.0
// Test support: a venue of one facility or of two to four partitions that is copied while it runs, and clients that
// remember their answers.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "../system/exchange_fixture.hpp"
#include "base/random.hpp"
#include "client/order_session.hpp"
#include "domain/private_event.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/storage.hpp"
#include "node/recovery/venue_backup.hpp"
#include "node/venue/venue_fixture.hpp"
#include "venue_process_fixture.hpp"

namespace corro::testing {

/// A venue with this number of partitions, each with one instrument; 1 means one facility. Its journals' segments are
/// short and soon removed, and snapshots are frequent.
[[nodiscard]] inline node::configuration venue_to_copy(node::threading_mode threading, std::size_t partitions_count,
                                                       const std::string& directory) {
    node::configuration c = small_venue(threading);
    c.journal_directory = directory;
    c.journal_segment_bytes = 32U * 1024;
    c.journal_segments_kept = 1;
    c.snapshots_kept = 2;
    c.snapshot_every = 300;
    while (c.instruments.size() < partitions_count) {
        domain::instrument i = c.instruments.front();
        i.id = domain::instrument_id{static_cast<std::uint32_t>(c.instruments.size() + 1)};
        i.name = domain::symbol{"I" + std::to_string(i.id.value)};
        c.instruments.push_back(i);
    }
    if (partitions_count == 1) return c;
    for (std::uint32_t k = 0; k < partitions_count; ++k) {
        c.instruments[k].product = domain::product_id{k + 1};
        node::partition_configuration s;
        s.name = "PART" + std::to_string(k + 1);
        s.products = {domain::product_id{k + 1}};
        s.orders_max = c.orders_max;
        s.feed_listen = s.snapshot_listen = "127.0.0.1:0";
        c.partitions.push_back(s);
    }
    return c;
}

struct port_report {
    std::uint16_t order_entry_port = 0;
    bool sound = false;
};

template <class Exchange>
port_report port_of(const Exchange& exchange) {
    port_report r;
    r.order_entry_port = exchange.order_entry_endpoint().port();
    r.sound = true;
    return r;
}

/// The content of one answer.
using told_answer = std::tuple<int, int, std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, int>;

[[nodiscard]] inline told_answer told_by(const domain::event& e) {
    return {static_cast<int>(e.kind),   static_cast<int>(e.flags), e.instrument.value,        e.order.order.value,
            e.order.client_order.value, domain::request_of(e),     static_cast<int>(e.reason)};
}

/// A client that stores every answer by its number.
struct listener {
    std::unique_ptr<client::order_session> session;
    std::map<std::uint64_t, told_answer> heard;
    std::size_t outstanding_count = 0;
};

struct copied_market {
    copied_market(std::uint64_t seed, std::uint32_t instruments) : random(seed), instruments_count(instruments) {}

    io::context context;
    base::prng random;
    std::uint32_t instruments_count;
    std::vector<listener> clients = std::vector<listener>(3);
    std::uint64_t next_name = 1;
    std::uint64_t answers_count = 0;
    bool stopping = false;
    std::string failure;

    void fail(const std::string& what) {
        if (failure.empty()) failure = what;
    }
};

/// Returns an order that rests or trades in any partition, or sometimes a mass cancel, which concerns every partition.
[[nodiscard]] inline domain::command next_order(copied_market* m) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{static_cast<std::uint32_t>(1 + m->random.below(m->instruments_count))};
    c.order_terms().side = m->random.below(2) == 0 ? domain::side::buy : domain::side::sell;
    c.client_order = domain::client_order_id{m->next_name++};
    c.enter_order().price = domain::price_ticks{static_cast<std::int64_t>(9'000 + m->random.below(8))};
    c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + m->random.below(5))};
    c.order_terms().time_in_force = m->random.below(3) == 0 ? domain::time_in_force::ioc : domain::time_in_force::gtc;
    return c;
}

/// Takes the answers that have arrived. False if the session has ended.
inline bool listen(copied_market* m, listener* who) {
    while (true) {
        const auto answer = who->session->poll();
        if (!answer) return false;
        if (!*answer) return true;
        if ((*answer)->reject) {
            m->fail("a request was rejected");
            continue;
        }
        who->heard.emplace((*answer)->sequence, told_by((*answer)->event));
        ++m->answers_count;
        if (domain::completes_request((*answer)->event) && who->outstanding_count != 0) --who->outstanding_count;
    }
}

/// Trades until the market stops and all requests are answered, or until the venue ends.
inline io::task<void> trade_and_listen(copied_market* m, std::uint32_t index, io::endpoint venue) {
    listener& r = m->clients[index];
    client::credentials credentials = who(1 + index % 2, 1 + index / 2);
    credentials.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue, credentials);
    if (!session) co_return m->fail("logon: " + session.error().message());
    r.session = std::move(*session);
    while (listen(m, &r) && m->failure.empty() && (!m->stopping || r.outstanding_count != 0)) {
        while (!m->stopping && r.outstanding_count < 16) {
            if (r.session->send(next_order(m)) == 0) m->fail("the output buffer is full");
            ++r.outstanding_count;
        }
        const std::error_code written = co_await r.session->flush();
        if (written) co_return;
        const std::error_code read = co_await r.session->fill();
        if (read) co_return;
    }
    r.session->abandon();
}

/// A slow disk, so that the venue continues between the files of a copy.
class slow_to_read final : public io::file_faults {
 public:
    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what == io::file_call::read) ::usleep(150);
        return io::file_fault();
    }
};

/// Copies the venue's journals in another process. @return Its id.
[[nodiscard]] inline int begin_copy(const std::string& directory, const std::string& to) {
    const int id = ::fork();
    if (id != 0) return id;
    ::close_range(3, ~0U, 0);
    io::context context;
    slow_to_read slow;
    journal::disk_storage files(context, &slow);
    const auto done = io::block_on(context, node::back_up(&files, directory, to, nullptr));
    if (!done) static_cast<void>(!::write(2, done.error().text.data(), done.error().text.size()));
    ::_exit(done ? 0 : 1);
}

/// Waits for a child. @return  Whether it succeeded.
inline io::task<bool> ended_well(int id) {
    int status = 0;
    while (::waitpid(id, &status, WNOHANG) == 0) {
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(1)));
    }
    co_return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace corro::testing
