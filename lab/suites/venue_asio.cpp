// SPDX-License-Identifier: Apache-2.0
// Suite `venue`, by Asio with callbacks: an exchange as its experts write one. Everything on one thread without locks;
// a request is executed where it is decoded, without a queue in between; answers are written once per read, or once per
// round of the loop, at once if the kernel takes them; handlers live in memory of their own. Codecs, accounts, kept
// answers, facility, books and feed are Corro's.

#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "base/byte_queue.hpp"
#include "domain/private_event.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/nonce.hpp"
#include "io/loop/machine.hpp"
#include "lab/child_process.hpp"
#include "lab/suites/asio_handlers.hpp"
#include "lab/suites/venue_suite.hpp"
#include "market_data/feed_publisher.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/latency_tables.hpp"
#include "node/venue/matching_host.hpp"
#include "node/venue/order_entry.hpp"
#include "wire/binary_codec.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

namespace protocol = corro::wire;  // not the lab's own
namespace soup = protocol::soup_bin_tcp;

class venue;

/// One client's connection.
class session {
 public:
    session(venue& owner, tcp_socket socket) : owner_(owner), socket_(std::move(socket)), output_(output_bytes) {}

    void start();
    void deliver(const domain::event& event, const domain::instrument& instrument, std::uint64_t number);
    void write();

    bool pending = false;

 private:
    static constexpr std::size_t output_bytes = gateway::output_buffer_bytes;

    void read();
    void work();
    void log_on(const protocol::frame& frame);
    void take(const protocol::frame& frame);
    template <class Message>
    void put(const Message& message) {
        const auto room = output_.reserve(Message::frame_bytes);
        verify(!room.empty(), "a session's output fits");
        protocol::store(message, 0, room.data());
        output_.commit(room.size());
    }

    venue& owner_;
    tcp_socket socket_;
    base::byte_queue output_;
    std::array<std::byte, 32> challenge_{};
    domain::session_id id_{};
    domain::account_id account_{};
    std::uint64_t next_request_ = 1;
    bool writing_ = false;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    handler_memory reading_memory_;
    handler_memory writing_memory_;
    std::array<std::byte, gateway::input_buffer_bytes> input_;
};

/// Reads the feed.
class subscriber {
 public:
    subscriber(const market_data::feed_log& log, tcp_socket socket) : log_(log), socket_(std::move(socket)) {}

    void start() {
        socket_.async_read_some(into_buffer(input_), [this](const error_code& error, std::size_t bytes) {
            if (is_end(error)) return;
            verify_ok(error, "reading a login");
            verify_equal(bytes, soup::login_request_bytes, "bytes of a login");
            std::array<std::byte, soup::login_accepted_bytes> reply;
            soup::login_accepted accepted;
            accepted.session = "CORRO";
            accepted.next_sequence = 1;
            verify(soup::encode(accepted, reply).has_value(), "an answer to a login");
            net::write(socket_, from_buffer(reply));
            logged_in_ = true;
            write();
        });
    }
    void write() {
        while (logged_in_ && !writing_ && position_ != log_.end_position()) {
            const auto bytes = log_.bytes_from(position_, market_data::send_bytes_max);
            error_code error;
            position_ += socket_.write_some(from_buffer(bytes), error);
            if (!error) continue;
            if (error != net::error::would_block) {
                logged_in_ = false;
                return;
            }
            writing_ = true;
            socket_.async_wait(tcp_socket::wait_write,
                               net::bind_allocator(handler_allocator<void>(memory_), [this](const error_code& waited) {
                                   writing_ = false;
                                   if (!waited) write();
                               }));
        }
    }

 private:
    const market_data::feed_log& log_;
    tcp_socket socket_;
    std::uint64_t position_ = 0;
    bool logged_in_ = false;
    bool writing_ = false;
    handler_memory memory_;
    std::array<std::byte, 256> input_;
};

class venue final : private node::event_sink {
 public:
    /// @param batched  Answers are written once per round of the loop instead of once per read.
    venue(net::io_context& on, const node::configuration& c, bool batched, venue_report& report)
        : on_(on),
          batched_(batched),
          answers_(sessions_of(accounts_, c), node::answer_options_of(c)),
          host_(node::facility_options_of(c, io::default_platform()), c.instruments, lab::clock(), *this),
          publisher_(feed_options_of(c), c.instruments),
          sessions_(accounts_.sessions_count() + 1),
          countdown_from_(c.timing_sample_every),
          orders_(on.get_executor(), net::ip::tcp::endpoint(net::ip::address_v4::loopback(), 0)),
          feed_(on.get_executor(), net::ip::tcp::endpoint(net::ip::address_v4::loopback(), 0)) {
        for (const domain::instrument& i : c.instruments) instruments_.define(i);
        accept_orders();
        accept_feed();
        report.feed_port = feed_.local_endpoint().port();
        report.orders_port = orders_.local_endpoint().port();
    }

