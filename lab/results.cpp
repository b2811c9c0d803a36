// SPDX-License-Identifier: Apache-2.0
#include "lab/results.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

namespace corro::lab {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::pair<const char*, double latency_summary::*>, 10> latency_fields{{
    {"mean", &latency_summary::mean},
    {"deviation", &latency_summary::deviation},
    {"min", &latency_summary::min},
    {"p50", &latency_summary::p50},
    {"p90", &latency_summary::p90},
    {"p95", &latency_summary::p95},
    {"p99", &latency_summary::p99},
    {"p999", &latency_summary::p999},
    {"p9999", &latency_summary::p9999},
    {"max", &latency_summary::max},
}};

ordered_json json_of(const latency_summary& l) {
    ordered_json made;
    for (const auto& [name, field] : latency_fields) made[name] = l.*field;
    return made;
}

latency_summary latency_from(const json& from) {
    latency_summary summary;
    for (const auto& [name, field] : latency_fields) summary.*field = from.value(name, 0.0);
    return summary;
}

ordered_json json_of(const result& r) {
    ordered_json made;
    made["suite"] = r.suite;
    made["row"] = r.row;
    made["subject"] = r.subject;
    made["unit"] = r.unit;
    made["better"] = r.better == better::higher ? "higher" : "lower";
    made["median"] = r.value.median;
    made["min"] = r.value.min;
    made["max"] = r.value.max;
    made["samples"] = r.samples;
    if (r.latency_ns) made["latency_ns"] = json_of(*r.latency_ns);
    if (!r.checksum.empty()) made["checksum"] = r.checksum;
    return made;
}

result result_from(const json& from) {
    result made;
    made.suite = from.at("suite").get<std::string>();
    made.row = from.at("row").get<std::string>();
    made.subject = from.at("subject").get<std::string>();
    made.unit = from.at("unit").get<std::string>();
    const auto direction = from.at("better").get<std::string>();
    if (direction != "higher" && direction != "lower") {
        throw std::runtime_error(fmt::format("\"better\" is \"{}\", neither \"higher\" nor \"lower\"", direction));
    }
    made.better = direction == "higher" ? better::higher : better::lower;
    made.value = {from.at("median").get<double>(), from.at("min").get<double>(), from.at("max").get<double>()};
    made.samples = from.at("samples").get<std::vector<double>>();
    if (from.contains("latency_ns")) made.latency_ns = latency_from(from.at("latency_ns"));
    made.checksum = from.value("checksum", "");
    return made;
}

std::string key_of(const benchmark& what, std::string_view subject) {
    return fmt::format("{}/{}/{}", what.suite, what.name(), subject);
}

latency_summary median_of(const std::vector<latency_summary>& all) {
    const auto median = [&](double latency_summary::* field) {
        std::vector<double> values;
        for (const latency_summary& one : all) values.push_back(one.*field);
        return lab::median_of(std::move(values));
    };
    latency_summary middle;
    for (const auto& [name, field] : latency_fields) middle.*field = median(field);
    return middle;
}

}  // namespace

std::string to_json(const results& all) {
    ordered_json made;
    made["schema"] = results_schema;
    made["machine"] = all.machine;
    made["rows"] = ordered_json::array();
    for (const result& one : all.rows) made["rows"].push_back(json_of(one));
    return made.dump(1) + "\n";
}

results results_from_json(std::string_view text) {
    try {
        const json from = json::parse(text);
        if (const int schema = from.at("schema").get<int>(); schema != results_schema) {
            throw std::runtime_error(fmt::format("schema {} is not {}", schema, results_schema));
        }
        results made;
        made.machine = from.at("machine").get<std::map<std::string, std::string>>();
        for (const json& one : from.at("rows")) made.rows.push_back(result_from(one));
        return made;
    } catch (const json::exception& e) {
        throw std::runtime_error(fmt::format("not the lab's JSON: {}", e.what()));
    }
}

std::string to_json_line(const measurement& one) {
    ordered_json made;
    made["values"] = one.values;
    if (one.latency_ns) {
        made["latency_ns"] = json_of(*one.latency_ns);
        made["latency_row"] = one.latency_row;
    }
    if (!one.checksum.empty()) made["checksum"] = one.checksum;
    return made.dump();
}

measurement measurement_from_json(std::string_view line) {
    try {
        const json from = json::parse(line);
        measurement made;
        made.values = from.at("values").get<std::vector<double>>();
        if (from.contains("latency_ns")) {
            made.latency_ns = latency_from(from.at("latency_ns"));
            made.latency_row = from.at("latency_row").get<std::size_t>();
        }
        made.checksum = from.value("checksum", "");
        return made;
    } catch (const json::exception& e) {
        throw std::runtime_error(fmt::format("a run handed over no measurement: {}", e.what()));
    }
}

void collector::add(const benchmark& what, std::string_view subject, const measurement& one) {
    if (one.values.size() != what.rows.size()) {
        throw std::runtime_error(fmt::format("{} by {} gave {} values for {} rows", what.name(), subject,
                                             one.values.size(), what.rows.size()));
    }
    if (!one.checksum.empty()) {
        const std::string& first = checksums_.try_emplace(key_of(what, ""), one.checksum).first->second;
        verify(first == one.checksum, fmt::format("did other work: {} instead of {}", one.checksum, first));
    }
    gathered& mine = by_key_[key_of(what, subject)];
    mine.samples.resize(what.rows.size());
    for (std::size_t i = 0; i < one.values.size(); ++i) mine.samples[i].push_back(one.values[i]);
    if (one.latency_ns) {
        mine.latencies.push_back(*one.latency_ns);
        mine.latency_row = one.latency_row;
    }
}

std::vector<result> collector::finish(const registry& order) const {
    std::vector<result> all;
    for (const benchmark& what : order.benchmarks()) {
        for (std::size_t i = 0; i < what.rows.size(); ++i) {
            for (const implementation& by : what.by) {
                const auto found = by_key_.find(key_of(what, by.subject));
                if (found == by_key_.end()) continue;
                result made;
                made.suite = what.suite;
                made.row = what.rows[i].name;
                made.subject = by.subject;
                made.unit = what.rows[i].unit;
                made.better = what.rows[i].better;
                made.samples = found->second.samples[i];
                made.value = spread_of(made.samples);
                if (i == found->second.latency_row && !found->second.latencies.empty()) {
                    made.latency_ns = median_of(found->second.latencies);
                }
                if (const auto sum = checksums_.find(key_of(what, "")); sum != checksums_.end()) {
                    made.checksum = sum->second;
                }
                all.push_back(std::move(made));
            }
        }
    }
    return all;
}

}  // namespace corro::lab
