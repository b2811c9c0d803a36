// SPDX-License-Identifier: Apache-2.0
// In place of deflate.cpp where the library is built without zlib: no connection agrees to compression, so nothing
// compresses or inflates.
#include "base/assert.hpp"
#include "websocket/deflate.hpp"
#include "websocket/deflate_is_built.hpp"

namespace corro::websocket {

bool deflate_is_built() noexcept {
    return false;
}

class deflater::stream {};
class inflater::stream {};

void deflater::deleter::operator()(stream* gone) const noexcept {
    delete gone;
}

void inflater::deleter::operator()(stream* gone) const noexcept {
    delete gone;
}

void deflater::deflate(std::span<const std::byte>, std::string&) {
    static_cast<void>(window_bits_), static_cast<void>(level_), static_cast<void>(no_context_takeover_);
    CORRO_ASSERT(stream_ != nullptr, "without zlib, no connection agrees to compression");
}

std::expected<void, errc> inflater::inflate(std::span<const std::byte>, byte_buffer&, std::size_t) {
    static_cast<void>(window_bits_), static_cast<void>(no_context_takeover_);
    CORRO_ASSERT(stream_ != nullptr, "without zlib, no connection agrees to compression");
    return std::unexpected(errc::bad_deflate);
}

std::expected<void, errc> inflater::finish(byte_buffer& into, std::size_t limit) {
    return inflate({}, into, limit);
}

}  // namespace corro::websocket
