// SPDX-License-Identifier: Apache-2.0
// Suite `churn`, by Asio with callbacks.

#include <array>
#include <deque>
#include <optional>

#include "lab/suites/asio_sockets.hpp"
#include "lab/suites/churn_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

using pairs = std::deque<asio_pair<tcp_socket>>;

/// One loop that connects, accepts, sends a byte, receives it and closes.
class churn_loop {
 public:
    churn_loop(net::io_context& on, timed_run& run)
        : acceptor_(on.get_executor(), net::ip::tcp::endpoint(net::ip::address_v4::loopback(), 0)),
          address_(acceptor_.local_endpoint()),
          client_(on.get_executor()),
          server_(on.get_executor()),
          run_(run),
          at_(run.now()) {}

    void start() {
        client_.open(net::ip::tcp::v4());
        client_.set_option(tcp_socket::linger(true, 0));
        half_done_ = false;
        client_.async_connect(address_, [this](const error_code& error) {
            verify_ok(error, "connecting");
            one_end_done();
        });
        acceptor_.async_accept(server_, [this](const error_code& error) {
            verify_ok(error, "accepting");
            one_end_done();
        });
    }

 private:
    void one_end_done() {
        if (!half_done_) {
            half_done_ = true;
            return;
        }
        sent_ = churn_byte;
        net::async_write(client_, net::buffer(&sent_, 1), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            receive();
        });
    }
    void receive() {
        received_ = std::byte{0};
        net::async_read(server_, net::buffer(&received_, 1), [this](const error_code& error, std::size_t) {
            verify_ok(error, "reading");
            verify(received_ == sent_, "another byte came");
            client_.close();
            server_.close();
            at_ = run_.lap(at_);
            if (at_ != 0) start();
        });
    }

    tcp_acceptor acceptor_;
    net::ip::tcp::endpoint address_;
    tcp_socket client_;
    tcp_socket server_;
    timed_run& run_;
    std::uint64_t at_;
    std::byte sent_{};
    std::byte received_{};
    bool half_done_ = false;
};

measurement churn(const run_parameters& how, int loops) {
    net::io_context context(alone);
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    std::deque<churn_loop> all;
    for (int i = 0; i < loops; ++i) all.emplace_back(context, runs.emplace_back(whole, 0)).start();
    context.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

/// Starts connects, accepts them one by one, closes all.
class burst_loop {
 public:
    burst_loop(net::io_context& on, timed_run& run, int size)
        : acceptor_(on.get_executor(), net::ip::tcp::endpoint(net::ip::address_v4::loopback(), 0)),
          address_(acceptor_.local_endpoint()),
          run_(run),
          at_(run.now()),
          size_(size) {}

    void start() {
        left_ = 2 * size_;
        for (int i = 0; i < size_; ++i) {
            tcp_socket& client = clients_.emplace_back(acceptor_.get_executor());
            client.open(net::ip::tcp::v4());
            client.set_option(tcp_socket::linger(true, 0));
            client.async_connect(address_, [this](const error_code& error) {
                verify_ok(error, "connecting");
                one_end_done();
            });
        }
        accept();
    }

 private:
    void accept() {
        acceptor_.async_accept(servers_.emplace_back(acceptor_.get_executor()), [this](const error_code& error) {
            verify_ok(error, "accepting");
            if (static_cast<int>(servers_.size()) != size_) accept();
            one_end_done();
        });
    }
    void one_end_done() {
        if (--left_ != 0) return;
        clients_.clear();
        servers_.clear();
        at_ = run_.lap(at_);
        if (at_ != 0) start();
    }

    tcp_acceptor acceptor_;
    net::ip::tcp::endpoint address_;
    std::deque<tcp_socket> clients_;
    std::deque<tcp_socket> servers_;
    timed_run& run_;
    std::uint64_t at_;
    int size_;
    int left_ = 0;
};

measurement bursts(const run_parameters& how, int size) {
    net::io_context context(alone);
    timed_run run(how.seconds);
    burst_loop one(context, run, size);
    one.start();
    context.run();
    return rate_with_latencies(run);
}

class echo {
 public:
    explicit echo(tcp_socket& with) : with_(with) {}

    void start() {
        with_.async_read_some(into_buffer(bytes_), [this](const error_code& error, std::size_t got) {
            if (is_end(error)) return;
            verify_ok(error, "reading");
            net::async_write(with_, from_buffer(std::span<const std::byte>(bytes_).first(got)),
                             [this](const error_code& write_error, std::size_t) {
                                 verify_ok(write_error, "writing");
                                 start();
                             });
        });
    }

 private:
    tcp_socket& with_;
    std::array<std::byte, fan_out_bytes> bytes_{};
};

/// One request at a time on one connection; calls `Parent::one_ended` when its answer is there.
template <class Parent>
class request {
 public:
    request(tcp_socket& with, Parent& of) : with_(with), parent_(of) {}

    void start() {
        bytes_.back() = churn_byte;
        net::async_write(with_, from_buffer(bytes_), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            bytes_.back() = std::byte{0};
            receive();
        });
    }

 private:
    void receive() {
        net::async_read(with_, into_buffer(bytes_), [this](const error_code& error, std::size_t) {
            verify_ok(error, "reading");
            verify(bytes_.back() == churn_byte, "another message came back");
            parent_.one_ended();
        });
    }

    tcp_socket& with_;
    Parent& parent_;
    std::array<std::byte, fan_out_bytes> bytes_{};
};

