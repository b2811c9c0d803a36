// SPDX-License-Identifier: Apache-2.0
// Who gets what: the requests of each client, and the turns in which they are served.
//
// Work is done in turns, each of which writes a bounded number of entries; between them the context serves others. A
// round begins when every client with room has got everything: it marks the subscriptions of what has changed since.
// A client without room stays out of the rounds. When it has room again it gets the newest state.
//
// Threads: the publisher's context. Limits: fix_market_data/limits.hpp.
// Cost:    a round costs what has changed times its subscriptions; nothing for those that have not changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fix/session/session.hpp"
#include "fix_market_data/markets.hpp"
#include "fix_market_data/request.hpp"
#include "fix_market_data/subscription.hpp"
#include "market_data/feed_publisher.hpp"

namespace corro::fix_market_data {

class distribution;

/// What a client's messages are written to.
class outlet {
 public:
    outlet(const outlet&) = delete;
    outlet& operator=(const outlet&) = delete;

    [[nodiscard]] virtual fix::session& session() noexcept = 0;
    [[nodiscard]] virtual fix::instant now() const noexcept = 0;
    /// Whether more may be written.
    [[nodiscard]] virtual bool has_room() noexcept = 0;
    /// Messages were written into the session's output.
    virtual void flush() noexcept = 0;
    /// Trades that the client lacks are not there any more.
    virtual void give_up() noexcept = 0;

 protected:
    outlet() noexcept = default;
    ~outlet() = default;
};

/// The requests of one client.
class client_subscriptions {
 public:
    /// Both outlive this.
    client_subscriptions(distribution& among, outlet& to, fix_version version);
    client_subscriptions(const client_subscriptions&) = delete;
    client_subscriptions& operator=(const client_subscriptions&) = delete;
    ~client_subscriptions();

    /// Takes a sound request.
    /// @return Why it is refused, if it is; it has no effect then.
    [[nodiscard]] request_problem take(const market_data_request& request);
    /// The outlet has room again.
    void resume();

    [[nodiscard]] fix_version version() const noexcept { return version_; }
    [[nodiscard]] std::size_t count() const noexcept { return all_.size(); }

 private:
    friend class distribution;

    [[nodiscard]] request_problem begin(const market_data_request& request);
    void end(request_terms& request);
    void add(request_terms& to, market& about);
    void remove(subscription& gone);
    void mark(subscription& what);
    [[nodiscard]] std::size_t write(subscription& what);
    [[nodiscard]] std::size_t serve(std::size_t entries_max);

    distribution& among_;
    outlet& to_;
    fix_version version_;
    std::map<std::string, std::unique_ptr<request_terms>, std::less<>> requests_;
    std::vector<std::unique_ptr<subscription>> all_;
    std::deque<subscription*> behind_;
    std::size_t levels_count_ = 0;  ///< of both sides, of all subscriptions
    bool is_ready_ = false;         ///< stands in the distribution's list
};

class distribution {
 public:
    /// `publisher` outlives this.
    explicit distribution(const market_data::feed_publisher& publisher) : all_(publisher) {}
    distribution(const distribution&) = delete;
    distribution& operator=(const distribution&) = delete;

    [[nodiscard]] markets& all() noexcept { return all_; }
    /// Reads what was added to the feed.
    void catch_up() { all_.catch_up(); }
    /// Serves for one turn. False when there is nothing left to do.
    bool take_turn();
    /// Whether a turn would do something.
    [[nodiscard]] bool has_work() const noexcept {
        return all_.is_between_commands() && (!ready_.empty() || all_.has_changed());
    }
    [[nodiscard]] std::uint64_t entries_written() const noexcept { return entries_written_; }

 private:
    friend class client_subscriptions;
    void begin_round();

    markets all_;
    std::deque<client_subscriptions*> ready_;
    std::vector<market*> of_round_;
    std::vector<entry> entries_;  ///< of the message that is being written
    std::uint64_t entries_written_ = 0;
};

}  // namespace corro::fix_market_data
