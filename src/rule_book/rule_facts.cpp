// SPDX-License-Identifier: Apache-2.0
#include "rule_book/rule_facts.hpp"

#include <array>
#include <cstddef>

#include "domain/reject_reason.hpp"

namespace corro::rule_book {
namespace {

constexpr std::array<const char*, 7> phase_names{
    " trades", " halted", " in pre-open", " in opening auction", " in volatility auction", " in closing auction",
    " closed"};

std::string auction_of(const domain::auction_state& a) {
    if (a.price == domain::no_price) return "nothing";
    std::string text = std::to_string(a.volume.value) + " at " + std::to_string(a.price.value);
    if (a.imbalance > 0) text += ", " + std::to_string(a.imbalance) + " more bid";
    if (a.imbalance < 0) text += ", " + std::to_string(-a.imbalance) + " more offered";
    return text;
}

}  // namespace

void fact_writer::write_down(const domain::event& e) {
    using domain::event_kind;
    const std::string because =
        e.reason == domain::reject_reason::none ? "" : ", " + std::string(domain::to_string(e.reason));
    const auto terms = [&](const char* verb) {
        return names_.name_of_order(e.order.client_order, e.order.account, e.order.order, e.side) + " " + verb + " " +
               std::to_string(e.order.quantity.value) +
               (e.order.price == domain::no_price ? "" : " at " + std::to_string(e.order.price.value)) + because;
    };
    switch (e.kind) {
        case event_kind::order_entered:
            names_.learn(e.order.client_order, e.order.order);
            said_.push_back(terms("entered"));
            break;
        case event_kind::order_amended:
            names_.learn(e.order.client_order, e.order.order);
            said_.push_back(terms("amended"));
            break;
        case event_kind::request_named:
            said_.push_back("request " + names_.name_of_order(e.named.name, e.named.account, e.named.order, e.side) +
                            " about " +
                            (e.named.order.value == 0
                                 ? "no order"
                                 : names_.name_of_order(e.named.client_order, e.named.account, e.named.order, e.side)));
            break;
        case event_kind::order_cancelled: said_.push_back(terms("cancelled")); break;
        case event_kind::order_rejected: said_.push_back("rejected" + because); break;
        case event_kind::implied_top: implied_[e.instrument.value] = e.top; break;
        case event_kind::order_executed: write_execution(e); break;
        case event_kind::leg_capture:
            said_.push_back("leg: " + name_of(e.leg_fill.account) +
                            (e.side == domain::side::buy ? " buys " : " sells ") +
                            std::to_string(e.leg_fill.quantity.value) + " of " + std::to_string(e.instrument.value) +
                            " at " + std::to_string(e.leg_fill.price / tick_size_.value));
            break;
        case event_kind::order_status: said_.push_back(terms("has open")); break;
        case event_kind::position_reported:
            said_.push_back(e.instrument.value == 0 ? std::to_string(e.position.count) + " positions"
                                                    : name_of(e.position.account) +
                                                          (e.side == domain::side::buy ? " is long " : " is short ") +
                                                          std::to_string(e.position.quantity.value) + " of " +
                                                          std::to_string(e.instrument.value));
            break;
        case event_kind::quote_entered:
            said_.push_back(name_of(e.quote.account) + "'s quote stands with " +
                            std::to_string(e.quote.bid_quantity.value) + " and " +
                            std::to_string(e.quote.ask_quantity.value));
            break;
        case event_kind::protection_changed:
            said_.push_back(name_of(e.protection.account) + "'s protection: " + std::to_string(e.protection.fills) +
                            " fills, " + std::to_string(e.protection.quantity.value) + " lots" + because);
            break;
        case event_kind::request_done: said_.emplace_back("done"); break;
        case event_kind::session_numbers_reset:
            said_.push_back(name_of(e.numbers_reset.account) + "'s numbers begin again");
            break;
        case event_kind::statistics:
            // Only at the beginning of a day the volume is 0.
            if (e.volumes.volume.value == 0) {
                said_.push_back("a day begins with " + std::to_string(e.volumes.open_interest.value) +
                                " of open interest");
            }
            break;
        case event_kind::phase_changed:
            said_.push_back(
                "instrument " + std::to_string(e.instrument.value) +
                phase_names[static_cast<std::size_t>(e.phase.phase)] +
                (e.phase.resume_time.value == 0 ? "" : " until " + std::to_string(e.phase.resume_time.value)) +
                because);
            break;
        case event_kind::auction_indicative: said_.push_back("would trade " + auction_of(e.auction)); break;
        case event_kind::auction_ended: said_.push_back("auction trades " + auction_of(e.auction)); break;
        case event_kind::trade_capture:
            if (e.capture.order.value != 0) break;
            said_.push_back(name_of(e.capture.account) + (e.side == domain::side::sell ? "'s long " : "'s short ") +
                            std::to_string(e.capture.quantity.value) + " settled at " +
                            std::to_string(e.capture.price.value));
            break;
        case event_kind::instrument_settled:
            said_.push_back("instrument " + std::to_string(e.instrument.value) + " settled at " +
                            std::to_string(e.settlement.price.value));
            break;
        case event_kind::instrument_defined:
            said_.push_back("instrument " + std::to_string(e.instrument.value) + " " +
                            std::string(e.defined.name.view()) + " is like " + std::to_string(e.defined.like.value));
            break;
        default: break;
    }
}

void fact_writer::write_execution(const domain::event& e) {
    names_.learn(e.execution.client_order, e.execution.order);
    const std::string name =
        names_.name_of_order(e.execution.client_order, e.execution.account, e.execution.order, e.side);
    if ((e.flags & domain::event_flag::implied) != 0) {
        write_implied(e, name);
        return;
    }
    // In an auction there is no aggressor: the buyer is named first.
    if ((e.flags & domain::event_flag::aggressor) != 0 || aggressor_.empty()) {
        aggressor_ = name;
    } else {
        said_.push_back("trade " + std::to_string(e.execution.quantity.value) + " at " +
                        std::to_string(e.execution.price.value) + ": " + aggressor_ + " with " + name);
        aggressor_.clear();
    }
}

/// Three of these are one fill: the aggressor and two partners.
void fact_writer::write_implied(const domain::event& e, const std::string& name) {
    const std::string price = std::to_string(e.execution.price.value);
    if (aggressor_.empty()) {
        aggressor_ = name;
        said_.push_back("implied trade " + std::to_string(e.execution.quantity.value) + " at " + price + ": " + name);
        return;
    }
    const bool is_last = said_.back().find(" with ") != std::string::npos;
    said_.back() += (is_last ? " and " : " with ") + name + " at " + price;
    if (is_last) aggressor_.clear();
}

}  // namespace corro::rule_book
