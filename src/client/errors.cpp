#include "client/errors.hpp"

#include <string>

namespace corro::client {
namespace {

class category final : public std::error_category {
 public:
    [[nodiscard]] const char* name() const noexcept override { return "client"; }

    [[nodiscard]] std::string message(int code) const override {
        switch (static_cast<client_errc>(code)) {
            case client_errc::damaged_archive: return "the compressed data is damaged";
            case client_errc::truncated_archive: return "the compressed data ends too early";
            case client_errc::unpacked_too_large: return "the compressed data unpacks to more than the limit";
        }
        return "unknown client error";
    }
};

}  // namespace

const std::error_category& client_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace corro::client
