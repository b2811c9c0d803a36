#include "venue_access.hpp"

#include "client/session_errors.hpp"

namespace corro::app {

feed_addresses feed_of(const node::configuration& c, std::string_view symbol) {
    if (c.segments.empty()) return {c.feed_listen, c.snapshot_listen};
    std::size_t segment = 0;
    for (const domain::instrument& i : c.instruments) {
        if (i.name.view() == symbol) segment = node::segment_of(c, i);
    }
    return {c.segments[segment].feed_listen, c.segments[segment].snapshot_listen};
}

std::string_view logon_advice(std::error_code why) noexcept {
    if (why == std::errc::connection_refused) {
        return "Is the exchange running? Start it with: corro serve --config FILE";
    }
    if (why == client::logged_out(wire::logout_reason::authentication_failed)) {
        return "The venue does not have this account, this key or this session number: use the "
               "venue's configuration.";
    }
    if (why == client::logged_out(wire::logout_reason::already_logged_on)) {
        return "Another client uses this session: use another session of the account, or another account.";
    }
    return "";
}

}  // namespace corro::app
