#include "node/snapshot_maker.hpp"

#include <exception>
#include <utility>

#include "base/tsc_clock.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/block_on.hpp"
#include "io/timer.hpp"
#include "market_data/distributor.hpp"
#include "node/journal_replay.hpp"
#include "node/limits.hpp"
#include "node/order_entry_side.hpp"

namespace corro::node {
namespace {

market_data::distributor_options feed_options_of(const configuration& c) {
    market_data::distributor_options options;
    options.session_name = c.venue_name;
    // More of the feed's past than this is in no snapshot.
    options.feed_log_bytes = 2 * snapshot_feed_bytes_max;
    return options;
}

/// Of these answers few pages may ever be written to.
gateway::answer_log_options untouched_answers_of(const configuration& c) {
    gateway::answer_log_options options = answer_options_of(c);
    options.touch = base::page_touch::no;
    return options;
}

constexpr int attempts_max = 2;

/// Everything of a venue that a snapshot holds, and nobody to tell.
class silent_venue final : private event_outlet {
 public:
    silent_venue(io::context& context, const configuration& c)
        : accounts_(account_directory_of(c)),
          answers_(accounts_.sessions_count(), untouched_answers_of(c)),
          feed_(context, feed_options_of(c), c.instruments),
          host_(facility_options_of(c), c.instruments, clock_, *this) {
        gateway::set_copies(accounts_, answers_);
        host_.throttle(throttle_options_of(c), accounts_.sessions_count());
    }

    [[nodiscard]] venue_parts parts() noexcept { return {&host_, &answers_, &feed_}; }

 private:
    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (domain::is_public(event.kind)) {
                feed_.publish(event);
            } else {
                answers_.append(event);
            }
        }
        return events.size();
    }

    base::tsc_clock clock_;
    gateway::account_directory accounts_;
    gateway::answer_log answers_;
    market_data::distributor feed_;
    matching_host host_;
};

/// What a thread needs to make one snapshot.
struct order_of_work {
    const configuration* venue = nullptr;
    std::uint64_t until = 0;
    std::uint64_t epoch = 0;
    const std::atomic<bool>* stopping = nullptr;
};

io::task<snapshot_outcome> make_snapshot(io::context* context, order_of_work work) {
    const configuration& c = *work.venue;
    snapshot_outcome made;
    journal::disk_storage files(*context);
    const journal::identity venue = identity_of(c);
    const auto copy = std::make_unique<silent_venue>(*context, c);
    journal_replay replay(&files, c.journal_directory, venue, may_lose_commands(c));
    co_await replay.run(copy->parts(), work.stopping, work.until);
    made.sequence = replay.snapshot_sequence();
    if (work.stopping->load(std::memory_order_relaxed)) {
        made.problem = "the venue closes";
        co_return made;
    }
    if (replay.replayed_count() == 0) co_return made;
    std::vector<std::byte> state = save_venue(copy->parts());
    journal::snapshot_store store(&files, c.journal_directory, venue);
    const auto kept = co_await store_snapshot(&store, context, std::move(state), work.epoch, c.snapshots_kept);
    if (!kept) {
        made.problem = kept.error().text;
        co_return made;
    }
    made.sequence = copy->parts().host->sequence();
    made.oldest_sequence = *kept;
    made.is_new = true;
    co_return made;
}

}  // namespace

snapshot_maker::snapshot_maker(io::context& edge, const configuration& c, host_journal& journal,
                               telemetry::producer* log)
    : configuration_(c), journal_(journal), edge_(edge), log_(log), bell_(edge) {}

snapshot_maker::~snapshot_maker() {
    stop();
}

void snapshot_maker::stop() noexcept {
    stopping_.store(true, std::memory_order_relaxed);
    if (thread_.joinable()) thread_.join();
}

bool snapshot_maker::is_due() const noexcept {
    if (asked_) return true;
    const std::uint64_t every = configuration_.snapshot_every;
    return every != 0 && journal_.writer().durable_sequence() - last_sequence_ >= every;
}

io::task<void> snapshot_maker::run() {
    last_sequence_ = journal_.snapshot_sequence();
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(snapshot_look_interval);
        if (stopped) break;
        if (!is_due()) continue;
        const bool goes_on = co_await make_one();
        if (!goes_on) break;
    }
    stop();
}

// False: stopped meanwhile.
io::task<bool> snapshot_maker::make_one() {
    const auto began = std::chrono::steady_clock::now();
    asked_ = false;
    last_sequence_ = journal_.writer().durable_sequence();
    thread_ = std::thread([this, until = last_sequence_] { work(until); });
    const std::error_code stopped = co_await bell_.wait();
    if (stopped) co_return false;
    thread_.join();
    if (outcome_.is_new) {
        ++statistics_.made;
        statistics_.last_duration = std::chrono::steady_clock::now() - began;
        journal_.note_snapshot(outcome_.sequence, outcome_.oldest_sequence);
        say(telemetry::happening_kind::snapshot_made, outcome_.sequence);
    } else if (!outcome_.problem.empty()) {
        ++statistics_.failed;
        journal_.note(outcome_.problem);
        say(telemetry::happening_kind::snapshot_failed, last_sequence_);
    }
    co_return true;
}

void snapshot_maker::say(telemetry::happening_kind what, std::uint64_t number) const {
    if (log_ == nullptr) return;
    telemetry::happening said(telemetry::component::venue, what, static_cast<std::int64_t>(number), edge_.wall_now());
    if (what == telemetry::happening_kind::snapshot_failed) said.severity = telemetry::severity::warning;
    log_->note(said);
}

void snapshot_maker::work(std::uint64_t until) noexcept {
    // A segment that no snapshot needs may go just when its header is looked at; then it is not there the next time.
    for (int attempt = 0; attempt != attempts_max; ++attempt) {
        outcome_ = {};
        try {
            io::context context;
            outcome_ =
                io::block_on(context, make_snapshot(&context, {&configuration_, until, journal_.epoch(), &stopping_}));
            break;
        } catch (const std::exception& e) {
            outcome_.problem = e.what();
        }
    }
    bell_.set();
}

}  // namespace corro::node
