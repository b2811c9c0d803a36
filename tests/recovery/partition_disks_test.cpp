// SPDX-License-Identifier: Apache-2.0
// D9: the disk of one of several partitions fails. All answers that were sent stay valid under their numbers.
//
// The venue is a separate process. A file of one partition's journal fails at a call that the seed chooses. The
// clients store all answers and ask for all of them again at the next start.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../system/venue_modes_fixture.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "domain/private_event.hpp"
#include "io/file/detail/file_operation.hpp"
#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "partitioned_venue_fixture.hpp"
#include "partitions_process_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using testing::partitions_process;
using testing::two_partitions;

/// Fails a sync or a write after a number of calls.
class breaks_later final : public io::file_faults {
 public:
    breaks_later(io::file_call call, std::uint64_t calls_before) noexcept : call_(call), left_(calls_before) {}

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != call_ || left_-- != 0) return io::file_fault();
        return io::file_fault(EIO);
    }

 private:
    io::file_call call_;
    std::uint64_t left_;
};

/// Has no space for another file after a number of files.
class fills_later final : public io::file_faults {
 public:
    explicit fills_later(std::uint64_t files_before) noexcept : left_(files_before) {}

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != io::file_call::preallocate) return io::file_fault();
        if (left_ == 0) return io::file_fault(ENOSPC);
        --left_;
        return io::file_fault();
    }

 private:
    std::uint64_t left_;
};

/// Has no space for another file for a while, after a number of files.
class fills_for_a_while final : public io::file_faults {
 public:
    fills_for_a_while(std::uint64_t files_before, std::uint64_t tries) noexcept
        : first_(files_before), last_(files_before + tries) {}

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t, std::size_t) noexcept override {
        if (what != io::file_call::preallocate) return io::file_fault();
        ++count_;
        return count_ > first_ && count_ <= last_ ? io::file_fault(ENOSPC) : io::file_fault();
    }

 private:
    std::uint64_t first_;
    std::uint64_t last_;
    std::uint64_t count_ = 0;
};

/// Does not return from a call of one kind after a number of calls. The thread continues or hangs with it. Writes at
/// the begin of a file, which a start makes for headers and the manifest, do not count.
class hangs_later final : public io::file_faults {
 public:
    hangs_later(io::file_call call, std::uint64_t calls_before, bool with_thread) noexcept
        : call_(call), left_(calls_before), with_thread_(with_thread) {}

    [[nodiscard]] io::file_fault before(io::file_call what, const char*, std::uint64_t offset,
                                        std::size_t) noexcept override {
        if (what != call_ || (what == io::file_call::write && offset < beginning_bytes)) return io::file_fault();
        if (left_ != 0) {
            --left_;
            return io::file_fault();
        }
        if (!with_thread_) return io::file_fault::hanging();
        while (true) ::pause();
    }

 private:
    static constexpr std::uint64_t beginning_bytes = 1'024;

    io::file_call call_;
    std::uint64_t left_;
    bool with_thread_;
};

/// The content of one answer.
using told = std::tuple<int, int, std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t, int>;

told told_by(const domain::event& e) {
    return {static_cast<int>(e.kind),   static_cast<int>(e.flags), e.instrument.value,        e.order.order.value,
            e.order.client_order.value, domain::request_of(e),     static_cast<int>(e.reason)};
}

/// A client that stores its answers.
struct rememberer {
    std::unique_ptr<client::order_session> session;
    std::map<std::uint64_t, told> heard;                 ///< by the answers' numbers
    std::map<std::uint32_t, std::uint64_t> outstanding;  ///< requests without an answer, with their orders' names
    std::uint64_t changed_count = 0;                     ///< answers that differ from earlier ones with the same number
    std::set<std::uint32_t> rejected;                    ///< requests that the venue refused
    std::uint64_t lost_count = 0;                        ///< requests that a crash took
};

