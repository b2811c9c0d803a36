#include "node/facility_role.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/test_folder.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/configuration.hpp"
#include "node/test_configuration.hpp"

namespace corro::node {
namespace {

configuration small(const std::string& directory) {
    configuration c = testing::smallest_configuration();
    c.feed_listen = c.snapshot_listen = c.metrics_listen = "127.0.0.1:0";
    c.link_listen = directory + "/link";
    c.link_secret.fill(std::byte{1});
    c.journal_directory = directory + "/journal";
    c.event_log.directory = directory + "/log";
    return c;
}

/// Reads the response to a request until the other end closes.
io::task<void> ask_for_metrics(io::context* context, facility_role* facility, std::string* page) {
    io::task_scope serving(*context);
    serving.spawn(facility->run());
    auto stream = co_await io::tcp_stream::connect(*context, *facility->metrics_endpoint());
    CORRO_REQUIRE(stream);
    const std::string_view request = "GET /metrics HTTP/1.1\r\nHost: venue\r\nConnection: close\r\n\r\n";
    const io::io_result asked = co_await stream->write_all(std::as_bytes(std::span(request)));
    CORRO_REQUIRE(asked);
    std::array<std::byte, 4096> piece{};
    while (true) {
        const io::io_result got = co_await stream->read_some(piece);
        if (!got) break;
        page->append(reinterpret_cast<const char*>(piece.data()), got.bytes);
    }
    facility->close();
    co_await serving.join();
}

TEST(facility_role, has_the_metrics_of_its_journal_and_of_its_event_log) {
    for (const threading_mode threading : {threading_mode::inline_, threading_mode::split}) {
        const base::test_folder directory;
        configuration c = small(directory.path());
        c.threading = threading;
        io::context context;
        facility_role facility(context, c);
        std::string page;
        io::block_on(context, ask_for_metrics(&context, &facility, &page));
        for (const char* const name : {"corro_journal_durable_command", "corro_event_log_events_total",
                                       "corro_event_log_lost_total", "corro_feed_", "corro_gateways_linked"}) {
            EXPECT_NE(page.find(name), std::string::npos) << name << " is missing in\n" << page;
        }
    }
}

}  // namespace
}  // namespace corro::node
