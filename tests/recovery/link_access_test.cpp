// SPDX-License-Identifier: Apache-2.0
// Access to the link between a facility and its gateways (S9, S8). Both ends need the link's secret. A gateway can act
// only for its own sessions, with the rights that the facility has for them.

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"
#include "node/links/link_handshake.hpp"
#include "roles_venue_fixture.hpp"

namespace corro {
namespace {

using node::link_message;
using testing::link_name;
using testing::report;
using venue = testing::roles_venue;

constexpr auto patience = std::chrono::seconds(20);

/// The messages that one end of a link has received.
struct heard {
    std::vector<link_message> kinds;
    std::vector<domain::event> events;
    std::vector<std::byte> bytes;  ///< all payloads
    bool ended = false;            ///< by the other end

    [[nodiscard]] bool has(link_message kind) const {
        return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    }
};

/// Acts as a gateway, with true or false claims.
class peer {
 public:
    static io::task<std::unique_ptr<peer>> connect(io::context* context, const node::configuration* c) {
        auto stream = co_await node::connect_link(context, node::link_address_of(c->link_connect, "link"));
        if (!stream) co_return nullptr;
        co_return std::make_unique<peer>(*context, std::move(*stream), *c);
    }
    peer(io::context& context, gateway::transport_stream stream, const node::configuration& c)
        : channel_(std::move(stream)), writing_(context), configuration_(c) {
        channel_.trust();
        writing_.spawn(channel_.write());
    }

    template <class Record>
    void put(link_message kind, const Record& record) {
        channel_.put_record(kind, record);
        channel_.flush();
    }

    /// Exchanges hellos with the facility.
    io::task<void> exchange_hellos() {
        put(link_message::hello, ours_);
        node::link_frame frame;
        const bool came = co_await channel_.read(&frame);
        if (came && frame.kind == link_message::hello) theirs_ = frame.record<node::link_hello>(0);
    }
    /// Returns the greeting that follows the hellos.
    [[nodiscard]] node::proven_greeting greeting(const wire::api_key& secret) const {
        return node::link_proofs(secret, ours_.nonce, theirs_.nonce)
            .sign(node::link_claim::gateway_greets, node::greeting_of(configuration_));
    }
    /// Does the complete exchange. False if the facility refused it.
    io::task<bool> greet() {
        co_await exchange_hellos();
        put(link_message::greeting, greeting(configuration_.link_secret));
        node::link_frame frame;
        while (true) {
            const bool came = co_await channel_.read(&frame);
            if (!came) co_return false;
            if (frame.kind == link_message::answers_end) co_return true;
        }
    }

    /// Reads until the other end closes, or until nothing comes for a while after `events_enough`.
    io::task<heard> listen(std::size_t events_enough) {
        heard what;
        node::link_frame frame;
        while (what.events.size() < events_enough || events_enough == 0) {
            const auto came = co_await io::with_timeout(patience, channel_.read(&frame));
            if (!came || !*came) {
                what.ended = came.has_value();
                break;
            }
            what.kinds.push_back(frame.kind);
            what.bytes.insert(what.bytes.end(), frame.payload.begin(), frame.payload.end());
            if (frame.kind != link_message::events) continue;
            for (std::size_t i = 0; i < frame.count<domain::event>(); ++i) {
                what.events.push_back(frame.record<domain::event>(i));
            }
        }
        co_return what;
    }
    /// Whether the other end has closed, as far as is known now.
    io::task<bool> has_ended() {
        node::link_frame frame;
        const auto came = co_await io::with_timeout(std::chrono::milliseconds(1), channel_.read(&frame));
        co_return came && !*came;
    }
    io::task<void> close() {
        channel_.close();
        co_await writing_.join();
    }

