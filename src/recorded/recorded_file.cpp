// SPDX-License-Identifier: Apache-2.0
#include "recorded/recorded_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "recorded/errors.hpp"
#include "recorded/unpacker.hpp"

namespace corro::recorded {
namespace {

struct close_file {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file_handle = std::unique_ptr<std::FILE, close_file>;

std::error_code system_error() noexcept {
    return {errno != 0 ? errno : EIO, std::generic_category()};
}

packing packing_of(std::span<const std::byte> front) noexcept {
    if (front.size() >= 2 && front[0] == std::byte{0x1F} && front[1] == std::byte{0x8B}) return packing::gzip;
    if (front.size() >= 4) {
        const auto magic = base::load_le<std::uint32_t>(front.data());
        constexpr std::uint32_t frame = 0xFD2FB528;
        constexpr std::uint32_t skippable_frame = 0x184D2A50;  // the last four bits are free
        if (magic == frame || (magic & 0xFFFFFFF0U) == skippable_frame) return packing::zstd;
    }
    return packing::plain;
}

}  // namespace

struct recorded_file::state {
    file_handle file;
    recorded_file_options options;
    recorded::packing packing = packing::plain;
    std::unique_ptr<recorded::unpacker> unpacker;  // none for plain files
    std::vector<std::byte> packed;
    std::vector<std::byte> unpacked;
    /// Bytes read from the file but not used up.
    std::span<const std::byte> rest;
    std::uint64_t taken = 0;  // bytes of the file used up
    std::uint64_t made = 0;   // bytes unpacked
    bool file_ended = false;
    bool may_end = false;

    [[nodiscard]] std::unexpected<recorded::read_error> fail(std::error_code code) const noexcept {
        return std::unexpected(recorded::read_error{.code = code, .offset = taken});
    }

    /// Reads the next bytes of the file into `packed` when `rest` is used up.
    std::error_code refill() noexcept {
        if (!rest.empty() || file_ended) return {};
        errno = 0;
        const std::size_t size = std::fread(packed.data(), 1, packed.size(), file.get());
        if (size < packed.size()) {
            if (std::ferror(file.get()) != 0) return system_error();
            file_ended = true;
        }
        rest = std::span{packed}.first(size);
        return {};
    }

    std::expected<std::span<const std::byte>, recorded::read_error> read_plain() noexcept {
        const auto piece = std::exchange(rest, {});
        taken += piece.size();
        return piece;
    }

    std::expected<std::span<const std::byte>, recorded::read_error> read_packed() noexcept {
        for (;;) {
            if (const auto error = refill()) return fail(error);
            const bool input_ended = rest.empty();
            const auto step = unpacker->step(rest, unpacked);
            if (!step) return fail(step.error());
            rest = rest.subspan(step->taken);
            taken += step->taken;
            made += step->made;
            may_end = step->may_end;
            if (made > options.unpacked_bytes_max) return fail(archive_errc::unpacked_too_large);
            if (step->made != 0) return std::span<const std::byte>{unpacked}.first(step->made);
            if (input_ended) {
                if (may_end) return std::span<const std::byte>{};
                return fail(archive_errc::truncated_archive);
            }
            if (step->taken == 0) return fail(archive_errc::damaged_archive);
        }
    }
};

recorded_file::recorded_file(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
recorded_file::recorded_file(recorded_file&&) noexcept = default;
recorded_file& recorded_file::operator=(recorded_file&&) noexcept = default;
recorded_file::~recorded_file() = default;

std::expected<recorded_file, std::error_code> recorded_file::open(const std::filesystem::path& path,
                                                                  recorded_file_options options) {
    CORRO_ASSERT(options.piece_bytes >= 16);
    auto s = std::make_unique<state>();
    errno = 0;
    s->file.reset(std::fopen(path.c_str(), "rb"));
    if (!s->file) return std::unexpected(system_error());
    s->options = options;
    s->packed.resize(options.piece_bytes);
    // The pieces are large enough; a second buffer in between would only copy.
    std::setvbuf(s->file.get(), nullptr, _IONBF, 0);
    if (const auto error = s->refill()) return std::unexpected(error);
    s->packing = packing_of(s->rest);
    if (s->packing != packing::plain) {
        s->unpacker = s->packing == packing::gzip ? make_gzip_unpacker() : make_zstd_unpacker();
        s->unpacked.resize(options.piece_bytes);
    }
    return recorded_file{std::move(s)};
}

std::expected<std::span<const std::byte>, recorded::read_error> recorded_file::read() noexcept {
    if (state_->unpacker) return state_->read_packed();
    if (const auto error = state_->refill()) return state_->fail(error);
    return state_->read_plain();
}

packing recorded_file::packing() const noexcept {
    return state_->packing;
}

}  // namespace corro::recorded
