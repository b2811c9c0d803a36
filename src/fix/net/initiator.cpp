// SPDX-License-Identifier: Apache-2.0
#include "fix/net/initiator.hpp"

#include <algorithm>
#include <array>
#include <expected>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "fix/session/signed_logon.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_stream.hpp"

namespace corro::fix {
namespace {

session_settings settings_of(const initiator_options& options) {
    session_settings settings = options.session;
    settings.side = session_side::initiator;
    settings.resets_on_logon = settings.resets_on_logon || options.resets_at_first;
    return settings;
}

using connected = std::expected<io::transport_stream, std::error_code>;

io::task<connected> connect(io::context* here, io::endpoint server, const initiator_options* options) {
    auto stream = co_await io::tcp_stream::connect(*here, server);
    if (!stream) co_return std::unexpected(stream.error());
    static_cast<void>(stream->set_option(io::no_delay(true)));
    if (!options->tls) co_return io::transport_stream(std::move(*stream));
    using secure_stream = io::tls_stream<io::tcp_stream>;
    auto secure = co_await secure_stream::connect(std::move(*stream), *options->tls, options->server_name);
    if (!secure) co_return std::unexpected(secure.error());
    co_return io::transport_stream(io::any_stream(std::move(*secure)));
}

}  // namespace

std::function<void(message_writer&)> signed_credentials(io::context& on, std::vector<std::byte> secret) {
    CORRO_ASSERT(!secret.empty());
    return [&on, key = std::move(secret)](message_writer& logon) {
        std::array<std::byte, 24> nonce{};
        on.runs_on().fill_random(nonce);
        put_signature(logon, key, moment_on(on).wall, nonce);
    };
}

initiator::initiator(io::context& context, initiator_options options, message_store& store, application& app)
    : context_(context),
      options_(std::move(options)),
      application_(app),
      session_(settings_of(options_), store),
      committer_(dynamic_cast<committer*>(&store)) {
    CORRO_ASSERT(!options_.servers.empty());
    CORRO_ASSERT(!options_.tls || (!options_.tls->is_server() && !options_.server_name.empty()));
}

io::task<void> initiator::run() {
    const io::stop_token stop = co_await io::this_stop_token();
    std::chrono::milliseconds delay = options_.retry_delay_min;
    for (std::size_t attempt = 0; !closing_.is_set() && !stop.stop_requested(); ++attempt) {
        co_await wait_until_open();
        if (closing_.is_set() || stop.stop_requested()) co_return;
        const bool was_active = co_await connect_and_talk(options_.servers[attempt % options_.servers.size()]);
        if (was_active) {
            attempt = options_.servers.size() - 1;  // begin with the first
            delay = options_.retry_delay_min;
        }
        static_cast<void>(co_await io::with_timeout(delay, closing_.wait()));
        delay = std::min(2 * delay, options_.retry_delay_max);
    }
}

// The wall clock may be set meanwhile, so it is looked at now and then.
io::task<void> initiator::wait_until_open() {
    const io::stop_token stop = co_await io::this_stop_token();
    const std::optional<session_schedule>& schedule = options_.session.schedule;
    while (schedule && !closing_.is_set() && !stop.stop_requested()) {
        const std::int64_t now = moment_on(context_).wall;
        if (schedule->at(now)) co_return;
        constexpr std::int64_t longest = 60'000'000'000;
        const std::chrono::nanoseconds wait{std::min(schedule->next_begin(now) - now, longest)};
        static_cast<void>(co_await io::with_timeout(wait, closing_.wait()));
    }
}

// True if the session was active.
io::task<bool> initiator::connect_and_talk(io::endpoint server) {
    auto stream = co_await io::with_timeout(options_.connect_timeout, connect(&context_, server, &options_));
    connection_error_ = !stream ? stream.error() : !*stream ? stream->error() : std::error_code();
    if (connection_error_ || closing_.is_set()) co_return false;
    ++connections_count_;
    session_.begin(moment_on(context_), options_.credentials);
    connection_ = std::make_unique<connection>(context_, std::move(**stream), session_, application_, committer_);
    co_await connection_->run();
    const bool was_active = connection_->was_active();
    connection_error_ = connection_->stream_error();
    if (was_active) session_.set_resets_on_logon(options_.session.resets_on_logon);
    connection_.reset();
    co_return was_active;
}

void initiator::close(std::string_view text) {
    closing_.set();
    if (connection_ != nullptr) connection_->log_out(text);
}

void initiator::abandon() noexcept {
    closing_.set();
    if (connection_ != nullptr) connection_->close();
}

}  // namespace corro::fix
