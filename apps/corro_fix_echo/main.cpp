// SPDX-License-Identifier: Apache-2.0
// The program `corro-fix-echo`: an acceptor of FIX sessions that sends orders back, for the scripts that other engines
// test acceptors with.

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <expected>
#include <filesystem>
#include <list>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/command_line/command_line.hpp"
#include "apps/corro_fix_echo/configuration.hpp"
#include "apps/corro_fix_echo/echo.hpp"
#include "fix/net/acceptor.hpp"
#include "fix/session/message_store.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::app {
namespace {

struct echo_options {
    std::filesystem::path config;
    std::string listen = "127.0.0.1:9878";
};

// SIGINT and SIGTERM log all sessions out.
io::task<void> close_on_signal(fix::acceptor* acceptor, io::signal_set* signals) {
    const auto signal = co_await signals->wait();
    if (signal) acceptor->close();
}

io::task<void> serve(fix::acceptor* acceptor, io::tcp_acceptor port, io::context* context) {
    io::signal_set signals(*context, {SIGINT, SIGTERM});
    io::task_scope watching(*context);
    watching.spawn(close_on_signal(acceptor, &signals));
    co_await acceptor->serve(std::move(port));
    watching.request_stop();
    co_await watching.join();
}

int run(const echo_options& options) {
    const std::vector<fix::session_settings> sessions = read_echo_sessions(options.config);
    const auto address = io::endpoint::parse(options.listen);
    if (!address) {
        throw std::runtime_error(
            fmt::format("--listen: '{}' is no address; write one such as 127.0.0.1:9878", options.listen));
    }
    io::context context;
    std::expected<io::tcp_acceptor, std::error_code> port = io::tcp_acceptor::open(context, *address);
    if (!port) {
        throw std::runtime_error(
            fmt::format("--listen: cannot listen on {}: {}", options.listen, port.error().message()));
    }
    echo echoing;
    std::list<fix::memory_store> stores;
    fix::acceptor acceptor(context, fix::acceptor_options(), echoing);
    for (const fix::session_settings& each : sessions) acceptor.add(each, stores.emplace_back());
    fmt::print("listening on {} with {} session{}\n", port->local_endpoint().value_or(*address).to_string(),
               sessions.size(), sessions.size() == 1 ? "" : "s");
    std::fflush(stdout);
    io::block_on(context, serve(&acceptor, std::move(*port), &context));
    return 0;
}

}  // namespace
}  // namespace corro::app

int main(int argc, char** argv) {
    using namespace corro::app;
    const auto options = std::make_shared<echo_options>();
    command_line line("corro-fix-echo", "Accept FIX sessions and send orders back, as tests of FIX engines expect it.",
                      CORRO_VERSION);
    line.footer("docs/howto/fix_echo.md shows the configuration file.");
    const subcommand command = line.add_subcommand("serve", "Accept sessions until SIGINT or SIGTERM");
    command.add_option("-c,--config", options->config, "The configuration file (TOML) with the sessions")
        .required()
        .existing_file();
    command.add_option("--listen", options->listen, "The address on which all sessions are accepted").shows_default();
    command.runs([options] { return run(*options); });
    return line.run(argc, argv);
}
