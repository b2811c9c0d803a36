// SPDX-License-Identifier: Apache-2.0
// Asio's channel, by which its coroutines tell each other things on one thread, and its operators for awaiting several.
//
// Threads: one context.
#pragma once

#include "lab/suites/asio.hpp"

#if defined(CORRO_LAB_STANDALONE_ASIO)
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/experimental/channel.hpp>
#else
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/experimental/channel.hpp>
#endif

namespace corro::lab::CORRO_LAB_ASIO {

/// A channel that carries nothing but that something happened.
using channel = net::experimental::channel<executor, void(error_code)>;

}  // namespace corro::lab::CORRO_LAB_ASIO