 private:
    node::link_channel channel_;
    io::task_scope writing_;
    node::configuration configuration_;
    node::link_hello ours_ = node::make_link_hello(io::default_platform());
    node::link_hello theirs_;
};

domain::command order(std::uint32_t session, std::uint32_t account, std::uint32_t request) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.session = domain::session_id{session};
    c.account = domain::account_id{account};
    c.set_request(request);
    c.client_order = domain::client_order_id{request};
    c.instrument = domain::instrument_id{1};
    c.enter_order().price = domain::price_ticks{9'000};
    c.enter_order().quantity = domain::quantity_lots{5};
    return c;
}

/// An operator's kill switch for account 1.
domain::command kill_switch(std::uint32_t session) {
    domain::command c;
    c.kind = domain::command_kind::kill_switch;
    c.session = domain::session_id{session};
    c.account = domain::account_id{2};
    c.kill_switch().other_account = domain::account_id{1};
    c.kill_switch().kill_scope = domain::kill_scope::account;
    c.kill_switch().state = domain::switch_state::on;
    c.set_operator(true);
    c.set_request(1);
    return c;
}

enum class approach : std::uint8_t { commands_at_once, greeting_at_once, wrong_secret, sent_back };

/// Tries to connect without the secret and returns the messages received.
io::task<void> try_without_secret(io::context* context, const node::configuration* c, approach how, heard* into) {
    auto p = co_await peer::connect(context, c);
    CORRO_ASSERT(p != nullptr);
    if (how == approach::wrong_secret || how == approach::sent_back) co_await p->exchange_hellos();
    wire::api_key wrong{};
    if (how == approach::greeting_at_once) p->put(link_message::greeting, node::greeting_of(*c));
    if (how == approach::wrong_secret) p->put(link_message::greeting, p->greeting(wrong));
    if (how == approach::sent_back) {
        node::proven_greeting bare;
        bare.greeting = node::greeting_of(*c);
        p->put(link_message::greeting, bare);
    }
    p->put(link_message::commands, kill_switch(1));
    *into = co_await p->listen(0);
    co_await p->close();
}

class link_access : public ::testing::TestWithParam<bool> {
 protected:
    /// Over a Unix socket or over TCP.
    [[nodiscard]] std::string address() {
        if (!GetParam()) return link_name();
        port_ = std::make_unique<testing::lasting_port>();
        return port_->on_loopback();
    }

 private:
    std::unique_ptr<testing::lasting_port> port_;
};
INSTANTIATE_TEST_SUITE_P(over, link_access, ::testing::Bool(),
                         [](const auto& tcp) { return std::string(tcp.param ? "tcp" : "unix"); });

TEST_P(link_access, S9_who_has_no_secret_hears_nothing_and_does_nothing) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.start_facility();
    io::context context;
    for (const approach how :
         {approach::commands_at_once, approach::greeting_at_once, approach::wrong_secret, approach::sent_back}) {
        SCOPED_TRACE(static_cast<int>(how));
        heard what;
        io::block_on(context, try_without_secret(&context, &v.at_gateways[0], how, &what));
        EXPECT_TRUE(what.ended);
        for (const link_message kind : what.kinds) {
            EXPECT_TRUE(kind == link_message::unauthenticated_connection || kind == link_message::refusal)
                << static_cast<int>(kind) << " was said to somebody who has proved nothing";
        }
        EXPECT_LT(what.bytes.size(), 200U) << "a sentence";
    }
    EXPECT_EQ(v.facility->close().commands_count, 0U);
}

io::task<void> claim_rights(io::context* context, const node::configuration* c, heard* of_own, bool* listener_ended) {
    auto p = co_await peer::connect(context, c);
    CORRO_ASSERT(p != nullptr);
    const bool greeted = co_await p->greet();
    EXPECT_TRUE(greeted);
    // Session 1 belongs to account 1, session 5 to account 2. Neither is an operator's.
    p->put(link_message::commands, order(1, 1, 1));
    p->put(link_message::commands, order(5, 1, 1));
    p->put(link_message::commands, kill_switch(5));
    *of_own = co_await p->listen(3);
    // A listening session may not enter orders, and admin requests are for operators.
    gateway::admin_request question;
    question.session = domain::session_id{5};
    p->put(link_message::question, question);
    const heard rest = co_await p->listen(0);
    *listener_ended = rest.ended && !rest.has(link_message::reply);
    co_await p->close();
}

TEST_P(link_access, S8_account_and_rights_are_the_sessions_whatever_the_gateway_says) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.start_facility();
    io::context context;
    heard what;
    bool ended = false;
    io::block_on(context, claim_rights(&context, &v.at_gateways[0], &what, &ended));
    ASSERT_EQ(what.events.size(), 3U);
    EXPECT_EQ(what.events[0].kind, domain::event_kind::order_entered);
    EXPECT_EQ(what.events[1].kind, domain::event_kind::order_entered);
    EXPECT_EQ(what.events[1].order.account, domain::account_id{2}) << "session 5 is account 2's";
    EXPECT_EQ(what.events[2].kind, domain::event_kind::order_rejected) << "only an operator's session may do that";
    EXPECT_EQ(what.events[2].reason, domain::reject_reason::not_authorised);
    EXPECT_TRUE(ended) << "a session without the right must not send admin requests";
}

