// SPDX-License-Identifier: Apache-2.0
#include "io/tls/tls_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "../../../examples/self_signed.hpp"
#include "base/test_bytes.hpp"
#include "io/loop/timer.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"

namespace corro::io {
namespace {

using base::bytes_of;
using base::text_of;

using namespace std::chrono_literals;

static_assert(stream<tls_stream<tcp_stream>> && stream<tls_stream<any_stream>>);

class tls : public on_backend {
 protected:
    tls_pair handshake(const tls_context& client, const tls_context& server, const std::string& host = "localhost") {
        return block_on(ctx, shake_hands(&ctx, client, server, host));
    }
    /// Runs `body(client stream, server stream)` after the handshake.
    template <class Body>
    void with_pair(Body body) {
        const auto whole = [](context* on, Body inner) -> task<> {
            tls_pair pair = co_await shake_hands(on, client_context(), server_context(), "localhost");
            CORRO_REQUIRE(pair.ok());
            co_await inner(&*pair.client, &*pair.server);
        };
        block_on(ctx, whole(&ctx, body));
    }
};

TEST_P(tls, bytes_travel_both_ways_and_the_handshake_says_what_it_agreed_on) {
    with_pair([](secure_stream* client, secure_stream* server) -> task<> {
        EXPECT_EQ(client->version(), "TLSv1.3");
        EXPECT_EQ(client->cipher(), server->cipher());
        EXPECT_EQ(server->server_name(), "localhost");
        EXPECT_EQ(client->protocol(), "");
        std::array<std::byte, 64> room{};
        const io_result sent = co_await client->write_all(bytes_of("ping"));
        EXPECT_EQ(sent.bytes, 4U);
        io_result got = co_await server->read_some(room);
        EXPECT_EQ(text_of(std::span(room).first(got.bytes)), "ping");
        co_await server->write_all(bytes_of("pong"));
        got = co_await client->read_exact(std::span(room).first(4));
        EXPECT_EQ(text_of(std::span(room).first(got.bytes)), "pong");
    });
}

TEST_P(tls, works_over_tcp_and_over_a_stream_whose_kind_is_hidden) {
    const auto whole = [](context* on) -> task<> {
        auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
        const endpoint at = *acceptor->local_endpoint();
        auto [plain, accepted] = co_await when_all(tcp_stream::connect(*on, at), acceptor->accept());
        auto [client, server] =
            co_await when_all(tls_stream<tcp_stream>::connect(std::move(*plain), client_context(), "127.0.0.1"),
                              tls_stream<any_stream>::accept(any_stream(std::move(*accepted)), server_context()));
        CORRO_REQUIRE(client.has_value() && server.has_value());
        EXPECT_FALSE(client->next().set_option(no_delay(true)));
        any_stream hidden(std::move(*server));
        std::array<std::byte, 5> room{};
        const auto [sent, got] = co_await when_all(client->write_all(bytes_of("hello")), hidden.read_exact(room));
        EXPECT_TRUE(sent.ok() && got.ok());
        EXPECT_EQ(text_of(room), "hello");
    };
    block_on(ctx, whole(&ctx));
}

TEST_P(tls, large_transfers_both_ways_at_once_arrive_whole) {
    with_pair([](secure_stream* client, secure_stream* server) -> task<> {
        std::vector<std::byte> there(5U << 20U);
        std::vector<std::byte> back(3U << 20U);
        for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::byte>(i * 2654435761U >> 24U);
        for (std::size_t i = 0; i < back.size(); ++i) back[i] = static_cast<std::byte>(i * 40503U >> 8U);
        std::vector<std::byte> got_there(there.size());
        std::vector<std::byte> got_back(back.size());
        const auto [a, b, c, d] = co_await when_all(client->write_all(there), server->write_all(back),
                                                    server->read_exact(got_there), client->read_exact(got_back));
        EXPECT_TRUE(a.ok() && b.ok() && c.ok() && d.ok());
        EXPECT_TRUE(got_there == there);
        EXPECT_TRUE(got_back == back);
    });
}

TEST_P(tls, close_notify_is_the_end_of_the_stream_and_the_other_direction_stays_open) {
    with_pair([](secure_stream* client, secure_stream* server) -> task<> {
        co_await client->write_all(bytes_of("last words"));
        const std::error_code ended = co_await client->shutdown();
        EXPECT_FALSE(ended);
        std::array<std::byte, 64> room{};
        io_result got = co_await server->read_some(room);
        EXPECT_EQ(got.bytes, 10U);
        got = co_await server->read_some(room);
        EXPECT_EQ(got.error, condition::end_of_stream);
        got = co_await server->read_some(room);
        EXPECT_EQ(got.error, condition::end_of_stream) << "and it stays the end";
        io_result sent = co_await server->write_all(bytes_of("answer"));
        EXPECT_TRUE(sent.ok());
        got = co_await client->read_exact(std::span(room).first(6));
        EXPECT_TRUE(got.ok());
        sent = co_await client->write_some(bytes_of("more"));
        EXPECT_EQ(sent.error, std::errc::broken_pipe) << "nothing follows a close_notify";
        const std::error_code again = co_await client->shutdown();
        EXPECT_FALSE(again);
    });
}

TEST_P(tls, read_exact_keeps_what_arrived_before_the_end) {
    with_pair([](secure_stream* client, secure_stream* server) -> task<> {
        co_await client->write_all(bytes_of("abcdef"));
        const std::error_code ended = co_await client->shutdown();
        EXPECT_FALSE(ended);
        std::array<std::byte, 64> room{};
        const io_result got = co_await server->read_exact(room);
        EXPECT_EQ(got.error, condition::end_of_stream);
        EXPECT_EQ(text_of(std::span(room).first(got.bytes)), "abcdef");
    });
}

TEST_P(tls, wrong_host_name_is_refused) {
    const tls_pair pair = handshake(client_context(), server_context(), "example.com");
    ASSERT_FALSE(pair.client);
    EXPECT_EQ(pair.client.error(), tls_errc::host_name_mismatch);
    ASSERT_FALSE(pair.server);
}

TEST_P(tls, wrong_address_is_refused_and_the_right_one_is_not) {
    const tls_pair wrong = handshake(client_context(), server_context(), "127.0.0.2");
    ASSERT_FALSE(wrong.client);
    EXPECT_EQ(wrong.client.error(), tls_errc::host_name_mismatch);
    EXPECT_TRUE(handshake(client_context(), server_context(), "127.0.0.1").ok());
}

TEST_P(tls, a_host_that_only_the_subject_names_is_refused) {
    test_certificate_options only_subject;
    only_subject.names.clear();
    only_subject.common_name = "localhost";
    const test_identity made = make_test_certificate(only_subject, &test_authority());
    const tls_pair pair = handshake(client_context(), server_context(serving_options(made)));
    ASSERT_FALSE(pair.client) << "the common name is not looked at";
    EXPECT_EQ(pair.client.error(), tls_errc::host_name_mismatch);
}

TEST_P(tls, client_that_verifies_needs_a_host_to_verify) {
    const tls_pair pair = handshake(client_context(), server_context(), "");
    ASSERT_FALSE(pair.client);
    EXPECT_EQ(pair.client.error(), tls_errc::bad_setting);
}

TEST_P(tls, certificates_outside_their_time_are_refused) {
    test_certificate_options expired;
    expired.valid_until_s = -60;
    test_certificate_options early;
    early.valid_from_s = 60;
    const test_identity old = make_test_certificate(expired, &test_authority());
    const test_identity young = make_test_certificate(early, &test_authority());
    const tls_pair late = handshake(client_context(), server_context(serving_options(old)));
    ASSERT_FALSE(late.client);
    EXPECT_EQ(late.client.error(), tls_errc::certificate_expired);
    ASSERT_FALSE(late.server);
    EXPECT_EQ(late.server.error().message(), "the peer sent the alert: certificate expired");
    const tls_pair too_soon = handshake(client_context(), server_context(serving_options(young)));
    ASSERT_FALSE(too_soon.client);
    EXPECT_EQ(too_soon.client.error(), tls_errc::certificate_not_yet_valid);
}

TEST_P(tls, certificates_that_nobody_vouches_for_are_refused_unless_told_otherwise) {
    const test_identity own = make_test_certificate(test_certificate_options());
    const tls_pair self_signed = handshake(client_context(), server_context(serving_options(own)));
    ASSERT_FALSE(self_signed.client);
    EXPECT_EQ(self_signed.client.error(), tls_errc::certificate_self_signed);
    tls_client_options unauthenticated_connection = trusting_options();
    unauthenticated_connection.trusted_certificates = own.certificate;
    const tls_pair untrusted = handshake(client_context(unauthenticated_connection), server_context());
    ASSERT_FALSE(untrusted.client);
    EXPECT_EQ(untrusted.client.error(), tls_errc::certificate_untrusted);
    EXPECT_TRUE(handshake(client_context(unauthenticated_connection), server_context(serving_options(own))).ok())
        << "a certificate may be trusted by itself";
    tls_client_options careless = trusting_options();
    careless.verify = false;
    EXPECT_TRUE(handshake(client_context(careless), server_context(serving_options(own)), "anybody").ok());
}

TEST_P(tls, application_protocol_is_the_servers_choice_among_the_clients_offers) {
    tls_client_options offering = trusting_options();
    offering.protocols = {"first", "second"};
    tls_server_options choosing = serving_options();
    choosing.protocols = {"third", "second", "first"};
    tls_pair pair = handshake(client_context(offering), server_context(choosing));
    ASSERT_TRUE(pair.ok());
    EXPECT_EQ(pair.client->protocol(), "second");
    EXPECT_EQ(pair.server->protocol(), "second");
    pair = handshake(client_context(), server_context(choosing));
    ASSERT_TRUE(pair.ok()) << "a client that offers nothing is served";
    EXPECT_EQ(pair.server->protocol(), "");
}

TEST_P(tls, application_protocols_without_a_common_one_end_the_handshake_on_both_sides) {
    tls_client_options offering = trusting_options();
    offering.protocols = {"h9"};
    tls_server_options choosing = serving_options();
    choosing.protocols = {"http/1.1"};
    const tls_pair pair = handshake(client_context(offering), server_context(choosing));
    ASSERT_FALSE(pair.client);
    ASSERT_FALSE(pair.server);
    EXPECT_EQ(pair.client.error(), tls_errc::no_common_protocol);
    EXPECT_EQ(pair.server.error(), tls_errc::no_common_protocol);
}

TEST_P(tls, servers_choose_their_certificate_by_the_name_that_the_client_asks_for) {
    test_certificate_options other_host;
    other_host.names = "DNS:*.example.com";
    const test_identity other = make_test_certificate(other_host, &test_authority());
    tls_context server = server_context();
    ASSERT_FALSE(server.add_host("*.example.com", server_context(serving_options(other))));
    const tls_context client = client_context();
    EXPECT_TRUE(handshake(client, server, "localhost").ok());
    EXPECT_TRUE(handshake(client, server, "WWW.example.com").ok());
    EXPECT_FALSE(handshake(client, server, "a.b.example.com").ok()) << "a star stands for one label";
    EXPECT_EQ(server.add_host("", server_context()), tls_errc::bad_setting);
    EXPECT_EQ(server.add_host("x", client), tls_errc::bad_setting);
}

TEST_P(tls, sessions_are_resumed_and_counted) {
    for (const tls_version version : {tls_version::tls_1_2, tls_version::tls_1_3}) {
        tls_client_options options = trusting_options();
        options.version_max = version;
        const tls_context client = client_context(options);
        const tls_context server = server_context();
        const auto exchange = [](context* on, tls_context mine, tls_context theirs, bool* resumed) -> task<> {
            tls_pair pair = co_await shake_hands(on, mine, theirs, "localhost");
            CORRO_REQUIRE(pair.ok());
            std::array<std::byte, 8> room{};
            // TLS 1.3 sends tickets with the first data.
            const auto [sent, got] =
                co_await when_all(pair.server->write_all(bytes_of("x")), pair.client->read_some(room));
            EXPECT_TRUE(sent.ok() && got.ok());
            EXPECT_EQ(pair.client->resumed(), pair.server->resumed());
            *resumed = pair.client->resumed();
        };
        constexpr int connections_count = 5;
        for (int i = 0; i < connections_count; ++i) {
            bool resumed = false;
            block_on(ctx, exchange(&ctx, client, server, &resumed));
            EXPECT_EQ(resumed, i != 0) << "connection " << i;
        }
        EXPECT_EQ(client.handshakes_count(), 5U);
        EXPECT_EQ(client.resumptions_count(), 4U);
        EXPECT_EQ(server.handshakes_count(), 5U);
        EXPECT_EQ(server.resumptions_count(), 4U);
        bool resumed = true;
        block_on(ctx, exchange(&ctx, client, server_context(), &resumed));
        EXPECT_FALSE(resumed) << "another server cannot read the ticket, and shakes hands in full";
    }
}

TEST_P(tls, sessions_are_not_resumed_where_that_is_switched_off_or_with_another_host) {
    const auto exchange = [](context* on, tls_context mine, tls_context theirs, std::string host) -> task<bool> {
        tls_pair pair = co_await shake_hands(on, mine, theirs, host);
        EXPECT_TRUE(pair.ok());
        std::array<std::byte, 8> room{};
        const auto [sent, got] = co_await when_all(pair.server->write_all(bytes_of("x")), pair.client->read_some(room));
        EXPECT_TRUE(sent.ok() && got.ok());
        co_return pair.client->resumed();
    };
    tls_server_options without = serving_options();
    without.resume = false;
    const tls_context client = client_context();
    const tls_context forgetful = server_context(without);
    EXPECT_FALSE(block_on(ctx, exchange(&ctx, client, forgetful, "localhost")));
    EXPECT_FALSE(block_on(ctx, exchange(&ctx, client, forgetful, "localhost")));
    const tls_context server = server_context();
    EXPECT_FALSE(block_on(ctx, exchange(&ctx, client, server, "localhost")));
    EXPECT_FALSE(block_on(ctx, exchange(&ctx, client, server, "127.0.0.1")));
    EXPECT_TRUE(block_on(ctx, exchange(&ctx, client, server, "localhost")));
}

TEST_P(tls, clients_show_a_certificate_where_the_server_asks_for_one) {
    tls_server_options strict = serving_options();
    strict.client_issuers = test_authority().certificate;
    const tls_context server = server_context(strict);
    tls_client_options known = trusting_options();
    known.certificate_chain = test_server_identity().certificate;
    known.private_key = test_server_identity().private_key;
    EXPECT_TRUE(handshake(client_context(known), server).ok());
    const tls_pair without = handshake(client_context(), server);
    ASSERT_FALSE(without.server);
    EXPECT_EQ(without.server.error(), tls_errc::certificate_missing);
    const test_identity unauthenticated_connection = make_test_certificate(test_certificate_options());
    tls_client_options unknown = trusting_options();
    unknown.certificate_chain = unauthenticated_connection.certificate;
    unknown.private_key = unauthenticated_connection.private_key;
    const tls_pair refused = handshake(client_context(unknown), server);
    ASSERT_FALSE(refused.server);
    EXPECT_EQ(refused.server.error(), tls_errc::certificate_self_signed);
}

TEST_P(tls, stopped_reads_and_writes_lose_nothing) {
    with_pair([](secure_stream* client, secure_stream* server) -> task<> {
        std::array<std::byte, 16> room{};
        const auto nothing = co_await with_timeout(2ms, server->read_some(room));
        EXPECT_FALSE(nothing.has_value());
        // Fills the pipe until a write waits, and stops that write in the middle of a record.
        std::vector<std::byte> block(64U << 10U);
        std::size_t written = 0;
        bool stopped = false;
        for (int i = 0; i < 1000 && !stopped; ++i) {
            for (std::size_t k = 0; k < block.size(); ++k) block[k] = static_cast<std::byte>((written + k) % 251);
            const auto sent = co_await with_timeout(5ms, client->write_all(block));
            stopped = !sent.has_value() || !sent->ok();
            if (sent.has_value()) written += sent->bytes;
        }
        EXPECT_TRUE(stopped);
        const auto finish = [](secure_stream* on) -> task<> {
            const std::error_code ended = co_await on->shutdown();
            EXPECT_FALSE(ended);
        };
        const auto drain = [](secure_stream* on, std::size_t* count) -> task<> {
            std::vector<std::byte> part(10'000);
            for (;;) {
                io_result got = co_await on->read_some(part);
                for (std::size_t k = 0; k < got.bytes; ++k) {
                    CORRO_REQUIRE(part[k] == static_cast<std::byte>((*count + k) % 251));
                }
                *count += got.bytes;
                if (!got) {
                    EXPECT_EQ(got.error, condition::end_of_stream);
                    break;
                }
            }
        };
        std::size_t received = 0;
        const auto [a, b] = co_await when_all(finish(client), drain(server, &received));
        EXPECT_EQ(a, b);
        EXPECT_EQ(received, written) << "what a stopped write had taken arrives, once";
    });
}

TEST_P(tls, closed_streams_and_misused_contexts_answer_with_errors) {
    const auto body = [](context* on) -> task<> {
        secure_stream closed;
        std::array<std::byte, 8> room{};
        EXPECT_FALSE(closed.is_open());
        EXPECT_EQ((co_await closed.read_some(room)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ((co_await closed.write_all(room)).error, std::errc::bad_file_descriptor);
        EXPECT_EQ(co_await closed.shutdown(), std::errc::bad_file_descriptor);
        closed.close();
        EXPECT_EQ(closed.protocol(), "");
        auto pair = unix_stream::pair(*on);
        const auto wrong = co_await secure_stream::accept(std::move(pair->first), client_context());
        EXPECT_EQ(wrong.error(), tls_errc::bad_setting);
        const auto wrong_too = co_await secure_stream::connect(std::move(pair->second), server_context(), "localhost");
        EXPECT_EQ(wrong_too.error(), tls_errc::bad_setting);
    };
    block_on(ctx, body(&ctx));
}

CORRO_ON_EVERY_BACKEND(tls);

TEST(self_signed_example, makes_certificates_that_have_serial_numbers_of_their_own) {
    const auto serial = [] {
        const std::string text = example::self_signed().certificate_chain;
        BIO* const bytes = ::BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
        const detail::test_x509 made(::PEM_read_bio_X509(bytes, nullptr, nullptr, nullptr));
        ::BIO_free(bytes);
        std::uint64_t number = 0;
        EXPECT_EQ(::ASN1_INTEGER_get_uint64(&number, ::X509_get0_serialNumber(made.get())), 1) << "positive, 64 bits";
        return number;
    };
    EXPECT_NE(serial(), serial()) << "a browser refuses two certificates of one issuer and one number";
}

TEST(tls_context, refuses_certificates_keys_and_settings_that_cannot_work) {
    tls_server_options options = serving_options();
    options.certificate_chain = "nothing of the kind";
    EXPECT_EQ(tls_context::server(options).error(), tls_errc::bad_certificate);
    options = serving_options();
    options.private_key = test_authority().private_key;
    EXPECT_EQ(tls_context::server(options).error(), tls_errc::bad_private_key);
    options.private_key.clear();
    EXPECT_EQ(tls_context::server(options).error(), tls_errc::bad_private_key);
    options = serving_options();
    options.protocols = {""};
    EXPECT_EQ(tls_context::server(options).error(), tls_errc::bad_setting);
    tls_client_options client = trusting_options();
    client.version_min = tls_version::tls_1_3;
    client.version_max = tls_version::tls_1_2;
    EXPECT_EQ(tls_context::client(client).error(), tls_errc::bad_setting);
    EXPECT_FALSE(read_pem_file("/no/such/file").has_value());
}

}  // namespace
}  // namespace corro::io
