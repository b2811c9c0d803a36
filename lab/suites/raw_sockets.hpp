// SPDX-License-Identifier: Apache-2.0
// Connected, non-blocking sockets straight from the kernel, for the raw loops and for peers that adopt descriptors.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "lab/suites/socket_shapes.hpp"

namespace corro::lab {

/// A descriptor that closes itself.
class owned_descriptor {
 public:
    owned_descriptor() noexcept = default;
    explicit owned_descriptor(int number) noexcept : number_(number) {}
    owned_descriptor(owned_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    owned_descriptor& operator=(owned_descriptor&& other) noexcept {
        if (this != &other) {
            reset();
            number_ = std::exchange(other.number_, -1);
        }
        return *this;
    }
    ~owned_descriptor() { reset(); }

    [[nodiscard]] int get() const noexcept { return number_; }
    [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }
    void reset() noexcept;

 private:
    int number_ = -1;
};

struct raw_pair {
    owned_descriptor client;
    owned_descriptor server;
};

/// Two ends of one connection, non-blocking; TCP without Nagle's algorithm.
/// @throws std::system_error
[[nodiscard]] raw_pair connected_pair(wire over);
[[nodiscard]] std::vector<raw_pair> connected_pairs(wire over, int count);

}  // namespace corro::lab
