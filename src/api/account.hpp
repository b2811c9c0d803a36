// SPDX-License-Identifier: Apache-2.0
// One API key's session with the venue: its orders, and the requests of all clients that have authenticated with it.
//
// It is a client of the venue by Corro Binary, as any other: an answer comes when its command is in the journal. The
// session outlives its connections and the API. At the first logon it asks for all answers from the first on, so
// orders, trades and positions are those of the venue's answer log, and no file of the API is needed.
//
// Limits:  requests_waiting_max, request_timeout. Threads: one context.
// Source:  docs/spec/corro_binary.md; docs/spec/api.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/errors.hpp"
#include "api/own_orders.hpp"
#include "client/order_session.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "wire/authentication.hpp"
#include "wire/generated/corro_binary.hpp"

namespace corro::api {

/// Bytes of a client_id.
inline constexpr std::size_t client_id_bytes_max = 64;

/// A key by which clients authenticate.
struct api_key {
    std::string client_id;
    wire::api_key secret{};  ///< of the account; clients send it as 64 hexadecimal digits
    domain::account_id account;
    std::uint32_t session_number = 1;  ///< of the account's session that only the API uses
};

/// The answer to one quote of a request.
struct quote_result {
    domain::instrument_id instrument;
    domain::reject_reason reason = domain::reject_reason::none;  ///< none: it stands
    std::uint32_t bid_lots = 0;                                  ///< open
    std::uint32_t ask_lots = 0;
};

/// The result of a request to the venue.
struct outcome {
    outcome() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    enum class kind : std::uint8_t {
        done,
        refused,      ///< by the venue: `reason`
        unavailable,  ///< it was not sent: there is no connection, or too much is waiting
        not_taken,    ///< the venue has refused the message itself: `not_taken_because`; it had no effect
        timed_out,    ///< it was sent, and its answer has not come
    };
    kind what = kind::unavailable;
    domain::reject_reason reason = domain::reject_reason::none;
    wire::session_reject_reason not_taken_because = wire::session_reject_reason::none;
    domain::order_id order;
    std::uint32_t cancelled_count = 0;
    std::vector<own_trade> trades;     ///< of an order that traded at once
    std::vector<quote_result> quotes;  ///< of a request with quotes, in their order
};

/// Who is told of changes.
class account_listener {
 public:
    /// @param change  Valid within the call.
    virtual void on_change(const own_change& change, const domain::instrument& in) = 0;

 protected:
    ~account_listener() = default;
};

class account {
 public:
    /// Requests that wait for their answers.
    static constexpr std::size_t requests_waiting_max = 1'000;
    static constexpr std::chrono::seconds request_timeout{10};
    static constexpr std::chrono::milliseconds retry_interval{200};
    static constexpr std::chrono::milliseconds heartbeat{1'000};

    account(io::context& on, client::venue_endpoint venue, api_key key)
        : context_(&on), venue_(std::move(venue)), key_(std::move(key)) {}
    account(const account&) = delete;
    account& operator=(const account&) = delete;

    /// Keeps the session on until it is stopped; then logs out. @suspend Until then.
    [[nodiscard]] io::task<> run();
    /// Ends `run` after what is queued has been sent.
    void close() noexcept;

    /// Sends a request and waits for its answer. An order's client order id is given here, from `mark`, whose counter
    /// is replaced.
    /// @suspend Until the answer, at most `request_timeout`. @cancel Gives up waiting; the request stays sent.
    [[nodiscard]] io::task<outcome> enter(domain::command order, order_mark mark);
    [[nodiscard]] io::task<outcome> request(domain::command what);
    /// The same for 1 to wire::mass_quote_max quotes in different instruments, with one client order id.
    [[nodiscard]] io::task<outcome> quote(std::vector<domain::command> quotes, order_mark mark);
    /// Asks for the venue's status, as only operators may. @return One for each partition, in their order.
    /// @error locked_by_admin for others, retry without a connection, timed_out.
    /// @suspend Until the answer, at most `request_timeout`.
    [[nodiscard]] io::task<std::expected<std::vector<wire::venue_status>, api_error>> ask_status();
    /// Cancels those that are open, and does not wait. While the session is off they wait: the venue has then cancelled
    /// what was not to stay.
    void cancel_all_of(const std::vector<domain::order_id>& orders);
    /// Withdraws the session's quotes in these instruments in the same way.
    void withdraw_quotes(const std::vector<domain::instrument_id>& in);

    [[nodiscard]] bool is_on() const noexcept { return is_on_; }
    /// Whether it has ever been on: without that, nothing is known of its orders.
    [[nodiscard]] bool has_logged_on() const noexcept { return session_ != nullptr; }
    [[nodiscard]] const api_key& key() const noexcept { return key_; }
    [[nodiscard]] const own_orders& orders() const noexcept { return orders_; }
    /// nullptr if the venue has not defined it.
    [[nodiscard]] const domain::instrument* find(domain::instrument_id id) const noexcept;
    /// Whether earlier answers are missing, because the venue keeps them no longer: positions are not known then, and
    /// orders may have traded more than is known.
    [[nodiscard]] bool is_incomplete() const noexcept { return is_incomplete_; }

    void add(account_listener& who) { listeners_.push_back(&who); }
    void remove(account_listener& who) { std::erase(listeners_, &who); }

 private:
    struct pending_request {
        std::uint32_t number = 0;
        domain::client_order_id name;  ///< of the order that it enters; 0 for none
        outcome result;
        bool has_quotes = false;
        std::vector<domain::order_id> filled;  ///< orders of it that have traded
        std::uint32_t fills_count = 0;
        std::uint32_t captures_count = 0;
        bool is_answered = false;
        io::manual_event done;
    };
    class registered;
    class asking;
    /// A question for the venue's status.
    struct pending_status {
        std::uint64_t number = 0;
        std::vector<wire::venue_status> told;
        bool is_refused = false;
        io::manual_event done;
    };

    [[nodiscard]] io::task<bool> connect();
    [[nodiscard]] io::task<> write();
    [[nodiscard]] io::task<> read();
    void take(const client::answer& from);
    void queue_cancels() noexcept;
    void ask_open_orders(domain::order_id behind) noexcept;
    void take(const wire::venue_status& status);
    void refuse_status() noexcept;
    void correlate(const domain::event& event, const own_change& change);
    [[nodiscard]] pending_request* pending_of(const domain::event& event) noexcept;
    [[nodiscard]] io::task<outcome> wait_for(std::uint32_t request, domain::client_order_id name, bool has_quotes);
    [[nodiscard]] io::task<outcome> send_and_wait(domain::command what, domain::client_order_id name);
    [[nodiscard]] domain::client_order_id next_name(order_mark mark);

    io::context* context_;
    client::venue_endpoint venue_;
    api_key key_;
    std::unique_ptr<client::order_session> session_;
    own_orders orders_;
    std::map<std::uint32_t, pending_request*> pending_;
    std::vector<pending_status*> pending_status_;
    std::uint64_t status_number_ = 0;
    std::vector<account_listener*> listeners_;
    std::vector<domain::order_id> to_cancel_;
    std::vector<domain::instrument_id> to_withdraw_;
    io::auto_event to_write_;
    io::manual_event closed_;
    std::uint32_t last_counter_ = 0;
    bool is_on_ = false;
    bool is_incomplete_ = false;
    bool has_ended_earlier_life_ = false;  ///< what an API before this one has left to end
    bool closing_ = false;
};

}  // namespace corro::api
