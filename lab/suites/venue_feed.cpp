// SPDX-License-Identifier: Apache-2.0
// Suite `venue`: the feed over TCP to many subscribers, each of which gets every message.
//
// The publisher has a thread with a processor of its own, and all subscribers together have another one. The publisher
// waits when it is far ahead of the slowest subscriber, so the rate is what both can do. It publishes in batches of 512
// messages, one for each command of a venue's largest batch, as a venue does that has more commands than it can
// execute. Its processor time per message shows what a subscriber costs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/byte_order.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/child_process.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/venue_suite.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/subscriber_server.hpp"
#include "node/configuration/limits.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::lab {
namespace {

namespace soup = wire::soup_bin_tcp;
using std::chrono::microseconds;

constexpr std::array<std::size_t, 3> subscriber_counts{1, 10, 100};
constexpr std::size_t events_per_batch = node::commands_batch_max;
constexpr std::uint64_t ahead_bytes_max = std::uint64_t{4} << 20U;  ///< of the slowest subscriber
constexpr std::size_t read_bytes = std::size_t{64} << 10U;
constexpr microseconds pause{20};
constexpr std::size_t reads_between_looks = 16;

std::string feed_row(std::size_t subscribers) {
    return fmt::format("feed_subscribers_{}", subscribers);
}

/// Between the publisher's thread and that of the subscribers.
struct feed_progress {
    std::atomic<std::uint64_t> received_bytes{0};  ///< of the slowest subscriber
    std::atomic<bool> is_over{false};              ///< enough was measured, or a subscriber has failed
};

/// An order that enters the book, and then its end.
domain::event change(std::uint64_t number) {
    const bool enters = number % 2 == 0;
    domain::event e;
    e.command = domain::sequence_number{number + 1};
    e.instrument = domain::instrument_id{1};
    e.kind = enters ? domain::event_kind::order_added : domain::event_kind::order_deleted;
    e.side = domain::side::buy;
    e.book.order = domain::order_id{number / 2 + 1};
    e.book.price = domain::price_ticks{9'500};
    e.book.quantity = domain::quantity_lots{enters ? 10U : 0U};
    e.book.change = domain::quantity_lots{10};
    return e;
}

class publisher {
 public:
    publisher(io::platform& kind, feed_progress& progress)
        : on_(io::context_options(kind)),
          progress_(progress),
          feed_(market_data::feed_options(), venue_configuration().instruments),
          ports_(on_, market_data::subscriber_options(), feed_) {
        auto opened = io::tcp_acceptor::open(on_, io::endpoint::loopback(0));
        verify(opened.has_value(), "listening");
        acceptor_.emplace(std::move(*opened));
    }

    /// @pre It does not run yet.
    [[nodiscard]] io::endpoint where() const { return *acceptor_->local_endpoint(); }
    [[nodiscard]] std::uint64_t messages_count() const noexcept { return published_count_; }
    [[nodiscard]] double ns_per_message() const noexcept {
        return static_cast<double>(spent_ns_) / static_cast<double>(published_count_);
    }

    /// Publishes to that many subscribers until enough was measured.
    void run(std::size_t subscribers) {
        bind_to_processor(quiet_processor());
        io::block_on(on_, publish(subscribers));
    }

 private:
    io::task<> publish(std::size_t subscribers) {
        io::task_scope serving(on_);
        serving.spawn(ports_.serve_feed(std::move(*acceptor_)));
        while (ports_.statistics().subscribers_now < subscribers && !is_over()) co_await wait();
        const std::uint64_t begin = thread_ns();
        while (!is_over()) {
            const std::uint64_t received = progress_.received_bytes.load(std::memory_order_relaxed);
            if (feed_.log().end_position() - received > ahead_bytes_max) {
                co_await wait();
                continue;
            }
            for (std::size_t i = 0; i < events_per_batch; ++i) feed_.publish(change(published_count_++));
            feed_.flush();
            co_await io::yield();
        }
        spent_ns_ = thread_ns() - begin;
        feed_.close();
        co_await serving.join();
        verify_equal(ports_.statistics().slow_cut, 0, "subscribers that were cut");
    }

    /// Enough was measured, or a subscriber has failed.
    [[nodiscard]] bool is_over() const noexcept { return progress_.is_over.load(std::memory_order_relaxed); }
    static io::task<> wait() {
        const std::error_code stopped = co_await io::sleep_for(pause);
        verify_io(stopped, "waiting");
    }

    io::context on_;
    feed_progress& progress_;
    market_data::feed_publisher feed_;
    market_data::subscriber_server ports_;
    std::optional<io::tcp_acceptor> acceptor_;
    std::uint64_t published_count_ = 0;
    std::uint64_t spent_ns_ = 0;
};

/// All subscribers, on one context.
class subscribers {
 public:
    subscribers(std::size_t count, double seconds, feed_progress& progress)
        : seconds_(seconds), progress_(progress), received_bytes_(count), received_counts_(count) {}

    void run(io::platform& kind, io::endpoint at) {
        io::context on{io::context_options(kind)};
        for (std::size_t i = 0; i < received_counts_.size(); ++i) io::spawn(on, follow(&on, at, i));
        on.run();
        if (failure_) std::rethrow_exception(failure_);
    }
    [[nodiscard]] std::span<const std::uint64_t> received_counts() const noexcept { return received_counts_; }
    [[nodiscard]] const timed_run& time() const { return *time_; }

 private:
    // A failure ends the measurement, not the process in the middle of it.
    io::task<> follow(io::context* on, io::endpoint at, std::size_t index) {
        try {
            co_await read_all(on, at, index);
        } catch (...) {
            failure_ = std::current_exception();
            received_bytes_[index] = ~std::uint64_t{0};
            look();
            progress_.is_over.store(true, std::memory_order_relaxed);
        }
    }

    io::task<> read_all(io::context* on, io::endpoint at, std::size_t index) {
        auto stream = co_await io::tcp_stream::connect(*on, at);
        verify(stream.has_value(), "connecting");
        std::array<std::byte, soup::login_request_bytes> login;
        soup::login_request request;
        request.requested_sequence = 1;
        verify(soup::encode(request, login).has_value(), "the login");
        const io::io_result sent = co_await stream->write_all(login);
        verify_io(sent.error, "logging in");
        const auto buffer = std::make_unique<std::array<std::byte, read_bytes>>();
        std::size_t filled = 0;
        for (bool has_ended = false; !has_ended;) {
            const io::io_result got = co_await stream->read_some(std::span(*buffer).subspan(filled));
            verify_io(got.error, "reading the feed");
            filled += got.bytes;
            const std::uint64_t before = received_counts_[index];
            const std::size_t taken = take(std::span(*buffer).first(filled), index, &has_ended);
            filled -= taken;
            std::memmove(buffer->data(), buffer->data() + taken, filled);
            count(received_counts_[index] - before);
        }
        verify(filled == 0, "nothing follows the end of the session");
    }

    /// Counts the messages among whole packets. @return Their bytes.
    std::size_t take(std::span<const std::byte> arrived, std::size_t index, bool* has_ended) {
        std::size_t at = 0;
        while (arrived.size() - at >= soup::header_bytes) {
            const std::size_t size = std::size_t{base::load_be<std::uint16_t>(arrived.data() + at)} + 2;
            if (arrived.size() - at < size) break;
            switch (static_cast<soup::packet_type>(std::to_integer<char>(arrived[at + 2]))) {
                case soup::packet_type::sequenced_data:
                    ++received_counts_[index];
                    received_bytes_[index] += size;
                    break;
                case soup::packet_type::end_of_session: *has_ended = true; break;
                case soup::packet_type::login_accepted:
                case soup::packet_type::server_heartbeat: break;
                default: throw wrong_result("a packet that a feed does not send");
            }
            at += size;
        }
        return at;
    }

    void count(std::uint64_t messages) {
        if (++reads_count_ % reads_between_looks == 0 || received_bytes_.size() < reads_between_looks) look();
        if (messages == 0 || progress_.is_over.load(std::memory_order_relaxed)) return;
        if (!time_) time_.emplace(seconds_);
        begun_ = time_->count(begun_ == 0 ? time_->now() : begun_, messages);
        if (begun_ == 0) progress_.is_over.store(true, std::memory_order_relaxed);
    }

    void look() noexcept {
        progress_.received_bytes.store(*std::ranges::min_element(received_bytes_), std::memory_order_relaxed);
    }

    double seconds_;
    feed_progress& progress_;
    std::vector<std::uint64_t> received_bytes_;
    std::vector<std::uint64_t> received_counts_;
    std::size_t reads_count_ = 0;
    std::optional<timed_run> time_;  ///< begins with the first message
    std::uint64_t begun_ = 0;
    std::exception_ptr failure_;
};

measurement run_feed(const run_parameters& how, io::platform& kind, std::size_t count) {
    feed_progress progress;
    publisher from(kind, progress);
    subscribers to(count, how.seconds, progress);
    const io::endpoint where = from.where();
    std::exception_ptr failure;
    std::thread publishing([&] {
        try {
            from.run(count);
        } catch (...) {
            failure = std::current_exception();
        }
    });
    try {
        to.run(kind, where);
    } catch (...) {
        publishing.join();
        throw;
    }
    publishing.join();
    if (failure) std::rethrow_exception(failure);
    for (const std::uint64_t received : to.received_counts()) {
        verify_equal(received, from.messages_count(), "messages that a subscriber has received");
    }
    measurement made = rate_of(to.time());
    made.values.push_back(from.ns_per_message());
    return made;
}

}  // namespace

void declare_venue_feed(registry& into) {
    for (const std::size_t count : subscriber_counts) {
        into.declare("venue",
                     {{feed_row(count), "/s", better::higher,
                       fmt::format("messages of the feed that reach {} TCP subscribers of everything, all of them "
                                   "together; publisher and subscribers have a thread each",
                                   count)},
                      {feed_row(count) + "_message", "ns", better::lower,
                       "processor time of the publisher's thread for each message, with sending it to all of them"}},
                     2, 1, venue_repeats_count);
    }
}

void implement_venue_feed(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        for (const std::size_t count : subscriber_counts) {
            into.implement("venue", feed_row(count), by.subject + "_inline",
                           [by, count](const run_parameters& how) { return run_feed(how, *by.kind, count); });
        }
    }
}

}  // namespace corro::lab
