// SPDX-License-Identifier: Apache-2.0
// The common interface of the decoders of recorded files. One loop reads them all:
//
//     for (;;) {
//         auto record = decoder.next();
//         if (!record) return record.error();              // position and reason; final if (*record) {
//         use(**record); continue; } // a view until the next call if (no more input) { decoder.finish(); ...
//         } // after finish, no record is the end decoder.feed(next piece); // of any size; valid until
//         next() gives no record
//     }
//
// recorded/recorded_reader.hpp is that loop over a file.
#pragma once

#include <concepts>
#include <cstddef>
#include <expected>
#include <optional>
#include <span>

#include "recorded/formats/read_error.hpp"

namespace corro::recorded {

template <class Decoder>
concept record_decoder = requires(Decoder decoder, std::span<const std::byte> piece) {
    typename Decoder::record;
    { decoder.feed(piece) } noexcept -> std::same_as<void>;
    { decoder.finish() } noexcept -> std::same_as<void>;
    { decoder.next() } noexcept -> std::same_as<std::expected<std::optional<typename Decoder::record>, read_error>>;
};

}  // namespace corro::recorded
