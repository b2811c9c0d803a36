// SPDX-License-Identifier: Apache-2.0
// Suite `fix`: the whole venue.

#include <fmt/format.h>

#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/test_folder.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/fix_shapes.hpp"
#include "lab/suites/venue_suite.hpp"
#include "node/venue/venue.hpp"

namespace corro::lab {
namespace {

constexpr std::byte key_byte{0x5a};
/// Every order of a run rests.
constexpr std::uint32_t orders_max = 1'000'000;
constexpr venue_shape many_sessions{1'000, 4};

std::string password() {
    std::string text;
    for (std::size_t i = 0; i < wire::api_key().size(); ++i)
        text += fmt::format("{:02x}", std::to_integer<int>(key_byte));
    return text;
}

node::configuration configuration_of(std::optional<journal::durability> durability, const std::string& folder) {
    node::configuration c;
    c.touch = base::page_touch::yes;
    c.order_entry_listen = c.feed_listen = c.snapshot_listen = c.fix_listen = "127.0.0.1:0";
    c.fix_comp_id = "VENUE";
    c.orders_max = c.account_open_orders_max = orders_max;
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.product = domain::product_id{1};
    i.name = domain::symbol("ESZ6");
    i.tick_size = domain::price_nano{250'000'000};
    i.price_low = domain::price_ticks{16'000};
    i.price_high = domain::price_ticks{20'000};
    c.instruments.push_back(i);
    gateway::account trader;
    trader.id = domain::account_id{1};
    trader.name = "trader";
    trader.key.fill(key_byte);
    trader.fix_names = {"TRADER"};
    c.accounts.push_back(trader);
    if (durability) {
        c.journal_directory = folder;
        c.durability = *durability;
    }
    return c;
}

/// The venue in a thread of its own, as the peers are.
class venue_thread final : public fix_server {
 public:
    venue_thread(io::platform* kind, std::optional<journal::durability> durability, idle_thread idle)
        : context_(options_of(*kind, idle)),
          exchange_(context_, configuration_of(durability, folder_.path())),
          close_(context_) {
        io::block_on(context_, exchange_.start());
        thread_ = std::thread([this] { io::block_on(context_, run_all(this)); });
    }
    ~venue_thread() override {
        close_.set();
        thread_.join();
    }

    [[nodiscard]] std::uint16_t port() const { return exchange_.fix_endpoint()->port(); }

 private:
    static io::task<> close_when_told(venue_thread* self) {
        const std::error_code stopped = co_await self->close_.wait();
        if (!stopped) self->exchange_.close();
    }
    static io::task<> run_all(venue_thread* self) {
        io::task_scope watching(self->context_);
        watching.spawn(close_when_told(self));
        co_await self->exchange_.run();
        watching.request_stop();
        co_await watching.join();
    }

    base::test_folder folder_;
    io::context context_;
    node::venue exchange_;
    io::remote_event close_;
    std::thread thread_;
};

void implement_latency(registry& into, const std::string& subject, io::platform* kind,
                       std::optional<journal::durability> durability, idle_thread idle) {
    const auto implement = [&](const char* row, idle_thread client) {
        into.implement("fix", row, subject, [kind, durability, idle, client](const run_parameters& how) {
            const venue_thread venue(kind, durability, idle);
            return order_to_report(send_orders(how, venue.port(), 1, password(), client));
        });
    };
    implement("venue_order_to_report_p50", idle_thread::sleeps);
    implement("venue_order_to_report_polling_p50", idle_thread::polls);
}

void implement_orders(registry& into, const std::string& subject, io::platform* kind,
                      std::optional<journal::durability> durability) {
    implement_latency(into, subject, kind, durability, idle_thread::sleeps);
    into.implement("fix", "venue_outstanding_200", subject, [kind, durability](const run_parameters& how) {
        const venue_thread venue(kind, durability, idle_thread::sleeps);
        return rate_of(send_orders(how, venue.port(), 200, password()).run);
    });
}

}  // namespace

void declare_fix_venue(registry& into) {
    const std::string name = fmt::format("venue_sessions_{}", many_sessions.clients);
    into.declare(
        "fix",
        {{name, "/s", better::higher,
          fmt::format("requests answered by the whole venue: {} sessions with {} requests outstanding each, the "
                      "mix of the suite venue, by FIX and by Corro Binary; venue and clients are a process each",
                      many_sessions.clients, many_sessions.outstanding)},
         {name + "_venue_busy", "%", better::higher, "processor time of the venue's process, of one processor"},
         {name + "_clients_busy", "%", better::lower,
          "processor time of the clients' process: below 100, they waited"}},
        2, 5, venue_repeats_count);
}

void implement_fix_venue(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        implement_orders(into, by.subject + "_venue", by.kind, {});
        implement_latency(into, by.subject + "_venue_polling", by.kind, {}, idle_thread::polls);
    }
    const corro_backend first = corro_backends().front();
    for (const journal::durability mode : {journal::durability::group, journal::durability::each}) {
        implement_orders(into, fmt::format("{}_venue_{}", first.subject, journal::name_of(mode)), first.kind, mode);
    }
    const auto sessions = [&into](const std::string& subject, const corro_backend& by, bool by_fix) {
        venue_shape shape = many_sessions;
        shape.by_fix = by_fix;
        into.implement("fix", fmt::format("venue_sessions_{}", shape.clients), subject,
                       [shape, server = corro_venue(by)](const run_parameters& how) {
                           return run_venue_briefly(how, shape, server);
                       });
    };
    for (const corro_backend& by : corro_backends()) {
        sessions(by.subject + "_venue", by, true);
        // What FIX is compared with counts as the peer.
        sessions("binary" + by.subject.substr(by.subject.find('_')), by, false);
    }
}

}  // namespace corro::lab
