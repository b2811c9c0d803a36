// SPDX-License-Identifier: Apache-2.0
// Laws of the LOBSTER decoders: they read what was written, independent of the pieces.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/test_bytes.hpp"
#include "base/test_seed.hpp"
#include "recorded/formats/drain_fixture.hpp"
#include "recorded/formats/lobster.hpp"

namespace corro::recorded::lobster {
namespace {

message random_message(std::mt19937_64& random, std::uint64_t line) {
    message m;
    m.line = line;
    m.since_midnight_ns = static_cast<std::int64_t>(random() % 86'400'000'000'000);
    m.type = static_cast<event_type>(1 + random() % 7);
    m.order_id = random();
    m.size = static_cast<std::uint32_t>(1 + random() % UINT32_MAX);
    m.side = random() % 2 == 0 ? domain::side::buy : domain::side::sell;
    if (m.type == event_type::trading_halt) {
        m.halt = static_cast<halt_state>(static_cast<int>(random() % 3) - 1);
        m.price = domain::no_price_nano;
    } else {
        m.price = domain::price_nano{static_cast<std::int64_t>(1 + random() % 9'999'999'997) * 100'000};
    }
    return m;
}

/// The line in the file's format, with a random number of decimals that is large enough.
std::string to_line(const message& m, std::mt19937_64& random) {
    std::string fraction = std::to_string(1'000'000'000 + m.since_midnight_ns % 1'000'000'000).substr(1);
    while (random() % 4 != 0 && !fraction.empty() && fraction.back() == '0') fraction.pop_back();
    std::string text = std::to_string(m.since_midnight_ns / 1'000'000'000);
    if (!fraction.empty()) text += "." + fraction;
    const std::int64_t price =
        m.type == event_type::trading_halt ? static_cast<std::int64_t>(m.halt) : m.price.value / 100'000;
    return text + "," + std::to_string(static_cast<int>(m.type)) + "," + std::to_string(m.order_id) + "," +
           std::to_string(m.size) + "," + std::to_string(price) + (m.side == domain::side::buy ? ",1" : ",-1");
}

/// Damages half of the texts: a fault must be found at the same position.
void damage(std::string& text, std::mt19937_64& random) {
    if (text.empty() || random() % 2 == 0) return;
    text[random() % text.size()] = "0123456789,.-\n\rx"[random() % 16];
}

template <class Decoder, class Equal>
void expect_same_at_any_cut(const std::string& text, std::mt19937_64& random, Equal keep) {
    using kept = decltype(keep(std::declval<const typename Decoder::record&>()));
    const auto read = [&](auto next_size) {
        std::vector<kept> records;
        Decoder decoder;
        const auto error =
            drain(decoder, base::bytes_of(text), next_size, [&](const auto& r) { records.push_back(keep(r)); });
        return std::pair{records, error};
    };
    const auto whole = read([&] { return text.size(); });
    EXPECT_EQ(read([] { return 1; }), whole);
    EXPECT_EQ(read([&] { return 1 + random() % 5; }), whole);
    EXPECT_EQ(read([&] { return 1 + random() % 200; }), whole);
}

TEST(lobster_laws, reading_what_was_written_gives_it_back) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 100; ++round) {
        std::vector<message> written;
        std::string text;
        for (std::size_t line = 1; line <= 1 + random() % 50; ++line) {
            written.push_back(random_message(random, line));
            text += to_line(written.back(), random) + (random() % 2 == 0 ? "\n" : "\r\n");
        }
        std::vector<message> read;
        message_decoder decoder;
        const auto error = drain(decoder, base::bytes_of(text), [&](const message& m) { read.push_back(m); });
        ASSERT_FALSE(error) << to_string(*error) << "\n" << text;
        ASSERT_EQ(read, written);
    }
}

TEST(lobster_laws, any_cut_of_a_message_file_gives_the_same_messages) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 100; ++round) {
        std::string text = random() % 2 == 0 ? "" : "Time,Type,OrderId,Size,Price,Direction\r\n";
        for (std::size_t line = random() % 20; line != 0; --line) {
            text += to_line(random_message(random, line), random) + (random() % 2 == 0 ? "\n" : "\r\n");
        }
        damage(text, random);
        expect_same_at_any_cut<message_decoder>(text, random, [](const message& m) { return m; });
    }
}

TEST(lobster_laws, any_cut_of_a_book_file_gives_the_same_books) {
    std::mt19937_64 random{base::test_seed()};
    for (int round = 0; round < 100; ++round) {
        const std::size_t levels = 1 + random() % 5;
        std::string text;
        for (std::size_t line = random() % 20; line != 0; --line) {
            for (std::size_t i = 0; i < levels; ++i) {
                if (i != 0) text += ",";
                const bool empty = random() % 4 == 0;
                text += empty ? "9999999999,0," : std::to_string(1 + random() % 5'000'000) + ",100,";
                text += empty ? "-9999999999,0" : std::to_string(1 + random() % 5'000'000) + ",7";
            }
            text += random() % 2 == 0 ? "\n" : "\r\n";
        }
        damage(text, random);
        expect_same_at_any_cut<book_decoder>(text, random, [](const book& b) {
            return std::pair{b.line, std::vector<level>(b.levels.begin(), b.levels.end())};
        });
    }
}

}  // namespace
}  // namespace corro::recorded::lobster
