// SPDX-License-Identifier: Apache-2.0
#include "telemetry/event_log.hpp"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/environment.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"
#include "telemetry/log_files.hpp"
#include "telemetry/text.hpp"

namespace corro::telemetry {
// The state of the log's thread. Other threads use only the counters, the error and the list of producers.
class event_log::writer {
    /// Ring entries that are released to their producer together.
    static constexpr std::size_t at_once = 64;

 public:
    writer(io::platform& on, const event_log_options& options, std::span<const domain::instrument> instruments)
        : options_(options),
          worker_(on.make_worker(io::context_options())),
          text_(instruments),
          events_(
              worker_->where(), options.directory, "events", "csv",
              [](std::string& to) { to += event_text::heading(); }, options.file_bytes_max, options.files_max),
          log_records_(
              worker_->where(), options.directory, "records", "jsonl", [this](std::string& to) { append_format(to); },
              options.file_bytes_max, options.files_max),
          ended_(worker_->where()) {
        lines_.resize(write_bytes + at_once * line_bytes_max);
    }

    /// Starts the thread, which opens the files and writes them.
    /// @return  The error of opening: the thread has then ended.
    io::task<std::error_code> start() {
        io::remote_event opened(co_await io::this_context());
        worker_->start(open_and_write(this, &opened));
        static_cast<void>(co_await opened.wait());
        // Also when stopped: the thread refers to this frame.
        is_opened_.wait(false, std::memory_order_acquire);
        if (open_error_) worker_->join();
        co_return open_error_;
    }
    /// The version of the files that were there before; `start` refuses a newer one. After `start`.
    [[nodiscard]] std::int64_t found_version() const noexcept { return found_version_; }
    [[nodiscard]] const std::string& directory() const noexcept { return options_.directory; }
    /// Before the first event.
    void list(const domain::instrument& i) { text_.list(i.id, i.name, i.tick_size.value); }
    void end() noexcept {
        ended_.set();
        worker_->join();
    }

    producer& add_producer() {
        const std::lock_guard guard(producers_mutex_);
        // The capacity for log records is small; the one for events is configured.
        producers_.push_back(std::make_unique<producer>(options_.events_waiting_max, log_records_waiting_max));
        return *producers_.back();
    }

    [[nodiscard]] event_log_statistics statistics() const noexcept {
        event_log_statistics s;
        s.events = events_count_.load(std::memory_order_relaxed);
        s.log_records = log_records_count_.load(std::memory_order_relaxed);
        s.bytes = bytes_.load(std::memory_order_relaxed);
        const std::lock_guard guard(producers_mutex_);
        for (const auto& p : producers_) s.lost += p->lost_count();
        s.lost += unwritten_.load(std::memory_order_relaxed);
        return s;
    }
    [[nodiscard]] std::error_code error() const noexcept {
        const std::lock_guard guard(producers_mutex_);
        return error_;
    }

 private:
    static io::task<std::error_code> open_files(writer* self) {
        const auto line = co_await self->log_records_.newest_first_line();
        if (!line) co_return line.error();
        if (!line->empty()) self->found_version_ = format_version_of(*line);
        if (self->found_version_ > log_format_version) co_return std::make_error_code(std::errc::not_supported);
        const std::error_code events = co_await self->events_.open();
        if (events) co_return events;
        co_return co_await self->log_records_.open();
    }

    static io::task<void> open_and_write(writer* self, io::remote_event* opened) {
        const std::error_code error = co_await open_files(self);
        self->open_error_ = error;
        opened->set();
        self->is_opened_.store(true, std::memory_order_release);
        self->is_opened_.notify_one();
        if (!error) co_await write_until_stopped(self);
    }

    /// The first record of each file.
    void append_format(std::string& to) {
        text_.append(
            log_record(component::log, log_record_kind::format, log_format_version, worker_->where().wall_now()), to);
    }

    static io::task<std::error_code> wait_for_end(writer* self) { co_return co_await self->ended_.wait(); }

    static io::task<void> write_until_stopped(writer* self) {
        bool ended = false;
        while (!ended) {
            const auto told = co_await io::with_timeout(self->options_.look_interval, wait_for_end(self));
            ended = told.has_value();
            co_await self->write_waiting();
        }
    }

