// SPDX-License-Identifier: Apache-2.0
#include "fix/net/acceptor.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "fix/codec/tags.hpp"
#include "io/net/socket_options.hpp"
#include "io/net/stream.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/tls/tls_stream.hpp"

namespace corro::fix {
namespace {

/// A Logon has some 200 bytes; a long one carries signed data.
constexpr std::size_t logon_bytes_max = 4'096;

}  // namespace

acceptor::acceptor(io::context& context, acceptor_options options, application& app)
    : context_(context), options_(std::move(options)), application_(app) {
    CORRO_ASSERT(!options_.tls || options_.tls->is_server());
}

session& acceptor::add(session_settings settings, message_store& store) {
    settings.side = session_side::acceptor;
    for (const auto& each : sessions_) CORRO_ASSERT(!(each->of->settings().identity == settings.identity));
    auto made = std::make_unique<known_session>();
    made->of = std::make_unique<session>(std::move(settings), store);
    made->store = dynamic_cast<committer*>(&store);
    return *sessions_.emplace_back(std::move(made))->of;
}

io::task<void> acceptor::serve(io::tcp_acceptor port) {
    port_ = std::move(port);
    io::task_scope serving(context_);
    while (!is_closing_) {
        auto accepted = co_await port_.accept();
        if (!accepted) break;
        if (connected_count_ + strangers_.size() >= options_.connections_max) {
            ++refused_count_;
            continue;
        }
        serving.spawn(welcome(std::move(*accepted)));
    }
    port_.close();
    co_await serving.join();
}

void acceptor::close(std::string_view text) {
    is_closing_ = true;
    port_.close();
    for (stranger* each : strangers_) each->must_go.set();
    for (const auto& each : sessions_) {
        if (each->connected != nullptr) each->connected->log_out(text);
    }
}

void acceptor::flush(const session& on) noexcept {
    for (const auto& each : sessions_) {
        if (each->of.get() == &on && each->connected != nullptr) each->connected->flush();
    }
}

io::task<void> acceptor::welcome(io::tcp_stream accepted) {
    static_cast<void>(accepted.set_option(io::no_delay(true)));
    if (strangers_.size() >= options_.strangers_max) {
        strangers_.front()->must_go.set();
        strangers_.pop_front();
    }
    stranger who;
    strangers_.push_back(&who);
    static_cast<void>(co_await io::with_timeout(options_.logon_timeout,
                                                io::when_any(meet(std::move(accepted), &who), who.must_go.wait())));
    strangers_.remove(&who);
    known_session* const found = who.has_logon && !is_closing_ ? find(who.received) : nullptr;
    if (found == nullptr || found->connected != nullptr) {
        ++refused_count_;
        co_return;
    }
    ++connected_count_;
    found->of->begin(moment_on(context_));
    connection talking(context_, std::move(*who.stream), *found->of, application_, found->store);
    found->connected = &talking;
    co_await talking.run(std::move(who.received));
    found->connected = nullptr;
    --connected_count_;
}

// Reads its Logon, behind the handshake of TLS.
io::task<void> acceptor::meet(io::tcp_stream accepted, stranger* who) {
    if (options_.tls) {
        auto secure = co_await io::tls_stream<io::tcp_stream>::accept(std::move(accepted), *options_.tls);
        if (!secure) co_return;
        who->stream.emplace(io::any_stream(std::move(*secure)));
    } else {
        who->stream.emplace(std::move(accepted));
    }
    who->has_logon = co_await read_logon(who);
}

// True when a whole message has come. It may be followed by others.
io::task<bool> acceptor::read_logon(stranger* who) {
    std::array<char, logon_bytes_max> room;
    while (true) {
        const frame_result frame = next_frame(who->received, logon_bytes_max);
        if (frame.state == frame_state::complete) co_return true;
        if (frame.state == frame_state::garbled || who->received.size() >= logon_bytes_max) co_return false;
        const std::span<std::byte> into = std::as_writable_bytes(std::span(room));
        io::io_result read;
        if (io::stream_socket* const socket = who->stream->socket()) {
            read = co_await socket->read_some(into);
        } else {
            read = co_await who->stream->layered().read_some(into);
        }
        who->received.append(room.data(), read.bytes);
        if (read.error) co_return false;
    }
}

// The session of a Logon's names. Sessions of FIXT may have the same names and differ in the version of the
// application.
acceptor::known_session* acceptor::find(std::string_view received) {
    field_index logon(256);
    if (logon.index(received, next_frame(received, logon_bytes_max)) || logon.message_type() != "A") return nullptr;
    const auto fits = [&logon](std::uint32_t tag, const std::string& expected) {
        return expected.empty() || logon.get(tag) == expected;
    };
    known_session* found = nullptr;
    for (const auto& each : sessions_) {
        const session_identity& names = each->of->settings().identity;
        if (logon.begin_string() == names.begin_string && fits(tag::sender_comp_id, names.target_comp_id) &&
            fits(tag::target_comp_id, names.sender_comp_id) && fits(tag::sender_sub_id, names.target_sub_id) &&
            fits(tag::target_sub_id, names.sender_sub_id) && fits(tag::sender_location_id, names.target_location_id) &&
            fits(tag::target_location_id, names.sender_location_id)) {
            if (logon.get(tag::default_appl_ver_id) == names.default_appl_ver_id) return each.get();
            if (found == nullptr) found = each.get();
        }
    }
    return found;
}

}  // namespace corro::fix
