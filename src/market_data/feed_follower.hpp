// SPDX-License-Identifier: Apache-2.0
// What follows a feed: sends its messages somewhere, from the feed log.
//
// A follower is added to a `feed_publisher`. It keeps its own position in the feed log, so followers do not know each
// other, and one that is slow delays none. The ports of subscribers and the UDP lines are followers.
//
// Threads: the publisher's context.
// Cost:    one virtual call for each batch of events, and for each `keep_up_bytes` of a large batch.
#pragma once

namespace corro::market_data {

class feed_follower {
 public:
    feed_follower(const feed_follower&) = delete;
    feed_follower& operator=(const feed_follower&) = delete;

    /// Messages may have been added to the feed log: begins to send them. Called once per batch of events; must not
    /// publish.
    virtual void flush() noexcept = 0;
    /// A part of the log was filled since the last call, and the turn goes on: takes from the log what it may overwrite
    /// before the next `flush`. Called between two events, perhaps of one command. Must not wait, publish, or cut
    /// a reader that had no time to read.
    virtual void keep_up() noexcept = 0;
    /// No further message will come: sends the rest and the end of the session. Called once.
    virtual void close() noexcept = 0;

 protected:
    feed_follower() noexcept = default;
    ~feed_follower() = default;
};

}  // namespace corro::market_data
