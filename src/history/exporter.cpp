#include "history/exporter.hpp"

#include <exception>

namespace corro::history {

void exporter::consume(std::span<const domain::event> events) noexcept {
    if (!problem_.empty()) return;
    try {
        for (const domain::event& e : events) write(e);
    } catch (const std::exception& e) {
        problem_ = e.what();
    }
}

}  // namespace corro::history