struct market {
    explicit market(std::uint64_t seed)
        : random(seed),
          partitions_count(static_cast<std::uint32_t>(2 + seed % 3)),
          backend(seed % 2 == 0 ? &io::default_platform() : &io::uring_if_possible_platform()) {}

    io::context context;
    base::prng random;
    std::vector<rememberer> clients = std::vector<rememberer>(2);
    std::uint64_t next_name = 1;
    bool asks = true;
    // Consecutive seeds cover all combinations.
    std::uint32_t partitions_count;
    io::platform* backend;
};

/// Refused requests of one partition after which a client knows that its disk is full.
constexpr std::size_t rejects_enough = 50;

void take(rememberer& r, const client::answer& a) {
    if (a.gap) return;  // the venue has forgotten some; they were received earlier, or the final count is too small
    if (a.reject) {
        const auto request = static_cast<std::uint32_t>(a.reject->refused_sequence.value);
        r.rejected.insert(request);
        r.outstanding.erase(request);
        return;
    }
    const auto [at, is_new] = r.heard.emplace(a.sequence, told_by(a.event));
    if (!is_new && at->second != told_by(a.event)) ++r.changed_count;
    if (!is_new || !domain::completes_request(a.event)) return;
    if (a.event.reason == domain::reject_reason::request_lost) {
        ++r.lost_count;
        const std::uint32_t request = domain::request_of(a.event);
        // A start does not know which rejects have arrived.
        EXPECT_TRUE(r.outstanding.erase(request) != 0 || r.rejected.contains(request)) << "it was answered, not lost";
        return;
    }
    const bool is_fill = a.event.kind == domain::event_kind::order_executed;
    const std::uint64_t name = (is_fill ? a.event.execution.client_order : a.event.order.client_order).value;
    EXPECT_EQ(std::erase_if(r.outstanding, [name](const auto& each) { return each.second == name; }), 1U)
        << "an answer to no request";
}

/// Returns an order that rests or trades in either partition.
domain::command next_request(market* m) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{static_cast<std::uint32_t>(1 + m->random.below(m->partitions_count))};
    c.order_terms().side = m->random.below(2) == 0 ? domain::side::buy : domain::side::sell;
    c.client_order = domain::client_order_id{m->next_name++};
    c.enter_order().price = domain::price_ticks{static_cast<std::int64_t>(9'000 + m->random.below(8))};
    c.enter_order().quantity = domain::quantity_lots{static_cast<std::uint32_t>(1 + m->random.below(5))};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    return c;
}

void send(rememberer& r, const domain::command& c) {
    r.outstanding.emplace(r.session->send(c), c.client_order.value);
}

/// Logs on, asks for all past answers, and trades until the connection ends or until all requests are answered.
io::task<void> trade(market* m, std::uint32_t index, io::endpoint venue) {
    rememberer& r = m->clients[index];
    client::credentials who = testing::who(1 + index, 1);
    who.cancel_on_disconnect = false;
    who.next_answer = 1;
    auto session = co_await client::order_session::log_on(venue, who);
    if (!session && m->asks) co_return;  // the disk broke before
    CORRO_REQUIRE(session);
    r.session = std::move(*session);
    // The logon reply shows which requests the venue never accepted; they are not in doubt.
    const auto next = static_cast<std::uint32_t>(r.session->next_request());
    r.outstanding.erase(r.outstanding.lower_bound(next), r.outstanding.end());
    if (!m->asks) static_cast<void>(r.session->send_test(4711));
    while (true) {
        while (true) {
            const auto answer = r.session->poll();
            if (!answer) co_return;
            if (!*answer) break;
            take(r, **answer);
        }
        if (m->asks && r.rejected.size() > rejects_enough) co_return r.session->abandon();
        if (!m->asks && r.session->last_echo() == 4711 && r.outstanding.empty()) break;
        while (m->asks && r.outstanding.size() < 16) send(r, next_request(m));
        const std::error_code written = co_await r.session->flush();
        if (written) co_return;
        const std::error_code read = co_await r.session->fill();
        if (read) co_return;
    }
    static_cast<void>(co_await r.session->log_out());
}

/// Whether enough was answered before a disk broke. On a slow machine it may break before every client has logged on.
bool enough_is_heard(const market& m) {
    return std::ranges::any_of(m.clients, [](const rememberer& r) { return r.heard.size() > 10; });
}

/// Runs the clients until all have ended, or until the time is over; on a slow machine until enough is heard.
/// Then kills the venue, unless it should end by itself.
io::task<void> play(market* m, partitions_process* venue, std::chrono::milliseconds limit,
                    bool ends_by_itself = false) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->clients.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    auto joined = co_await io::with_timeout(limit, clients.join());
    for (int i = 0; i < 100 && !joined && m->asks && !enough_is_heard(*m); ++i) {
        joined = co_await io::with_timeout(limit, clients.join());
    }
    if (ends_by_itself) {
        EXPECT_TRUE(joined.has_value()) << "the venue goes on";
    }
    if (ends_by_itself && joined) {
        EXPECT_EQ(venue->wait_for_end(), 1);
    } else {
        venue->kill();
    }
    clients.request_stop();
    co_await clients.join();
}

