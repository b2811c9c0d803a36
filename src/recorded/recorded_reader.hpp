// SPDX-License-Identifier: Apache-2.0
// Records of a recorded file, one after the other: a decoder over a file that may be packed.
//
//     auto reader = recorded_reader<dbn::decoder>::open("esh4.mbo.dbn.zst");
//     if (!reader) ...                                  // reader.error(): why it cannot be opened
//     for (;;) {
//         const auto record = reader->next();
//         if (!record) ...                              // reader->explain(record.error()): file, place, reason
//         if (!*record) break;                          // the end
//         use(**record);                                // valid until the next call
//     }
#pragma once

#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "recorded/formats/record_decoder.hpp"
#include "recorded/recorded_file.hpp"

namespace corro::recorded {

template <recorded::record_decoder Decoder>
class recorded_reader {
 public:
    using record = typename Decoder::record;

    /// @error  As recorded_file::open.
    [[nodiscard]] static std::expected<recorded_reader, std::error_code> open(std::filesystem::path path,
                                                                              recorded_file_options options = {}) {
        auto file = recorded_file::open(path, options);
        if (!file) return std::unexpected(file.error());
        return recorded_reader{std::move(path), *std::move(file)};
    }

    /// The next record, valid until the next call; none at the end of the file.
    /// @error  Those of the decoder and of recorded_file::read. Errors are final.
    [[nodiscard]] std::expected<std::optional<record>, recorded::read_error> next() noexcept {
        if (failed_) return std::unexpected(*failed_);
        for (;;) {
            auto found = decoder_.next();
            if (!found || *found || ended_) return found;
            const auto piece = file_.read();
            if (!piece) return std::unexpected(*(failed_ = piece.error()));
            if (piece->empty()) {
                ended_ = true;
                decoder_.finish();
            } else {
                decoder_.feed(*piece);
            }
        }
    }

    /// The decoder, for data beside its records, such as the head of the file.
    [[nodiscard]] const Decoder& decoder() const noexcept { return decoder_; }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    /// For people: "esh4.mbo.dbn.zst: byte 230: a length contradicts the format".
    [[nodiscard]] std::string explain(const recorded::read_error& error) const {
        return path_.string() + ": " + to_string(error);
    }

 private:
    recorded_reader(std::filesystem::path path, recorded_file file) noexcept
        : path_(std::move(path)), file_(std::move(file)) {}

    std::filesystem::path path_;
    recorded_file file_;
    Decoder decoder_;
    std::optional<recorded::read_error> failed_;
    bool ended_ = false;
};

}  // namespace corro::recorded
