// SPDX-License-Identifier: Apache-2.0
#include "lab_command.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "../runs.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"
#include "lab_server.hpp"
#include "laboratory.hpp"
#include "laboratory_files.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::app {
namespace {

bool is_loopback(const io::endpoint& at) {
    return at.family() == io::address_family::ipv4 ? at.address()[0] == 127
                                                   : at == io::endpoint::loopback_ipv6(at.port());
}

}  // namespace

int run_laboratory(const lab_options& options) {
    const auto where = io::endpoint::parse(options.listen);
    if (!where || !is_loopback(*where)) {
        throw node::configuration_error(fmt::format(
            "--listen: expected an address of this machine such as 127.0.0.1:7040, not {}", options.listen));
    }
    scenario_source from;
    from.text = read_text(options.file);
    from.file = options.file;
    from.data_folder = options.data_folder;
    const std::uint64_t seed = options.seed ? *options.seed : from.parse().seed;
    io::context context;
    auto port = io::tcp_acceptor::open(context, *where);
    if (!port) {
        throw std::runtime_error(fmt::format("cannot listen on {}: {}", options.listen, port.error().message()));
    }
    laboratory lab(context, std::move(from), seed);
    lab_server server(context, lab, laboratory_files());
    io::signal_set interrupt(context, {SIGINT, SIGTERM});
    fmt::print("{}, seed {}: http://{}/\n", lab.run().what().name, seed, port->local_endpoint()->to_string());
    std::fflush(stdout);
    io::block_on(context, io::when_any(server.serve(&*port), interrupt.wait()));
    return 0;
}

}  // namespace corro::app
