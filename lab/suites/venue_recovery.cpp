// SPDX-License-Identifier: Apache-2.0
// Suite `venue`: how long a venue takes to come back, by replaying ten million commands and by its newest snapshot.
//
// The commands are those of the suite's thousand traders; they are journaled by a host without connections. Then the
// exchange that `corro serve` runs is made on that journal, twice: without a snapshot, and, after it was closed and so
// has saved one, with some commands behind it. Each must come to the state that the host had. The journal is in the
// system's memory, as it is after a crash of the process.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "base/test_folder.hpp"
#include "domain/private_event.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/venue_suite.hpp"
#include "lab/venue/venue_clients.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/venue/venue.hpp"

namespace corro::lab {
namespace {

constexpr std::uint64_t commands_count_full = 10'000'000;
constexpr std::uint64_t tail_count_full = 100'000;
/// A run that is to measure for a shorter time has fewer commands in proportion.
constexpr double seconds_full = 0.3;
constexpr std::uint64_t commands_between_yields = 256;

/// A host with a journal and with traders, and without connections.
class rehearsal final : private node::event_sink {
 public:
    /// @param life  Which one of this journal; traders of other lives are not known.
    rehearsal(const node::configuration& c, std::uint32_t life)
        : host_(node::facility_options_of(c, io::default_platform()), c.instruments, clock(), *this),
          answers_(c.accounts.front().sessions_count, node::answer_options_of(c)),
          feed_(on_, c, nullptr),
          journal_(on_, on_, c),
          account_(node::account_directory_of(c).accounts().front()),
          requests_(account_.sessions_count) {
        host_.throttle(risk::throttle_options(), account_.sessions_count);
        for (std::uint32_t i = 0; i < account_.sessions_count; ++i) {
            traders_.push_back(std::make_unique<client::trader>(trader_of(i, c.instruments, life)));
        }
    }

    /// Adds commands. @return The hash of the state after them.
    std::uint64_t write(std::uint64_t count) {
        io::block_on(on_, write_all(count));
        return host_.state().state_hash();
    }

 private:
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (!live_ || domain::is_public(event.kind)) continue;
            traders_[domain::session_of(event).value - account_.first_session.value]->on_event(event);
        }
        return events.size();
    }

    io::task<> write_all(std::uint64_t count) {
        const node::venue_parts parts{&host_, &answers_, &feed_.publisher(), feed_.lines()};
        co_await journal_.recover(parts);
        live_ = true;
        const auto last_requests = host_.last_requests().subspan(account_.first_session.value, requests_.size());
        std::copy(last_requests.begin(), last_requests.end(), requests_.begin());
        io::task_scope writing(on_);
        writing.spawn(journal_.run());
        for (std::uint64_t i = 0; i < count; ++i) {
            while (!host_.has_room()) {
                const std::error_code stopped = co_await journal_.writer().progressed().wait();
                verify(!stopped, "nobody stops it");
                host_.release();
            }
            enter(static_cast<std::uint32_t>(i % traders_.size()));
            if (i % commands_between_yields == 0) co_await io::yield();
        }
        journal_.close();
        co_await writing.join();
        host_.release();
        verify(!host_.failed(), "the journal takes everything");
    }

    void enter(std::uint32_t session) {
        domain::command command = traders_[session]->next_request();
        command.session = domain::session_id{account_.first_session.value + session};
        command.account = account_.id;
        command.set_request(++requests_[session]);
        verify(host_.execute(command), "the journal takes a command");
    }

    io::context on_;
    node::matching_host host_;
    gateway::answer_log answers_;
    node::market_data_server feed_;
    node::host_journal journal_;
    gateway::account account_;
    std::vector<std::uint32_t> requests_;  ///< the last one of each session
    std::vector<std::unique_ptr<client::trader>> traders_;
    bool live_ = false;  ///< messages are new, not replayed
};

io::task<> close_soon(node::venue* serving) {
    co_await io::yield();
    serving->close();
}

/// Makes the exchange on its journal. @return Nanoseconds until it is ready to serve.
double start(const node::configuration& c, std::uint64_t commands_count, std::uint64_t hash, bool with_snapshot) {
    io::context on;
    const std::uint64_t before = clock().now_ticks();
    node::venue back(on, c);
    io::block_on(on, back.start());
    const auto taken = static_cast<double>(clock().between_ns(before, clock().now_ticks()));
    verify_equal(back.commands_count(), commands_count, "commands that came back");
    verify_equal(back.state_hash(), hash, "the hash of the state that came back");
    verify((back.journal()->replayed_count() != commands_count) == with_snapshot, "a snapshot is used if there is one");
    // Leaving, it saves a snapshot.
    io::spawn(on, close_soon(&back));
    io::spawn(on, back.run());
    on.run();
    return taken;
}

measurement run_recovery(const run_parameters& how) {
    const double part = std::min(how.seconds / seconds_full, 1.0);
    const auto commands_count = static_cast<std::uint64_t>(part * commands_count_full);
    const auto tail_count = static_cast<std::uint64_t>(part * tail_count_full);
    const base::test_folder folder;
    node::configuration c = venue_configuration();
    c.journal_directory = folder.path();
    c.durability = journal::durability::none;
    std::uint64_t hash = write_journal(c, commands_count);
    measurement made;
    made.values.push_back(start(c, commands_count, hash, false) / part);
    hash = rehearsal(c, 1).write(tail_count);
    made.values.push_back(start(c, commands_count + tail_count, hash, true));
    return made;
}

}  // namespace

std::uint64_t write_journal(const node::configuration& c, std::uint64_t commands_count) {
    return rehearsal(c, 0).write(commands_count);
}

void declare_venue_recovery(registry& into) {
    into.declare("venue",
                 {{"recovery_10_million", "ns", better::lower,
                   "from the start of a venue to its readiness, its journal holding ten million commands and no "
                   "snapshot; from fewer in proportion when the run is to be shorter than 0.3 s"},
                  {"recovery_snapshot_and_tail", "ns", better::lower,
                   "the same with a snapshot and a hundred thousand commands behind it"}},
                 2, 1, venue_repeats_count);
}

void implement_venue_recovery(registry& into) {
    into.implement("venue", "recovery_10_million", "corro_epoll", &run_recovery);
}

}  // namespace corro::lab
