// SPDX-License-Identifier: Apache-2.0
#include "facility/snapshot.hpp"

#include <string>

#include "base/archive.hpp"
#include "base/crc32c.hpp"
#include "base/defect.hpp"
#include "base/hash.hpp"
#include "domain/fingerprint.hpp"
#include "facility/state_machine.hpp"

namespace corro::facility {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "snapshot"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<snapshot_errc>(code)) {
            case snapshot_errc::truncated: return "the snapshot ends too early";
            case snapshot_errc::damaged: return "the snapshot is damaged";
            case snapshot_errc::foreign_format: return "not a snapshot of a facility";
            case snapshot_errc::unsupported_version: return "a version of the snapshot format that is not supported";
            case snapshot_errc::other_venue: return "the snapshot is of a venue with other options or instruments";
            case snapshot_errc::state_differs: return "the loaded state has another hash than the saved one";
        }
        return "unknown snapshot error";
    }
};

}  // namespace

const std::error_category& snapshot_category() noexcept {
    static const category instance;
    return instance;
}

std::uint32_t snapshot_header::computed_crc() const noexcept {
    snapshot_header other = *this;
    other.crc = 0;
    return base::crc32c(std::as_bytes(std::span{&other, 1}));
}

std::error_code snapshot_header::check() const noexcept {
    if (mark != mark_of_a_snapshot) return snapshot_errc::foreign_format;
    if (version != version_of_plain && version != version_of_accounts) return snapshot_errc::unsupported_version;
    if (crc != computed_crc()) return snapshot_errc::damaged;
    return {};
}

std::uint64_t facility::state_machine::fingerprint() const noexcept {
    static_assert(sizeof(facility_options) == 32,
                  "add every new member except `touch` and `hash_key` to the fingerprint, then correct the size here");
    base::hasher hasher;
    hasher.add(options_.orders_max).add(options_.accounts_max).add(options_.positions_max).add(options_.window_bits);
    // A venue that reserves no instruments keeps the fingerprint it had before the option existed.
    if (options_.instruments_reserved != 0) hasher.add(options_.instruments_reserved);
    for (const domain::instrument& i : instruments_.all().first(instruments_.configured().size()))
        domain::add_to(hasher, i);
    return hasher.value();
}

/// Does not repeat what the header states about the last command.
void facility::state_machine::transfer(base::archive& a) noexcept {
    static_assert(sizeof(state_machine) ==
                      sizeof options_ + sizeof instruments_ + sizeof engine_ + sizeof orders_ + sizeof positions_ +
                          sizeof quotes_ + sizeof exposures_ + sizeof account_rules_ + sizeof phases_ +
                          sizeof strategies_ + sizeof implied_ + sizeof account_definitions_ + sizeof writer_ + 3 * 8 +
                          sizeof rejections_ + sizeof lookup_ + sizeof limits_ + sizeof matcher_ + sizeof protection_ +
                          sizeof phase_changes_ + sizeof stops_ + sizeof schedule_ + sizeof settlement_ +
                          sizeof entry_ + sizeof amending_ + sizeof cancels_ + sizeof quoting_ + sizeof requests_ +
                          sizeof controls_ + sizeof definitions_,
                  "transfer every new table that must survive, then add it here");
    if (options_.instruments_reserved != 0) definitions_.transfer(a);
    if (a.failed()) return;
    positions_.transfer(a);
    engine_.transfer(a);
    if (a.failed()) return;
    transfer_orders(a);
    quotes_.transfer(a);
    exposures_.transfer(a);
    phases_.transfer(a);
    account_rules_.transfer(a);
    phases_.transfer_next_resume(a);
    writer_.trades().transfer(a);
    if (!a.loads()) return;
    writer_.changes().watch_auctions(phases_.is_any_collecting());
    for (std::uint32_t book = 0; book < instruments_.count(); ++book) {
        implied_.set_matching(book, phases_.is_continuous(book));
    }
    matcher_.restore_implied_tops();
}

void facility::state_machine::transfer_orders(base::archive& a) noexcept {
    orders_.transfer(a);
    std::size_t expiring = 0;
    engine_.for_each_open([&](std::uint32_t slot) {
        orders_.transfer_order(a, slot, engine_.level_of(slot).is_waiting);
        const order_record& r = orders_[slot];
        a.require(r.position < positions_.count() && r.account.value < engine_.accounts_count() &&
                  (r.side == domain::side::buy || r.side == domain::side::sell));
        if (r.time_in_force != domain::time_in_force::gtd || (r.flags & quote_mark) != 0) return;
        a.require(orders_.expiries().contains(slot));
        ++expiring;
    });
    a.require(expiring == orders_.expiries().size());
}

bool facility::state_machine::save(base::byte_sink& sink) const noexcept {
    snapshot_header header{.mark = snapshot_header::mark_of_a_snapshot,
                           .version = account_definitions_.all().empty() ? snapshot_header::version_of_plain
                                                                         : snapshot_header::version_of_accounts,
                           .fingerprint = fingerprint(),
                           .sequence = sequence_.value,
                           .time = now_.value,
                           .state_hash = state_hash()};
    header.crc = header.computed_crc();
    if (!sink.write(std::as_bytes(std::span{&header, 1}))) return false;
    base::archive a(sink);
    // Saving changes nothing, so one function serves both directions.
    const_cast<state_machine*>(this)->transfer(a);
    if (!account_definitions_.all().empty()) const_cast<state_machine*>(this)->account_definitions_.transfer(a);
    return a.finish();
}

std::error_code facility::state_machine::load(base::byte_source& source) noexcept {
    snapshot_header header{};
    if (!source.read(std::as_writable_bytes(std::span{&header, 1}))) return snapshot_errc::truncated;
    if (const std::error_code error = header.check()) return error;
    if (header.fingerprint != fingerprint()) return snapshot_errc::other_venue;
    was_used_ = true;
    base::archive a(source);
    transfer(a);
    if (header.version == snapshot_header::version_of_accounts) account_definitions_.transfer(a);
    if (!a.finish()) {
        return a.status() == base::archive::state::ended ? snapshot_errc::truncated : snapshot_errc::damaged;
    }
    sequence_ = domain::sequence_number{header.sequence};
    now_ = domain::time_ns{header.time};
    if (state_hash() != header.state_hash) return snapshot_errc::state_differs;
    for (std::uint32_t id = 0; CORRO_DEFECT(kill_switch_forgotten) && id < options_.accounts_max; ++id) {
        account_rules_.kill_account(domain::account_id{id}, false);
    }
    for (std::uint32_t id = 0; CORRO_DEFECT(limits_not_restored) && id < options_.accounts_max; ++id) {
        account_rules_.set_limits(domain::account_id{id}, {});
    }
    if (CORRO_DEFECT(position_not_restored) && positions_.count() != 0) static_cast<void>(positions_.settle(0));
    return {};
}

}  // namespace corro::facility
