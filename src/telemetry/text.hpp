// SPDX-License-Identifier: Apache-2.0
// The text of the event log: a line of CSV per event, a JSON object per log record.
//
// Not part of the log's interface. The columns are in docs/spec/event_log.md.
// Cost: a line of CSV takes some tens of nanoseconds: names are prepared, and the common beginning of a command's
//       events is formatted once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "telemetry/flat_text.hpp"
#include "telemetry/log_record.hpp"

namespace corro::telemetry {

/// The version of the event log's format, which the first record of each file of log records has as its number. Readers
/// skip fields and kinds that they do not know; a change that they must not skip gets the next version.
inline constexpr std::int64_t log_format_version = 2;

/// The version in the first line of a file of log records. 1 when the line is another record: that version had none.
[[nodiscard]] std::int64_t format_version_of(std::string_view first_line);

/// Enough for one line of the CSV and the surplus of its words; text.cpp checks the sum.
inline constexpr std::size_t line_bytes_max = 512;

class event_text {
 public:
    explicit event_text(std::span<const domain::instrument> instruments);

    /// The heading of the CSV, with a line feed.
    [[nodiscard]] static std::string_view heading() noexcept;

    /// Writes one line.
    /// @param to  line_bytes_max bytes, all of which may be overwritten.
    /// @return    The end of the line.
    [[nodiscard]] char* write(const domain::event& event, char* to);
    void append(const log_record& what, std::string& to);

    /// The text of an instrument.
    struct listed {
        word<32> name{{}, ","};  ///< with its comma
        std::int64_t tick_nano = 0;
        bool is_known = false;  ///< if not, its prices are left out
    };

    /// Adds an instrument's name and tick size for later lines.
    void list(domain::instrument_id id, const domain::symbol& name, std::int64_t tick_nano);

 private:
    void begin_command(const domain::event& event);
    /// @param to  time_bytes bytes.
    void write_time(domain::time_ns time, char* to);

    /// By id; unknown instruments are as number 0.
    std::vector<listed> instruments_;
    std::array<char, 64> command_text_{};  ///< "SEQUENCE,TIME," of the current command
    std::size_t command_text_size_ = 0;    ///< 0: of none
    domain::sequence_number command_{};
    domain::time_ns command_time_{};
    std::int64_t second_ = std::numeric_limits<std::int64_t>::min();  ///< whose text is in second_text_
    std::array<char, 20> second_text_{};
};

}  // namespace corro::telemetry
