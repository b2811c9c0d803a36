// How a backend that lives in a library of its own becomes one of the choices of `context_options`.
//
// Threads: any; offered before the first context asks for it.
#pragma once

#include <memory>

#include "io/loop/backend.hpp"

namespace corro::io {

/// Makes a backend; may throw std::system_error.
using backend_factory = std::unique_ptr<backend> (*)();

/// Makes `backend_kind::asio` work. Called by `asio::register_backend`.
void offer_asio_backend(backend_factory make) noexcept;

/// Whether it does.
[[nodiscard]] bool asio_backend_is_offered() noexcept;

}  // namespace corro::io
