// SPDX-License-Identifier: Apache-2.0
#include "http/client.hpp"

#include <array>

#include "base/assert.hpp"
#include "http/client_state.hpp"
#include "http/write_head.hpp"
#include "io/loop/context.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::http {
namespace {

/// Larger pieces are sent without a copy.
constexpr std::size_t copied_bytes_max = 64 * 1024;

}  // namespace

client::state::state(io::any_stream stream, std::string_view host, client_options options)
    : stream_(std::move(stream)),
      options_(options),
      host_(host),
      in_(options.limits),
      fields_(options.limits.fields_count) {}

void client::state::append_head(method which, std::string_view target, std::span<const field> fields) {
    append_request_line(out_, which, target);
    append_field(out_, "Host", host_);
    for (const field& one : fields) append_field(out_, one.name, one.value);
    owed_.push_back(which);
}

io::task<std::error_code> client::state::flush() {
    if (out_.empty()) co_return std::error_code();
    const auto sent = co_await io::with_timeout(options_.time.transfer_allowance(out_.size()),
                                                stream_.write_all(std::as_bytes(std::span(out_))));
    out_.clear();
    co_return sent ? sent->error : sent.error();
}

io::task<std::error_code> client::state::fill(std::chrono::nanoseconds allowed) {
    const auto got = co_await io::with_timeout(allowed, stream_.read_some(in_.room()));
    if (!got) co_return got.error();
    in_.commit(got->bytes);
    co_return got->error;
}

io::task<std::error_code> client::state::send([[maybe_unused]] share kept, method which, std::string_view target,
                                              std::span<const field> fields, std::string_view body) {
    if (owed_.size() == pipelined_max) co_return std::make_error_code(std::errc::no_buffer_space);
    append_head(which, target, fields);
    if (!body.empty() || which == method::post || which == method::put || which == method::patch) {
        out_.append("Content-Length: ");
        append_number(out_, body.size());
        out_.append("\r\n");
    }
    out_.append("\r\n");
    const bool copied = body.size() <= copied_bytes_max;
    if (copied) out_.append(body);
    const std::error_code error = co_await flush();
    if (error || copied) co_return error;
    const auto sent = co_await io::with_timeout(options_.time.transfer_allowance(body.size()),
                                                stream_.write_all(std::as_bytes(std::span(body))));
    co_return sent ? sent->error : sent.error();
}

io::task<std::error_code> client::state::begin([[maybe_unused]] share kept, method which, std::string_view target,
                                               std::span<const field> fields, std::optional<std::uint64_t> length) {
    if (owed_.size() == pipelined_max) co_return std::make_error_code(std::errc::no_buffer_space);
    append_head(which, target, fields);
    chunking_ = !length;
    if (length) {
        out_.append("Content-Length: ");
        append_number(out_, *length);
        out_.append("\r\n\r\n");
    } else {
        out_.append("Transfer-Encoding: chunked\r\n\r\n");
    }
    co_return co_await flush();
}

io::task<std::error_code> client::state::write([[maybe_unused]] share kept, std::string_view piece) {
    if (piece.empty()) co_return std::error_code();
    std::array<char, 18> room;
    if (chunking_) out_.append(chunk_size_line(piece.size(), room));
    out_.append(piece);
    if (chunking_) out_.append("\r\n");
    co_return co_await flush();
}

io::task<std::error_code> client::state::finish([[maybe_unused]] share kept, std::span<const field> trailers) {
    if (chunking_) {
        out_.append("0\r\n");
        for (const field& one : trailers) append_field(out_, one.name, one.value);
        out_.append("\r\n");
    }
    co_return co_await flush();
}

/// Reads one head, interim or not, into `head_`.
io::task<std::error_code> client::state::read_head(std::chrono::nanoseconds patience) {
    CORRO_ASSERT(!owed_.empty(), "`receive` needs a request without its response");
    std::string_view text;
    for (;;) {
        const auto found = in_.find_head();
        if (!found) co_return make_error_code(found.error());
        text = *found;
        if (!text.empty()) break;
        const bool begun = in_.unread_bytes() != 0;
        const std::error_code error = co_await fill(begun ? options_.time.head : patience);
        if (error == io::condition::end_of_stream) {
            co_return make_error_code(begun ? errc::incomplete_message : errc::no_response);
        }
        if (error) co_return error;
    }
    auto parsed = parse_response(text, fields_, owed_.front());
    if (parsed && in_.make_body_room(*parsed)) {
        parsed = parse_response(*in_.find_head(), fields_, owed_.front());
    }
    if (!parsed) co_return make_error_code(parsed.error());
    head_ = *parsed;
    const auto begun = in_.begin_body(head_);
    if (!begun) co_return make_error_code(begun.error());
    in_message_ = true;
    body_bytes_ = 0;
    co_return std::error_code();
}

