// SPDX-License-Identifier: Apache-2.0
#include "fix_market_data/market_data_session.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/codec/tags.hpp"
#include "fix_market_data/entries.hpp"
#include "fix_market_data/limits.hpp"
#include "fix_market_data/versions.hpp"
#include "io/net/socket_options.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::fix_market_data {
namespace {

/// A Logon has some 200 bytes; a long one carries signed data.
constexpr std::size_t logon_bytes_max = 4'096;
constexpr std::size_t logon_fields_max = 128;

/// A client sends little, and nothing that is worth keeping behind a gap.
constexpr std::size_t messages_kept_max = 64;
constexpr std::size_t bytes_kept_max = 64U * 1024;

constexpr std::uint32_t business_reason_unsupported_type = 3;

/// Sets the options of a stream that was accepted, and returns its peer's address, if it is there still.
std::optional<io::endpoint> origin_of(io::tcp_stream& stream) {
    static_cast<void>(stream.set_option(io::no_delay(true)));
    static_cast<void>(stream.set_option(io::send_buffer(send_buffer_bytes)));
    const auto peer = stream.remote_endpoint();
    return peer ? std::optional(*peer) : std::nullopt;
}

bool is_application_version(std::string_view id) noexcept {
    return id == "7" || id == "8" || id == "9";
}

}  // namespace

market_data_session::market_data_session(const session_surroundings& around, io::tcp_stream stream)
    : around_(around), origin_(origin_of(stream)), stream_(std::move(stream)), store_(0) {}

io::task<void> market_data_session::wait_for_logon() {
    const auto arrived = co_await io::with_timeout(logon_timeout, logon_arrives(this));
    const bool has_come = arrived && *arrived && read_names();
    if (has_come || phase() != market_data::subscriber_phase::logging_in) co_return;
    ++around_.registry.counts().protocol_errors;
    refuse();
}

// True when a whole message has come. It may be followed by others.
io::task<bool> market_data_session::logon_arrives(market_data_session* s) {
    std::array<char, logon_bytes_max> room;
    while (true) {
        const fix::frame_result frame = fix::next_frame(s->received_, logon_bytes_max);
        if (frame.state == fix::frame_state::complete) co_return true;
        if (frame.state == fix::frame_state::garbled || s->received_.size() >= logon_bytes_max) co_return false;
        const io::io_result read = co_await s->stream_.socket()->read_some(std::as_writable_bytes(std::span(room)));
        s->received_.append(room.data(), read.bytes);
        if (read.error) co_return false;
    }
}

// The client chooses its own names; the venue's must be right, and is not told to others.
bool market_data_session::read_names() {
    fix::field_index logon(logon_fields_max);
    if (logon.index(received_, fix::next_frame(received_, logon_bytes_max)) || logon.message_type() != "A")
        return false;
    const auto text = [&logon](std::uint32_t tag) { return std::string(logon.get(tag).value_or(std::string_view())); };
    fix::session_settings settings;
    settings.side = fix::session_side::acceptor;
    settings.logon_timeout = logon_timeout;
    settings.checks_structure = true;
    settings.messages_kept_max = messages_kept_max;
    settings.bytes_kept_max = bytes_kept_max;
    fix::session_identity& names = settings.identity;
    names.begin_string = logon.begin_string();
    names.sender_comp_id = around_.comp_id;
    names.target_comp_id = text(fix::tag::sender_comp_id);
    names.target_sub_id = text(fix::tag::sender_sub_id);
    names.target_location_id = text(fix::tag::sender_location_id);
    if (!is_known_version(names.begin_string) || logon.get(fix::tag::target_comp_id) != around_.comp_id) return false;
    if (names.target_comp_id.empty()) return false;
    for (const std::string* each : {&names.target_comp_id, &names.target_sub_id, &names.target_location_id}) {
        if (each->size() > name_bytes_max) return false;
    }
    if (names.begin_string == "FIXT.1.1") {
        names.default_appl_ver_id = text(fix::tag::default_appl_ver_id);
        if (!is_application_version(names.default_appl_ver_id)) return false;
    }
    session_ = std::make_unique<fix::session>(std::move(settings), store_);
    return true;
}

io::task<void> market_data_session::talk() {
    CORRO_ASSERT(session_ != nullptr, "the Logon must have come");
    session_->begin(now());
    connection_.emplace(around_.context, std::move(stream_), *session_, static_cast<fix::application&>(*this));
    co_await connection_->run(std::move(received_));
    connection_.reset();
}

void market_data_session::log_out(std::string_view text) {
    if (connection_) connection_->log_out(text);
}

std::string market_data_session::on_logon(fix::session& on) {
    const bool begins_again = is_active();
    if (!begins_again && phase() != market_data::subscriber_phase::logging_in) return "Too many connections";
    if (on.message_number() != 1) return "MsgSeqNum (34) must be 1: a session lasts as long as its connection";
    if (on.heartbeat() < heartbeat_min || on.heartbeat() > heartbeat_max) return "HeartBtInt (108) must be 1 to 3600";
    return {};
}

void market_data_session::on_active(fix::session& on, fix::instant /*now*/) {
    around_.registry.accept(*this, around_.publisher.next_sequence());
    subscriptions_.emplace(around_.among, static_cast<outlet&>(*this), version_of(on.settings().identity.begin_string));
}

void market_data_session::on_message(fix::session& on, fix::instant now) {
    if (!on.may_send() || !subscriptions_) return;
    if (on.message().message_type() != "V") {
        return on.reject_business(business_reason_unsupported_type, "here is market data alone: MarketDataRequest (V)",
                                  now);
    }
    market_data_request request;
    request_problem problem = read_request(on.message(), subscriptions_->version(), request);
    if (problem.tag != 0) return on.reject({problem.reason, problem.tag}, now);
    around_.among.catch_up();
    if (!problem.is_there()) problem = subscriptions_->take(request);
    if (problem.is_there()) {
        write_refusal(request.id, problem.refusal, problem.text, on.begin_message("Y", now));
        const std::uint64_t sent = on.send(now);
        CORRO_ASSERT(sent != 0, "a refusal is short");
    }
    around_.work.set();
}

// What waits was taken: the client reads.
void market_data_session::on_written(fix::session& /*on*/) {
    blocked_since_.reset();
    if (!subscriptions_) return;
    subscriptions_->resume();
    if (around_.among.has_work()) around_.work.set();
}

void market_data_session::on_end(fix::session& /*on*/) {
    subscriptions_.reset();
}

// While messages are sent again, a new one could not be kept for later.
bool market_data_session::has_room() noexcept {
    if (!is_active() || !session_->may_send() || session_->is_resending()) return false;
    if (session_->output().size() < output_bytes_max) return true;
    if (!blocked_since_) blocked_since_ = around_.context.now();
    return false;
}

void market_data_session::flush() noexcept {
    if (connection_) connection_->flush();
}

void market_data_session::give_up() noexcept {
    cut_slow(session_->output().size());
}

void market_data_session::check_room() {
    if (!blocked_since_ || !is_active()) return;
    if (around_.context.now() - *blocked_since_ >= around_.blocked_max) cut_slow(session_->output().size());
}

void market_data_session::cut_slow(std::uint64_t bytes) {
    if (!is_active()) return;
    around_.registry.cut_slow(*this, bytes);
    if (connection_) connection_->close();
}

}  // namespace corro::fix_market_data
