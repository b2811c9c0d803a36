// SPDX-License-Identifier: Apache-2.0
// Order entry by FIX for programs that speak in commands and events: commands become requests of a fix::session, and
// its reports become the events that Corro Binary would have sent.
//
// An order's ClOrdID (11) is the `client_order` of its command. A change of an order needs a ClOrdID of its own, and an
// amended order has that name from then on; events have the first one all the time. Changes name the order by its
// OrderID (37).
//
// What reports contain is checked: CumQty (14) is the sum of the fills, OrderQty (38) that and LeavesQty (151).
//
// Limits:  one session of one account.
// Threads: one context. Cost: no allocation per message after the tables have grown.
// Source:  docs/spec/fix_orders.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>
#include <vector>

#include "base/flat_map.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "fix/codec/message_writer.hpp"
#include "fix/session/session.hpp"
#include "fix_gateway/symbols.hpp"
#include "wire/instrument_table.hpp"

namespace corro::fix_trading {

/// A message of the venue.
struct fix_answer {
    /// event_flag::last_of_request is set if it completes the answer to a request.
    domain::event event;
    std::uint32_t request_number = 0;  ///< MsgSeqNum (34) of the request that is complete; 0: none
    bool is_reject = false;            ///< a Reject (3) or BusinessMessageReject (j): the request was not sequenced
    std::string_view text;             ///< Text (58), until the session takes its next message
};

class fix_orders {
 public:
    /// @param instruments   Outlives this; those of the venue.
    /// @param changes_base  ClOrdIDs of changes are numbers above this. They differ from those of all other requests of
    ///                      the account, also of earlier runs.
    fix_orders(const wire::instrument_table& instruments, std::uint64_t changes_base);

    /// Sends a request: an enter_order, amend_order, cancel_order or query_order of an order with its `client_order`,
    /// a query_order for the account's positions, or a cancel_orders of all or of one instrument, for the whole
    /// account.
    /// @return  Its MsgSeqNum (34); 0 if it was not sent: FIX has no such request, the instrument is not known, or the
    ///          session has ended.
    /// @pre     on.may_send() (asserted by the session).
    [[nodiscard]] std::uint64_t send(fix::session& on, const domain::command& request, fix::instant now);

    /// Reads the message that the session has taken last.
    /// @return  Nothing for a message that concerns no order.
    /// @error   A sentence: what contradicts the rules or earlier reports.
    [[nodiscard]] std::expected<std::optional<fix_answer>, std::string_view> read(const fix::field_index& message);

    /// Requests without a complete answer.
    [[nodiscard]] std::size_t unanswered_count() const noexcept { return sent_.size() - answered_; }

 private:
    struct sent_request {
        std::uint64_t name = 0;  ///< ClOrdID (11)
        domain::client_order_id client_order{};
        std::uint64_t number = 0;  ///< MsgSeqNum (34)
        domain::command_kind kind{};
    };
    struct known_order {
        std::uint64_t order = 0;  ///< OrderID (37); 0: no report has come
        std::uint64_t name = 0;   ///< ClOrdID (11) now, if it was amended; otherwise 0
        std::uint64_t filled_units = 0;
    };
    using read_result = std::expected<std::optional<fix_answer>, std::string_view>;

    void write(const domain::command& request, const domain::instrument* i, std::uint64_t name, std::int64_t time,
               fix::message_writer& into) const;
    [[nodiscard]] read_result read_report(const fix::field_index& message);
    [[nodiscard]] read_result read_cancel_reject(const fix::field_index& message);
    [[nodiscard]] read_result read_mass_report(const fix::field_index& message);
    [[nodiscard]] read_result read_refusal(const fix::field_index& message);
    [[nodiscard]] read_result read_positions_ack(const fix::field_index& message);
    [[nodiscard]] read_result read_position(const fix::field_index& message);
    [[nodiscard]] sent_request* find_sent(std::uint64_t name) noexcept;
    void complete(sent_request& request, fix_answer& by) noexcept;
    void close(domain::client_order_id client_order) noexcept;

    fix_gateway::symbols symbols_;
    base::flat_map<known_order> orders_;     ///< the open ones, by client_order
    base::flat_map<std::uint64_t> amended_;  ///< client_order, by the ClOrdID that an open order has instead of it
    std::vector<sent_request> sent_;         ///< in the order of sending; the first `answered_` are answered
    std::size_t answered_ = 0;
    std::uint64_t positions_left_ = 0;  ///< of the answer to a question for positions, which has begun
    std::uint64_t next_change_;
};

}  // namespace corro::fix_trading
