// SPDX-License-Identifier: Apache-2.0
#include "websocket/connection.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "http/client.hpp"
#include "io/task/with_timeout.hpp"
#include "websocket/deflate_is_built.hpp"

namespace corro::websocket {
namespace {

/// A connection keeps an empty buffer up to this size; a larger one goes to the thread's spare buffers.
constexpr std::size_t buffer_bytes_kept = 4 * 1024;
/// The largest spare buffer.
constexpr std::size_t spare_bytes_max = 1U << 20U;

/// Empty buffers of sent messages, for the next messages of any connection of this thread. The last one returned goes
/// out first, because it is still in the processor's cache; an idle connection holds no memory for sending.
struct spare_buffers {
    std::array<std::string, 4> buffers;
    std::size_t count = 0;
};

thread_local spare_buffers this_thread_spares;

// Not inlined: a coroutine may resume on another thread, and must not keep the address of a thread's variable.

/// Gives `buffer`, which is empty, room for `bytes`, if a spare buffer has it.
[[gnu::noinline]] void provide_room(std::string& buffer, std::size_t bytes) noexcept {
    spare_buffers& spares = this_thread_spares;
    if (bytes <= buffer_bytes_kept || buffer.capacity() >= bytes || spares.count == 0) return;
    buffer.swap(spares.buffers[--spares.count]);
}

/// Takes the memory of `buffer`, which is empty, if it is large.
[[gnu::noinline]] void give_back(std::string& buffer) noexcept {
    if (buffer.capacity() <= buffer_bytes_kept) return;
    std::string large;
    large.swap(buffer);
    spare_buffers& spares = this_thread_spares;
    if (large.capacity() <= spare_bytes_max && spares.count != spares.buffers.size()) {
        spares.buffers[spares.count++].swap(large);
    }
}

std::span<const std::byte> bytes_of(std::string_view text) noexcept {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// The compression of this side's messages.
std::optional<deflater> make_deflater(role self, const deflate_options& options,
                                      const std::optional<deflate_parameters>& agreed) {
    if (!agreed) return std::nullopt;
    const bool server = self == role::server;
    return deflater(server ? agreed->server_max_window_bits : agreed->client_max_window_bits,
                    server ? agreed->server_no_context_takeover : agreed->client_no_context_takeover, options.level);
}

}  // namespace

connection::connection(io::any_stream* stream, role self, const connection_options& options,
                       const handshake_answer& agreed, std::span<const std::byte> received)
    : stream_(stream),
      limits_(options.limits),
      deflate_(options.deflate),
      receiver_(self, options.limits.receive, agreed.deflate),
      deflater_(make_deflater(self, options.deflate, agreed.deflate)),
      protocol_(agreed.protocol),
      self_(self) {
    receiver_.put(received);
}

connection::connection(io::any_stream stream, role self, const connection_options& options,
                       const handshake_answer& agreed, std::span<const std::byte> received)
    : connection(&own_, self, options, agreed, received) {
    own_ = std::move(stream);
}

std::array<std::byte, 4> connection::next_key() {
    // Keys must be unpredictable for the author of the payload (RFC 6455, section 10.3).
    if (keys_used_ == keys_.size()) {
        random_->fill_random(keys_);
        keys_used_ = 0;
    }
    std::array<std::byte, 4> key;
    std::memcpy(key.data(), keys_.data() + keys_used_, key.size());
    keys_used_ += key.size();
    return key;
}

void connection::append_frame(opcode code, std::span<const std::byte> payload, bool compressed) {
    frame_header header;
    header.code = code;
    header.compressed = compressed;
    header.payload_bytes = payload.size();
    header.masked = self_ == role::client;
    if (header.masked) header.key = next_key();
    std::array<std::byte, frame_header_bytes_max> room;
    const std::size_t size = encode_frame_header(header, room);
    if (out_.empty()) provide_room(out_, size + payload.size());
    out_.append(reinterpret_cast<const char*>(room.data()), size);
    const std::size_t begin = out_.size();
    out_.append(reinterpret_cast<const char*>(payload.data()), payload.size());
    if (header.masked) apply_mask(std::as_writable_bytes(std::span(out_)).subspan(begin), header.key, 0);
}

void connection::append_close(std::optional<close_code> code, std::string_view reason) {
    if (close_sent_) return;
    close_sent_ = true;
    std::string payload;
    if (code) {
        payload.push_back(static_cast<char>(std::to_underlying(*code) >> 8U));
        payload.push_back(static_cast<char>(std::to_underlying(*code) & 0xFFU));
        std::size_t size = std::min(reason.size(), control_payload_bytes_max - 2);
        // A character must not be cut in the middle.
        while (size != 0 && size != reason.size() && (static_cast<unsigned char>(reason[size]) & 0xC0U) == 0x80U)
            --size;
        payload.append(reason.substr(0, size));
    }
    append_frame(opcode::close, bytes_of(payload), false);
}

io::task<io::io_result> connection::write(std::span<const std::byte> bytes) {
    const auto sent =
        co_await io::with_timeout(limits_.time.transfer_allowance(bytes.size()), stream_->write_all(bytes));
    const io::io_result result = sent ? *sent : io::io_result(sent.error(), 0);
    if (result.error && result.error != io::condition::canceled) broken_ = true;
    co_return result;
}

/// Sends the collected bytes. @pre The caller holds the turn to write.
io::task<std::error_code> connection::write_out() {
    std::error_code error;
    while (!out_.empty() && !error) {
        if (broken_) co_return make_error_code(errc::not_open);
        std::swap(out_, writing_);
        const io::io_result sent = co_await write(bytes_of(writing_));
        error = sent.error;
        // After a stop the next writer sends the rest, so that no message is cut.
        if (error == io::condition::canceled) {
            out_.insert(0, writing_, sent.bytes);
        }
        writing_.clear();
        give_back(writing_);
    }
    co_return error;
}

io::task<std::error_code> connection::flush() {
    if (out_.empty()) co_return std::error_code();
    const std::error_code stopped = co_await writing_turn_.lock();
    if (stopped) co_return stopped;
    const std::error_code error = co_await write_out();
    writing_turn_.unlock();
    co_return error;
}

/// As `flush`, but leaves the bytes to a write in progress, unless there are too many.
io::task<std::error_code> connection::write_if_idle() {
    if (out_.empty()) co_return std::error_code();
    if (out_.size() < waiting_bytes_max && !writing_turn_.try_lock()) co_return std::error_code();
    if (out_.size() >= waiting_bytes_max) co_return co_await flush();
    const std::error_code error = co_await write_out();
    writing_turn_.unlock();
    co_return error;
}

bool connection::queue(bool is_text, std::span<const std::byte> data) {
    if (!is_open()) return false;
    const opcode code = is_text ? opcode::text : opcode::binary;
    if (deflater_ && data.size() >= deflate_.bytes_min) {
        provide_room(compressed_, data.size());
        deflater_->deflate(data, compressed_);
        append_frame(code, bytes_of(compressed_), true);
        compressed_.clear();
        give_back(compressed_);
    } else {
        append_frame(code, data, false);
    }
    return true;
}

io::task<std::error_code> connection::send(bool is_text, std::span<const std::byte> data) {
    if (!is_open()) co_return make_error_code(errc::not_open);
    const bool in_place = data.size() > copied_bytes_max && !deflater_ && self_ == role::server;
    if (in_place) co_return co_await send_in_place(is_text, data);
    queue(is_text, data);
    co_return co_await flush();
}

/// Sends a large message without copying it.
io::task<std::error_code> connection::send_in_place(bool is_text, std::span<const std::byte> data) {
    const std::error_code stopped = co_await writing_turn_.lock();
    if (stopped) co_return stopped;
    std::error_code error = co_await write_out();
    if (!error && !is_open()) error = make_error_code(errc::not_open);
    if (!error) {
        // Messages queued from here on are written after the payload.
        frame_header header;
        header.code = is_text ? opcode::text : opcode::binary;
        header.payload_bytes = data.size();
        std::array<std::byte, frame_header_bytes_max> room;
        const std::size_t size = encode_frame_header(header, room);
        const std::size_t first = std::min(data.size(), copied_bytes_max);
        provide_room(writing_, size + first);
        writing_.assign(reinterpret_cast<const char*>(room.data()), size);
        writing_.append(reinterpret_cast<const char*>(data.data()), first);
        io::io_result sent = co_await write(bytes_of(writing_));
        writing_.clear();
        give_back(writing_);
        if (!sent.error) sent = co_await write(data.subspan(first));
        error = sent.error;
        if (error) broken_ = true;
    }
    if (!error) error = co_await write_out();
    writing_turn_.unlock();
    co_return error;
}

io::task<std::error_code> connection::send_text(std::string_view text) {
    co_return co_await send(true, bytes_of(text));
}

io::task<std::error_code> connection::ping(std::span<const std::byte> payload) {
    CORRO_ASSERT(payload.size() <= control_payload_bytes_max, "a ping may have at most 125 bytes");
    if (!is_open()) co_return make_error_code(errc::not_open);
    append_frame(opcode::ping, payload, false);
    co_return co_await flush();
}

/// Reads more; sends a ping to a silent peer.
io::task<std::error_code> connection::fill() {
    for (;;) {
        // The last wait is short. It is for the case that this process itself was late: the peer's bytes have then
        // arrived already.
        const std::chrono::nanoseconds patience = limits_.ping_interval / (silences_count_ == 2 ? 4 : 1);
        std::error_code error;
        if (patience.count() == 0) {
            const io::io_result got = co_await stream_->read_some(receiver_.room());
            receiver_.commit(got.bytes);
            error = got.error;
        } else {
            const auto got = co_await io::with_timeout(patience, stream_->read_some(receiver_.room()));
            if (got) receiver_.commit(got->bytes);
            error = got ? got->error : got.error();
        }
        if (!error) silences_count_ = 0;
        if (error != io::condition::timed_out || silences_count_ == 2 || !is_open()) co_return error;
        if (++silences_count_ != 1) continue;
        append_frame(opcode::ping, {}, false);
        error = co_await write_if_idle();
        if (error) co_return error;
    }
}

/// Sends the peer the code of the broken rule; receives no more.
io::task<std::error_code> connection::fail(errc code) {
    append_close(close_code_of(code), {});
    co_await flush();
    broken_ = true;
    co_return make_error_code(code);
}

io::task<std::error_code> connection::answer_close(receiver::event closing) {
    close_received_ = true;
    peer_code_ = closing.code;
    peer_reason_.assign(reinterpret_cast<const char*>(closing.payload.data()), closing.payload.size());
    append_close(closing.code == close_code::none_received ? std::nullopt : std::optional(closing.code), {});
    co_await flush();
    co_return make_error_code(errc::closed);
}

io::task<std::expected<message, std::error_code>> connection::receive() {
    CORRO_ASSERT(!receiving_, "only one task may receive at a time");
    if (end_) co_return std::unexpected(end_);
    receiving_ = true;
    std::error_code error;
    message found;
    for (bool done = false; !done && !error;) {
        const auto next = receiver_.next();
        if (!next) {
            error = co_await fail(next.error());
            end_ = error;
            break;
        }
        switch (next->what) {
            case receiver::kind::text:
            case receiver::kind::binary:
                found.is_text = next->what == receiver::kind::text;
                found.data = next->payload;
                done = true;
                break;
            case receiver::kind::ping:
                if (is_open()) append_frame(opcode::pong, next->payload, false);
                break;
            case receiver::kind::pong: ++pongs_count_; break;
            case receiver::kind::close:
                error = co_await answer_close(*next);
                end_ = error;
                break;
            case receiver::kind::nothing:
                error = co_await write_if_idle();
                if (!error) error = co_await fill();
                // A stop ends only this call; other errors are final.
                if (error && error != io::condition::canceled) {
                    end_ = error;
                    broken_ = true;
                }
                break;
        }
    }
    receiving_ = false;
    if (end_) ended_.set();
    if (error) co_return std::unexpected(error);
    co_return found;
}

/// Receives until the peer has closed too.
io::task<std::error_code> connection::await_peers_close() {
    if (receiving_) co_return co_await ended_.wait();
    for (;;) {
        const auto thrown_away = co_await receive();
        if (!thrown_away) co_return thrown_away.error();
    }
}

io::task<std::error_code> connection::close(close_code code, std::string_view reason) {
    CORRO_ASSERT(may_be_sent(std::to_underlying(code)), "the code must be one that may be sent");
    if (broken_) co_return end_ ? end_ : make_error_code(errc::not_open);
    append_close(code, reason);
    std::error_code error = co_await flush();
    if (!error && !close_received_) {
        const auto ended = co_await io::with_timeout(limits_.close, await_peers_close());
        if (!ended) error = ended.error();
    }
    if (close_received_) error.clear();
    // The server ends the connection first (RFC 6455, section 7.1.1); a client, too, if the server does not.
    if (self_ == role::client) stream_->close();
    co_return error;
}

void connection::abort() noexcept {
    broken_ = true;
    stream_->close();
}

io::task<std::expected<std::unique_ptr<connection>, std::error_code>> accept(http::exchange* on,
                                                                             connection_options options) {
    using result = std::expected<std::unique_ptr<connection>, std::error_code>;
    const handshake_answer answer = judge_request(on->request(), options.protocols, options.origins, options.deflate);
    if (answer.status != 101) {
        on->close_after();
        const std::array fields{http::field("Content-Type", "text/plain; charset=utf-8"),
                                http::field("Sec-WebSocket-Version", "13"), http::field("Upgrade", "websocket")};
        on->respond(answer.status, std::span(fields).first(answer.status == 426 ? 3 : 1), answer.why);
        co_return result(std::unexpect,
                         make_error_code(answer.status == 403 ? errc::foreign_origin : errc::bad_handshake));
    }
    std::vector<http::field> fields;
    fields.emplace_back("Sec-WebSocket-Accept", answer.accept);
    if (!answer.protocol.empty()) fields.emplace_back("Sec-WebSocket-Protocol", answer.protocol);
    if (!answer.extensions.empty()) fields.emplace_back("Sec-WebSocket-Extensions", answer.extensions);
    const std::error_code error = co_await on->upgrade("websocket", fields);
    if (error) co_return result(std::unexpect, error);
    co_return std::make_unique<connection>(&on->stream(), role::server, options, answer, on->already_received());
}

io::task<std::expected<std::unique_ptr<connection>, std::error_code>> connect(io::any_stream stream, std::string host,
                                                                              std::string target,
                                                                              connection_options options) {
    using result = std::expected<std::unique_ptr<connection>, std::error_code>;
    http::client_options asking_options;
    asking_options.time = options.limits.time;
    http::client asking(std::move(stream), host, asking_options);
    io::context& here = co_await io::this_context();
    const std::string key = make_key(here.runs_on());
    const bool may_deflate = options.deflate.enabled && deflate_is_built();
    const std::string offer = may_deflate ? offer_deflate(options.deflate) : std::string();
    std::string protocols;
    for (const std::string& one : options.protocols) protocols += (protocols.empty() ? "" : ", ") + one;
    std::vector<http::field> fields{http::field("Upgrade", "websocket"), http::field("Connection", "Upgrade"),
                                    http::field("Sec-WebSocket-Version", "13"), http::field("Sec-WebSocket-Key", key)};
    if (!offer.empty()) fields.emplace_back("Sec-WebSocket-Extensions", offer);
    if (!protocols.empty()) fields.emplace_back("Sec-WebSocket-Protocol", protocols);
    const std::error_code error = co_await asking.send(http::method::get, target, fields);
    if (error) co_return result(std::unexpect, error);
    const auto response = co_await asking.receive();
    if (!response) co_return result(std::unexpect, response.error());
    const auto answer = judge_response(*response, key, options.protocols, options.deflate);
    if (!answer) co_return result(std::unexpect, make_error_code(answer.error()));
    auto opened = std::make_unique<connection>(std::move(asking.stream()), role::client, options, *answer,
                                               asking.already_received());
    opened->take_keys_from(here.runs_on());
    co_return opened;
}

}  // namespace corro::websocket
