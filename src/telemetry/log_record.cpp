// SPDX-License-Identifier: Apache-2.0
#include "telemetry/log_record.hpp"

namespace corro::telemetry {

std::string_view to_string(component c) noexcept {
    switch (c) {
        case component::venue: return "venue";
        case component::gateway: return "gateway";
        case component::feed: return "feed";
        case component::log: return "log";
    }
    return "unknown";
}

std::string_view to_string(severity s) noexcept {
    switch (s) {
        case severity::info: return "info";
        case severity::warning: return "warning";
    }
    return "unknown";
}

std::string_view to_string(log_record_kind k) noexcept {
    switch (k) {
        case log_record_kind::started: return "started";
        case log_record_kind::stopped: return "stopped";
        case log_record_kind::connection_refused: return "connection_refused";
        case log_record_kind::logged_on: return "logged_on";
        case log_record_kind::logon_refused: return "logon_refused";
        case log_record_kind::left: return "left";
        case log_record_kind::subscribed: return "subscribed";
        case log_record_kind::subscriber_left: return "subscriber_left";
        case log_record_kind::subscriber_cut: return "subscriber_cut";
        case log_record_kind::events_lost: return "events_lost";
        case log_record_kind::snapshot_made: return "snapshot_made";
        case log_record_kind::snapshot_failed: return "snapshot_failed";
        case log_record_kind::journal_failed: return "journal_failed";
        case log_record_kind::journal_stalled: return "journal_stalled";
        case log_record_kind::journal_resumed: return "journal_resumed";
        case log_record_kind::format: return "format";
    }
    return "unknown";
}

}  // namespace corro::telemetry
