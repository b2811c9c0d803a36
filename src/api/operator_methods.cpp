// SPDX-License-Identifier: Apache-2.0
#include "api/operator_methods.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/private_text.hpp"
#include "base/assert.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::api {
namespace {

using answer = std::expected<std::string, api_error>;

/// In the order of domain::trading_phase.
constexpr std::array<std::string_view, 7> phases{"continuous",         "halted",          "pre_open", "opening_auction",
                                                 "volatility_auction", "closing_auction", "closed"};

std::string_view words_for(wire::journal_state state) noexcept {
    switch (state) {
        case wire::journal_state::no_journal: return "none";
        case wire::journal_state::takes_everything: return "open";
        case wire::journal_state::takes_cancels: return "cancels_only";
        case wire::journal_state::takes_nothing: return "failed";
    }
    return "unknown";
}

domain::account_id account_of(const request& r) {
    return domain::account_id{static_cast<std::uint32_t>(r.integer("account_id", 0))};
}

/// The command of a request; its instrument is set by the caller.
std::expected<domain::command, api_error> command_of(const request& r, const domain::instrument* in) {
    domain::command c;
    switch (r.method->id) {
        case method_id::kill_account:
        case method_id::release_account:
            c.kind = domain::command_kind::kill_switch;
            c.payload.kill_switch = domain::kill_switch();
            c.kill_switch().kill_scope = domain::kill_scope::account;
            c.kill_switch().state =
                r.method->id == method_id::kill_account ? domain::switch_state::on : domain::switch_state::off;
            c.kill_switch().other_account = account_of(r);
            return c;
        case method_id::clear_account:
            c.kind = domain::command_kind::cancel_orders;
            c.payload.cancel_orders = domain::cancel_orders();
            c.cancel_orders().scope = domain::cancel_scope::account;
            c.cancel_orders().other_account = account_of(r);
            return c;
        case method_id::limit_account:
            c.kind = domain::command_kind::set_limits;
            c.payload.set_limits = domain::set_limits();
            c.set_limits().other_account = account_of(r);
            c.set_limits().order_quantity_max =
                domain::quantity_lots{static_cast<std::uint32_t>(r.integer("order_max", 0))};
            c.set_limits().position_max =
                domain::quantity_lots{static_cast<std::uint32_t>(r.integer("position_max", 0))};
            c.set_limits().open_orders_max = static_cast<std::uint32_t>(r.integer("open_orders_max", 0));
            return c;
        case method_id::change_phase:
            c.kind = domain::command_kind::change_phase;
            c.payload.change_phase = domain::change_phase();
            c.change_phase().phase =
                static_cast<domain::trading_phase>(std::ranges::find(phases, r.text("phase")) - phases.begin());
            return c;
        default: break;
    }
    CORRO_ASSERT(r.method->id == method_id::settle_instrument && in != nullptr);
    c.kind = domain::command_kind::settle_instrument;
    c.payload.settle_instrument = domain::settle_instrument();
    const std::optional<std::int64_t> nano = scaled_integer(r.text("price"), 9);
    if (!nano) return std::unexpected(api_error(error_code::price_wrong_tick, "price"));
    const auto ticks = domain::to_ticks(*in, domain::price_nano{*nano});
    if (ticks.reason != domain::reject_reason::none) {
        api_error error = error_of(ticks.reason);
        error.param = "price";
        return std::unexpected(std::move(error));
    }
    c.settle_instrument().price = ticks.value;
    return c;
}

std::string status_text(const std::vector<wire::venue_status>& told) {
    std::string text;
    json_writer out(text);
    out.list([&] {
        for (const wire::venue_status& each : told) {
            out.object([&] {
                out.member("partition").number(std::int64_t{each.segment});
                out.member("timestamp").number(each.time.value / 1'000'000);
                out.member("last_command").number(static_cast<std::int64_t>(each.last_command.value));
                out.member("durable_command").number(static_cast<std::int64_t>(each.durable_command.value));
                out.member("snapshot_command").number(static_cast<std::int64_t>(each.snapshot_command.value));
                out.member("journal").text(words_for(each.journal_state));
                out.member("commands_waiting").number(static_cast<std::int64_t>(each.commands_waiting));
                out.member("feed_sequence").number(static_cast<std::int64_t>(each.feed_sequence.value));
                out.member("sessions").number(std::int64_t{each.sessions_count});
                out.member("sessions_max").number(std::int64_t{each.sessions_max});
            });
        }
    });
    return text;
}

io::task<answer> venue_status(account* of) {
    const auto told = co_await of->ask_status();
    if (!told) co_return std::unexpected(told.error());
    co_return status_text(*told);
}

}  // namespace

bool is_for_operators(method_id id) noexcept {
    switch (id) {
        case method_id::venue_status:
        case method_id::kill_account:
        case method_id::release_account:
        case method_id::clear_account:
        case method_id::limit_account:
        case method_id::change_phase:
        case method_id::settle_instrument: return true;
        default: return false;
    }
}

io::task<std::expected<std::string, api_error>> answer_operator(const request* r, account* of,
                                                                const private_caller* by) {
    if (r->method->id == method_id::venue_status) co_return co_await venue_status(of);
    const std::string_view name = r->text("instrument_name");
    const market* const m = name.empty() ? nullptr : by->markets->find(name);
    if (m == nullptr && !name.empty()) {
        co_return refuse(by->is_joined ? error_code::invalid_instrument : error_code::system_maintenance,
                         by->is_joined ? "instrument_name" : "");
    }
    auto command = command_of(*r, m == nullptr ? nullptr : &m->terms);
    if (!command) co_return std::unexpected(std::move(command.error()));
    if (m != nullptr) command->instrument = m->terms.id;
    const outcome result = co_await of->request(*command);
    const bool is_nothing =
        result.what == outcome::kind::refused && result.reason == domain::reject_reason::nothing_to_cancel;
    if (is_nothing) co_return "0";
    if (auto problem = problem_of(result)) co_return std::unexpected(std::move(*problem));
    if (r->method->id == method_id::clear_account) co_return std::to_string(result.cancelled_count);
    co_return "\"ok\"";
}

}  // namespace corro::api
