#include "io/scope.hpp"

namespace corro::io {

void task_scope::destroy_children() noexcept {
    while (first_ != nullptr) {
        auto& child = static_cast<detail::task_promise<void>&>(*first_);
        unlink(child);
        std::coroutine_handle<detail::task_promise<void>>::from_promise(child).destroy();
    }
}

}  // namespace corro::io
