// SPDX-License-Identifier: Apache-2.0
#include "client/session_errors.hpp"

#include <string>

#include "http/errors.hpp"
#include "io/errors.hpp"
#include "io/tls/tls_errors.hpp"

namespace corro::client {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.client"; }
    [[nodiscard]] std::string message(int value) const override {
        if (value >= static_cast<int>(session_errc::logout_base)) {
            const auto reason = static_cast<wire::logout_reason>(value - static_cast<int>(session_errc::logout_base));
            return "the venue ended the session: " + std::string(wire::to_string(reason));
        }
        switch (static_cast<session_errc>(value)) {
            case session_errc::unexpected_message: return "the venue sent an unexpected message";
            case session_errc::sequence_gap: return "messages of the venue are missing";
            case session_errc::feed_contradiction: return "the feed contradicts the book, which is stale";
            case session_errc::login_rejected: return "the market data login was rejected";
            case session_errc::session_not_available: return "the feed does not have the requested message";
            case session_errc::end_of_session: return "the venue ended the feed";
            case session_errc::unsupported_version: return "the venue uses another protocol version";
            case session_errc::logon_timed_out: return "the venue did not complete the logon in time";
            case session_errc::unknown_instrument: return "the venue has no such instrument";
            case session_errc::logout_base: break;
        }
        return "unknown";
    }
};

}  // namespace

const std::error_category& session_category() noexcept {
    static const category instance;
    return instance;
}

bool may_come_back(const std::error_code& error) noexcept {
    if (!error || error == io::condition::canceled) return false;
    return error.category() == std::system_category() || error.category() == std::generic_category() ||
           error == io::condition::end_of_stream || error == io::condition::timed_out ||
           error == session_errc::logon_timed_out || error == io::tls_errc::truncated ||
           error == http::errc::no_response || error == http::errc::incomplete_message ||
           error == logged_out(wire::logout_reason::shutting_down) ||
           error == logged_out(wire::logout_reason::session_day_ended) ||
           error == logged_out(wire::logout_reason::already_logged_on);
}

std::error_code end_of_wait(std::error_code cut_short) noexcept {
    return cut_short == io::condition::timed_out ? make_error_code(session_errc::logon_timed_out) : cut_short;
}

}  // namespace corro::client
