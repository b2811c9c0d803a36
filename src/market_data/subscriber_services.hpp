// SPDX-License-Identifier: Apache-2.0
// What subscribers of each port are sent: the feed, a snapshot, or conflated depth. Services of `soup_port`.
//
// Not part of the layer's interface. Threads: one context, the publisher's.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <system_error>
#include <type_traits>
#include <vector>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/admission.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"
#include "io/result.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"
#include "market_data/depth_pictures.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/feed_reader.hpp"
#include "market_data/limits.hpp"
#include "market_data/snapshot_source.hpp"
#include "market_data/subscriber.hpp"
#include "market_data/subscriber_registry.hpp"

namespace corro::market_data {

/// Every message from the requested one on, from the feed log.
///
/// A subscriber through shared memory that has everything of the log goes on in the broadcast, which costs the venue
/// the same for any number of them. The broadcast has the bytes of the log at the log's positions. There a subscriber
/// is not cut when it is slow: it learns from its own next read that it was overrun, and may log in again.
class feed_service {
 public:
    static constexpr bool keeps_alive = true;

    /// One subscriber of the feed. It is woken by `flush` from the start to its end.
    class subscription {
     public:
        template <class Session>
        subscription(feed_service& service, Session& session)
            : service_(service), who_(session), work_(session.work()), reader_(service.publisher_.log()) {
            using transport = std::remove_cvref_t<decltype(session.stream())>;
            if constexpr (std::same_as<transport, io::shm_stream>) memory_ = &session.stream();
            if constexpr (std::derived_from<transport, io::stream_socket>) socket_ = &session.stream();
        }
        subscription(const subscription&) = delete;
        subscription& operator=(const subscription&) = delete;
        ~subscription() {
            if (reader_.has_begun()) std::erase(service_.started_, this);
        }

     private:
        friend class feed_service;
        feed_service& service_;
        subscriber& who_;
        io::auto_event& work_;
        feed_reader reader_;
        io::shm_stream* memory_ = nullptr;     ///< its stream, if it is one through shared memory
        io::stream_socket* socket_ = nullptr;  ///< its stream, if it is a socket
        bool is_idle_ = false;                 ///< whether it waits for messages, and so writes nothing
        bool is_following_ = false;            ///< whether it reads the broadcast
    };

    /// Both outlive the service.
    feed_service(const feed_publisher& publisher, subscriber_registry& registry)
        : publisher_(publisher), registry_(registry) {}

    /// From now on subscribers through shared memory go on in `where`, which outlives the service and begins at the end
    /// of the log. Null: nowhere.
    void broadcast_in(io::shm_broadcast* where) noexcept { broadcast_ = where; }

    [[nodiscard]] std::optional<std::uint64_t> start(subscription& s, std::uint64_t requested,
                                                     const std::optional<io::endpoint>& /*from*/) {
        const std::optional<std::uint64_t> first = s.reader_.begin(requested);
        if (first) started_.push_back(&s);
        return first;
    }

    /// Sends from the feed log, in the largest possible pieces.
    template <class Session>
    io::task<void> send(Session* session, subscription* s) {
        while (session->is_active()) {
            if (s->is_following_) {
                session->leave_out_heartbeat();
                const std::error_code stopped = co_await s->work_.wait();
                if (stopped) co_return;
                continue;
            }
            // flush() cuts a subscriber that falls too far behind, unless one turn of the venue adds more than the log
            // and its connection have room for.
            if (s->reader_.is_lost()) {
                registry_.cut_slow(s->who_, s->reader_.lag_bytes());
                co_return;
            }
            const std::span<const std::byte> bytes = s->reader_.unsent();
            if (bytes.empty()) {
                if (broadcast_ != nullptr && s->memory_ != nullptr) {
                    s->is_following_ = true;
                    s->memory_->follow(s->reader_.position());
                    continue;
                }
                if (session->is_heartbeat_due()) {
                    const bool is_sent = co_await session->send_heartbeat();
                    if (!is_sent) co_return;
                    continue;
                }
                s->is_idle_ = true;
                const std::error_code stopped = co_await s->work_.wait();
                s->is_idle_ = false;
                if (stopped) co_return;
                continue;
            }
            session->note_sent();
            const io::io_result written = co_await session->stream().write_some(bytes);
            s->reader_.sent(written.bytes);
            if (written.error) session->fail(written.error);
        }
    }
    /// Sends the rest of the feed. False when the connection has failed.
    template <class Session>
    io::task<bool> finish(Session* session, subscription* s) {
        if (s->is_following_) co_return true;  // it finds the rest in the broadcast
        while (!s->reader_.is_lost()) {
            const std::span<const std::byte> rest = s->reader_.unsent();
            if (rest.empty()) co_return true;
            const io::io_result written = co_await session->stream().write_some(rest);
            s->reader_.sent(written.bytes);
            if (written.error) co_return false;
        }
        co_return false;
    }

    /// Wakes subscribers that have sent everything; cuts those that are too slow.
    void flush() noexcept {
        if (broadcast_ != nullptr) broadcast();
        for (subscription* s : started_) {
            if (s->is_following_) {
                if (s->memory_->is_open()) s->memory_->wake();
            } else if (s->is_idle_) {
                s->is_idle_ = false;
                s->work_.set();
            } else if (s->reader_.is_too_slow() && s->who_.is_active()) {
                registry_.cut_slow(s->who_, s->reader_.lag_bytes());
            }
        }
    }
    /// Within a turn that may add more than the log keeps: copies into the broadcast, and writes what the connections
    /// of waiting subscribers take at once.
    void keep_up() noexcept {
        if (broadcast_ != nullptr) broadcast();
        for (subscription* s : started_) {
            if (s->is_following_) {
                if (s->memory_->is_open()) s->memory_->wake();
            } else if (s->is_idle_ && s->socket_ != nullptr && s->who_.is_active()) {
                write_now(*s);
            }
        }
    }
    /// The log is complete.
    void close() noexcept {
        if (broadcast_ == nullptr) return;
        broadcast();
        broadcast_->end();
        flush();
    }