class partition_disks_in_all_modes : public ::testing::TestWithParam<testing::venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, partition_disks_in_all_modes, ::testing::ValuesIn(testing::lasting_modes()),
                         testing::name_of_mode());

int rounds_wanted() {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : 2;
}

/// The end of a venue with a broken disk.
struct ending {
    explicit ending(std::chrono::milliseconds time, bool by_itself = false,
                    std::chrono::milliseconds disk_patience = 0ms) noexcept
        : limit(time), is_by_itself(by_itself), patience(disk_patience) {}
    std::chrono::milliseconds limit;
    bool is_by_itself;
    std::chrono::milliseconds patience;
};

void break_and_recover(const testing::venue_mode& mode, io::file_faults& faults, market& m, ending how) {
    const base::test_folder directory;
    node::configuration sound =
        testing::partitions_of(m.partitions_count, mode.threading, directory.path(), mode.durability);
    // Prevents an end because of a slow machine.
    sound.disk_patience = 0ms;
    node::configuration broken = sound;
    broken.partitions[m.random.below(m.partitions_count)].journal_faults = &faults;
    broken.disk_patience = how.patience;
    {
        partitions_process venue(broken, m.backend);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(m.context, play(&m, &venue, how.limit, how.is_by_itself));
    }
    partitions_process venue(sound, m.backend);
    ASSERT_TRUE(venue.at_start().sound) << "a disk that works again hinders no start";
    m.asks = false;
    io::block_on(m.context, play(&m, &venue, std::chrono::seconds(10)));
    EXPECT_TRUE(enough_is_heard(m));
    for (std::size_t i = 0; i < m.clients.size(); ++i) {
        EXPECT_EQ(m.clients[i].changed_count, 0U) << "answers of session " << i + 1 << " were told otherwise before";
        EXPECT_TRUE(m.clients[i].outstanding.empty()) << m.clients[i].outstanding.size() << " requests are in doubt";
        const std::uint64_t last = m.clients[i].heard.empty() ? 0 : m.clients[i].heard.rbegin()->first;
        EXPECT_EQ(last, m.clients[i].heard.size()) << "an answer is missing";
    }
}

/// Runs rounds with `make_faults(market)`, each with its own seed.
template <class Make>
void break_in_rounds(const testing::venue_mode& mode, ending how, Make&& make_faults) {
    for (int i = 0; i < rounds_wanted(); ++i) {
        const std::uint64_t seed = base::test_seed() + static_cast<std::uint64_t>(i);
        market m(seed);
        SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed << ", " << m.partitions_count << " partitions, "
                                          << (m.backend == &io::default_platform() ? "epoll" : "io_uring"));
        auto faults = make_faults(m);
        break_and_recover(mode, *faults, m, how);
        if (::testing::Test::HasFatalFailure()) return;
        if (std::is_same_v<typename decltype(faults)::element_type, fills_later>) {
            EXPECT_GT(m.clients[0].rejected.size() + m.clients[1].rejected.size(), rejects_enough);
        }
    }
}

