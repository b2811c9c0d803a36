// SPDX-License-Identifier: Apache-2.0
#include "http/errors.hpp"

#include <string>

namespace corro::http {
namespace {

class codes final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "corro.io.http"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<errc>(value)) {
            case errc::malformed_start_line: return "the first line is not that of an HTTP/1 message";
            case errc::malformed_target: return "the request's target is malformed";
            case errc::malformed_field: return "a header field is malformed";
            case errc::folded_field: return "a header field is folded over two lines";
            case errc::bare_line_feed: return "a line ends without a carriage return";
            case errc::bad_host: return "there is not exactly one valid Host";
            case errc::ambiguous_length: return "the length of the body is stated more than once";
            case errc::malformed_length: return "Content-Length is not a number";
            case errc::bad_transfer_coding: return "the transfer codings do not delimit the body";
            case errc::malformed_chunk: return "a chunk of the body is malformed";
            case errc::start_line_too_long: return "the first line is too long";
            case errc::fields_too_large: return "there are too many header fields, or they are too large";
            case errc::body_too_large: return "the body is too large";
            case errc::trailers_too_large: return "the trailer fields are too large";
            case errc::unknown_method: return "the method is not implemented";
            case errc::unknown_transfer_coding: return "the transfer coding is not implemented";
            case errc::unknown_expectation: return "the expectation cannot be met";
            case errc::unknown_version: return "this version of HTTP is not supported";
            case errc::incomplete_message: return "the connection ended in the middle of a message";
            case errc::no_response: return "the connection ended before there was a response";
            case errc::not_upgraded: return "the peer did not change the protocol";
        }
        return "unknown corro.io.http error " + std::to_string(value);
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

unsigned status_of(errc code) noexcept {
    switch (code) {
        case errc::start_line_too_long: return 414;
        case errc::fields_too_large:
        case errc::trailers_too_large: return 431;
        case errc::body_too_large: return 413;
        case errc::unknown_method:
        case errc::unknown_transfer_coding: return 501;
        case errc::unknown_expectation: return 417;
        case errc::unknown_version: return 505;
        default: return 400;
    }
}

}  // namespace corro::http
