// SPDX-License-Identifier: Apache-2.0
// The beginning of a session: the Logon.
#include <array>
#include <chrono>
#include <cstring>
#include <span>

#include "fix/codec/frame.hpp"
#include "fix/codec/tags.hpp"
#include "fix/codec/values.hpp"
#include "fix_gateway/fix_session.hpp"
#include "fix_gateway/tags.hpp"
#include "gateway/nonce.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"
#include "wire/authentication.hpp"

namespace corro::fix_gateway {
namespace {

using gateway::end_reason;

/// A Logon has some 200 bytes; a long one carries signed data.
constexpr std::size_t logon_bytes_max = 4'096;
constexpr std::size_t logon_fields_max = 128;

bool is_known_version(std::string_view begin_string) noexcept {
    return begin_string == "FIX.4.2" || begin_string == "FIX.4.4" || begin_string == "FIXT.1.1";
}

}  // namespace

// What is not proven is not told why: without a session there is no number that a Logout could have.
io::task<void> fix_session::log_on() {
    const auto arrived = co_await io::with_timeout(shared_.options.logon_timeout, wait_for_logon());
    if (!arrived || !*arrived) {
        if (course_.is_gone() || is_ending()) co_return;
        if (arrived) ++shared_.statistics.protocol_errors;
        end(arrived ? end_reason::protocol_error : end_reason::logon_timed_out);
        lose();
        co_return;
    }
    fix::field_index logon(logon_fields_max);
    const std::string_view received(input_.data(), input_end_);
    const auto problem = logon.index(received, fix::next_frame(received, logon_bytes_max));
    gateway::logon_request request;
    bool is_welcome = !problem && logon.message_type() == "A";
    if (is_welcome) {
        is_welcome = co_await verify(&logon, &request);
    } else {
        ++shared_.statistics.protocol_errors;
        end(end_reason::protocol_error);
    }
    if (is_welcome) {
        const bool resets = logon.get(fix::tag::reset_seq_num_flag) == "Y";
        const bool settled = co_await shared_.registry.settle_numbers(&request, resets);
        if (settled) co_await shared_.registry.prepare(this, &request);
        // A client that continues numbers which are not known here would send again what it sent under them.
        const bool is_quickfix = shared_.fix.is_quickfix(*logon.get(fix::tag::sender_comp_id));
        const bool is_foreign =
            !resets && !is_quickfix && logon.get(fix::tag::msg_seq_num) != "1" && is_unused(request);
        if (settled && is_foreign) {
            end(end_reason::sequence_unknown);
        } else if (settled && !is_ending()) {
            const std::optional<end_reason> refusal = shared_.registry.open(*this, request);
            if (!refusal) co_return start(logon);
            end(*refusal);
        } else {
            end(end_reason::logon_timed_out);
        }
    }
    ++shared_.statistics.logons_refused;
    if (is_ending()) ++shared_.statistics.logons_refused_by[gateway::number_of(*course_.reason())];
    lose();
}

// Whether no message of the session's numbers was ever sent: it is new, or its numbers have been reset.
bool fix_session::is_unused(const gateway::logon_request& request) const noexcept {
    const gateway::account& a = *shared_.accounts.find(request.account);
    const domain::session_id of{a.first_session.value + request.session_number - 1};
    return shared_.answers.numbers(of).notes().empty() && shared_.answers.detailed_count(of) == 0;
}

// True when a whole message has come. It may be followed by others. False: the bytes are no message, or the peer is
// gone.
io::task<bool> fix_session::wait_for_logon() {
    input_.resize(logon_bytes_max);
    while (true) {
        const fix::frame_result frame = fix::next_frame(std::string_view(input_.data(), input_end_), logon_bytes_max);
        if (frame.state == fix::frame_state::complete) co_return true;
        if (frame.state == fix::frame_state::garbled || input_end_ == input_.size()) co_return false;
        const std::span<std::byte> room = std::as_writable_bytes(std::span(input_).subspan(input_end_));
        io::io_result read;
        if (io::stream_socket* const socket = stream_.socket()) [[likely]] {
            read = co_await socket->read_some(room);
        } else {
            read = co_await stream_.layered().read_some(room);
        }
        input_end_ += read.bytes;
        if (!read.error) continue;
        if (read.error != io::condition::canceled) lose();
        co_return false;
    }
}

// The names are those of a session, and Password (554) is a key of its account, or has signed RawData (96) with one.
io::task<bool> fix_session::verify(const fix::field_index* logon, gateway::logon_request* request) {
    const auto sender = logon->get(fix::tag::sender_comp_id);
    const std::optional<session_name> name = sender ? shared_.names.find(*sender) : std::nullopt;
    const bool is_addressed =
        logon->get(fix::tag::target_comp_id) == shared_.fix.comp_id && is_known_version(logon->begin_string());
    if (name) claim(name->account);
    const gateway::account* const found = name && is_addressed ? shared_.accounts.find(name->account) : nullptr;
    const gateway::account* const a = found != nullptr && found->is_other_gateway ? nullptr : found;
    const std::optional<std::uint64_t> key = key_of(*logon, a);
    if (key && gateway::session_registry::has_session(*a, name->number)) {
        request->account = name->account;
        request->session_number = name->number;
        request->key_id = *key;
        request->cancels_on_disconnect = logon->get(tag::cancel_on_disconnect) == "Y";
        co_return true;
    }
    const std::chrono::milliseconds wait = shared_.registry.wait_after_wrong_proof(place_.from(), owner());
    std::error_code stopped;
    if (wait.count() != 0) stopped = co_await io::sleep_for(wait);
    if (!stopped) end(end_reason::authentication_failed);
    co_return false;
}

// The id of the key that the Logon proves. Takes the same time for every account, and wherever keys or signatures
// differ; with `a` nullptr nothing is proven.
std::optional<std::uint64_t> fix_session::key_of(const fix::field_index& logon, const gateway::account* a) {
    if (!logon.get(fix::tag::raw_data)) {
        // Compared as proofs under a nonce.
        const std::array<std::byte, 32> nonce = gateway::make_nonce(shared_.context.runs_on());
        const auto given = wire::parse_api_key(logon.get(fix::tag::password).value_or(std::string_view()));
        const wire::proof proof = wire::make_proof(given.value_or(wire::api_key{}), nonce);
        const std::optional<std::uint64_t> key = gateway::proven_key(a, 0, nonce, proof);
        return given ? key : std::nullopt;
    }
    const std::optional<fix::signed_logon> read = fix::read_signed_logon(logon);
    const fix::signed_logon given = read.value_or(fix::signed_logon());
    const std::span<const std::byte> text =
        std::as_bytes(std::span(given.signed_text.data(), given.signed_text.size()));
    const std::optional<std::uint64_t> key = gateway::proven_key(a, 0, text, given.signature);
    if (!read || !key) return std::nullopt;
    const fix::signed_logon_verdict verdict =
        shared_.seen.take(given, a->id.value, fix::moment_on(shared_.context).wall);
    return verdict == fix::signed_logon_verdict::accepted ? key : std::nullopt;
}

// The session is open. Its Logon is read again as the first message of the session.
void fix_session::start(const fix::field_index& logon) {
    fix::session_settings settings;
    settings.side = fix::session_side::acceptor;
    settings.logon_timeout = shared_.options.logon_timeout;
    settings.checks_structure = true;
    settings.scratch = &shared_.scratch;
    fix::session_identity& names = settings.identity;
    names.begin_string = logon.begin_string();
    names.sender_comp_id = shared_.fix.comp_id;
    names.target_comp_id = logon.get(fix::tag::sender_comp_id).value_or(std::string_view());
    names.target_sub_id = logon.get(fix::tag::sender_sub_id).value_or(std::string_view());
    names.target_location_id = logon.get(fix::tag::sender_location_id).value_or(std::string_view());
    names.default_appl_ver_id = logon.get(fix::tag::default_appl_ver_id).value_or(std::string_view());
    store_.emplace(shared_.answers, shared_.instruments.instruments(), id(), names, next_request());
    if (shared_.fix.is_quickfix(names.target_comp_id)) {
        settings.style = fix::session_style::quickfix;
        settings.checked_by = shared_.fix.rules_for(names.begin_string);
        store_->set_finest_time(settings.precision);
    }
    session_ = std::make_unique<fix::session>(std::move(settings), *store_);
    input_.resize(2 * fix::message_bytes_max_default);
}

}  // namespace corro::fix_gateway