void fail_and_recover(const testing::venue_mode& mode, io::file_call call) {
    break_in_rounds(mode, ending(10s, true),
                    [call](market& m) { return std::make_unique<breaks_later>(call, 20 + m.random.below(40)); });
}

TEST_P(partition_disks_in_all_modes, D9_a_failed_sync_of_one_changes_no_answer) {
    fail_and_recover(GetParam(), io::file_call::sync_data);
}

TEST_P(partition_disks_in_all_modes, D9_a_failed_write_of_one_changes_no_answer) {
    fail_and_recover(GetParam(), io::file_call::write);
}

TEST_P(partition_disks_in_all_modes, D9_a_full_one_and_a_kill_leave_nothing_in_doubt) {
    break_in_rounds(GetParam(), ending(10s),
                    [](market& m) { return std::make_unique<fills_later>(2 + m.random.below(3)); });
}

/// A write or a sync that does not return. Its thread hangs too, or continues.
std::unique_ptr<hangs_later> hangs_somewhere(market& m) {
    const io::file_call call = m.random.below(2) == 0 ? io::file_call::write : io::file_call::sync_data;
    const std::uint64_t calls_before = 20 + m.random.below(40);
    return std::make_unique<hangs_later>(call, calls_before, m.random.below(2) == 0);
}

TEST_P(partition_disks_in_all_modes, D9_one_that_hangs_until_a_kill_leaves_nothing_in_doubt) {
    break_in_rounds(GetParam(), ending(300ms), &hangs_somewhere);
}

TEST_P(partition_disks_in_all_modes, D9_one_that_hangs_ends_the_venue_and_changes_no_answer) {
    break_in_rounds(GetParam(), ending(10s, true, 300ms), &hangs_somewhere);
}

// --- What a crash takes ----------------------------------------------------------------------------------------------

constexpr std::uint32_t pairs_count = 2'500;

