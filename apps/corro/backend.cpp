#include "backend.hpp"

#ifdef CORRO_WITH_ASIO
#include "io/backends/asio/asio_backend.hpp"
#endif

namespace corro::app {

std::vector<std::string> backend_names() {
    std::vector<std::string> names{"auto", "epoll", "uring"};
#ifdef CORRO_WITH_ASIO
    names.emplace_back("asio");
#endif
    return names;
}

io::backend_kind backend_named(const std::string& name) {
    if (name == "epoll") return io::backend_kind::epoll;
    if (name == "uring") return io::backend_kind::uring;
#ifdef CORRO_WITH_ASIO
    if (name == "asio") {
        io::asio::register_backend();
        return io::backend_kind::asio;
    }
#endif
    return io::backend_kind::automatic;
}

}  // namespace corro::app
