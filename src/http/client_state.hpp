// SPDX-License-Identifier: Apache-2.0
// The state that an `http::client` shares with its operations: each keeps it until it has ended.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "http/client.hpp"
#include "http/message_buffer.hpp"

namespace corro::http {

/// The first argument of an operation is its reference to the client's state.
class client::state : public io::detail::keepable {
 public:
    using share = io::detail::kept<state>;

    state(io::any_stream stream, std::string_view host, client_options options);

    [[nodiscard]] io::task<std::error_code> send(share kept, method which, std::string_view target,
                                                 std::span<const field> fields, std::string_view body);
    [[nodiscard]] io::task<std::error_code> begin(share kept, method which, std::string_view target,
                                                  std::span<const field> fields, std::optional<std::uint64_t> length);
    [[nodiscard]] io::task<std::error_code> write(share kept, std::string_view piece);
    [[nodiscard]] io::task<std::error_code> finish(share kept, std::span<const field> trailers);
    [[nodiscard]] io::task<std::expected<bool, std::error_code>> wait_for_continue(share kept,
                                                                                   std::chrono::nanoseconds patience);
    [[nodiscard]] io::task<std::expected<response_head, std::error_code>> receive(share kept);
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_some_of_body(share kept);
    [[nodiscard]] io::task<std::expected<std::string_view, std::error_code>> read_body(share kept);
    [[nodiscard]] std::string_view trailer(std::string_view name);

    [[nodiscard]] bool kept_alive() const noexcept { return kept_alive_; }
    [[nodiscard]] io::any_stream& stream() noexcept { return stream_; }
    [[nodiscard]] const message_buffer& received() const noexcept { return in_; }

 private:
    void append_head(method which, std::string_view target, std::span<const field> fields);
    [[nodiscard]] io::task<std::error_code> flush();
    [[nodiscard]] io::task<std::error_code> fill(std::chrono::nanoseconds allowed);
    [[nodiscard]] io::task<std::error_code> skip_rest(share kept);
    [[nodiscard]] io::task<std::error_code> read_head(std::chrono::nanoseconds patience);

    io::any_stream stream_;
    client_options options_;
    std::string host_;
    message_buffer in_;
    std::string out_;
    std::string whole_body_;
    std::vector<field> fields_;
    std::vector<field> trailer_fields_;
    std::vector<method> owed_;  // the methods of the outstanding requests
    response_head head_;
    std::uint64_t body_bytes_ = 0;
    bool chunking_ = false;
    bool head_there_ = false;  // `wait_for_continue` has read a response
    bool in_message_ = false;
    bool kept_alive_ = true;
};

}  // namespace corro::http