io::task<void> enter_for_a_drop_copy(io::context* context, const node::configuration* c, bool* ended) {
    auto p = co_await peer::connect(context, c);
    CORRO_ASSERT(p != nullptr);
    const bool greeted = co_await p->greet();
    EXPECT_TRUE(greeted);
    p->put(link_message::commands, order(5, 1, 1));
    const heard what = co_await p->listen(0);
    *ended = what.ended && what.events.empty();
    co_await p->close();
}

TEST_P(link_access, S8_a_drop_copy_enters_nothing_although_its_gateway_would_let_it) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.at_facility.accounts[1].copies_of = {domain::account_id{1}};
    v.at_gateways[0].accounts[1].copies_of = {domain::account_id{1}};
    v.start_facility();
    io::context context;
    bool ended = false;
    io::block_on(context, enter_for_a_drop_copy(&context, &v.at_gateways[0], &ended));
    EXPECT_TRUE(ended);
    EXPECT_EQ(v.facility->close().commands_count, 0U);
}

/// Claims to be the facility, with another secret, and reports a trade of account 1.
io::task<void> impersonate(node::link_acceptor* at, io::context* context, wire::api_key secret, bool* was_tried) {
    auto accepted = co_await at->accept();
    if (!accepted) co_return;
    node::link_channel channel(std::move(*accepted));
    io::task_scope writing(*context);
    writing.spawn(channel.write());
    node::link_frame frame;
    bool came = co_await channel.read(&frame);
    const node::link_hello ours = node::make_link_hello(io::default_platform());
    if (came) {
        const auto theirs = frame.record<node::link_hello>(0);
        const node::link_proofs proofs(secret, theirs.nonce, ours.nonce);
        channel.put_record(link_message::hello, ours);
        channel.flush();
        came = co_await channel.read(&frame);
        channel.put_record(link_message::greeting, proofs.sign(node::link_claim::facility_greets,
                                                               frame.record<node::proven_greeting>(0).greeting));
        channel.put(link_message::answers_end, {});
        const std::string refusal = proofs.sign_refusal("go away for ever");
        channel.put(link_message::refusal, std::as_bytes(std::span(refusal)));
        channel.flush();
        // The gateway leaves without an answer.
        const bool more = co_await channel.read(&frame);
        *was_tried = came && !more;
    }
    channel.finish();
    co_await writing.join();
}

io::task<void> try_to_catch_a_gateway(io::context* context, venue* v, bool* was_tried, std::string* failure) {
    const node::configuration* const c = &v->at_gateways[0];
    bool opened = false;
    std::vector<std::string> notices;
    node::gateway_role gateway(
        *context, *c, [&](io::endpoint) { opened = true; },
        [&](const std::string& sentence) { notices.push_back(sentence); });
    io::task_scope serving(*context);
    serving.spawn(gateway.run());
    {
        node::link_acceptor impostor = co_await node::link_acceptor::open(context, c->link_connect, "link.connect", {});
        co_await impersonate(&impostor, context, wire::api_key{}, was_tried);
        EXPECT_FALSE(opened) << "no session is served for somebody who has not proved the secret";
        impostor.close();
    }
    EXPECT_EQ(notices,
              (std::vector<std::string>{"the facility has not proved that it has this gateway's link.secret"}));
    v->start_facility();
    for (int i = 0; i < 10'000 && !opened; ++i) static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    EXPECT_TRUE(opened) << "the facility itself is believed";
    *failure = gateway.failure();
    gateway.close();
    co_await serving.join();
}

TEST_P(link_access, S9_a_gateway_believes_nobody_who_has_taken_the_facilitys_address) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.at_gateways[0].order_entry_listen = "127.0.0.1:0";
    io::context context;
    bool was_tried = false;
    std::string failure;
    io::block_on(context, try_to_catch_a_gateway(&context, &v, &was_tried, &failure));
    EXPECT_TRUE(was_tried);
    EXPECT_EQ(failure, "");
}

