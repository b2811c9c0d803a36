// SPDX-License-Identifier: Apache-2.0
// The path of a link stays with the running facility. A second facility with the same path changes nothing.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "base/test_folder.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "node/recovery/journal_replay.hpp"
#include "roles_venue_fixture.hpp"

namespace corro {
namespace {

using venue = testing::roles_venue;

enum class outcome : std::uint8_t { none, runs, journal_in_use, path_in_use, other_error };

/// Starts a facility with the same journal and path as the first one.
outcome start_second(node::configuration c) {
    c.feed_listen = c.snapshot_listen = "127.0.0.1:0";
    testing::process second(
        [&c](io::context& context) {
            std::unique_ptr<node::testing::started_facility> role;
            auto how = outcome::other_error;
            try {
                role = std::make_unique<node::testing::started_facility>(context, c);
                how = outcome::runs;
            } catch (const node::recovery_error&) {
                how = outcome::journal_in_use;
            } catch (const std::system_error& e) {
                if (e.code() == std::errc::address_in_use) how = outcome::path_in_use;
            }
            testing::report r;
            r.port = static_cast<std::uint16_t>(how);
            testing::process::say(r);
            if (role == nullptr) ::_exit(0);
            return role;
        },
        [](const node::venue&) { return testing::report(); });
    return static_cast<outcome>(second.read().port);
}

io::task<void> link_once(const node::configuration* c, io::context* context, bool* linked) {
    std::unique_ptr<node::gateway_role> gateway;
    gateway = std::make_unique<node::gateway_role>(*context, *c, [&](io::endpoint) {
        *linked = true;
        gateway->close();
    });
    static_cast<void>(co_await io::with_timeout(std::chrono::seconds(10), gateway->run()));
}

/// Whether a gateway reaches the facility.
bool is_reached(const venue& v) {
    io::context context;
    bool linked = false;
    io::block_on(context, link_once(&v.at_gateways[0], &context, &linked));
    return linked;
}

TEST(link_path, of_a_running_facility_is_not_taken_by_one_that_finds_its_journal_in_use) {
    const base::test_folder directory;
    venue v(directory.path(), directory.path() + "/link");
    v.start_facility();
    EXPECT_EQ(start_second(v.at_facility), outcome::journal_in_use);
    EXPECT_TRUE(is_reached(v));
}

TEST(link_path, of_a_running_facility_is_not_taken_by_one_with_another_journal) {
    const base::test_folder directory;
    venue v(directory.path(), directory.path() + "/link");
    v.start_facility();
    for (const bool has_lock : {true, false}) {
        if (!has_lock) std::filesystem::remove(directory.path() + "/link.lock");
        node::configuration second = v.at_facility;
        second.journal_directory = directory.path() + "/other";
        EXPECT_EQ(start_second(second), outcome::path_in_use);
    }
    EXPECT_TRUE(is_reached(v));
}

TEST(link_path, of_a_facility_that_was_killed_is_taken_over) {
    const base::test_folder directory;
    venue v(directory.path(), directory.path() + "/link");
    v.start_facility();
    v.facility->kill();
    v.start_facility();
    EXPECT_TRUE(is_reached(v));
}

TEST(link_path, keeps_a_file_that_is_no_socket) {
    const base::test_folder directory;
    const std::string path = directory.path() + "/link";
    venue v(directory.path(), path);
    std::filesystem::create_directories(path);
    EXPECT_EQ(start_second(v.at_facility), outcome::path_in_use);
    EXPECT_TRUE(std::filesystem::is_directory(path));
    std::filesystem::remove(path);
    std::ofstream(path) << "notes";
    EXPECT_EQ(start_second(v.at_facility), outcome::path_in_use);
    EXPECT_EQ(std::filesystem::file_size(path), 5U);
    std::filesystem::remove(path);
    EXPECT_EQ(start_second(v.at_facility), outcome::runs) << "when the file is gone";
}

}  // namespace
}  // namespace corro