    /// Something was read and worked on.
    void after_read() {
        if (!batched_) return flush();
        if (flush_is_posted_) return;
        // Behind the handlers of everything that the reactor has found ready.
        flush_is_posted_ = true;
        net::post(on_, net::bind_allocator(handler_allocator<void>(flush_memory_), [this] {
                      flush_is_posted_ = false;
                      flush();
                  }));
    }
    void flush() {
        for (session* s : pending_) {
            s->pending = false;
            s->write();
        }
        pending_.clear();
        for (const auto& s : subscribers_) s->write();
    }
    void execute(domain::command& command) {
        verify(host_.execute(command), "without a journal every command is taken");
        answers_.note(command);
    }
    void open(domain::session_id id, session& s) { sessions_[id.value] = &s; }

    [[nodiscard]] std::uint64_t received_ticks() {
        if (countdown_-- != 0) return 0;
        countdown_ = countdown_from_ - 1;
        return lab::clock().now_ticks();
    }
    [[nodiscard]] node::latency_tables& latencies() noexcept { return latencies_; }
    [[nodiscard]] const gateway::account_directory& accounts() const noexcept { return accounts_; }
    [[nodiscard]] const protocol::instrument_table& instruments() const noexcept { return instruments_; }
    [[nodiscard]] const gateway::answer_log& answers() const noexcept { return answers_; }

 private:
    static market_data::feed_options feed_options_of(const node::configuration& c) {
        market_data::feed_options options;
        options.touch = c.touch;
        return options;
    }
    static std::uint32_t sessions_of(gateway::account_directory& into, const node::configuration& c) {
        for (const gateway::account& a : c.accounts) verify(into.add(a).empty(), "the accounts are sound");
        return into.sessions_count();
    }

    std::size_t accept(std::span<const domain::event> events) noexcept override {
        for (const domain::event& event : events) {
            if (domain::is_public(event.kind)) {
                publisher_.publish(event);
                continue;
            }
            const domain::session_id id = domain::session_of(event);
            const std::uint64_t number = answers_.append(event);
            session* const s = sessions_[id.value];
            if (s == nullptr) continue;
            s->deliver(event, instruments_.find_or_nameless(event.instrument), number);
            if (!s->pending) {
                s->pending = true;
                pending_.push_back(s);
            }
        }
        return events.size();
    }

    void accept_orders() {
        orders_.async_accept([this](const error_code& error, tcp_socket socket) {
            verify_ok(error, "accepting");
            socket.non_blocking(true);
            socket.set_option(net::ip::tcp::no_delay(true));
            connections_.push_back(std::make_unique<session>(*this, std::move(socket)));
            connections_.back()->start();
            accept_orders();
        });
    }
    void accept_feed() {
        feed_.async_accept([this](const error_code& error, tcp_socket socket) {
            verify_ok(error, "accepting");
            socket.non_blocking(true);
            socket.set_option(net::ip::tcp::no_delay(true));
            subscribers_.push_back(std::make_unique<subscriber>(publisher_.log(), std::move(socket)));
            subscribers_.back()->start();
            accept_feed();
        });
    }

    net::io_context& on_;
    const bool batched_;
    bool flush_is_posted_ = false;
    handler_memory flush_memory_;
    protocol::instrument_table instruments_;
    gateway::account_directory accounts_;
    gateway::answer_log answers_;
    node::matching_host host_;
    market_data::feed_publisher publisher_;
    node::latency_tables latencies_;
    std::vector<session*> sessions_;  ///< by session id
    std::vector<session*> pending_;
    std::uint32_t countdown_ = 0;
    std::uint32_t countdown_from_;
    tcp_acceptor orders_;
    tcp_acceptor feed_;
    std::vector<std::unique_ptr<session>> connections_;
    std::vector<std::unique_ptr<subscriber>> subscribers_;
};

void session::start() {
    challenge_ = gateway::make_nonce(io::default_platform());
    protocol::challenge first;
    first.nonce = challenge_;
    first.protocol_version = protocol::protocol_version;
    first.protocol_version_min = protocol::protocol_version_min;
    put(first);
    write();
    read();
}

void session::read() {
    if (input_begin_ != 0) {
        std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
        input_end_ -= input_begin_;
        input_begin_ = 0;
    }
    socket_.async_read_some(into_buffer(std::span(input_).subspan(input_end_)),
                            net::bind_allocator(handler_allocator<void>(reading_memory_),
                                                [this](const error_code& error, std::size_t bytes) {
                                                    if (error) return;  // the client has left
                                                    input_end_ += bytes;
                                                    work();
                                                    owner_.after_read();
                                                    read();
                                                }));
}

