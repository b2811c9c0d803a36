// SPDX-License-Identifier: Apache-2.0
#include "node/links/link_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/defect.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "node/links/link_path.hpp"
#include "node/venue/ports.hpp"

namespace corro::node {

link_channel::link_channel(gateway::transport_stream stream)
    : stream_(std::move(stream)), input_(2 * (link_head_bytes + link_stranger_frame_bytes_max)) {}

void link_channel::trust() {
    frame_bytes_max_ = link_frame_bytes_max;
    input_.resize(link_head_bytes + 2 * link_frame_bytes_max);
}

void link_channel::put(link_message kind, std::span<const std::byte> record) {
    CORRO_ASSERT(record.size() <= link_frame_bytes_max);
    if (closed_) return;
    said_ = true;
    const auto kind_number = static_cast<std::uint32_t>(kind);
    const bool joins = open_frame_ != no_frame &&
                       base::load_le<std::uint32_t>(filling_.data() + open_frame_ + 4) == kind_number &&
                       filling_.size() - open_frame_ - link_head_bytes + record.size() <= link_frame_bytes_max;
    if (!joins) {
        open_frame_ = filling_.size();
        filling_.resize(filling_.size() + link_head_bytes);
        base::store_le<std::uint32_t>(filling_.data() + open_frame_ + 4, kind_number);
    }
    filling_.insert(filling_.end(), record.begin(), record.end());
    base::store_le<std::uint32_t>(filling_.data() + open_frame_,
                                  static_cast<std::uint32_t>(filling_.size() - open_frame_ - link_head_bytes));
}

io::task<void> link_channel::write() {
    while (true) {
        if (filling_.empty()) {
            if (finished_) break;
            const std::error_code stopped = co_await ready_.wait();
            if (stopped) co_return;
            continue;
        }
        std::swap(filling_, leaving_);
        open_frame_ = no_frame;
        const std::error_code error = co_await send_leaving();
        leaving_.clear();
        // Releases the memory of one large answer log.
        if (leaving_.capacity() > 2 * link_waiting_bytes_max) leaving_ = {};
        drained_.set();
        if (error) co_return close();
    }
    if (!closed_) static_cast<void>(stream_.socket()->shutdown_send());
}

// In pieces, because each piece that the kernel takes shows that the peer still reads.
io::task<std::error_code> link_channel::send_leaving() {
    std::error_code error;
    for (std::span<const std::byte> rest(leaving_); !rest.empty() && !error;) {
        sends_ = true;
        const io::io_result sent = co_await stream_.socket()->write_some(rest);
        sends_ = false;
        if (sent.bytes != 0) taken_ = true;
        rest = rest.subspan(sent.bytes);
        error = sent.error;
    }
    co_return error;
}

void link_channel::finish() noexcept {
    finished_ = true;
    ready_.set();
}

void link_channel::close() noexcept {
    closed_ = true;
    filling_.clear();
    open_frame_ = no_frame;
    finish();
    stream_.socket()->close();
    drained_.set();
}

// The size of the first frame in the input, with its header; 0 while unknown.
std::size_t link_channel::buffered_frame_bytes() const noexcept {
    if (input_end_ - input_begin_ < link_head_bytes) return 0;
    return link_head_bytes + base::load_le<std::uint32_t>(input_.data() + input_begin_);
}

bool link_channel::has_any_frame() const noexcept {
    const std::size_t bytes = buffered_frame_bytes();
    return bytes != 0 && input_end_ - input_begin_ >= bytes;
}

// Heartbeats are dropped: their arrival is enough.
bool link_channel::has_frame() noexcept {
    while (has_any_frame()) {
        const auto kind = static_cast<link_message>(base::load_le<std::uint32_t>(input_.data() + input_begin_ + 4));
        if (kind != link_message::heartbeat) return true;
        input_begin_ += buffered_frame_bytes();
    }
    return false;
}

bool link_channel::next_frame(link_frame& into) noexcept {
    if (!has_frame()) return false;
    const std::span<const std::byte> frame = std::span(input_).subspan(input_begin_, buffered_frame_bytes());
    into.kind = static_cast<link_message>(base::load_le<std::uint32_t>(frame.data() + 4));
    into.payload = frame.subspan(link_head_bytes);
    input_begin_ += frame.size();
    return true;
}

io::task<void> link_channel::keep_alive() {
    std::uint32_t silent_looks = 0;
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(link_look_interval);
        if (stopped) co_return;
        silent_looks = is_unresponsive() ? silent_looks + 1 : 0;
        if (silent_looks >= link_silent_looks_max && !CORRO_DEFECT(silent_link_kept)) {
            fell_silent_ = true;
            co_return close();
        }
        if (!said_) {
            put(link_message::heartbeat, {});
            flush();
        }
        said_ = heard_ = taken_ = false;
    }
}

