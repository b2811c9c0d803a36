// SPDX-License-Identifier: Apache-2.0
#include "websocket/deflate.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "base/assert.hpp"
#include "websocket/deflate_is_built.hpp"

namespace corro::websocket {
namespace {

/// The end of zlib's flush of a message, which is not sent (RFC 7692, section 7.2.1).
constexpr std::array<std::byte, 4> flush_tail{std::byte{0}, std::byte{0}, std::byte{0xFF}, std::byte{0xFF}};

/// The smallest space for inflated bytes.
constexpr std::size_t inflate_room = 1024;

/// zlib's interface is not const-correct and counts in unsigned int.
Bytef* input(std::span<const std::byte> bytes) noexcept {
    return reinterpret_cast<Bytef*>(
        const_cast<std::byte*>(bytes.data()));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace

bool deflate_is_built() noexcept {
    return true;
}

class deflater::stream {
 public:
    stream(unsigned window_bits, int level) {
        const int result = deflateInit2(&z, level, Z_DEFLATED, -static_cast<int>(window_bits), 8, Z_DEFAULT_STRATEGY);
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        CORRO_ASSERT(result == Z_OK, "the parameters of compression are valid");
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { deflateEnd(&z); }
    z_stream z{};
};

void deflater::deleter::operator()(stream* gone) const noexcept {
    delete gone;
}

void deflater::deflate(std::span<const std::byte> message, std::string& into) {
    CORRO_ASSERT(message.size() <= std::numeric_limits<uInt>::max(), "zlib counts in 32 bits");
    if (!stream_) stream_.reset(new stream(window_bits_, level_));
    z_stream& z = stream_->z;
    z.next_in = input(message);
    z.avail_in = static_cast<uInt>(message.size());
    const std::size_t begin = into.size();
    std::array<char, 16 * 1024> part;
    do {
        z.next_out = reinterpret_cast<Bytef*>(part.data());
        z.avail_out = static_cast<uInt>(part.size());
        const int result = ::deflate(&z, Z_SYNC_FLUSH);
        CORRO_ASSERT(result == Z_OK || result == Z_BUF_ERROR, "compressing does not fail");
        into.append(part.data(), part.size() - z.avail_out);
    } while (z.avail_out == 0);
    // Flushing an empty message after a flush gives no bytes; an empty message is then one zero byte.
    if (into.size() - begin < flush_tail.size()) {
        into.push_back('\0');
    } else {
        into.resize(into.size() - flush_tail.size());
    }
    if (no_context_takeover_) deflateReset(&z);
}

class inflater::stream {
 public:
    explicit stream(unsigned window_bits) {
        const int result = inflateInit2(&z, -static_cast<int>(window_bits));
        if (result == Z_MEM_ERROR) throw std::bad_alloc();
        CORRO_ASSERT(result == Z_OK, "the parameters of inflating are valid");
    }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    ~stream() { inflateEnd(&z); }
    z_stream z{};
};

void inflater::deleter::operator()(stream* gone) const noexcept {
    delete gone;
}

std::expected<void, errc> inflater::inflate(std::span<const std::byte> part, byte_buffer& into, std::size_t limit) {
    if (!stream_) stream_.reset(new stream(window_bits_));
    z_stream& z = stream_->z;
    while (!part.empty()) {
        const std::size_t taken = std::min<std::size_t>(part.size(), 1U << 30U);
        z.next_in = input(part.first(taken));
        z.avail_in = static_cast<uInt>(taken);
        for (;;) {
            // One byte more than allowed, so that an excess is noticed.
            const std::size_t allowed = limit + 1 - into.size();
            if (into.room().empty()) into.reserve(std::min(inflate_room, allowed), limit + 1);
            const std::size_t room = std::min({into.room().size(), allowed, std::size_t{1} << 30U});
            z.next_out = reinterpret_cast<Bytef*>(into.room().data());
            z.avail_out = static_cast<uInt>(room);
            const int result = ::inflate(&z, Z_NO_FLUSH);
            const std::size_t produced = room - z.avail_out;
            into.grow(produced);
            if (into.size() > limit) return std::unexpected(errc::message_too_big);
            // A final block ends zlib's stream, not the message (RFC 7692, section 7.2.3.4); the window stays.
            if (result == Z_STREAM_END) {
                inflateResetKeep(&z);
                if (z.avail_in == 0) break;
                continue;
            }
            if (result == Z_BUF_ERROR) break;
            if (result != Z_OK) return std::unexpected(errc::bad_deflate);
            if (z.avail_out != 0 && z.avail_in == 0) break;
        }
        if (z.avail_in != 0) return std::unexpected(errc::bad_deflate);
        part = part.subspan(taken);
    }
    return {};
}

std::expected<void, errc> inflater::finish(byte_buffer& into, std::size_t limit) {
    if (const auto done = inflate(flush_tail, into, limit); !done) return done;
    // Bit 7: zlib is between two blocks. Otherwise the message ended inside one.
    const bool between_blocks = (stream_->z.data_type & 128) != 0;
    if (!between_blocks) return std::unexpected(errc::bad_deflate);
    if (no_context_takeover_) inflateReset(&stream_->z);
    return {};
}

}  // namespace corro::websocket