/// Reads the rest of the previous response.
io::task<std::error_code> client::state::skip_rest([[maybe_unused]] share kept) {
    while (in_message_) {
        const auto rest = co_await read_some_of_body(kept);
        if (!rest) co_return rest.error();
        if (!rest->empty()) continue;
        in_.end_message();
        in_message_ = false;
    }
    co_return std::error_code();
}

io::task<std::expected<bool, std::error_code>> client::state::wait_for_continue([[maybe_unused]] share kept,
                                                                                std::chrono::nanoseconds patience) {
    std::error_code error = co_await skip_rest(kept);
    if (!error) error = co_await read_head(patience);
    if (error == io::condition::timed_out && in_.unread_bytes() == 0) co_return true;
    if (error) co_return std::unexpected(error);
    if (head_.status >= 200) {
        head_there_ = true;
        co_return false;
    }
    in_.end_message();
    in_message_ = false;
    co_return true;
}

io::task<std::expected<response_head, std::error_code>> client::state::receive([[maybe_unused]] share kept) {
    while (!head_there_) {
        std::error_code error = co_await skip_rest(kept);
        if (!error) error = co_await read_head(options_.response);
        if (error) co_return std::unexpected(error);
        head_there_ = head_.status >= 200 || head_.status == 101;
    }
    head_there_ = false;
    owed_.erase(owed_.begin());
    kept_alive_ = head_.keep_alive && head_.status != 101;
    co_return head_;
}

io::task<std::expected<std::string_view, std::error_code>> client::state::read_some_of_body(
    [[maybe_unused]] share kept) {
    for (;;) {
        const auto piece = in_.take_body();
        if (!piece) co_return std::unexpected(make_error_code(piece.error()));
        body_bytes_ += piece->size();
        if (!piece->empty() || in_.body_ended()) co_return *piece;
        const std::error_code error = co_await fill(options_.time.transfer_grace);
        if (error == io::condition::end_of_stream) {
            in_.end_of_stream();
            if (in_.body_ended()) co_return std::string_view();
            co_return std::unexpected(make_error_code(errc::incomplete_message));
        }
        if (error) co_return std::unexpected(error);
    }
}

io::task<std::expected<std::string_view, std::error_code>> client::state::read_body([[maybe_unused]] share kept) {
    whole_body_.clear();
    for (;;) {
        const auto piece = co_await read_some_of_body(kept);
        if (!piece) co_return std::unexpected(piece.error());
        if (piece->empty()) co_return std::string_view(whole_body_);
        if (in_.body_ended() && whole_body_.empty()) co_return *piece;
        whole_body_.append(*piece);
    }
}

std::string_view client::state::trailer(std::string_view name) {
    if (head_.body != body_kind::chunked || !in_.body_ended()) return {};
    trailer_fields_.resize(options_.limits.trailers_count);
    const auto fields = detail::parse_fields(in_.trailers(), trailer_fields_);
    return fields ? find_field(*fields, name) : std::string_view();
}

client::client(io::any_stream stream, std::string_view host, client_options options)
    : state_(new state(std::move(stream), host, options)) {}

client::client(client&& other) noexcept = default;

client& client::operator=(client&& other) noexcept {
    if (this != &other) {
        close_for_others();
        state_ = std::move(other.state_);
    }
    return *this;
}

client::~client() {
    close_for_others();
}

/// Ends operations that would outlive this object.
void client::close_for_others() noexcept {
    if (state_.shared()) state_->stream().close();
}

bool client::is_open() const noexcept {
    return state_ && state_->stream().is_open();
}
void client::close() noexcept {
    if (state_) state_->stream().close();
}

io::task<std::error_code> client::send(method which, std::string_view target, std::span<const field> fields,
                                       std::string_view body) {
    return state_->send(state_, which, target, fields, body);
}
io::task<std::error_code> client::begin(method which, std::string_view target, std::span<const field> fields,
                                        std::optional<std::uint64_t> length) {
    return state_->begin(state_, which, target, fields, length);
}
io::task<std::error_code> client::write(std::string_view piece) {
    return state_->write(state_, piece);
}
io::task<std::error_code> client::finish(std::span<const field> trailers) {
    return state_->finish(state_, trailers);
}
io::task<std::expected<bool, std::error_code>> client::wait_for_continue(std::chrono::nanoseconds patience) {
    return state_->wait_for_continue(state_, patience);
}
io::task<std::expected<response_head, std::error_code>> client::receive() {
    return state_->receive(state_);
}
io::task<std::expected<std::string_view, std::error_code>> client::read_some_of_body() {
    return state_->read_some_of_body(state_);
}
io::task<std::expected<std::string_view, std::error_code>> client::read_body() {
    return state_->read_body(state_);
}
std::string_view client::trailer(std::string_view name) {
    return state_->trailer(name);
}
bool client::kept_alive() const noexcept {
    return state_->kept_alive();
}
io::any_stream& client::stream() noexcept {
    return state_->stream();
}
std::span<const std::byte> client::already_received() const noexcept {
    return state_->received().unread();
}

}  // namespace corro::http
