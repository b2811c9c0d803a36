// SPDX-License-Identifier: Apache-2.0
#include "api/asyncapi_text.hpp"

#include <array>
#include <initializer_list>

#include "api/json_writer.hpp"
#include "api/method_table.hpp"

namespace corro::api {
namespace {

constexpr std::array channels_told{
    channel_description{.name = "book.{instrument}.{interval}",
                        .pattern = R"(^book\..+\.(raw|100ms|agg2)$)",
                        .meaning = "The levels of a book: a snapshot, then changes."},
    channel_description{.name = "orders.{instrument}.{interval}",
                        .pattern = R"(^orders\..+\.(raw|100ms|agg2)$)",
                        .meaning = "The orders of a book, each with its priority: a snapshot, then changes."},
    channel_description{.name = "trades.{instrument}.{interval}",
                        .pattern = R"(^trades\..+\.(raw|100ms|agg2)$)",
                        .data_is_list = true,
                        .meaning = "Trades, oldest first, none left out."},
    channel_description{.name = "ticker.{instrument}.{interval}",
                        .pattern = R"(^ticker\..+\.(raw|100ms|agg2)$)",
                        .meaning = "What public/ticker answers, after each change."},
    channel_description{.name = "user.orders.{instrument}.{interval}",
                        .pattern = R"(^user\.orders\..+\.(raw|100ms)$)",
                        .is_private = true,
                        .meaning = "Changes of the key's orders."},
    channel_description{.name = "user.trades.{instrument}.{interval}",
                        .pattern = R"(^user\.trades\..+\.(raw|100ms)$)",
                        .is_private = true,
                        .data_is_list = true,
                        .meaning = "Trades of the key."},
    channel_description{.name = "user.changes.{instrument}.{interval}",
                        .pattern = R"(^user\.changes\..+\.(raw|100ms)$)",
                        .is_private = true,
                        .meaning = "Orders, trades and positions of the key in an instrument."},
};

void write_constant(json_writer& out, std::string_view name, std::string_view value) {
    out.member(name).object([&] {
        out.member("type").text("string");
        out.member("const").text(value);
    });
}

void write_names(json_writer& out, std::initializer_list<std::string_view> names) {
    out.member("required").list([&] {
        for (const std::string_view each : names) out.text(each);
    });
}

void write_type(json_writer& out, std::string_view name, std::string_view type) {
    out.member(name).object([&] { out.member("type").text(type); });
}

/// A message; `members` writes the properties of its payload.
template <class Members>
void write_message(json_writer& out, std::string_view name, std::string_view summary,
                   std::initializer_list<std::string_view> required, Members members) {
    out.object([&] {
        out.member("name").text(name);
        out.member("summary").text(summary);
        out.member("payload").object([&] {
            out.member("type").text("object");
            write_names(out, required);
            out.member("properties").object([&] {
                write_constant(out, "jsonrpc", "2.0");
                members();
            });
        });
    });
}

void write_request(json_writer& out, const method_description& m) {
    write_message(out, m.name, m.meaning, {"jsonrpc", "id", "method"}, [&] {
        out.member("id").object([&] {
            out.member("type").list([&] {
                out.text("integer");
                out.text("string");
            });
        });
        write_constant(out, "method", m.name);
        if (m.params.empty()) return;
        out.member("params").object([&] {
            out.member("type").text("object");
            out.member("required").list([&] {
                for (const param_description& p : m.params) {
                    if (p.required) out.text(p.name);
                }
            });
            out.member("properties").object([&] {
                for (const param_description& p : m.params) out.member(p.name).raw(schema_of(p));
            });
        });
    });
}

void write_notification(json_writer& out, const channel_description& c) {
    write_message(out, c.name, c.meaning, {"jsonrpc", "method", "params"}, [&] {
        write_constant(out, "method", "subscription");
        out.member("params").object([&] {
            out.member("type").text("object");
            out.member("properties").object([&] {
                out.member("channel").object([&] {
                    out.member("type").text("string");
                    out.member("pattern").text(c.pattern);
                });
                out.member("data").object([&] {
                    // The user's channels have one object or a list of them.
                    if (!c.is_private) out.member("type").text(c.data_is_list ? "array" : "object");
                });
            });
        });
    });
}

void write_responses(json_writer& out) {
    write_message(out, "response", "The result of a request.", {"jsonrpc", "id", "result"}, [&] {
        out.member("result").object([] {});
        for (const std::string_view name : {"usIn", "usOut", "usDiff"}) write_type(out, name, "integer");
        write_type(out, "testnet", "boolean");
    });
    write_message(out, "error", "Why a request has no result.", {"jsonrpc", "error"}, [&] {
        out.member("error").object([&] {
            out.member("type").text("object");
            out.member("properties").object([&] {
                write_type(out, "code", "integer");
                write_type(out, "message", "string");
                write_type(out, "data", "object");
            });
        });
    });
    write_message(out, "heartbeat", "After public/set_heartbeat; a test_request is answered by public/test.",
                  {"jsonrpc", "method", "params"}, [&] {
                      write_constant(out, "method", "heartbeat");
                      out.member("params").object([&] {
                          out.member("type").text("object");
                          out.member("properties").object([&] { write_type(out, "type", "string"); });
                      });
                  });
}

}  // namespace

std::span<const channel_description> all_channels() noexcept {
    return channels_told;
}

std::string asyncapi_text(std::string_view host, bool is_secure) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        out.member("asyncapi").text("2.6.0");
        out.member("info").object([&] {
            out.member("title").text("Corro");
            out.member("version").text("2");
        });
        out.member("defaultContentType").text("application/json");
        if (!host.empty()) {
            out.member("servers").object([&] {
                out.member("venue").object([&] {
                    out.member("url").text(host);
                    out.member("protocol").text(is_secure ? "wss" : "ws");
                });
            });
        }
        out.member("channels").object([&] {
            out.member("/ws/api/v2").object([&] {
                out.member("publish").object([&] {
                    out.member("summary").text("Requests of a client.");
                    out.member("message").object([&] {
                        out.member("oneOf").list([&] {
                            for (const method_description& m : all_methods()) write_request(out, m);
                        });
                    });
                });
                out.member("subscribe").object([&] {
                    out.member("summary").text("Responses and notifications.");
                    out.member("message").object([&] {
                        out.member("oneOf").list([&] {
                            write_responses(out);
                            for (const channel_description& c : channels_told) write_notification(out, c);
                        });
                    });
                });
            });
        });
    });
    return text;
}

}  // namespace corro::api
