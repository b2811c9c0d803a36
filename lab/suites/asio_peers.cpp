// SPDX-License-Identifier: Apache-2.0
#include "lab/suites/suites.hpp"

namespace corro::lab {

#if defined(CORRO_LAB_BOOST_ASIO)
namespace boost_asio {
[[nodiscard]] asio_peer peer();
}
#endif
#if defined(CORRO_LAB_NEWER_ASIO)
namespace newer_asio {
[[nodiscard]] asio_peer peer();
}
#endif

std::vector<asio_peer> asio_peers() {
    std::vector<asio_peer> all;
#if defined(CORRO_LAB_BOOST_ASIO)
    all.push_back(boost_asio::peer());
#endif
#if defined(CORRO_LAB_NEWER_ASIO)
    all.push_back(newer_asio::peer());
#endif
    return all;
}

}  // namespace corro::lab