    /// Writes everything in the rings, and what was lost after it.
    io::task<void> write_waiting() {
        std::size_t count = 0;
        {
            const std::lock_guard guard(producers_mutex_);
            count = producers_.size();
        }
        for (std::size_t i = 0; i < count; ++i) {
            producer* from = nullptr;
            {
                const std::lock_guard guard(producers_mutex_);
                from = producers_[i].get();
            }
            co_await write_events(from);
            co_await write_log_records(from);
        }
    }

    io::task<void> write_events(producer* from) {
        // At most the capacity of a ring, so that one busy producer does not delay the others.
        std::size_t left = options_.events_waiting_max;
        while (left != 0) {
            char* end = lines_.data();
            std::size_t taken = 0;
            while (end < lines_.data() + write_bytes) {
                const std::size_t some =
                    from->events_.consume([this, &end](const domain::event& e) { end = text_.write(e, end); },
                                          std::min(left - taken, at_once));
                taken += some;
                if (some == 0) break;
            }
            if (taken == 0) co_return;
            left -= taken;
            const bool written = co_await put(&events_, std::string_view(lines_.data(), end));
            (written ? events_count_ : unwritten_).fetch_add(taken, std::memory_order_relaxed);
        }
    }

    io::task<void> write_log_records(producer* from) {
        objects_.clear();
        std::size_t taken =
            from->log_records_.consume([this](const log_record& what) { text_.append(what, objects_); });
        const std::size_t noted = taken;
        if (const std::uint64_t lost = from->lost_count(); lost != from->lost_reported_) {
            log_record said(component::venue, log_record_kind::events_lost,
                            static_cast<std::int64_t>(lost - from->lost_reported_), worker_->where().wall_now());
            said.severity = severity::warning;
            text_.append(said, objects_);
            from->lost_reported_ = lost;
            ++taken;
        }
        if (taken == 0) co_return;
        const bool written = co_await put(&log_records_, objects_);
        (written ? log_records_count_ : unwritten_).fetch_add(taken, std::memory_order_relaxed);
        if (written) from->log_records_written_.fetch_add(noted, std::memory_order_release);
    }

    /// Writes whole lines; false when writing has failed, now or before.
    io::task<bool> put(log_files* to, std::string_view lines) {
        if (failed_) co_return false;
        const std::error_code error = co_await to->append(lines);
        if (error) {
            failed_ = true;
            const std::lock_guard guard(producers_mutex_);
            error_ = error;
            co_return false;
        }
        bytes_.store(events_.bytes() + log_records_.bytes(), std::memory_order_relaxed);
        co_return true;
    }

    event_log_options options_;
    std::unique_ptr<io::worker> worker_;
    event_text text_;
    log_files events_;
    log_files log_records_;
    io::remote_event ended_;
    std::vector<char> lines_;  ///< of events
    std::string objects_;      ///< of log records
    bool failed_ = false;
    std::int64_t found_version_ = log_format_version;
    std::error_code open_error_;
    // false -> true (the log's thread, after it has written the two members above and signaled the start).
    std::atomic<bool> is_opened_{false};
    std::atomic<std::uint64_t> events_count_{0};
    std::atomic<std::uint64_t> log_records_count_{0};
    std::atomic<std::uint64_t> unwritten_{0};
    std::atomic<std::uint64_t> bytes_{0};
    mutable std::mutex producers_mutex_;  ///< for what follows; never taken by a producer
    std::vector<std::unique_ptr<producer>> producers_;
    std::error_code error_;
};

event_log::event_log(io::platform& on, const event_log_options& options,
                     std::span<const domain::instrument> instruments) {
    writer_ = std::make_unique<writer>(on, options, instruments);
}

io::task<void> event_log::start() {
    const std::error_code error = co_await writer_->start();
    const std::string& directory = writer_->directory();
    if (writer_->found_version() > log_format_version) {
        throw std::system_error(
            error, fmt::format("event_log.directory: {} has files of format version {}, which a newer program has "
                               "written; this program writes version {}. Choose another directory",
                               directory, writer_->found_version(), log_format_version));
    }
    if (error) throw std::system_error(error, "event_log.directory: cannot write to " + directory);
}

event_log::~event_log() {
    writer_->end();
}

producer& event_log::add_producer() {
    return writer_->add_producer();
}

void event_log::list(const domain::instrument& i) {
    writer_->list(i);
}

event_log_statistics event_log::statistics() const noexcept {
    return writer_->statistics();
}

std::error_code event_log::error() const noexcept {
    return writer_->error();
}

}  // namespace corro::telemetry
