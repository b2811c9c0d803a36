// SPDX-License-Identifier: Apache-2.0
#include "base/archive.hpp"

#include <algorithm>

#include "base/crc32c.hpp"

namespace corro::base {

namespace {

struct block_header {
    std::uint32_t size;
    std::uint32_t crc;
};

}  // namespace

void archive::across_blocks(std::span<std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        if (at_ == end_) {
            if (loads()) {
                read_block();
            } else {
                write_block();
            }
            if (failed()) {
                if (loads()) std::fill(bytes.begin(), bytes.end(), std::byte{0});
                return;
            }
        }
        const std::size_t part = std::min(end_ - at_, bytes.size());
        if (loads()) {
            std::memcpy(bytes.data(), block_.data() + at_, part);
        } else {
            std::memcpy(block_.data() + at_, bytes.data(), part);
        }
        at_ += part;
        bytes = bytes.subspan(part);
    }
}

void archive::write_block() noexcept {
    const std::span<const std::byte> content{block_.data(), at_};
    crc_ = crc32c(content, crc_);
    const block_header header{static_cast<std::uint32_t>(at_), crc_};
    at_ = 0;
    if (failed()) return;
    if (!sink_->write(std::as_bytes(std::span{&header, 1})) || (!content.empty() && !sink_->write(content))) {
        status_ = state::ended;
    }
}

void archive::read_block() noexcept {
    at_ = end_ = 0;
    if (failed()) return;
    block_header header{};
    if (!source_->read(std::as_writable_bytes(std::span{&header, 1}))) {
        status_ = state::ended;
        return;
    }
    // Both are errors: a block that is too long, and the block of size 0 that ends an archive before all is read.
    if (header.size == 0 || header.size > block_bytes) {
        fail();
        return;
    }
    const std::span<std::byte> content{block_.data(), header.size};
    if (!source_->read(content)) {
        status_ = state::ended;
        return;
    }
    crc_ = crc32c(content, crc_);
    if (crc_ != header.crc) {
        fail();
        return;
    }
    end_ = header.size;
}

bool archive::finish() noexcept {
    if (!loads()) {
        if (at_ != 0) write_block();
        write_block();  // of size 0
        return !failed();
    }
    require(at_ == end_);
    at_ = end_ = 0;
    if (failed()) return false;
    block_header header{};
    if (!source_->read(std::as_writable_bytes(std::span{&header, 1}))) {
        status_ = state::ended;
        return false;
    }
    require(header.size == 0 && header.crc == crc_);
    return !failed();
}

}  // namespace corro::base
