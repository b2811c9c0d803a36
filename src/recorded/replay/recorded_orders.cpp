// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/recorded_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "recorded/formats/dbn.hpp"
#include "recorded/recorded_reader.hpp"
#include "recorded/replay/difference.hpp"
#include "recorded/replay/open_recorded.hpp"

namespace corro::recorded::replay {
namespace {

using dbn_reader = recorded_reader<dbn::decoder>;

/// The next market-by-order record of a file; nothing at its end.
std::optional<dbn::market_by_order> next_record(dbn_reader& reader) {
    for (;;) {
        const auto record = reader.next();
        if (!record) throw replay_error(reader.explain(record.error()));
        if (!*record) return std::nullopt;
        if ((*record)->type == dbn::record_type::market_by_order) return (*record)->as_market_by_order();
    }
}

record_action action_of(dbn::action a) noexcept {
    switch (a) {
        case dbn::action::add: return record_action::add;
        case dbn::action::cancel: return record_action::cancel;
        case dbn::action::modify: return record_action::modify;
        case dbn::action::clear: return record_action::clear;
        case dbn::action::trade: return record_action::trade;
        case dbn::action::fill: return record_action::fill;
        case dbn::action::none: break;
    }
    return record_action::none;
}

record_side side_of(dbn::side s) noexcept {
    return s == dbn::side::bid ? record_side::buy : s == dbn::side::ask ? record_side::sell : record_side::none;
}

bool sets_price(const dbn::market_by_order& m) noexcept {
    return m.action == dbn::action::add || m.action == dbn::action::modify;
}

class dbn_orders final : public order_record_source {
 public:
    dbn_orders(std::vector<std::filesystem::path> files, std::uint32_t recorded_instrument,
               const domain::instrument& instrument)
        : files_(std::move(files)), recorded_instrument_(recorded_instrument), instrument_(instrument) {}

    bool next(order_record& into) override {
        for (;;) {
            if (!reader_) {
                if (opened_ == files_.size()) return false;
                reader_ = open_recorded<dbn::decoder>(files_[opened_++]);
                record_ = 0;
            }
            const std::optional<dbn::market_by_order> m = next_record(*reader_);
            if (!m) {
                reader_.reset();
                continue;
            }
            const std::uint64_t record = record_++;
            if (m->header.instrument_id != recorded_instrument_) continue;
            into = {.file = static_cast<std::uint32_t>(opened_),
                    .record = record,
                    .time = m->header.event_at,
                    .order = m->order_id,
                    .price = ticks(*m, record),
                    .size = m->size,
                    .action = action_of(m->action),
                    .side = side_of(m->side),
                    .is_snapshot = m->has(dbn::flag_snapshot),
                    .is_last = m->has(dbn::flag_last_of_event)};
            return true;
        }
    }

 private:
    [[nodiscard]] domain::price_ticks ticks(const dbn::market_by_order& m, std::uint64_t record) const {
        if (m.price == domain::no_price_nano) return {};
        const auto price = domain::to_ticks(instrument_, m.price);
        if (price.reason != domain::reject_reason::none) {
            throw replay_error(fmt::format("{}: record {}: {}: price {}, tick {}", reader_->path().string(), record,
                                           domain::to_string(price.reason), decimal_of(m.price.value),
                                           decimal_of(instrument_.tick_size.value)));
        }
        return price.value;
    }

