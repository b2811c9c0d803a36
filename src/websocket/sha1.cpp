// SPDX-License-Identifier: Apache-2.0
#include "websocket/sha1.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace corro::websocket {
namespace {

constexpr std::size_t block_bytes = 64;
constexpr std::size_t length_at = 56;  // in the last block: the message's length in bits

using state = std::array<std::uint32_t, 5>;

void add_block(state& h, std::span<const unsigned char, block_bytes> block) noexcept {
    std::array<std::uint32_t, 80> w{};
    for (std::size_t i = 0; i < 16; ++i) {
        for (std::size_t k = 0; k < 4; ++k) w[i] = w[i] << 8U | block[4 * i + k];
    }
    for (std::size_t i = 16; i < w.size(); ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = h;
    for (std::size_t i = 0; i < w.size(); ++i) {
        std::uint32_t f = b ^ c ^ d;
        std::uint32_t k = i < 40 ? 0x6ED9EBA1U : 0xCA62C1D6U;
        if (i < 20) {
            f = (b & c) | (~b & d);
            k = 0x5A827999U;
        } else if (i >= 40 && i < 60) {
            f = (b & c) | (b & d) | (c & d);
            k = 0x8F1BBCDCU;
        }
        const std::uint32_t next = std::rotl(a, 5) + f + e + k + w[i];
        e = d;
        d = c;
        c = std::rotl(b, 30);
        b = a;
        a = next;
    }
    const state added{a, b, c, d, e};
    for (std::size_t i = 0; i < h.size(); ++i) h[i] += added[i];
}

}  // namespace

sha1_digest sha1(std::string_view bytes) noexcept {
    state h{0x67452301U, 0xEFCDAB89U, 0x98BADCFEU, 0x10325476U, 0xC3D2E1F0U};
    const std::uint64_t bits = std::uint64_t{bytes.size()} * 8;
    std::array<unsigned char, block_bytes> block{};
    while (bytes.size() >= block_bytes) {
        std::memcpy(block.data(), bytes.data(), block_bytes);
        add_block(h, block);
        bytes.remove_prefix(block_bytes);
    }
    // The rest, a one bit, zeros, and the length: in one block or in two.
    block.fill(0);
    std::ranges::copy(bytes, block.begin());
    block[bytes.size()] = 0x80;
    if (bytes.size() >= length_at) {
        add_block(h, block);
        block.fill(0);
    }
    for (std::size_t i = 0; i < 8; ++i) block[length_at + i] = static_cast<unsigned char>(bits >> (56U - 8U * i));
    add_block(h, block);
    sha1_digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<unsigned char>(h[i / 4] >> (24U - 8U * (i % 4)));
    }
    return digest;
}

}  // namespace corro::websocket
