// SPDX-License-Identifier: Apache-2.0
#include "lab/machine.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <string_view>
#include <thread>

#include "lab/measurement.hpp"
#include "lab/peers.hpp"

namespace corro::lab {
namespace {

std::string trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\n");
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(" \t\n") - first + 1));
}

// Returns the first line of a file that begins with `name`, without `name`.
std::string line_of(const char* path, std::string_view name) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with(name)) continue;
        const auto colon = line.find(':', name.size());
        return trimmed(colon == std::string::npos ? std::string_view(line).substr(name.size())
                                                  : std::string_view(line).substr(colon + 1));
    }
    return {};
}

std::string compiler() {
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace

std::map<std::string, std::string> machine_facts() {
    std::map<std::string, std::string> facts;
    const auto set = [&](const char* name, std::string value) {
        if (!value.empty()) facts[name] = std::move(value);
    };
    set("processor", line_of("/proc/cpuinfo", "model name"));
    set("processors", std::to_string(std::thread::hardware_concurrency()));
    set("memory", line_of("/proc/meminfo", "MemTotal"));
    set("frequency governor", line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", ""));
    set("load before the run", line_of("/proc/loadavg", ""));
    if (utsname system; uname(&system) == 0) {
        set("kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
    }
    const io::tick_calibration& time = clock().calibration();
    set("clock", time.source == io::clock_source::tsc
                     ? fmt::format("time stamp counter, {:.0f} MHz", time.ticks_per_second / 1e6)
                     : "CLOCK_MONOTONIC");
    set("virtual machine", time.hypervisor ? "yes" : "no");
    set("compiler", compiler());
    set("flags", CORRO_LAB_FLAGS);
    set("C++ library", fmt::format("libstdc++ {}", _GLIBCXX_RELEASE));
    for (const auto& [name, version] : peer_versions()) set(name.c_str(), version);
    set("date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr))));
    return facts;
}

}  // namespace corro::lab