/// Sends orders to both partitions in turn. Returns when those of the first partition are in its journal. Reads no
/// answer.
io::task<void> send_pairs(market* m, partitions_process* venue) {
    rememberer& r = m->clients[0];
    client::credentials who = testing::who(1, 1);
    who.cancel_on_disconnect = false;
    auto session = co_await client::order_session::log_on(venue->order_entry(), who);
    CORRO_REQUIRE(session);
    r.session = std::move(*session);
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.enter_order().price = domain::price_ticks{9'000};
    c.enter_order().quantity = domain::quantity_lots{1};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    for (std::uint32_t i = 0; i < 2 * pairs_count; ++i) {
        c.instrument = domain::instrument_id{2 - i % 2};
        c.client_order = domain::client_order_id{m->next_name++};
        send(r, c);
        if (i % 100 != 99) continue;
        const std::error_code written = co_await r.session->flush();
        CORRO_REQUIRE(!written);
    }
    const io::endpoint snapshots = io::endpoint::loopback(venue->at_start().snapshot_port[0]);
    for (std::size_t there = 0; there < pairs_count;) {
        const auto picture = co_await client::feed_session::fetch_snapshot(snapshots);
        CORRO_REQUIRE(picture);
        there = picture->book(domain::instrument_id{1})->orders_count();
    }
    venue->kill();
    r.session->abandon();
}

TEST(partition_disks, D9_what_a_crash_took_is_told_after_any_number_of_starts) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    m.clients.resize(1);
    m.partitions_count = 2;
    const base::test_folder directory;
    node::configuration sound = two_partitions(node::threading_mode::split, directory.path());
    sound.snapshot_every = 50;
    node::configuration broken = sound;
    hangs_later faults(io::file_call::write, m.random.below(3), true);
    broken.partitions[1].journal_faults = &faults;
    broken.disk_patience = 0ms;
    {
        partitions_process venue(broken);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(m.context, send_pairs(&m, &venue));
    }
    for (int i = 0; i < 3; ++i) {
        partitions_process alone(sound);
        ASSERT_TRUE(alone.at_start().sound);
        ::usleep(static_cast<useconds_t>(m.random.below(30'000)));
    }
    partitions_process venue(sound);
    ASSERT_TRUE(venue.at_start().sound);
    m.asks = false;
    io::block_on(m.context, play(&m, &venue, std::chrono::seconds(20)));
    EXPECT_GT(m.clients[0].lost_count, 1'024U) << "not one of them is forgotten for the others";
    EXPECT_TRUE(m.clients[0].outstanding.empty()) << m.clients[0].outstanding.size() << " requests are in doubt";
}

/// Logs on as soon as the venue serves, and asks for all answers.
io::task<void> hear_all_announced(io::endpoint venue) {
    client::credentials who = testing::who(1, 1);
    who.next_answer = 1;
    auto session = co_await client::order_session::log_on(venue, who);
    CORRO_REQUIRE(session);
    EXPECT_GT((*session)->next_answer(), 1U) << "more were given than are kept";
    for (std::uint32_t request = 0; request != 2 * pairs_count - 1;) {
        const auto answer = co_await (*session)->next();
        EXPECT_TRUE(answer) << answer.error().message() << ", behind the answer to request " << request;
        if (!answer) co_return;
        if (answer->gap) continue;
        EXPECT_EQ(answer->event.reason, domain::reject_reason::request_lost) << "the newest are kept";
        request = domain::request_of(answer->event);
    }
    (*session)->abandon();
}

// A start rejects more lost requests than a session's answers are kept: a logon announces none that they push out.
TEST(partition_disks, N6_answers_that_a_logon_after_a_crash_announces_are_sent) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    m.clients.resize(1);
    const base::test_folder directory;
    node::configuration sound = two_partitions(node::threading_mode::split, directory.path());
    node::configuration broken = sound;
    hangs_later faults(io::file_call::write, m.random.below(3), true);
    broken.partitions[1].journal_faults = &faults;
    broken.disk_patience = 0ms;
    {
        partitions_process venue(broken);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(m.context, send_pairs(&m, &venue));
    }
    sound.session_answers_kept = 256;
    partitions_process venue(sound);
    ASSERT_TRUE(venue.at_start().sound);
    const auto heard = io::block_on(m.context, io::with_timeout(20s, hear_all_announced(venue.order_entry())));
    EXPECT_TRUE(heard);
}

// More rejects than a full disk has space for: they wait until there is space.
TEST(partition_disks, D9_what_a_crash_took_is_told_when_a_full_disk_has_room_again) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    m.clients.resize(1);
    const base::test_folder directory;
    const node::configuration sound = two_partitions(node::threading_mode::split, directory.path());
    node::configuration broken = sound;
    hangs_later hangs(io::file_call::write, m.random.below(3), true);
    broken.partitions[1].journal_faults = &hangs;
    {
        partitions_process venue(broken);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(m.context, send_pairs(&m, &venue));
    }
    node::configuration full = sound;
    full.journal_segment_bytes = 16U * 1024;
    fills_for_a_while first(1, 10);
    fills_for_a_while second(1, 10);
    full.partitions[0].journal_faults = &first;
    full.partitions[1].journal_faults = &second;
    partitions_process venue(full);
    ASSERT_TRUE(venue.at_start().sound);
    m.asks = false;
    io::block_on(m.context, play(&m, &venue, std::chrono::seconds(20)));
    EXPECT_GT(m.clients[0].lost_count, 1'024U);
    EXPECT_TRUE(m.clients[0].outstanding.empty()) << m.clients[0].outstanding.size() << " requests are in doubt";
}

}  // namespace
}  // namespace corro
