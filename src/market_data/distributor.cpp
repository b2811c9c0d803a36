#include "market_data/distributor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "market_data/subscriber.hpp"
#include "wire/binary_codec.hpp"

namespace corro::market_data {

namespace soup = wire::soup_bin_tcp;

namespace {

io::admission_options door_of(std::uint32_t all, std::uint32_t per_address) {
    io::admission_options options;
    options.guests_max = all;
    options.per_address_max = std::min(all, per_address);
    options.reserved_for_proven = 0;  // there is no authentication here
    return options;
}

/// The peer's address; this machine for a connection that has ended already.
std::optional<io::endpoint> origin_of(const io::tcp_stream& stream) noexcept {
    const auto peer = stream.remote_endpoint();
    return peer ? std::optional(*peer) : std::nullopt;
}

}  // namespace

distributor::distributor(io::context& context, const distributor_options& options,
                         std::span<const domain::instrument> instruments)
    : context_(context),
      options_(options),
      log_(options.feed_log_bytes, options.touch),
      subscriber_admission_(door_of(options.subscribers_max, options.subscribers_per_address_max)),
      snapshot_admission_(door_of(options.snapshots_max, options.snapshots_per_address_max)) {
    for (const domain::instrument& i : instruments) define(i);
    subscribers_.reserve(options_.subscribers_max);
}

void distributor::define(const domain::instrument& instrument) {
    instruments_.define(instrument);
    if (instrument.id.value >= books_.size()) books_.resize(instrument.id.value + 1, book_image(options_.hash_key));
    if (books_.size() > pictures_.size()) pictures_.resize(books_.size());
}

distributor::~distributor() {
    CORRO_ASSERT(subscribers_.empty(), "the serving tasks must end before the distributor is destroyed");
}

void distributor::begin_at(std::uint64_t next_sequence, std::uint64_t last_command) noexcept {
    log_.begin_at(next_sequence);
    last_command_ = last_command;
}

void distributor::begin_definition(std::span<const domain::event> events) {
    for (const domain::event& event : events) take_definition(event);
}

bool distributor::adopt(domain::instrument_id id, const book_image& book) {
    if (instruments_.find(id) == nullptr) return false;
    books_[id.value] = book;
    return true;
}

io::task<void> distributor::serve_feed(io::tcp_acceptor acceptor) {
    return serve(std::move(acceptor), port::feed);
}

io::task<void> distributor::serve_snapshots(io::tcp_acceptor acceptor) {
    return serve(std::move(acceptor), port::snapshot);
}

io::task<void> distributor::serve_depth(io::tcp_acceptor acceptor) {
    return serve(std::move(acceptor), port::depth);
}

io::task<void> distributor::serve(io::tcp_acceptor acceptor, port what) {
    acceptors_[static_cast<int>(what)] = &acceptor;
    io::task_scope conversations(context_);
    while (!closing_) {
        auto stream = co_await acceptor.accept();
        if (!stream) break;  // closed or stopped
        auto s = std::make_unique<subscriber>(std::move(*stream));
        // Counted here and not when its task starts, because many may be accepted before the first task runs.
        const bool is_in = subscriber_admission_.enter(*s, origin_of(s->stream));
        statistics_.evicted = subscriber_admission_.evicted_count();
        if (!is_in) {
            ++statistics_.connections_refused;
            continue;
        }
        ++statistics_.subscribers_now;
        static_cast<void>(s->stream.set_option(io::no_delay(true)));
        conversations.spawn(converse(std::move(s), what));
    }
    acceptors_[static_cast<int>(what)] = nullptr;
    co_await conversations.join();
}

void distributor::close() noexcept {
    closing_ = true;
    for (io::tcp_acceptor* acceptor : acceptors_) {
        if (acceptor != nullptr) acceptor->close();
    }
    for (subscriber* s : subscribers_) end(*s);
}

void distributor::end(subscriber& s) noexcept {
    if (s.ended) return;
    s.ended = true;
    if (s.scope != nullptr) s.scope->request_stop();
}

// The lag of a subscriber behind the newest message, in bytes.
std::uint64_t distributor::lag_of(const subscriber& s) const noexcept {
    return log_.end_position() - s.position;
}

// Serves one connection, from its accept to its end.
io::task<void> distributor::converse(std::unique_ptr<subscriber> s, port what) {
    subscribers_.push_back(s.get());
    if (!closing_ && !s->ended) {
        io::task_scope logging_in(context_);
        s->scope = &logging_in;
        logging_in.spawn(log_in(s.get(), what));
        co_await logging_in.join();
        s->scope = nullptr;
    }
    if (s->logged_in && !s->ended) {
        io::task_scope active(context_);
        s->scope = &active;
        active.spawn(listen(s.get()));
        if (what != port::snapshot) active.spawn(keep_alive(s.get()));
        if (what == port::feed) active.spawn(send_feed(s.get()));
        if (what == port::snapshot) active.spawn(send_snapshot(s.get()));
        if (what == port::depth) active.spawn(send_depth(s.get()));
        co_await active.join();
        s->scope = nullptr;
    }
    if (s->logged_in && !s->cut) static_cast<void>(co_await io::with_timeout(farewell_timeout, leave(s.get(), what)));
    subscribers_.erase(std::find(subscribers_.begin(), subscribers_.end(), s.get()));
    --statistics_.subscribers_now;
    if (s->logged_in) log(telemetry::log_record_kind::subscriber_left, statistics_.subscribers_now);
}

// Ends a connection: sends the rest of the feed and the end of the session, unless the subscriber logged out. Then
// waits until the subscriber closes too, so that the last packets are not lost with the connection.
io::task<void> distributor::leave(subscriber* s, port what) {
    if (!s->logged_out) {
        while (what == port::feed && s->position != log_.end_position()) {
            const io::io_result written = co_await s->stream.write_some(log_.bytes_from(s->position, send_bytes_max));
            s->position += written.bytes;
            if (written.error) co_return;
        }
        std::array<std::byte, soup::header_bytes> packet;
        const auto bytes = encoded(soup::packet_type::end_of_session, packet);
        const io::io_result written = co_await s->stream.write_all(bytes);
        if (written.error) co_return;
    }
    static_cast<void>(s->stream.shutdown_send());
    while (true) {
        const io::io_result read = co_await s->stream.read_some(s->input);
        if (read.error) co_return;
    }
}

io::task<void> distributor::log_in(subscriber* s, port what) {
    std::array<std::byte, soup::login_accepted_bytes> reply;
    const auto request_arrives = [](subscriber* from) -> io::task<bool> {
        while (true) {
            const auto packet = soup::decode(std::span(from->input).first(from->input_end), soup::sender::client,
                                             soup::login_request_bytes);
            if (!packet || (*packet && (*packet)->type != soup::packet_type::login_request)) co_return false;
            if (*packet) co_return true;
            const io::io_result read = co_await from->stream.read_some(std::span(from->input).subspan(from->input_end));
            from->input_end += read.bytes;
            if (read.error) co_return false;
        }
    };
    const auto arrived = co_await io::with_timeout(options_.login_timeout, request_arrives(s));
    if (!arrived || !*arrived) {
        if (!s->ended) ++statistics_.protocol_errors;
        s->cut = true;
        co_return;
    }
    const auto packet = **soup::decode(std::span(s->input).first(s->input_end), soup::sender::client);
    const auto request = soup::decode_login_request(packet.payload);
    const std::uint64_t first = what == port::feed ? log_.first_sequence() : 1;
    const std::uint64_t next = what == port::feed ? log_.next_sequence() : 1;
    const std::uint64_t wanted = !request ? 0 : request->requested_sequence == 0 ? next : request->requested_sequence;
    const bool session_known = request && (request->requested_session.empty() ||
                                           soup::same_credential(request->requested_session, options_.session_name));
    bool available = session_known && wanted >= first && wanted <= next;
    if (available && what == port::feed) {
        s->position = log_.position_of(wanted);
        available = lag_of(*s) <= log_.capacity_bytes() / join_lag_divisor;
    }
    if (available && what == port::snapshot) {
        available = snapshot_admission_.enter(s->snapshot_place, origin_of(s->stream));
        snapshot_admission_.settle(s->snapshot_place);
    }
    if (!available) {
        ++statistics_.logins_rejected;
        s->cut = true;
        const auto rejection = soup::reject_code::session_not_available;
        static_cast<void>(co_await io::with_timeout(farewell_timeout, s->stream.write_all(encoded(rejection, reply))));
        co_return;
    }
    s->input_end -= packet.size;
    std::memmove(s->input.data(), s->input.data() + packet.size, s->input_end);
    soup::login_accepted accepted;
    accepted.session = options_.session_name;
    accepted.next_sequence = wanted;
    s->follows_feed = what == port::feed;
    s->logged_in = true;
    subscriber_admission_.settle(*s);
    log(telemetry::log_record_kind::subscribed, wanted);
    ++statistics_.logins;
    const io::io_result written = co_await s->stream.write_all(encoded(accepted, reply));
    if (written.error) {
        s->cut = true;
        end(*s);
    }
}

// False when the connection has failed.
io::task<bool> distributor::send_heartbeat(subscriber* s) {
    s->heartbeat_due = false;
    std::array<std::byte, soup::header_bytes> packet;
    const io::io_result said = co_await s->stream.write_all(encoded(soup::packet_type::server_heartbeat, packet));
    if (!said.error) co_return true;
    s->cut = true;
    end(*s);
    co_return false;
}

// Sends from the feed log, in the largest possible pieces.
io::task<void> distributor::send_feed(subscriber* s) {
    while (!s->ended) {
        // flush() disconnects a subscriber that falls too far behind.
        const auto bytes = log_.bytes_from(s->position, send_bytes_max);
        if (bytes.empty()) {
            if (s->heartbeat_due) {
                const bool said = co_await send_heartbeat(s);
                if (!said) co_return;
                continue;
            }
            s->idle = true;
            if (co_await s->more.wait()) co_return;  // stopped
            continue;
        }
        s->sent = true;
        const io::io_result written = co_await s->stream.write_some(bytes);
        s->position += written.bytes;
        if (written.error) {
            if (written.error != io::condition::canceled) s->cut = true;
            end(*s);
        }
    }
}

io::task<void> distributor::send_snapshot(subscriber* s) {
    ++statistics_.snapshots;
    {
        const shared_bytes bytes = snapshot();
        const auto written = co_await io::with_timeout(options_.snapshot_timeout, s->stream.write_all(*bytes));
        const bool late = !written || written->error == io::condition::timed_out;
        if (late) ++statistics_.slow_cut;
        if (late || written->error) s->cut = true;
    }
    snapshot_admission_.leave(s->snapshot_place);
    end(*s);
}

// Reads the subscriber's messages: heartbeats keep it alive, a logout ends it, all others violate the protocol.
io::task<void> distributor::listen(subscriber* s) {
    while (!s->ended) {
        const auto packet =
            soup::decode(std::span(s->input).first(s->input_end), soup::sender::client, s->input.size() - 3);
        if (!packet) {
            ++statistics_.protocol_errors;
            s->cut = true;
            end(*s);
        } else if (*packet) {
            s->heard = true;
            if ((*packet)->type == soup::packet_type::logout_request) {
                s->logged_out = true;
                end(*s);
            }
            s->input_end -= (*packet)->size;
            std::memmove(s->input.data(), s->input.data() + (*packet)->size, s->input_end);
        } else {
            const io::io_result read = co_await s->stream.read_some(std::span(s->input).subspan(s->input_end));
            s->input_end += read.bytes;
            if (read.error) {
                if (read.error != io::condition::canceled) s->cut = true;
                end(*s);
            }
        }
    }
}

// Sends a heartbeat packet after every interval without data; disconnects a subscriber that was silent for too long.
io::task<void> distributor::keep_alive(subscriber* s) {
    std::chrono::milliseconds silent{0};
    while (!s->ended) {
        if (co_await io::sleep_for(options_.heartbeat_interval)) co_return;  // stopped
        silent = s->heard ? std::chrono::milliseconds(0) : silent + options_.heartbeat_interval;
        s->heard = false;
        if (silent >= options_.silence_max) {
            ++statistics_.silent_cut;
            s->cut = true;
            end(*s);
        }
        if (!s->sent) {
            s->heartbeat_due = true;
            s->more.set();
        }
        s->sent = false;
    }
}

// The first messages of a definition are about an instrument that does not exist yet.
void distributor::take_definition(const domain::event& event) {
    if (event.instrument.value >= books_.size()) {
        books_.resize(event.instrument.value + 1, book_image(options_.hash_key));
        pictures_.resize(books_.size());
    }
    begun_.push_back(event);
    if (!definitions_.take(event)) return;
    begun_.clear();
    const domain::instrument* made = instruments_.define(definitions_.get());
    CORRO_ASSERT(made != nullptr, "the facility must have checked the definition");
}

void distributor::publish(const domain::event& event) noexcept {
    CORRO_ASSERT(domain::is_public(event.kind));
    CORRO_ASSERT(!closing_, "nothing may be published after close()");
    if (domain::is_definition(event.kind)) [[unlikely]]
        take_definition(event);
    const image_status status = books_[event.instrument.value].apply(event);
    CORRO_ASSERT(status == image_status::applied, "the facility's events must be consistent");
    last_command_ = event.command.value;
    pictures_[event.instrument.value].changed_at = log_.next_sequence();
    const std::span<std::byte> room = log_.reserve();
    const std::size_t size = wire::encode(event, instruments_.find_or_nameless(event.instrument), log_.next_sequence(),
                                          room.subspan(soup::header_bytes));
    const auto header = soup::header(soup::packet_type::sequenced_data, size);
    std::memcpy(room.data(), header.data(), header.size());
    log_.commit(header.size() + size);
    ++statistics_.messages;
    statistics_.bytes += header.size() + size;
}

void distributor::expect(std::span<const domain::prefetch_hint> coming) const noexcept {
    const auto for_each_known = [&](auto&& look) {
        for (const domain::prefetch_hint& f : coming) {
            if (f.order.value != 0 && f.instrument.value < books_.size()) look(books_[f.instrument.value], f.order);
        }
    };
    for_each_known([](const book_image& book, domain::order_id order) { book.prefetch(order); });
    for_each_known([](const book_image& book, domain::order_id order) { book.prefetch_order(order); });
    for_each_known([](const book_image& book, domain::order_id order) { book.prefetch_neighbours(order); });
}

void distributor::flush() noexcept {
    for (subscriber* s : subscribers_) {
        if (!s->logged_in || !s->follows_feed) continue;
        if (s->idle) {
            s->idle = false;
            s->more.set();
        } else if (!s->ended && lag_of(*s) > log_.capacity_bytes() / lag_max_divisor * lag_max_numerator) {
            ++statistics_.slow_cut;
            log(telemetry::log_record_kind::subscriber_cut, lag_of(*s));
            s->cut = true;
            end(*s);
        }
    }
}

void distributor::log(telemetry::log_record_kind what, std::uint64_t number) const noexcept {
    if (options_.log == nullptr) return;
    telemetry::log_record said(telemetry::component::feed, what, static_cast<std::int64_t>(number),
                               context_.wall_now());
    if (what == telemetry::log_record_kind::subscriber_cut) said.severity = telemetry::severity::warning;
    options_.log->note(said);
}

const book_image* distributor::book(domain::instrument_id id) const noexcept {
    return instruments_.find(id) == nullptr ? nullptr : &books_[id.value];
}

}  // namespace corro::market_data
