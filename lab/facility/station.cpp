// SPDX-License-Identifier: Apache-2.0
#include "lab/facility/station.hpp"

#include <cstring>

#include "base/assert.hpp"
#include "wire/limits.hpp"

namespace corro::lab {

station::station()
    : input_(std::make_unique<std::byte[]>(input_bytes)), output_(std::make_unique<std::byte[]>(output_bytes)) {}

station::~station() = default;

void station::received(std::size_t bytes) noexcept {
    input_end_ += bytes;
    const std::size_t used = work({input_.get(), input_end_});
    input_end_ -= used;
    if (used != 0 && input_end_ != 0) std::memmove(input_.get(), input_.get() + used, input_end_);
}

void station::sent(std::size_t bytes) noexcept {
    output_begin_ += bytes;
    if (output_begin_ == output_end_) output_begin_ = output_end_ = 0;
}

std::span<std::byte> station::reserve() noexcept {
    static constexpr std::size_t packet_bytes_max = wire::frame_bytes_max + 16;
    CORRO_ASSERT(output_bytes - output_end_ >= packet_bytes_max, "what one read causes fits");
    return {output_.get() + output_end_, packet_bytes_max};
}

}  // namespace corro::lab
