// SPDX-License-Identifier: Apache-2.0
// A station of the exchange: bytes in, work, bytes out. Transports only move the bytes, so that the subjects of a row
// differ only in how they wait, read and write.
//
// A transport fills `room`, says `received`, writes what `pending` has and says `sent`. It reads again when nothing is
// pending any more.
//
// Limits:  input_bytes read at a time; output_bytes may be pending, more is a defect (asserted).
// Threads: one.
// Cost:    one virtual call per read; no allocation after construction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

namespace corro::lab {

class station {
 public:
    static constexpr std::size_t input_bytes = std::size_t{16} * 1024;
    static constexpr std::size_t output_bytes = std::size_t{8} * 1024 * 1024;

    station();
    virtual ~station();
    station(const station&) = delete;
    station& operator=(const station&) = delete;

    /// The buffer to read into; never empty.
    [[nodiscard]] std::span<std::byte> room() noexcept { return {input_.get() + input_end_, input_bytes - input_end_}; }
    /// Processes all complete messages after `bytes` have been read into `room`.
    void received(std::size_t bytes) noexcept;

    [[nodiscard]] std::span<const std::byte> pending() const noexcept {
        return {output_.get() + output_begin_, output_end_ - output_begin_};
    }
    /// Removes the first `bytes` of the pending output, which are written.
    void sent(std::size_t bytes) noexcept;

 protected:
    /// Processes the complete messages at the front. @return Their number of bytes.
    virtual std::size_t work(std::span<const std::byte> bytes) noexcept = 0;

    /// Returns space for one message, to be committed with its size.
    [[nodiscard]] std::span<std::byte> reserve() noexcept;
    void commit(std::size_t bytes) noexcept { output_end_ += bytes; }

 private:
    std::unique_ptr<std::byte[]> input_;
    std::unique_ptr<std::byte[]> output_;
    std::size_t input_end_ = 0;
    std::size_t output_begin_ = 0;
    std::size_t output_end_ = 0;
};

/// What a transport does while there is nothing to read: it sleeps in the kernel, or polls, as trading systems with a
/// spare processor do.
enum class idling : std::uint8_t { sleeps, polls };

/// Moves bytes from one connected, non-blocking descriptor through the station to another, until the first has ended
/// and everything is written. Owns both descriptors.
using station_transport = std::function<void(station& through, int input, int output, idling idle)>;

/// Request bytes in, derived messages out: codecs and matching.
[[nodiscard]] std::unique_ptr<station> make_facility_station();
/// Request bytes of clients in; checked, numbered request bytes for the facility out.
[[nodiscard]] std::unique_ptr<station> make_gateway_station();
/// Derived messages in; the public ones out as packets of the feed, after they went into the image of the book.
[[nodiscard]] std::unique_ptr<station> make_distributor_station();

}  // namespace corro::lab