// Since the last check. While this end does not read, it cannot decide whether the peer sends, only whether the peer
// reads.
bool link_channel::is_unresponsive() const noexcept {
    if (heard_) return false;
    return awaits_ || (sends_ && !taken_);
}

io::task<bool> link_channel::read(link_frame* into) {
    while (!next_frame(*into)) {
        if (buffered_frame_bytes() > link_head_bytes + frame_bytes_max_) co_return false;
        if (input_begin_ != 0) {
            std::memmove(input_.data(), input_.data() + input_begin_, input_end_ - input_begin_);
            input_end_ -= std::exchange(input_begin_, 0);
        }
        awaits_ = true;
        const io::io_result got = co_await stream_.socket()->read_some(std::span(input_).subspan(input_end_));
        awaits_ = false;
        if (!got) co_return false;
        heard_ = true;
        input_end_ += got.bytes;
    }
    co_return true;
}

link_address link_address_of(const std::string& text, const std::string& key) {
    if (const auto endpoint = io::endpoint::parse(text)) return *endpoint;
    if (const auto path = io::unix_endpoint::parse(text)) return *path;
    throw configuration_error(
        fmt::format("{}: expected a path, a name such as \"@corro\", or an address such as \"127.0.0.1:7010\"", key));
}

namespace {

io::unix_acceptor open_unix(io::context& context, const io::unix_endpoint& where, const std::string& key) {
    auto acceptor = io::unix_acceptor::open(context, where);
    if (!acceptor) {
        throw std::system_error(acceptor.error(), fmt::format("{}: cannot listen on {}", key, where.to_string()));
    }
    return std::move(*acceptor);
}

}  // namespace

io::task<link_acceptor> link_acceptor::open(io::context* context, std::string address, std::string key,
                                            std::vector<std::uint32_t> users) {
    link_acceptor opened;
    opened.text_ = address;
    opened.users_ = std::move(users);
    const link_address where = link_address_of(address, key);
    if (const auto* const path = std::get_if<io::unix_endpoint>(&where)) {
        if (!path->is_abstract()) opened.path_lock_ = co_await take_link_path(context, *path);
        opened.held_ = open_unix(*context, *path, key);
        co_return opened;
    }
    io::tcp_acceptor tcp = open_port(*context, address, key);
    opened.text_ = tcp.local_endpoint()->to_string();
    opened.held_ = std::move(tcp);
    co_return opened;
}

io::task<std::expected<gateway::transport_stream, std::error_code>> link_acceptor::accept() {
    if (auto* const tcp = std::get_if<io::tcp_acceptor>(&held_)) {
        auto accepted = co_await tcp->accept();
        if (!accepted) co_return std::unexpected(accepted.error());
        static_cast<void>(accepted->set_option(io::no_delay(true)));
        co_return gateway::transport_stream(std::move(*accepted));
    }
    while (true) {
        auto accepted = co_await std::get_if<io::unix_acceptor>(&held_)->accept();
        if (!accepted) co_return std::unexpected(accepted.error());
        if (may_come(*accepted)) co_return gateway::transport_stream(std::move(*accepted));
        ++refused_count_;
        accepted->close();
        co_await io::yield();
    }
}

// A name in the abstract space has no permissions, and those of a path are often too wide.
bool link_acceptor::may_come(const io::unix_stream& from) const noexcept {
    const auto user = from.get_option<io::peer_user>();
    if (!user) return false;
    const auto id = static_cast<std::uint32_t>(*user);
    return id == 0 || id == io::current_user() || std::find(users_.begin(), users_.end(), id) != users_.end();
}

void link_acceptor::close() noexcept {
    std::visit([](auto& acceptor) { acceptor.close(); }, held_);
}

std::string link_acceptor::address() const {
    return text_;
}

io::task<std::expected<gateway::transport_stream, std::error_code>> connect_link(io::context* context,
                                                                                 link_address address) {
    if (const auto* const where = std::get_if<io::endpoint>(&address)) {
        auto connected = co_await io::tcp_stream::connect(*context, *where);
        if (!connected) co_return std::unexpected(connected.error());
        static_cast<void>(connected->set_option(io::no_delay(true)));
        co_return gateway::transport_stream(std::move(*connected));
    }
    auto connected = co_await io::unix_stream::connect(*context, *std::get_if<io::unix_endpoint>(&address));
    if (!connected) co_return std::unexpected(connected.error());
    co_return gateway::transport_stream(std::move(*connected));
}

}  // namespace corro::node
