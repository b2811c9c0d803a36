// How the event log writes: a line of CSV per event, a JSON object per happening.
//
// Not part of the log's interface. The columns are docs/spec/event_log.md.
// Cost: a line of CSV takes well under a microsecond; the text of a second is kept from line to line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "telemetry/happening.hpp"

namespace corro::telemetry {

class event_text {
 public:
    explicit event_text(std::span<const domain::instrument> instruments);

    /// The heading of the CSV, with a line feed.
    [[nodiscard]] static std::string_view heading() noexcept;

    /// Appends one line.
    void append(const domain::event& event, std::string& to);
    void append(const happening& what, std::string& to);

 private:
    void append_time(domain::time_ns time, std::string& to);
    void append_price(domain::instrument_id instrument, domain::price_ticks price, std::string& to) const;
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept;

    std::vector<domain::instrument> instruments_;  ///< by id
    std::int64_t second_ = INT64_MIN;              ///< whose text is in second_text_
    std::string second_text_;
};

}  // namespace corro::telemetry
