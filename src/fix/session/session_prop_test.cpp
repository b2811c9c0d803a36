// SPDX-License-Identifier: Apache-2.0
// Two sessions talk to one another over a connection that breaks anywhere, and whose ends are made again from their
// stores. Every message of an application arrives at the other once, and in order.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "fix/codec/values.hpp"
#include "fix/session/session.hpp"

namespace corro::fix {
namespace {

constexpr std::int64_t second = 1'000'000'000;

/// One end: what outlives its connections, and the session of the present one.
struct talking_end {
    memory_store store;
    std::unique_ptr<session> now;
    std::string arrived;               ///< and not taken yet
    std::uint64_t sent_count = 0;      ///< the application's messages hold the numbers from 1 to this one
    std::uint64_t received_count = 0;  ///< of the other application's messages
    std::string wrong;                 ///< what must not happen
};

session_settings settings_of(session_side side) {
    session_settings made;
    made.side = side;
    made.identity.sender_comp_id = side == session_side::acceptor ? "A" : "I";
    made.identity.target_comp_id = side == session_side::acceptor ? "I" : "A";
    made.heartbeat = std::chrono::seconds(10);
    made.messages_kept_max = 8;  // so that some are dropped behind a gap
    return made;
}

class conversation {
 public:
    conversation(std::uint64_t seed, bool next_expected) : random_(seed), next_expected_(next_expected) {
        time_.steady = second;
        time_.wall = *timestamp_value("20261123-10:00:00");
    }

    void play(int steps) {
        for (int i = 0; i < steps && wrong().empty(); ++i) step();
        // Nothing breaks any more.
        for (int i = 0; i < 2'000 && !is_settled() && wrong().empty(); ++i) {
            if (!is_connected_) connect();
            pass(second);
            for (std::size_t k = 0; k < 2; ++k) move(k, 1'000'000);
        }
    }

    [[nodiscard]] std::string wrong() const { return ends_[0].wrong + ends_[1].wrong; }
    [[nodiscard]] bool is_settled() const {
        return is_connected_ && ends_[0].received_count == ends_[1].sent_count &&
               ends_[1].received_count == ends_[0].sent_count && ends_[0].now->phase() == session_phase::active &&
               ends_[1].now->phase() == session_phase::active;
    }
    [[nodiscard]] std::uint64_t messages_count() const { return ends_[0].sent_count + ends_[1].sent_count; }
    [[nodiscard]] int breaks_count() const { return breaks_count_; }

 private:
    void step() {
        if (!is_connected_) return connect();
        switch (random_.below(16)) {
            case 0: return random_.below(4) == 0 ? cut() : pass(second * static_cast<std::int64_t>(random_.below(15)));
            case 1:
            case 2:
            case 3:
            case 4:
            case 5: return send(random_.below(2));
            default: return move(random_.below(2), random_.below(400));
        }
    }

    void connect() {
        is_connected_ = true;
        for (std::size_t k = 0; k < 2; ++k) {
            talking_end& e = ends_[k];
            e.arrived.clear();
            if (e.now == nullptr || random_.below(2) == 0) {
                session_settings settings = settings_of(k == 0 ? session_side::acceptor : session_side::initiator);
                settings.sends_next_expected = next_expected_;
                e.now = std::make_unique<session>(settings, e.store);
            }
            e.now->begin(time_);
        }
    }

    // What is under way is lost.
    void cut() {
        is_connected_ = false;
        ++breaks_count_;
        for (talking_end& e : ends_) e.now->end();
    }

    void pass(std::int64_t time) {
        time_.steady += time;
        time_.wall += time;
        for (talking_end& e : ends_) {
            if (e.now != nullptr) e.now->pass(time_);
        }
        close_if_over();
    }

    void send(std::size_t k) {
        talking_end& e = ends_[k];
        if (e.now == nullptr || !e.now->may_send()) return;
        message_writer& writer = e.now->begin_message("B", time_);
        writer.put(148, ++e.sent_count);
        writer.put(58, std::string(1 + random_.below(60), 'x'));
        if (e.now->send(time_) == 0) e.wrong = "a message cannot be sent";
    }

    // Some bytes go from one end to the other, which takes the messages that are whole.
    void move(std::size_t from, std::size_t bytes) {
        talking_end& source = ends_[from];
        talking_end& target = ends_[1 - from];
        if (!is_connected_) return;
        source.now->resend(500, time_);
        const std::string_view ready = source.now->output().substr(0, bytes);
        target.arrived += ready;
        source.now->consume(ready.size());
        while (is_connected_) {
            const frame_result frame = next_frame(target.arrived, message_bytes_max_default);
            if (frame.state == frame_state::incomplete) break;
            if (frame.state == frame_state::garbled) target.wrong = "garbled: " + std::string(to_string(frame.fault));
            take(&target, target.now->take(target.arrived, frame, time_));
            while (const auto kept = target.now->take_kept(time_)) take(&target, *kept);
            target.arrived.erase(0, frame.bytes);
            close_if_over();
        }
    }

    void take(talking_end* e, taken what) {
        if (what == taken::logon) e->now->accept_logon(time_);
        if (what != taken::by_application) return;
        const auto number = unsigned_value(e->now->message().get(148).value_or(""));
        if (number != e->received_count + 1) {
            e->wrong = "message " + std::to_string(number.value_or(0)) + " behind " + std::to_string(e->received_count);
        }
        ++e->received_count;
    }

    void close_if_over() {
        if (!is_connected_) return;
        for (talking_end& e : ends_) {
            if (e.now->phase() != session_phase::over) continue;
            // A silent peer is an end like any other; what two sound ends say to one another is never refused.
            const std::string why(e.now->ended_because());
            if (why.find("TestRequest") == std::string::npos && why.find("in time") == std::string::npos) e.wrong = why;
        }
        if (ends_[0].now->phase() == session_phase::over || ends_[1].now->phase() == session_phase::over) cut();
    }

    base::prng random_;
    bool next_expected_;
    instant time_;
    std::array<talking_end, 2> ends_;
    bool is_connected_ = false;
    int breaks_count_ = 0;
};

TEST(fix_session_prop, every_message_arrives_once_and_in_order_over_any_number_of_broken_connections) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t messages = 0;
    int breaks = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed << ", conversation " << i);
        conversation talk(seed + i, i % 2 == 1);
        talk.play(400);
        ASSERT_EQ(talk.wrong(), "");
        ASSERT_TRUE(talk.is_settled());
        messages += talk.messages_count();
        breaks += talk.breaks_count();
    }
    EXPECT_GT(messages, 10'000U);
    EXPECT_GT(breaks, 1'000);
}

}  // namespace
}  // namespace corro::fix
