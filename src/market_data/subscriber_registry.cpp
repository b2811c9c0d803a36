// SPDX-License-Identifier: Apache-2.0
#include "market_data/subscriber_registry.hpp"

#include <algorithm>

#include "base/assert.hpp"

namespace corro::market_data {

io::admission_options admission_of(std::uint32_t all, std::uint32_t per_address) noexcept {
    io::admission_options options;
    options.guests_max = all;
    options.per_address_max = std::min(all, per_address);
    options.reserved_for_proven = 0;  // there is no authentication here
    return options;
}

subscriber_registry::subscriber_registry(io::context& context, const registry_options& options)
    : context_(context),
      log_(options.log),
      admission_(admission_of(options.subscribers_max, options.subscribers_per_address_max)) {
    subscribers_.reserve(options.subscribers_max);
}

subscriber_registry::~subscriber_registry() {
    CORRO_ASSERT(subscribers_.empty(), "the serving tasks must end before the registry is destroyed");
}

bool subscriber_registry::enter(subscriber& newcomer, const std::optional<io::endpoint>& from) {
    CORRO_ASSERT(newcomer.phase() == subscriber_phase::logging_in, "a connection is entered once, before its login");
    if (is_closed_) return false;
    const bool is_in = admission_.enter(newcomer, from);
    statistics_.evicted = admission_.evicted_count();
    if (!is_in) {
        ++statistics_.connections_refused;
        return false;
    }
    subscribers_.push_back(&newcomer);
    ++statistics_.subscribers_now;
    return true;
}

void subscriber_registry::accept(subscriber& known, std::uint64_t first) {
    known.accept();
    admission_.settle(known);
    log(telemetry::log_record_kind::subscribed, first);
    ++statistics_.logins;
}

void subscriber_registry::cut_slow(subscriber& known, std::uint64_t lag_bytes) {
    CORRO_ASSERT(known.is_active(), "only a subscriber that gets messages can be too slow");
    ++statistics_.slow_cut;
    log(telemetry::log_record_kind::subscriber_cut, lag_bytes);
    known.cut();
}

void subscriber_registry::leave(subscriber& gone) {
    const auto at = std::ranges::find(subscribers_, &gone);
    CORRO_ASSERT(at != subscribers_.end(), "only a connection that has entered can leave");
    subscribers_.erase(at);
    --statistics_.subscribers_now;
    if (gone.was_accepted()) log(telemetry::log_record_kind::subscriber_left, statistics_.subscribers_now);
}

void subscriber_registry::close() noexcept {
    is_closed_ = true;
    for (subscriber* each : subscribers_) each->end();
}

void subscriber_registry::log(telemetry::log_record_kind what, std::uint64_t number) const noexcept {
    if (log_ == nullptr) return;
    telemetry::log_record record(telemetry::component::feed, what, static_cast<std::int64_t>(number),
                                 context_.wall_now());
    if (what == telemetry::log_record_kind::subscriber_cut) record.severity = telemetry::severity::warning;
    log_->note(record);
}

}  // namespace corro::market_data
