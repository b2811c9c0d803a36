// SPDX-License-Identifier: Apache-2.0
// What most sources around the core include (cmake/corro_precompiled.cmake). No source depends on it: each includes what
// it needs.
#pragma once

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <expected>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "domain/command.hpp"
#include "domain/definition.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "io/errors.hpp"
#include "io/file/file.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/event.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"
#include "wire/binary_codec.hpp"
