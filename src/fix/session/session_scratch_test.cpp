// SPDX-License-Identifier: Apache-2.0
// Sessions that share their scratch do what sessions with one of their own do.
#include "fix/session/session_scratch.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "fix/codec/test_messages.hpp"
#include "fix/codec/values.hpp"
#include "fix/session/session.hpp"

namespace corro::fix {
namespace {

const instant now{1'000, *timestamp_value("20261123-10:00:00")};

/// An acceptor, and everything that it has written.
struct one_end {
    explicit one_end(session_scratch* scratch) : on(settings_of(scratch), store) { on.begin(now); }

    static session_settings settings_of(session_scratch* scratch) {
        session_settings settings;
        settings.identity.sender_comp_id = "ISLD";
        settings.identity.target_comp_id = "TW";
        settings.checks_structure = true;
        settings.scratch = scratch;
        return settings;
    }
    void take(const std::string& bytes) {
        act(on.take(bytes, next_frame(bytes, message_bytes_max), now));
        while (const auto kept = on.take_kept(now)) act(*kept);
        on.resend(64U * 1024, now);
    }
    void act(taken what) {
        if (what == taken::logon) return on.accept_logon(now);
        if (what != taken::by_application) return;
        if (on.message_number() % 5 == 0) return on.reject_business(3, "no", now);
        // The body is that of the order, which the report is written beside.
        message_writer& report = on.begin_message("8", now);
        report.put(11, *on.message().get(11));
        report.put(58, *on.message().get(58));
        EXPECT_NE(on.send(now), 0U);
    }
    /// Writes a part of the output, or takes all of it.
    void write(bool takes, std::size_t part) {
        if (takes) {
            on.take_output(&taken_out);
            written += taken_out;
            taken_out.clear();
            return;
        }
        const std::string_view ready = on.output();
        if (ready.empty()) return;
        const std::size_t bytes = 1 + part % ready.size();
        written += ready.substr(0, bytes);
        on.consume(bytes);
    }

    memory_store store;
    session on;
    std::string taken_out;
    std::string written;
};

TEST(session_scratch, is_shared_by_sessions_that_write_what_they_would_alone) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        std::mt19937 random(seed);
        session_scratch shared;
        std::array<std::unique_ptr<one_end>, 4> together;
        std::array<std::unique_ptr<one_end>, 4> alone;
        std::array<std::uint64_t, 4> number{};
        for (std::size_t i = 0; i < together.size(); ++i) {
            together[i] = std::make_unique<one_end>(&shared);
            alone[i] = std::make_unique<one_end>(nullptr);
        }
        for (int step = 0; step < 600; ++step) {
            const std::size_t which = random() % together.size();
            const bool begins = number[which]++ == 0;
            const auto kind = begins ? 9U : random() % 8;
            // Now and then a number is left out, and filled behind the message, which is kept; a ResendRequest is not.
            const bool skips = !begins && kind != 1 && random() % 20 == 0;
            if (skips) ++number[which];
            std::string body;
            switch (kind) {
                case 9: body = "35=A|98=0|108=30|"; break;
                case 0: body = "35=1|112=test" + std::to_string(step) + "|"; break;
                case 1: body = "35=2|7=1|16=0|"; break;
                case 2: body = "35=D|11=twice|11=twice|58=x|"; break;
                default: body = "35=D|11=" + std::to_string(step) + "|58=" + std::string(1 + random() % 90, 'x') + "|";
            }
            const std::size_t type_end = body.find('|') + 1;
            body.insert(type_end, "34=" + std::to_string(number[which]) + "|49=TW|52=20261123-10:00:00|56=ISLD|");
            const std::string bytes = testing::framed(body);
            const std::string fill =
                testing::framed("35=4|34=" + std::to_string(number[which] - 1) +
                                "|49=TW|52=20261123-10:00:00|56=ISLD|36=" + std::to_string(number[which]) + "|123=Y|");
            const bool takes = random() % 3 == 0;
            const std::size_t part = random();
            for (one_end* each : {together[which].get(), alone[which].get()}) {
                each->take(bytes);
                if (skips) each->take(fill);
                each->write(takes, part);
            }
            ASSERT_EQ(testing::in_words(together[which]->on.output()), testing::in_words(alone[which]->on.output()))
                << "seed " << seed << ", step " << step;
        }
        for (std::size_t i = 0; i < together.size(); ++i) {
            EXPECT_EQ(together[i]->written, alone[i]->written) << "seed " << seed;
            EXPECT_GT(alone[i]->written.size(), 1'000U);
            EXPECT_GT(alone[i]->written.size() + alone[i]->on.output().size(), 10'000U);
            EXPECT_EQ(alone[i]->on.phase(), session_phase::active);
        }
    }
}

TEST(session_scratch, lends_the_memory_of_the_last_output_to_the_next) {
    session_scratch shared;
    one_end first(&shared);
    one_end second(&shared);
    const std::string bytes = testing::framed("35=A|34=1|49=TW|52=20261123-10:00:00|56=ISLD|98=0|108=30|");
    first.take(bytes);
    const void* const memory = first.on.output().data();
    EXPECT_FALSE(first.on.output().empty());
    first.on.consume(first.on.output().size());
    second.take(bytes);
    EXPECT_EQ(second.on.output().data(), memory);
    // Before that is written, the first one needs its own.
    first.take(testing::framed("35=1|34=2|49=TW|52=20261123-10:00:00|56=ISLD|112=x|"));
    EXPECT_NE(first.on.output().data(), memory);
    EXPECT_NE(second.on.output().find("35=A"), std::string_view::npos);
    EXPECT_NE(first.on.output().find("35=0"), std::string_view::npos);
}

TEST(session, has_no_message_when_a_connection_begins) {
    one_end peer(nullptr);
    {
        const std::string logon = testing::framed("35=A|34=1|49=TW|52=20261123-10:00:00|56=ISLD|98=0|108=30|");
        peer.take(logon);
        const std::string logout = testing::framed("35=5|34=2|49=TW|52=20261123-10:00:00|56=ISLD|58=good night|");
        peer.take(logout);
        ASSERT_EQ(peer.on.message().get(58), "good night");
    }
    peer.on.end();
    // The bytes are gone, and this connection brings none.
    peer.on.begin(now);
    EXPECT_TRUE(peer.on.message().fields().empty());
    EXPECT_EQ(peer.on.message().get(58), std::nullopt);
    EXPECT_EQ(peer.on.message().message_type(), "");
    EXPECT_EQ(peer.on.message().bytes(), "");
}

}  // namespace
}  // namespace corro::fix