void session::work() {
    while (true) {
        const auto next = protocol::next_frame(std::span(input_).subspan(input_begin_, input_end_ - input_begin_));
        verify(next.has_value(), "requests are sound");
        if (!*next) return;
        input_begin_ += (*next)->size();
        if (id_.value == 0) {
            log_on(**next);
        } else if ((*next)->sequence != 0) {
            take(**next);
        }
    }
}

void session::log_on(const protocol::frame& frame) {
    verify(frame.message == protocol::template_id::hello && !protocol::hello_view::check(frame), "a hello comes first");
    const protocol::hello hello = protocol::hello_view(frame).value();
    const gateway::account* const a = owner_.accounts().find(hello.account);
    verify(a != nullptr && hello.session_number != 0 && hello.session_number <= a->sessions_count, "a known account");
    const auto input = protocol::logon_proof_input(challenge_, hello);
    verify(protocol::equal_in_constant_time(protocol::make_proof(a->key, input), hello.proof), "a sound proof");
    id_ = domain::session_id{a->first_session.value + hello.session_number - 1};
    account_ = a->id;
    protocol::hello_ack ack;
    ack.next_request = domain::sequence_number{next_request_};
    ack.next_sequence = domain::sequence_number{owner_.answers().next_answer(id_)};
    ack.session = id_;
    ack.heartbeat_interval_ms = hello.heartbeat_interval_ms;
    ack.instruments_count = static_cast<std::uint32_t>(owner_.instruments().count());
    ack.protocol_version = hello.protocol_version;
    put(ack);
    owner_.instruments().for_each([this](const domain::instrument& i) {
        const auto room = output_.reserve(protocol::message_bytes_max);
        output_.commit(protocol::encode(i, 0, room));
    });
    owner_.open(id_, *this);
    write();
}

void session::take(const protocol::frame& frame) {
    const std::uint64_t received = owner_.received_ticks();
    verify_equal(frame.sequence, next_request_, "the number of a request");
    domain::command command;
    verify(!protocol::decode_command(frame, owner_.instruments(), command), "requests are sound");
    ++next_request_;
    command.session = id_;
    command.account = account_;
    command.set_request(static_cast<std::uint32_t>(frame.sequence));
    const std::uint64_t decoded = received != 0 ? lab::clock().now_ticks() : 0;
    const domain::command_kind kind = command.kind;
    owner_.execute(command);
    if (received == 0) return;
    owner_.latencies().record(kind, lab::clock().between_ns(received, decoded),
                              lab::clock().between_ns(decoded, lab::clock().now_ticks()));
}

void session::deliver(const domain::event& event, const domain::instrument& instrument, std::uint64_t number) {
    const auto room = output_.reserve(protocol::message_bytes_max);
    verify(!room.empty(), "a session's output fits");
    output_.commit(protocol::encode(event, instrument, number, room));
}

void session::write() {
    while (!writing_) {
        const auto ready = output_.readable();
        if (ready.empty()) return;
        error_code error;
        const std::size_t written = socket_.write_some(from_buffer(ready), error);
        if (!error) {
            output_.consume(written);
            continue;
        }
        if (error != net::error::would_block) return;  // the client has left
        writing_ = true;
        socket_.async_wait(tcp_socket::wait_write, net::bind_allocator(handler_allocator<void>(writing_memory_),
                                                                       [this](const error_code& waited) {
                                                                           writing_ = false;
                                                                           if (!waited) write();
                                                                       }));
    }
}

void serve(bool batched, const venue_settings& settings, venue_report& report, int control) {
    bind_to_processor(quiet_processor());
    net::io_context on(alone);
    unix_socket ending(on.get_executor());
    ending.assign(net::local::stream_protocol(), control);
    const auto serving = std::make_unique<venue>(on, settings.configuration, batched, report);
    std::array<std::byte, 1> nothing;
    ending.async_read_some(into_buffer(nothing), [&on](const error_code&, std::size_t) { on.stop(); });
    if (settings.busy_poll) {
        while (!on.stopped()) on.poll();
    } else {
        on.run();
    }
    report.take(serving->latencies());
}

}  // namespace

void implement_venue(registry& into) {
    for (const bool batched : {false, true}) {
        lab::implement_venue(into, subject(batched ? "callbacks_batched" : "callbacks"),
                             [batched](const venue_settings& settings, venue_report& report, int control) {
                                 serve(batched, settings, report, control);
                             });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
