// SPDX-License-Identifier: Apache-2.0
// Malicious peers: tests TLS against raw bytes, and against OpenSSL without our settings.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_bytes.hpp"
#include "base/test_seed.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/event.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"

namespace corro::io {
namespace {

using base::bytes_of;

using namespace std::chrono_literals;

/// OpenSSL as a client without any of our settings, over a plain stream.
class raw_client {
 public:
    raw_client(unix_stream* over, int version, const char* ciphers)
        : over_(over), settings_(::SSL_CTX_new(TLS_client_method())) {
        ::SSL_CTX_set_security_level(settings_, 0);
        SSL_CTX_set_min_proto_version(settings_, version);
        SSL_CTX_set_max_proto_version(settings_, version);
        if (ciphers != nullptr) {
            EXPECT_EQ(::SSL_CTX_set_cipher_list(settings_, ciphers), 1);
        }
        ssl_ = ::SSL_new(settings_);
        in_ = ::BIO_new(::BIO_s_mem());
        out_ = ::BIO_new(::BIO_s_mem());
        ::SSL_set_bio(ssl_, in_, out_);
        ::SSL_set_connect_state(ssl_);
    }
    raw_client(const raw_client&) = delete;
    raw_client& operator=(const raw_client&) = delete;
    ~raw_client() {
        ::SSL_free(ssl_);
        ::SSL_CTX_free(settings_);
        ::ERR_clear_error();
    }

    [[nodiscard]] SSL* ssl() const noexcept { return ssl_; }

    /// Repeats `step` (a call of OpenSSL) until it is done or has failed. @return its last result.
    template <class Step>
    task<int> drive(Step step) {
        for (;;) {
            const int result = step(ssl_);
            const int why = ::SSL_get_error(ssl_, result);
            ::ERR_clear_error();
            const bool sent = co_await send();
            if (result > 0 || why != SSL_ERROR_WANT_READ || !sent) co_return result;
            std::array<std::byte, 20'000> room{};
            const io_result got = co_await over_->read_some(room);
            if (!got) co_return -1;
            ::BIO_write(in_, room.data(), static_cast<int>(got.bytes));
        }
    }

    task<bool> send() {
        std::array<std::byte, 20'000> room{};
        for (;;) {
            const int count = ::BIO_read(out_, room.data(), static_cast<int>(room.size()));
            if (count <= 0) co_return true;
            const io_result sent = co_await over_->write_all(std::span(room).first(static_cast<std::size_t>(count)));
            if (!sent) co_return false;
        }
    }

