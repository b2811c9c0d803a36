// SPDX-License-Identifier: Apache-2.0
// The peer QuickFIX, behind plain functions: its headers need C++14, in which the rest of the lab does not compile.
//
// Threads: one, except the server, which has a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace corro {
namespace lab {
namespace quickfix {

/// Parses messages of FIX 4.4, with or without a dictionary.
class parser {
 public:
    /// @param dictionary  The path of a data dictionary by which messages are validated; empty for none.
    explicit parser(const std::string& dictionary);
    ~parser();
    parser(const parser&) = delete;
    parser& operator=(const parser&) = delete;

    /// Parses the message `count` times. @return The sum of the numbers of characters of its MsgType (35).
    std::uint64_t parse(const std::string& message, std::uint64_t count) const;

 private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

/// Looks four fields up in a parsed order, `count` times. @return The sum of the sizes of their values.
std::uint64_t four_fields(const std::string& order, std::uint64_t count);

/// Makes an execution report, and its bytes, `count` times. @return The sum of the numbers of bytes.
std::uint64_t write_reports(std::uint64_t count);

/// An acceptor that answers each order with an execution report. It keeps messages in memory and writes no log.
class server {
 public:
    /// @param port        On 127.0.0.1; free.
    /// @param dictionary  As the parser's.
    server(std::uint16_t port, const std::string& dictionary);
    ~server();
    server(const server&) = delete;
    server& operator=(const server&) = delete;

 private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace quickfix
}  // namespace lab
}  // namespace corro