io::task<void> crowd(io::context* context, const node::configuration* c, bool* greeted, std::size_t* ended_count) {
    std::vector<std::unique_ptr<peer>> strangers;
    for (std::size_t i = 0; i < 2 * node::link_strangers_max; ++i) {
        strangers.push_back(co_await peer::connect(context, c));
        CORRO_ASSERT(strangers.back() != nullptr);
    }
    auto p = co_await peer::connect(context, c);
    CORRO_ASSERT(p != nullptr);
    *greeted = co_await p->greet();
    // It replaced the oldest connections; the others stay.
    for (std::size_t i = 0; i < node::link_strangers_max; ++i) {
        const heard what = co_await strangers[i]->listen(0);
        if (what.ended && what.kinds.empty()) ++*ended_count;
    }
    for (const auto& each : strangers) co_await each->close();
    co_await p->close();
}

TEST_P(link_access, S9_strangers_who_say_nothing_keep_no_gateway_out) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.start_facility();
    io::context context;
    bool greeted = false;
    std::size_t ended_count = 0;
    io::block_on(context, crowd(&context, &v.at_gateways[0], &greeted, &ended_count));
    EXPECT_TRUE(greeted);
    EXPECT_EQ(ended_count, node::link_strangers_max);
}

// They connect while the facility is stopped, and are accepted together.
io::task<void> burst(io::context* context, venue* v, std::size_t count, bool* greeted, std::size_t* ended_count) {
    const node::configuration* const c = &v->at_gateways[0];
    std::vector<std::unique_ptr<peer>> strangers;
    v->facility->stop();
    for (std::size_t i = 0; i < count; ++i) {
        strangers.push_back(co_await peer::connect(context, c));
        CORRO_ASSERT(strangers.back() != nullptr);
    }
    v->facility->go_on();
    auto p = co_await peer::connect(context, c);
    CORRO_ASSERT(p != nullptr);
    *greeted = co_await p->greet();
    for (const auto& each : strangers) {
        const bool ended = co_await each->has_ended();
        *ended_count += ended ? 1U : 0U;
    }
    for (const auto& each : strangers) co_await each->close();
    co_await p->close();
}

TEST_P(link_access, S9_strangers_who_come_all_at_once_have_no_more_places) {
    const base::test_folder directory;
    venue v(directory.path(), address());
    v.start_facility();
    io::context context;
    bool greeted = false;
    std::size_t ended_count = 0;
    constexpr std::size_t count = 100;
    io::block_on(context, burst(&context, &v, count, &greeted, &ended_count));
    EXPECT_TRUE(greeted);
    EXPECT_GE(ended_count, count - node::link_strangers_max);
}

constexpr uid_t another_user = 65'534;

/// Connects to an abstract name as another user. Returns the bytes received before the end; -1 if refused.
int bytes_for_another_user(const std::string& name) {
    int ends[2];
    if (::pipe(ends) != 0) return -2;
    const int child = ::fork();
    if (child == 0) {
        int count = -2;
        sockaddr_un where{};
        where.sun_family = AF_UNIX;
        name.copy(where.sun_path, sizeof where.sun_path);
        where.sun_path[0] = '\0';
        const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
        const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
        if (::setresuid(another_user, another_user, another_user) == 0 &&
            ::connect(socket, reinterpret_cast<const sockaddr*>(&where), size) == 0) {
            const node::link_hello hello = node::make_link_hello(io::default_platform());
            std::array<std::uint32_t, 2> head{sizeof hello, static_cast<std::uint32_t>(link_message::hello)};
            static_cast<void>(::send(socket, head.data(), sizeof head, MSG_NOSIGNAL));
            static_cast<void>(::send(socket, &hello, sizeof hello, MSG_NOSIGNAL));
            std::array<std::byte, 256> answer;
            const ssize_t got = ::recv(socket, answer.data(), answer.size(), 0);
            count = got < 0 ? 0 : static_cast<int>(got);
        }
        static_cast<void>(!::write(ends[1], &count, sizeof count));
        ::_exit(0);
    }
    int count = -3;
    static_cast<void>(!::read(ends[0], &count, sizeof count));
    ::waitpid(child, nullptr, 0);
    ::close(ends[0]);
    ::close(ends[1]);
    return count;
}

TEST(link_access_of_users, S9_another_user_of_the_machine_is_not_even_greeted) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const base::test_folder directory;
    venue v(directory.path(), link_name());
    v.start_facility();
    EXPECT_EQ(bytes_for_another_user(v.at_facility.link_listen), 0);
    static_cast<void>(v.facility->close());
    v.at_facility.link_users = {another_user};
    v.start_facility();
    EXPECT_GT(bytes_for_another_user(v.at_facility.link_listen), 0) << "one who is named is greeted";
}

}  // namespace
}  // namespace corro
