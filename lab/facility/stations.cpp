// SPDX-License-Identifier: Apache-2.0
// The three stations; see station.hpp.

#include <cstring>
#include <vector>

#include "base/assert.hpp"
#include "facility/facility.hpp"
#include "feed/book_image.hpp"
#include "lab/facility/scenarios.hpp"
#include "lab/facility/station.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::lab {
namespace {

wire::instrument_table table_of(const std::vector<domain::instrument>& instruments) {
    wire::instrument_table table;
    for (const domain::instrument& i : instruments) table.define(i);
    return table;
}

/// Calls `each(frame)` for the complete messages at the front. The bytes are our own, so they are valid (asserted).
template <class Each>
std::size_t for_each_frame(std::span<const std::byte> bytes, Each&& each) {
    std::size_t used = 0;
    while (true) {
        const auto next = wire::next_frame(bytes.subspan(used));
        CORRO_ASSERT(next.has_value(), "canned bytes are sound");
        if (!*next) return used;
        used += (*next)->size();
        each(**next);
    }
}

/// A request with its account, which the injector put into the upper half of the sequence number.
domain::command command_of(wire::frame frame, const wire::instrument_table& instruments) {
    const auto account = static_cast<std::uint32_t>(frame.sequence >> 32U);
    frame.sequence &= UINT32_MAX;
    domain::command command;
    const wire::refusal refused = wire::decode_command(frame, instruments, command);
    CORRO_ASSERT(!refused, "canned requests are sound");
    command.account = domain::account_id{account};
    command.session = domain::session_id{account};
    return command;
}

facility::facility_options options() {
    facility::facility_options made;
    made.orders_max = orders_max;
    made.accounts_max = accounts_max;
    return made;
}

class facility_station final : public station, private facility::event_consumer {
 public:
    facility_station()
        : instruments_(table_of(scenario_instruments())), facility_(options(), scenario_instruments(), *this) {}

 private:
    std::size_t work(std::span<const std::byte> bytes) noexcept override {
        return for_each_frame(bytes, [this](const wire::frame& frame) {
            domain::command command = command_of(frame, instruments_);
            // The commands are the clock of a canned run, so that every run has the same bytes.
            command.sequence = domain::sequence_number{++sequence_};
            command.time = domain::time_ns{static_cast<std::int64_t>(sequence_) * 1'000};
            facility_.apply(command);
        });
    }
    void consume(std::span<const domain::event> events) noexcept override {
        for (const domain::event& e : events) {
            const std::size_t size =
                wire::encode(e, instruments_.find_or_nameless(e.instrument), ++messages_, reserve());
            commit(size);
        }
    }

    wire::instrument_table instruments_;
    facility::facility facility_;
    std::uint64_t sequence_ = 0;
    std::uint64_t messages_ = 0;
};

class gateway_station final : public station {
 public:
    gateway_station() : instruments_(table_of(scenario_instruments())) {}

 private:
    std::size_t work(std::span<const std::byte> bytes) noexcept override {
        return for_each_frame(bytes, [this](const wire::frame& frame) {
            // Checks everything that does not depend on the market, and forwards valid requests unchanged.
            const domain::command command = command_of(frame, instruments_);
            ++requests_[command.account.value];
            const std::span<std::byte> room = reserve();
            std::memcpy(room.data(), frame.block - wire::header_bytes, frame.size());
            commit(frame.size());
        });
    }

    wire::instrument_table instruments_;
    std::array<std::uint64_t, accounts_max> requests_{};
};

class distributor_station final : public station {
 public:
    distributor_station() : instruments_(table_of(scenario_instruments())), books_(markets_count + 1) {}

 private:
    std::size_t work(std::span<const std::byte> bytes) noexcept override {
        return for_each_frame(bytes, [this](const wire::frame& frame) {
            domain::event event;
            const std::error_code wrong = wire::decode_event(frame, instruments_, event);
            CORRO_ASSERT(!wrong, "canned messages are sound");
            if (!domain::is_public(event.kind)) return;
            const feed::image_status status = books_[event.instrument.value].apply(event);
            CORRO_ASSERT(status == feed::image_status::applied, "canned messages agree with each other");
            const std::span<std::byte> room = reserve();
            const std::size_t size = wire::encode(event, *instruments_.find(event.instrument), ++sequence_,
                                                  room.subspan(wire::soup_bin_tcp::header_bytes));
            const auto header = wire::soup_bin_tcp::header(wire::soup_bin_tcp::packet_type::sequenced_data, size);
            std::memcpy(room.data(), header.data(), header.size());
            commit(header.size() + size);
        });
    }

    wire::instrument_table instruments_;
    std::vector<feed::book_image> books_;
    std::uint64_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<station> make_facility_station() {
    return std::make_unique<facility_station>();
}

std::unique_ptr<station> make_gateway_station() {
    return std::make_unique<gateway_station>();
}

std::unique_ptr<station> make_distributor_station() {
    return std::make_unique<distributor_station>();
}

}  // namespace corro::lab
