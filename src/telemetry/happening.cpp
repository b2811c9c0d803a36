#include "telemetry/happening.hpp"

namespace corro::telemetry {

std::string_view to_string(component c) noexcept {
    switch (c) {
        case component::venue: return "venue";
        case component::gateway: return "gateway";
        case component::feed: return "feed";
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

std::string_view to_string(happening_kind k) noexcept {
    switch (k) {
        case happening_kind::started: return "started";
        case happening_kind::stopped: return "stopped";
        case happening_kind::connection_refused: return "connection_refused";
        case happening_kind::logged_on: return "logged_on";
        case happening_kind::logon_refused: return "logon_refused";
        case happening_kind::left: return "left";
        case happening_kind::subscribed: return "subscribed";
        case happening_kind::subscriber_left: return "subscriber_left";
        case happening_kind::subscriber_cut: return "subscriber_cut";
        case happening_kind::events_lost: return "events_lost";
        case happening_kind::snapshot_made: return "snapshot_made";
        case happening_kind::snapshot_failed: return "snapshot_failed";
        case happening_kind::journal_failed: return "journal_failed";
        case happening_kind::journal_stalled: return "journal_stalled";
        case happening_kind::journal_resumed: return "journal_resumed";
    }
    return "unknown";
}

}  // namespace corro::telemetry
