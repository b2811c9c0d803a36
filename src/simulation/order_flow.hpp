// SPDX-License-Identifier: Apache-2.0
// What one trader asks of the venue, and what it has learned of its requests and orders.
//
// It draws orders of many kinds, amends, cancels and queries, and takes the answers. What contradicts an earlier answer
// is a violation of a promise.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/random.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

/// A request, with its virtual times.
struct sent_request {
    domain::command what;
    std::int64_t sent_ns = 0;
    std::int64_t answered_ns = 0;  ///< 0: not answered
    bool is_refused = false;       ///< by the session: it had no effect
    std::uint32_t parts = 1;       ///< commands that it becomes
};

/// Whether such a request goes to all partitions of a venue, as far as clients of a simulated run send it. A crash may
/// then take it from some of them.
[[nodiscard]] bool is_for_all_partitions(domain::command_kind kind) noexcept;

class order_flow {
 public:
    static constexpr std::size_t open_orders_max = 48;

    /// @param first_order_name  Its orders are named from this number on.
    order_flow(std::vector<domain::instrument> instruments, std::uint64_t first_order_name, std::uint64_t seed,
               findings* found)
        : instruments_(std::move(instruments)), random_(seed), next_order_name_(first_order_name), found_(found) {}
    order_flow(const order_flow&) = delete;
    order_flow& operator=(const order_flow&) = delete;
    virtual ~order_flow() = default;

    /// The next request; the session fills in session, account and number.
    /// @param wall  The time of day, for orders that expire.
    [[nodiscard]] virtual domain::command next_request(domain::time_ns wall);
    /// The venue has defined more instruments.
    void set_instruments(std::vector<domain::instrument> all) { instruments_ = std::move(all); }
    [[nodiscard]] const std::vector<domain::instrument>& instruments() const noexcept { return instruments_; }
    /// It was sent, under the next number.
    void sent(std::uint32_t number, const domain::command& what, std::int64_t now_ns);
    /// An event of the session. @return Whether it completes the answer to a request.
    bool take(const domain::event& event, std::int64_t now_ns);
    /// The session has refused a request, which then had no effect.
    void refused(std::uint32_t number, std::int64_t now_ns);
    /// The session has connected again. The venue has accepted requests below `number` only; the others are sent again,
    /// unless they were refused. Refusals of accepted numbers may have been lost with the connection.
    void connected_again(std::uint64_t number, bool may_have_been_refused);
    /// Whether a refusal may have been lost, and `query_all` should be sent to find out. Its answer comes after those
    /// to all requests before it.
    [[nodiscard]] bool wants_query() const noexcept { return is_in_doubt_ && query_in_doubt_ == 0; }
    [[nodiscard]] static domain::command query_all();

    [[nodiscard]] std::size_t open_orders_count() const noexcept { return open_.size(); }
    [[nodiscard]] std::size_t outstanding_count() const noexcept { return outstanding_.size(); }
    [[nodiscard]] std::uint64_t fills_count() const noexcept { return fills_count_; }
    [[nodiscard]] std::uint64_t refused_count() const noexcept { return refused_count_; }
    /// By number, from 1.
    [[nodiscard]] const std::vector<sent_request>& requests() const noexcept { return requests_; }

 protected:
    [[nodiscard]] base::prng& random() noexcept { return random_; }

 private:
    struct open_order {
        domain::instrument_id instrument{};
        domain::side side{};
        std::uint32_t quantity = 0;
    };
    [[nodiscard]] domain::command enter(domain::time_ns wall);
    [[nodiscard]] domain::command amend();
    [[nodiscard]] domain::command cancel();
    void draw_type(domain::command& order, const domain::instrument& of, domain::time_ns wall);
    [[nodiscard]] domain::price_ticks price_for(const domain::instrument& of, domain::side side);
    [[nodiscard]] domain::quantity_lots quantity_for(const domain::instrument& of);
    /// @pre The venue has defined it.
    [[nodiscard]] const domain::instrument& instrument(domain::instrument_id id) const;
    [[nodiscard]] std::map<std::uint64_t, open_order>::const_iterator some_order();
    void settle_doubts(std::int64_t now_ns);
    void note_answer(const domain::event& event, std::int64_t now_ns);
    [[nodiscard]] bool is_lost_in_part(const domain::event& event, std::uint32_t number) const;
    [[nodiscard]] std::uint32_t number_of_answered(const domain::event& event) const;
    void follow_order(const domain::event& event);

    std::vector<domain::instrument> instruments_;
    base::prng random_;
    std::uint64_t next_order_name_;
    findings* found_;
    std::map<std::uint64_t, open_order> open_;  ///< by name
    std::vector<sent_request> requests_;
    std::set<std::uint32_t> outstanding_;
    bool is_in_doubt_ = false;  ///< which of the outstanding requests were refused
    std::uint64_t doubtful_end_ = 0;
    std::uint32_t query_in_doubt_ = 0;  ///< the outstanding query that settles it
    std::uint64_t fills_count_ = 0;
    std::uint64_t refused_count_ = 0;
};

}  // namespace corro::simulation
