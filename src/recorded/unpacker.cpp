// SPDX-License-Identifier: Apache-2.0
#include "recorded/unpacker.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "recorded/errors.hpp"

namespace corro::recorded {
namespace {

class gzip_unpacker final : public unpacker {
 public:
    gzip_unpacker() {
        // Add 16 to the size of the window: a gzip header, nothing else.
        if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc{};
    }
    ~gzip_unpacker() override { inflateEnd(&stream_); }

    std::expected<progress, std::error_code> step(std::span<const std::byte> in,
                                                  std::span<std::byte> out) noexcept override {
        if (ended_ && !in.empty()) {
            inflateReset(&stream_);
            ended_ = false;
        }
        constexpr std::size_t step_max = std::numeric_limits<uInt>::max();
        const auto in_size = static_cast<uInt>(std::min(in.size(), step_max));
        const auto out_size = static_cast<uInt>(std::min(out.size(), step_max));
        // zlib takes its input by a pointer to non-const and does not write to it.
        stream_.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
        stream_.avail_in = in_size;
        stream_.next_out = reinterpret_cast<Bytef*>(out.data());
        stream_.avail_out = out_size;
        if (!ended_) {
            const int result = inflate(&stream_, Z_NO_FLUSH);
            if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
                return std::unexpected(make_error_code(archive_errc::damaged_archive));
            }
            ended_ = result == Z_STREAM_END;
        }
        return progress{in_size - stream_.avail_in, out_size - stream_.avail_out, ended_};
    }

 private:
    z_stream stream_{};
    bool ended_ = false;
};

class zstd_unpacker final : public unpacker {
 public:
    zstd_unpacker() : stream_(ZSTD_createDStream()) {
        if (stream_ == nullptr) throw std::bad_alloc{};
    }
    ~zstd_unpacker() override { ZSTD_freeDStream(stream_); }

    std::expected<progress, std::error_code> step(std::span<const std::byte> in,
                                                  std::span<std::byte> out) noexcept override {
        ZSTD_inBuffer input{in.data(), in.size(), 0};
        ZSTD_outBuffer output{out.data(), out.size(), 0};
        if (!(may_end_ && in.empty())) {
            const std::size_t result = ZSTD_decompressStream(stream_, &output, &input);
            if (ZSTD_isError(result) != 0U) return std::unexpected(make_error_code(archive_errc::damaged_archive));
            may_end_ = result == 0;
        }
        return progress{input.pos, output.pos, may_end_};
    }

 private:
    ZSTD_DStream* stream_;
    bool may_end_ = false;
};

}  // namespace

std::unique_ptr<unpacker> make_gzip_unpacker() {
    return std::make_unique<gzip_unpacker>();
}
std::unique_ptr<unpacker> make_zstd_unpacker() {
    return std::make_unique<zstd_unpacker>();
}

}  // namespace corro::recorded
