// SPDX-License-Identifier: Apache-2.0
// Suite `fix`, by Corro.

#include <array>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "fix/codec/field_index.hpp"
#include "fix/codec/frame.hpp"
#include "fix/dictionary/dictionary.hpp"
#include "fix/dictionary/validator.hpp"
#include "fix/net/acceptor.hpp"
#include "fix/net/application.hpp"
#include "fix/session/message_store.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/fix_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::uint64_t batch = 500;
constexpr std::string_view client_order = "ORDER-0000001234";

class reporting final : public fix::application {
 public:
    fix::acceptor* venue = nullptr;

    void on_message(fix::session& on, fix::instant now) override {
        // The report is written into another buffer than the order was read into.
        put_report(on.begin_message("8", now), on.message().get(11).value_or("?"), now.wall);
        static_cast<void>(on.send(now));
    }
    void on_end(fix::session&) override { venue->close(); }
};

class corro_server final : public fix_server {
 public:
    corro_server(io::platform* kind, std::uint16_t port) {
        std::promise<void> listens;
        thread_ = std::thread([kind, port, &listens] { serve(kind, port, &listens); });
        listens.get_future().wait();
    }
    /// Once its client has gone.
    ~corro_server() override { thread_.join(); }

 private:
    static void serve(io::platform* kind, std::uint16_t at, std::promise<void>* listens) {
        io::context context{io::context_options(*kind)};
        reporting own;
        fix::memory_store store;
        fix::acceptor venue(context, fix::acceptor_options(), own);
        own.venue = &venue;
        fix::session_settings settings;
        settings.identity.sender_comp_id = "VENUE";
        settings.identity.target_comp_id = "TRADER";
        venue.add(settings, store);
        auto port = io::tcp_acceptor::open(context, io::endpoint::loopback(at));
        listens->set_value();
        if (port) io::block_on(context, venue.serve(std::move(*port)));
    }

    std::thread thread_;
};

measurement parse(const run_parameters& how, const std::string& message) {
    fix::field_index index;
    return fastest_of(how, batch, [&](std::uint64_t count) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const fix::frame_result frame = fix::next_frame(message, fix::message_bytes_max_default);
            verify(frame.state == fix::frame_state::complete && !index.index(message, frame), "a sound message");
            sum += index.message_type().size();
        }
        verify_equal(sum, count, "messages");
    });
}

measurement validate(const run_parameters& how, const std::string& message) {
    fix::field_index index;
    auto rules = std::make_shared<fix::validation>();
    rules->session = fix::dictionary::read(fix_dictionary_text(), "the suite's dictionary");
    fix::validator checks(rules);
    return fastest_of(how, batch, [&](std::uint64_t count) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            const fix::frame_result frame = fix::next_frame(message, fix::message_bytes_max_default);
            verify(frame.state == fix::frame_state::complete && !index.index(message, frame) && !checks.check(index),
                   "a valid message");
            sum += index.message_type().size();
        }
        verify_equal(sum, count, "messages");
    });
}

measurement find_fields(const run_parameters& how) {
    const std::string message = new_order_message();
    fix::field_index index;
    verify(!index.index(message, fix::next_frame(message, fix::message_bytes_max_default)), "a sound message");
    const std::uint64_t sizes = client_order.size() + 4 + 2 + 7;
    return fastest_of(how, batch, [&](std::uint64_t count) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            keep(index);
            sum += index.get(11)->size() + index.get(55)->size() + index.get(38)->size() + index.get(44)->size();
        }
        verify_equal(sum, count * sizes, "characters");
    });
}

measurement write(const run_parameters& how) {
    std::array<char, 1024> room;
    fix::message_writer writer(room, "FIX.4.4");
    std::int64_t time = 1'767'600'000'123'000'000;
    return fastest_of(how, batch, [&](std::uint64_t count) {
        std::uint64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            time += 1'000'000;
            writer.begin("8");
            writer.put(34, 1'000'000 + i % 1'000'000);
            writer.put(49, "VENUE");
            writer.put_time(52, time, fix::time_precision::milliseconds);
            writer.put(56, "TRADER");
            put_report(writer, client_order, time);
            sum += writer.finish().size();
        }
        verify_equal(sum, count * execution_report_message().size(), "bytes");
    });
}

}  // namespace

void implement_fix_corro(registry& into) {
    into.implement("fix", "parse_new_order", "corro",
                   [](const run_parameters& how) { return parse(how, new_order_message()); });
    into.implement("fix", "parse_execution_report", "corro",
                   [](const run_parameters& how) { return parse(how, execution_report_message()); });
    into.implement("fix", "validate_new_order", "corro",
                   [](const run_parameters& how) { return validate(how, new_order_message()); });
    into.implement("fix", "validate_execution_report", "corro",
                   [](const run_parameters& how) { return validate(how, execution_report_message()); });
    into.implement("fix", "four_fields", "corro", &find_fields);
    into.implement("fix", "write_execution_report", "corro", &write);
    for (const corro_backend& each : corro_backends()) {
        into.implement("fix", "order_to_report_p50", each.subject, [kind = each.kind](const run_parameters& how) {
            const std::uint16_t port = free_port();
            corro_server server(kind, port);
            return order_to_report(send_orders(how, port, 1));
        });
        into.implement("fix", "outstanding_200", each.subject, [kind = each.kind](const run_parameters& how) {
            const std::uint16_t port = free_port();
            corro_server server(kind, port);
            return rate_of(send_orders(how, port, 200).run);
        });
    }
}

}  // namespace corro::lab