    std::vector<std::filesystem::path> files_;
    std::uint32_t recorded_instrument_;
    domain::instrument instrument_;
    std::optional<dbn_reader> reader_;
    std::size_t opened_ = 0;
    std::uint64_t record_ = 0;
};

}  // namespace

order_survey survey_orders(const std::vector<std::filesystem::path>& files,
                           std::optional<std::uint32_t> recorded_instrument) {
    order_survey s;
    s.price_low = domain::price_nano{std::numeric_limits<std::int64_t>::max()};
    s.price_high = domain::price_nano{std::numeric_limits<std::int64_t>::min()};
    std::optional<std::uint32_t> chosen = recorded_instrument;
    bool has_traded = false;
    for (const std::filesystem::path& path : files) {
        dbn_reader reader = open_recorded<dbn::decoder>(path);
        std::uint64_t record = 0;
        for (; const std::optional<dbn::market_by_order> m = next_record(reader); ++record) {
            if (!chosen) chosen = m->header.instrument_id;
            if (m->header.instrument_id != *chosen) {
                if (recorded_instrument) continue;
                throw replay_error(fmt::format("{}: record {} is of instrument {}, earlier ones of {}: choose one",
                                               path.string(), record, m->header.instrument_id, *chosen));
            }
            ++s.records;
            const bool is_snapshot = m->has(dbn::flag_snapshot);
            s.snapshot_records += is_snapshot ? 1U : 0U;
            if (!is_snapshot) {
                if (s.first_time == domain::time_ns{}) s.first_time = m->header.event_at;
                s.last_time = m->header.event_at;
            }
            if (sets_price(*m)) {
                if (m->price == domain::no_price_nano || m->size == 0 || m->side == dbn::side::none) {
                    throw replay_error(
                        fmt::format("{}: record {} is an order without price, size or side", path.string(), record));
                }
                s.adds += m->action == dbn::action::add ? 1U : 0U;
                s.price_step.value = std::gcd(s.price_step.value, m->price.value);
                s.price_low = std::min(s.price_low, m->price);
                s.price_high = std::max(s.price_high, m->price);
                s.size_max = std::max(s.size_max, m->size);
            }
            if (m->action == dbn::action::trade && !std::exchange(has_traded, true)) {
                // The first trade decides: an auction has no aggressor.
                s.how = m->side == dbn::side::none ? opening::auction : opening::continuous;
            }
        }
        const dbn::file_metadata* const head = reader.decoder().metadata();
        if (head != nullptr && head->symbols.size() == 1) s.name = head->symbols[0];
        if (reader.decoder().skipped_count() != 0 && record == 0) {
            throw replay_error(fmt::format("{}: has no market-by-order records", path.string()));
        }
    }
    if (s.records == 0 || s.size_max == 0) {
        throw replay_error(recorded_instrument
                               ? fmt::format("the files have no orders of instrument {}", *recorded_instrument)
                               : std::string("the files have no orders"));
    }
    s.recorded_instrument = *chosen;
    if (s.price_step.value == 0) s.price_step = domain::price_nano{1'000'000'000};  // every price is 0
    return s;
}

void require_fit(const order_survey& survey, const domain::instrument& instrument) {
    if (survey.price_step.value % instrument.tick_size.value != 0) {
        throw replay_error(fmt::format(
            "recorded prices are multiples of {}, the tick of the venue's instrument {} is {}",
            decimal_of(survey.price_step.value), instrument.name.view(), decimal_of(instrument.tick_size.value)));
    }
    for (const domain::price_nano price : {survey.price_low, survey.price_high}) {
        const auto ticks = domain::to_ticks(instrument, price);
        if (ticks.reason != domain::reject_reason::none) {
            throw replay_error(fmt::format("recorded price {} does not suit the venue's instrument {}: {}",
                                           decimal_of(price.value), instrument.name.view(),
                                           domain::to_string(ticks.reason)));
        }
        if (ticks.value < instrument.price_low || ticks.value > instrument.price_high) {
            throw replay_error(fmt::format("recorded price {} is outside the price band of the venue's instrument {}",
                                           decimal_of(price.value), instrument.name.view()));
        }
    }
    if (survey.size_max > instrument.order_quantity_max.value) {
        throw replay_error(fmt::format("recorded orders of up to {} lots exceed what the venue's instrument {} takes",
                                       survey.size_max, instrument.name.view()));
    }
}

std::unique_ptr<order_record_source> open_orders(std::vector<std::filesystem::path> files, const order_survey& survey,
                                                 const domain::instrument& instrument) {
    return std::make_unique<dbn_orders>(std::move(files), survey.recorded_instrument, instrument);
}

}  // namespace corro::recorded::replay