 private:
    /// Copies what was added to the log.
    void broadcast() noexcept {
        const feed_log& log = publisher_.log();
        while (broadcast_->position() != log.end_position()) {
            broadcast_->write(log.bytes_from(broadcast_->position(), send_bytes_max));
        }
    }
    /// A connection that takes nothing, or has failed, is left to the subscriber's own task.
    static void write_now(subscription& s) noexcept {
        while (!s.reader_.is_lost()) {
            const std::span<const std::byte> bytes = s.reader_.unsent();
            if (bytes.empty()) return;
            const io::io_result written = s.socket_->try_write(bytes);
            s.reader_.sent(written.bytes);
            if (written.bytes == 0) return;
        }
    }

    const feed_publisher& publisher_;
    subscriber_registry& registry_;
    io::shm_broadcast* broadcast_ = nullptr;
    std::vector<subscription*> started_;
};

/// One snapshot, then the end.
class snapshot_service {
 public:
    static constexpr bool keeps_alive = false;

    /// A snapshot being sent has a place.
    class subscription final : io::admission::guest {
     public:
        template <class Session>
        subscription(snapshot_service& /*service*/, Session& /*session*/) {}

     private:
        friend class snapshot_service;
        void evict() noexcept override {
            CORRO_ASSERT(false, "a snapshot's guest is settled from the beginning and cannot be evicted");
        }
    };

    struct options {
        options() noexcept {}
        snapshot_options making;
        std::uint32_t snapshots_max = market_data::snapshots_max;
        std::uint32_t snapshots_per_address_max = market_data::snapshots_per_address_max;
        std::chrono::milliseconds timeout = market_data::snapshot_timeout;
    };

    /// All outlive the service.
    snapshot_service(io::context& context, const feed_publisher& publisher, subscriber_registry& registry,
                     const options& chosen)
        : context_(context),
          registry_(registry),
          timeout_(chosen.timeout),
          source_(publisher, chosen.making),
          admission_(admission_of(chosen.snapshots_max, chosen.snapshots_per_address_max)) {}

    [[nodiscard]] std::optional<std::uint64_t> start(subscription& s, std::uint64_t requested,
                                                     const std::optional<io::endpoint>& from) {
        if (requested > 1) return std::nullopt;  // a snapshot has no parts
        const bool has_place = admission_.enter(s, from);
        admission_.settle(s);
        return has_place ? std::optional<std::uint64_t>(1) : std::nullopt;
    }

    template <class Session>
    io::task<void> send(Session* session, subscription* s) {
        ++registry_.counts().snapshots;
        {
            const snapshot_source::shared_bytes bytes = source_.take(context_.now());
            registry_.counts().snapshots_made = source_.made_count();
            const auto written = co_await io::with_timeout(timeout_, io::write_all(session->stream(), *bytes));
            const bool is_late = !written || written->error == io::condition::timed_out;
            if (is_late) ++registry_.counts().slow_cut;
            if (is_late || written->error) session->cut();
        }
        admission_.leave(*s);
        session->end();
    }
    template <class Session>
    io::task<bool> finish(Session* /*session*/, subscription* /*s*/) {
        co_return true;
    }

 private:
    io::context& context_;
    subscriber_registry& registry_;
    std::chrono::milliseconds timeout_;
    snapshot_source source_;
    io::admission admission_;
};

/// Pictures of the best levels, at the speed of each subscriber.
class depth_service {
 public:
    static constexpr bool keeps_alive = true;

    class subscription {
     public:
        template <class Session>
        subscription(depth_service& service, Session& /*session*/) : reader_(service.pictures_) {}

     private:
        friend class depth_service;
        depth_reader reader_;
    };

    /// All outlive the service.
    depth_service(const feed_publisher& publisher, subscriber_registry& registry, std::size_t levels,
                  std::chrono::milliseconds interval)
        : registry_(registry), interval_(interval), pictures_(publisher, levels) {}

    [[nodiscard]] std::optional<std::uint64_t> start(subscription& /*s*/, std::uint64_t requested,
                                                     const std::optional<io::endpoint>& /*from*/) {
        return requested > 1 ? std::nullopt : std::optional<std::uint64_t>(1);
    }

    /// Sends in rounds what has changed. A slow subscriber waits in its own write, and the next round has the latest
    /// pictures.
    template <class Session>
    io::task<void> send(Session* session, subscription* s) {
        std::vector<std::byte> bytes;
        while (session->is_active()) {
            registry_.counts().depths_sent += s->reader_.append_round(bytes);
            if (!bytes.empty()) {
                session->note_sent();
                const io::io_result written =
                    co_await io::write_all(session->stream(), std::span<const std::byte>(bytes));
                bytes.clear();
                if (written.error) {
                    session->fail(written.error);
                    co_return;
                }
            } else if (session->is_heartbeat_due()) {
                const bool is_sent = co_await session->send_heartbeat();
                if (!is_sent) co_return;
            }
            const std::error_code stopped = co_await io::sleep_for(interval_);
            if (stopped) co_return;
        }
    }
    template <class Session>
    io::task<bool> finish(Session* /*session*/, subscription* /*s*/) {
        co_return true;
    }

 private:
    subscriber_registry& registry_;
    std::chrono::milliseconds interval_;
    depth_pictures pictures_;
};

}  // namespace corro::market_data
