// SPDX-License-Identifier: Apache-2.0
#include "websocket/errors.hpp"

#include <string>

namespace corro::websocket {
namespace {

class codes final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.websocket"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
            case errc::closed: return "the connection was closed";
            case errc::reserved_bits: return "a reserved bit is set";
            case errc::reserved_opcode: return "the opcode is reserved";
            case errc::wrong_masking: return "the frame is masked wrongly";
            case errc::wrong_length: return "the length is not in its shortest form";
            case errc::bad_control_frame: return "the control frame is fragmented or too long";
            case errc::bad_sequence: return "the frame does not continue what was begun";
            case errc::bad_close: return "the close frame is malformed";
            case errc::bad_utf8: return "the text is not UTF-8";
            case errc::bad_deflate: return "the compressed message is malformed";
            case errc::message_too_big: return "the message is too big";
            case errc::bad_handshake: return "this is not a WebSocket handshake";
            case errc::foreign_origin: return "pages of this origin may not connect";
            case errc::not_open: return "the connection is not open";
        }
        return "unknown corro.io.websocket error " + std::to_string(value);
    }
};

const codes the_codes;

}  // namespace

const std::error_category& error_category() noexcept {
    return the_codes;
}
std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), the_codes};
}

close_code close_code_of(errc code) noexcept {
    switch (code) {
        case errc::bad_utf8:
        case errc::bad_deflate: return close_code::invalid_payload;
        case errc::message_too_big: return close_code::message_too_big;
        case errc::closed: return close_code::normal;
        default: return close_code::protocol_error;
    }
}

bool may_be_sent(std::uint16_t code) noexcept {
    if (code >= 3000 && code < 5000) return true;
    return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

}  // namespace corro::websocket