 private:
    unix_stream* over_;
    SSL_CTX* settings_;
    SSL* ssl_ = nullptr;
    BIO* in_ = nullptr;
    BIO* out_ = nullptr;
};

class tls_attacks : public on_backend {
 protected:
    /// Runs `body(the attacker's plain end, the server's result)` during the server's handshake.
    template <class Body>
    void against_server(Body body) {
        const auto whole = [](context* on, Body inner) -> task<> {
            auto pair = unix_stream::pair(*on);
            CORRO_REQUIRE(pair.has_value());
            const auto attack = [](unix_stream* over, Body what) -> task<> { co_await what(over); };
            auto [accepted, done] = co_await when_all(secure_stream::accept(std::move(pair->second), server_context()),
                                                      attack(&pair->first, inner));
            EXPECT_FALSE(accepted.has_value());
        };
        block_on(ctx, whole(&ctx, body));
    }
};

TEST_P(tls_attacks, a_connection_that_is_cut_is_truncated_and_not_ended) {
    const auto whole = [](context* on) -> task<> {
        tls_pair pair = co_await shake_hands(on, client_context(), server_context(), "localhost");
        CORRO_REQUIRE(pair.ok());
        co_await pair.client->write_all(bytes_of("pay 10"));
        EXPECT_FALSE(pair.client->next().shutdown_send()) << "as if somebody on the way had cut it";
        std::array<std::byte, 64> room{};
        io_result got = co_await pair.server->read_exact(room);
        EXPECT_EQ(got.bytes, 6U) << "what came before stays";
        EXPECT_EQ(got.error, tls_errc::truncated);
        EXPECT_FALSE(got.error == condition::end_of_stream);
        got = co_await pair.server->read_some(room);
        EXPECT_EQ(got.error, tls_errc::truncated);
    };
    block_on(ctx, whole(&ctx));
}

TEST_P(tls_attacks, renegotiation_is_refused_and_ends_the_connection) {
    const auto whole = [](context* on) -> task<> {
        auto pair = unix_stream::pair(*on);
        CORRO_REQUIRE(pair.has_value());
        raw_client attacker(&pair->first, TLS1_2_VERSION, nullptr);
        const auto serve = [](unix_stream end, std::error_code* why, std::size_t* bytes) -> task<> {
            auto accepted = co_await secure_stream::accept(std::move(end), server_context());
            CORRO_REQUIRE(accepted.has_value());
            std::array<std::byte, 64> room{};
            const io_result got = co_await accepted->read_exact(room);
            *why = got.error;
            *bytes = got.bytes;
        };
        const auto attack = [](raw_client* by, bool* renegotiated) -> task<> {
            const int shaken = co_await by->drive([](SSL* ssl) { return ::SSL_do_handshake(ssl); });
            EXPECT_EQ(shaken, 1);
            const int written = co_await by->drive([](SSL* ssl) { return ::SSL_write(ssl, "hello", 5); });
            EXPECT_EQ(written, 5);
            EXPECT_EQ(::SSL_renegotiate(by->ssl()), 1);
            const int again = co_await by->drive([](SSL* ssl) { return ::SSL_do_handshake(ssl); });
            *renegotiated = again == 1;
        };
        std::error_code why;
        std::size_t bytes = 0;
        bool renegotiated = true;
        const auto [a, b] =
            co_await when_all(serve(std::move(pair->second), &why, &bytes), attack(&attacker, &renegotiated));
        EXPECT_EQ(a, b);
        EXPECT_EQ(why, tls_errc::renegotiation_refused);
        EXPECT_EQ(bytes, 5U);
        EXPECT_FALSE(renegotiated);
    };
    block_on(ctx, whole(&ctx));
}

TEST_P(tls_attacks, old_versions_and_suites_without_authentication_or_fresh_keys_are_refused) {
    struct offer {
        int version;
        const char* ciphers;
        bool served;
    };
    for (const offer each :
         {offer{TLS1_VERSION, nullptr, false}, offer{TLS1_1_VERSION, nullptr, false},
          offer{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-SHA", false},
          offer{TLS1_2_VERSION, "ECDHE-ECDSA-AES256-SHA384", false}, offer{TLS1_2_VERSION, "AES128-GCM-SHA256", false},
          offer{TLS1_2_VERSION, "ECDHE-ECDSA-AES128-GCM-SHA256", true},
          offer{TLS1_2_VERSION, "ECDHE-ECDSA-CHACHA20-POLY1305", true}, offer{TLS1_3_VERSION, nullptr, true}}) {
        const auto whole = [](context* on, int version, const char* ciphers, bool* served) -> task<> {
            auto pair = unix_stream::pair(*on);
            CORRO_REQUIRE(pair.has_value());
            raw_client client(&pair->first, version, ciphers);
            const auto shake = [](raw_client* by) -> task<bool> {
                const int result = co_await by->drive([](SSL* ssl) { return ::SSL_do_handshake(ssl); });
                co_return result == 1;
            };
            auto [accepted, shaken] =
                co_await when_all(secure_stream::accept(std::move(pair->second), server_context()), shake(&client));
            EXPECT_EQ(accepted.has_value(), shaken);
            if (!accepted) {
                EXPECT_EQ(accepted.error(), tls_errc::no_common_parameters) << accepted.error().message();
            }
            *served = accepted.has_value();
        };
        bool served = false;
        block_on(ctx, whole(&ctx, each.version, each.ciphers, &served));
        EXPECT_EQ(served, each.served) << each.version << " " << (each.ciphers != nullptr ? each.ciphers : "");
    }
}

TEST_P(tls_attacks, a_handshake_that_never_ends_is_ended_by_the_callers_deadline) {
    const auto whole = [](context* on) -> task<> {
        auto pair = unix_stream::pair(*on);
        CORRO_REQUIRE(pair.has_value());
        // Sends a valid-looking record one byte at a time.
        const auto drip = [](unix_stream* over, auto_event* enough) -> task<> {
            const std::string_view hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
            for (std::size_t i = 0; i < hello.size(); ++i) {
                co_await over->write_all(bytes_of(hello.substr(i, 1)));
                co_await sleep_for(1ms);
            }
            co_await enough->wait();
        };
        const auto serve = [](unix_stream end, auto_event* enough) -> task<> {
            const auto accepted = co_await with_timeout(30ms, secure_stream::accept(std::move(end), server_context()));
            EXPECT_FALSE(accepted.has_value());
            if (!accepted) {
                EXPECT_EQ(accepted.error(), condition::timed_out);
            }
            enough->set();
        };
        auto_event enough;
        const auto [a, b] = co_await when_all(drip(&pair->first, &enough), serve(std::move(pair->second), &enough));
        EXPECT_EQ(a, b);
        std::array<std::byte, 8> room{};
        const io_result got = co_await pair->first.read_some(room);
        EXPECT_FALSE(got.ok()) << "and the connection is closed";
    };
    block_on(ctx, whole(&ctx));
}

TEST_P(tls_attacks, peers_that_do_not_speak_tls_are_told_apart) {
    for (const std::string_view said : {"GET / HTTP/1.1\r\n\r\n", "\r\n\r\nnonsense", "SSH-2.0-x\r\n"}) {
        const auto whole = [](context* on, std::string_view text) -> task<> {
            auto pair = unix_stream::pair(*on);
            CORRO_REQUIRE(pair.has_value());
            co_await pair->first.write_all(bytes_of(text));
            const auto accepted = co_await secure_stream::accept(std::move(pair->second), server_context());
            EXPECT_FALSE(accepted.has_value());
            if (!accepted) {
                EXPECT_EQ(accepted.error(), tls_errc::not_tls) << text;
            }
        };
        block_on(ctx, whole(&ctx, said));
    }
}

TEST_P(tls_attacks, a_peer_that_leaves_in_mid_handshake_is_truncated) {
    against_server([](unix_stream* over) -> task<> {
        co_await over->write_all(bytes_of(std::string_view("\x16\x03\x01\x02\x00\x01", 6)));
        over->close();
    });
}

TEST_P(tls_attacks, bytes_changed_on_the_way_are_noticed_and_never_delivered) {
    const std::uint64_t seed = base::test_seed();
    const auto whole = [](context* on, std::uint64_t random_from) -> task<> {
        base::prng random(random_from);
        for (int round = 0; round < 20; ++round) {
            auto near_end = unix_stream::pair(*on);
            auto far_end = unix_stream::pair(*on);
            CORRO_REQUIRE(near_end.has_value() && far_end.has_value());
            const auto carry = [](unix_stream* from, unix_stream* to, std::size_t spoiled) -> task<> {
                std::array<std::byte, 4096> room{};
                std::size_t count = 0;
                for (;;) {
                    io_result got = co_await from->read_some(room);
                    if (!got) break;
                    if (spoiled >= count && spoiled < count + got.bytes) room[spoiled - count] ^= std::byte{0x10};
                    count += got.bytes;
                    io_result sent = co_await to->write_all(std::span(room).first(got.bytes));
                    if (!sent) break;
                }
                to->close();
                from->close();
            };
            const auto client = [](unix_stream over) -> task<> {
                auto secure = co_await secure_stream::connect(std::move(over), client_context(), "localhost");
                if (!secure) co_return;
                const std::vector<std::byte> block(20'000, std::byte{0x55});
                co_await secure->write_all(block);
                co_await secure->shutdown();
            };
            const auto server = [](unix_stream over) -> task<> {
                auto secure = co_await secure_stream::accept(std::move(over), server_context());
                if (!secure) co_return;
                std::array<std::byte, 4096> room{};
                for (;;) {
                    io_result got = co_await secure->read_some(room);
                    for (std::size_t i = 0; i < got.bytes; ++i) CORRO_REQUIRE(room[i] == std::byte{0x55});
                    if (got.ok()) continue;
                    EXPECT_FALSE(got.error == condition::end_of_stream) << "a spoiled stream has no orderly end";
                    break;
                }
            };
            // The client sends about 20,900 bytes. The first three bytes of a record's header are checked less
            // strictly.
            const std::size_t spoiled = 5 + random.below(20'000);
            const auto [a, b, c, d] = co_await when_all(
                client(std::move(near_end->first)), carry(&near_end->second, &far_end->second, spoiled),
                carry(&far_end->second, &near_end->second, ~std::size_t{0}), server(std::move(far_end->first)));
            EXPECT_TRUE(a == b && c == d);
        }
    };
    block_on(ctx, whole(&ctx, seed));
}

CORRO_ON_EVERY_BACKEND(tls_attacks);

}  // namespace
}  // namespace corro::io
