// SPDX-License-Identifier: Apache-2.0
// An IPv4 or IPv6 address with a port.
//
// Layout: the address in network order, the port in host order.
// Threads: a value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace corro::io {

/// The kinds of internet addresses.
enum class address_family : std::uint8_t { ipv4, ipv6 };

/// An internet address with a port.
class endpoint {
 public:
    /// 0.0.0.0:0
    constexpr endpoint() noexcept = default;

    /// An IPv4 endpoint from the four numbers of the address, in the order of the text form.
    [[nodiscard]] static constexpr endpoint ipv4(std::array<std::uint8_t, 4> address, std::uint16_t port) noexcept {
        endpoint made;
        for (std::size_t i = 0; i < address.size(); ++i) made.bytes_[i] = address[i];
        made.port_ = port;
        return made;
    }

    /// An IPv6 endpoint from the 16 bytes of the address; `scope` is the interface index of a link-local address.
    [[nodiscard]] static constexpr endpoint ipv6(std::array<std::uint8_t, 16> address, std::uint16_t port,
                                                 std::uint32_t scope = 0) noexcept {
        endpoint made;
        made.bytes_ = address;
        made.port_ = port;
        made.scope_ = scope;
        made.family_ = address_family::ipv6;
        return made;
    }

    /// 127.0.0.1 with `port`; port 0 lets the system choose when bound.
    [[nodiscard]] static constexpr endpoint loopback(std::uint16_t port) noexcept { return ipv4({127, 0, 0, 1}, port); }
    /// [::1] with `port`.
    [[nodiscard]] static constexpr endpoint loopback_ipv6(std::uint16_t port) noexcept {
        return ipv6({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, port);
    }
    /// Every IPv4 address of this machine, with `port`.
    [[nodiscard]] static constexpr endpoint any(std::uint16_t port) noexcept { return ipv4({0, 0, 0, 0}, port); }

    /// Reads "127.0.0.1:9000" or "[::1]:9000", with an optional numeric scope ("[fe80::1%2]:9000").
    /// @error errc::malformed_endpoint for anything else; names are for the resolver.
    [[nodiscard]] static std::expected<endpoint, std::error_code> parse(std::string_view text) noexcept;

    /// The canonical text: "127.0.0.1:9000", "[2001:db8::1]:9000" (RFC 5952).
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] constexpr address_family family() const noexcept { return family_; }
    [[nodiscard]] constexpr std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] constexpr std::uint32_t scope() const noexcept { return scope_; }
    /// IPv4 uses the first 4 bytes.
    [[nodiscard]] constexpr const std::array<std::uint8_t, 16>& address() const noexcept { return bytes_; }
    [[nodiscard]] constexpr bool is_multicast() const noexcept {
        return family_ == address_family::ipv4 ? (bytes_[0] & 0xf0U) == 0xe0U : bytes_[0] == 0xffU;
    }

    /// The same address with another port.
    [[nodiscard]] constexpr endpoint with_port(std::uint16_t port) const noexcept {
        endpoint other = *this;
        other.port_ = port;
        return other;
    }

    friend constexpr auto operator<=>(const endpoint&, const endpoint&) noexcept = default;

 private:
    std::array<std::uint8_t, 16> bytes_{};
    std::uint32_t scope_ = 0;
    std::uint16_t port_ = 0;
    address_family family_ = address_family::ipv4;
};

}  // namespace corro::io
