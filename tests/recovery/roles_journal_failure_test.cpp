// SPDX-License-Identifier: Apache-2.0
// O3 with facility, gateway and distributor in separate processes: the facility's journal fails.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>

#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "hanging_disk_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/testing/test_require.hpp"
#include "roles_venue_fixture.hpp"
#include "seen_from_outside_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;
using testing::get;
using testing::logged;
using venue = testing::roles_venue;

/// Fails every sync after the first orders.
class fails_later final : public io::file_faults {
 public:
    explicit fails_later(int syncs_before) noexcept : left_(syncs_before) {}

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != io::file_call::sync_data || left_-- > 0) return io::file_fault();
        return io::file_fault(EIO);
    }

 private:
    int left_;
};

io::task<std::expected<std::unique_ptr<client::order_session>, std::error_code>> log_on(const venue* v,
                                                                                        std::uint32_t account) {
    client::credentials who = testing::who(account, 1);
    who.cancel_on_disconnect = false;
    co_return co_await client::order_session::log_on(v->order_entry(), who);
}

domain::command order_named(std::uint64_t name) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.instrument = domain::instrument_id{1};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    return c;
}

class roles_journal_failure : public ::testing::TestWithParam<threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, roles_journal_failure,
                         ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

void prepare(venue& v, const base::test_folder& directory, io::file_faults* faults) {
    v.at_facility.journal_faults = faults;
    v.at_facility.metrics_listen = "127.0.0.1:0";
    v.at_facility.event_log.directory = directory.path() + "/log";
    for (std::size_t i = 0; i < v.at_gateways.size(); ++i) {
        v.at_gateways[i].metrics_listen = v.ports.emplace_back().on_loopback();
    }
}

/// Enters orders until one is refused. @return The session's reason; none if the connection ended.
io::task<wire::session_reject_reason> trade_until_refused(client::order_session* session) {
    for (std::uint64_t name = 1;; ++name) {
        if (session->send(order_named(name)) == 0) co_return wire::session_reject_reason::none;
        // The order that meets the failure is in doubt and gets no answer. The next one is refused.
        static_cast<void>(session->send(order_named(++name)));
        const auto answer = co_await session->next();
        if (!answer) co_return wire::session_reject_reason::none;
        if (answer->reject) co_return answer->reject->session_reject_reason;
    }
}

io::task<void> watch_the_facility_end(const venue* v) {
    auto session = co_await log_on(v, 1);
    CORRO_REQUIRE(session);
    const wire::session_reject_reason why = co_await trade_until_refused(session->get());
    EXPECT_TRUE(why == wire::session_reject_reason::none || why == wire::session_reject_reason::journal_failed);
}

TEST_P(roles_journal_failure, O3_ends_the_facility_with_exit_code_1) {
    const base::test_folder directory;
    fails_later disk(40);
    venue v(directory.path(), testing::link_name(), {""}, GetParam());
    prepare(v, directory, &disk);
    v.start();
    io::context context;
    io::block_on(context, watch_the_facility_end(&v));
    EXPECT_EQ(v.facility->wait_for_end(), 1);
    EXPECT_NE(logged(v.at_facility).find("journal_failed"), std::string::npos);
}

io::task<void> watch_gateways_refuse(io::context* context, venue* v, std::uint16_t facility_metrics) {
    auto session = co_await log_on(v, 1);
    CORRO_REQUIRE(session);
    const wire::session_reject_reason why = co_await trade_until_refused(session->get());
    EXPECT_EQ(why, wire::session_reject_reason::journal_failed);
    auto refused = co_await log_on(v, 2);
    EXPECT_FALSE(refused.has_value());
    const io::endpoint metrics = io::endpoint::loopback(facility_metrics);
    const auto ready = co_await get(context, metrics, "/ready");
    EXPECT_EQ(ready.first, 503U);
    EXPECT_NE(ready.second.find("The journal has failed"), std::string::npos) << ready.second;
    auto page = co_await get(context, metrics, "/metrics");
    EXPECT_NE(page.second.find("\ncorro_journal_up 0\n"), std::string::npos);
    page = co_await get(context, *io::endpoint::parse(v->at_gateways[0].metrics_listen), "/metrics");
    EXPECT_NE(page.second.find("\ncorro_logons_refused_by_reason_total{reason=\"journal_failed\"} 1\n"),
              std::string::npos)
        << page.second;
    (*session)->abandon();
}

io::task<void> log_on_again(const venue* v, bool* is_refused) {
    const auto session = co_await log_on(v, 2);
    *is_refused = !session.has_value();
}

TEST_P(roles_journal_failure, O3_where_the_facility_stays_its_gateways_refuse_by_the_reason) {
    const base::test_folder directory;
    fails_later disk(40);
    venue v(directory.path(), testing::link_name(), {""}, GetParam());
    prepare(v, directory, &disk);
    v.at_facility.ends_with_journal = false;
    const std::uint16_t metrics = v.start_facility().metrics_port;
    v.start_gateway();
    v.start_distributor();
    io::context context;
    io::block_on(context, watch_gateways_refuse(&context, &v, metrics));
    v.gateways[0]->kill();
    v.start_gateway();
    bool is_refused = false;
    io::block_on(context, log_on_again(&v, &is_refused));
    EXPECT_TRUE(is_refused) << "a gateway that comes later hears of it too";
    EXPECT_NE(logged(v.at_facility).find("journal_failed"), std::string::npos);
}

}  // namespace
}  // namespace corro