/// Requests that are joined. Notifies `Parent` when all have their answers.
template <class Parent>
class group {
 public:
    group(pairs& of, std::size_t first, int requests, Parent& parent) : parent_(parent) {
        for (int i = 0; i < requests; ++i) {
            requests_.emplace_back(of[first + static_cast<std::size_t>(i)].client, *this);
        }
    }

    void start() {
        left_ = requests_.size();
        for (request<group>& one : requests_) one.start();
    }
    void one_ended() {
        if (--left_ == 0) parent_.one_ended();
    }

 private:
    Parent& parent_;
    std::deque<request<group>> requests_;
    std::size_t left_ = 0;
};

class parent {
 public:
    parent(net::io_context& on, pairs& of, std::size_t first, const fan_out_shape& shape, timed_run& run)
        : on_(on), of_(of), first_(first), shape_(shape), run_(run), at_(run.now()) {
        for (int g = 0; g < shape.groups; ++g) {
            groups_.emplace_back(of, first + static_cast<std::size_t>(g * shape.requests), shape.requests, *this);
        }
    }

    void start() {
        left_ = groups_.size();
        // Each group starts from the queue, as a spawned task does.
        if (groups_.size() == 1) {
            groups_.front().start();
            return;
        }
        for (group<parent>& one : groups_) net::post(on_, [&one] { one.start(); });
    }
    void one_ended() {
        if (--left_ != 0) return;
        at_ = run_.lap(at_);
        if (at_ != 0) {
            start();
            return;
        }
        for (int i = 0; i < shape_.groups * shape_.requests; ++i) {
            of_[first_ + static_cast<std::size_t>(i)].client.shutdown(tcp_socket::shutdown_send);
        }
    }

 private:
    net::io_context& on_;
    pairs& of_;
    std::size_t first_;
    fan_out_shape shape_;
    timed_run& run_;
    std::uint64_t at_;
    std::deque<group<parent>> groups_;
    std::size_t left_ = 0;
};

measurement fan_out(const run_parameters& how, const fan_out_shape& shape) {
    net::io_context context(alone);
    pairs connections = connected_pairs<tcp_socket>(context, shape.connections());
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    std::deque<echo> echoes;
    std::deque<parent> parents;
    for (auto& one : connections) echoes.emplace_back(one.server).start();
    const auto each = connections.size() / static_cast<std::size_t>(shape.parents);
    for (std::size_t first = 0; first < connections.size(); first += each) {
        parents.emplace_back(context, connections, first, shape, runs.emplace_back(whole, 0)).start();
    }
    context.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

}  // namespace

void implement_churn_callbacks(registry& into) {
    for (const int loops : churn_loops) {
        into.implement("churn", churn_row(loops), subject("callbacks"),
                       [loops](const run_parameters& how) { return churn(how, loops); });
    }
    for (const int size : churn_bursts) {
        into.implement("churn", burst_row(size), subject("callbacks"),
                       [size](const run_parameters& how) { return bursts(how, size); });
    }
    for (const fan_out_shape& shape : fan_out_shapes()) {
        into.implement("churn", shape.row(), subject("callbacks"),
                       [shape](const run_parameters& how) { return fan_out(how, shape); });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
