// SPDX-License-Identifier: Apache-2.0
// Suite `http`, the server rows, by Boost.Beast on one thread without locks.

#include "lab/suites/beast_sessions.hpp"
#include "lab/suites/suites.hpp"
#include "lab/suites/web_shapes.hpp"

namespace corro::lab {
namespace {

using namespace beast_sessions;

template <template <class> class Session>
void serve(const web_shape& shape, const std::vector<int>& descriptors) {
    net::io_context ctx(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    net::ssl::context settings(net::ssl::context::tls_server);
    const std::string& chain = web_identity().certificate_chain;
    const std::string& key = web_identity().private_key;
    settings.use_certificate_chain(net::buffer(chain.data(), chain.size()));
    settings.use_private_key(net::buffer(key.data(), key.size()), net::ssl::context::pem);
    for (const int descriptor : descriptors) {
        plain_stream plain(ctx.get_executor());
        plain.socket().assign(net::ip::tcp::v4(), descriptor);
        plain.socket().native_non_blocking(true);
        if (!shape.secure) {
            std::make_shared<Session<plain_stream>>(std::move(plain), shape.bytes)->start();
            continue;
        }
        const auto session =
            std::make_shared<Session<secure_stream>>(secure_stream(std::move(plain), settings), shape.bytes);
        session->stream().async_handshake(net::ssl::stream_base::server, [session](error_code error) {
            if (!error) session->start();
        });
    }
    ctx.run();
}

}  // namespace

void implement_web_servers_beast(registry& into) {
    for (const web_shape& shape : web_shapes()) {
        into.implement("http", shape.row(), "beast", [shape](const run_parameters& how) {
            return load_web_server(how, shape, shape.websocket ? &serve<websocket_session> : &serve<http_session>);
        });
    }
}

}  // namespace corro::lab
