// SPDX-License-Identifier: Apache-2.0
#include "io/process/symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>

namespace corro::io {
namespace {

/// Copies what stands at `offset`; empty beyond the end.
template <class T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) noexcept {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
    T found;
    std::memcpy(&found, bytes.data() + offset, sizeof(T));
    return found;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) noexcept {
    if (offset > bytes.size() || bytes.size() - offset < size) return {};
    return bytes.substr(offset, size);
}

/// The file that contains an address, and where the file's addresses begin.
struct place {
    std::uintptr_t address;
    std::string path;
    std::uintptr_t base = 0;
    bool found = false;
};

int look_for(dl_phdr_info* info, std::size_t, void* wanted) {
    auto& of = *static_cast<place*>(wanted);
    for (const ElfW(Phdr) & header : std::span(info->dlpi_phdr, info->dlpi_phnum)) {
        const std::uintptr_t from = info->dlpi_addr + header.p_vaddr;
        if (header.p_type != PT_LOAD || of.address < from || of.address - from >= header.p_memsz) continue;
        of.path = info->dlpi_name != nullptr && *info->dlpi_name != '\0' ? info->dlpi_name : "/proc/self/exe";
        of.base = info->dlpi_addr;
        of.found = true;
        return 1;
    }
    return 0;
}

std::string demangled(const std::string& symbol) {
    int status = 0;
    char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    std::string name = text != nullptr && status == 0 ? text : symbol;
    std::free(text);  // NOLINT(cppcoreguidelines-no-malloc): as the interface requires
    return name;
}

/// Without the last list of parameters and what follows it.
std::string without_parameters(std::string name) {
    const std::size_t end = name.rfind(')');
    if (end == std::string::npos) return name;
    int depth = 0;
    for (std::size_t i = end + 1; i-- > 0;) {
        if (name[i] == ')') ++depth;
        if (name[i] == '(' && --depth == 0) {
            name.resize(i);
            break;
        }
    }
    return name;
}

}  // namespace

std::string coroutine_name(const std::string& symbol) {
    std::string inner = symbol;
    // GCC: the mangled name of the original stands within that of the resumer, before `.Frame`.
    if (const std::size_t frame = symbol.rfind(".Frame."); frame != std::string::npos) {
        const std::size_t from = symbol.rfind("_Z", frame);
        if (from != std::string::npos) inner = symbol.substr(from, frame - from);
    } else if (const std::size_t dot = symbol.find('.'); dot != std::string::npos && symbol.starts_with("_Z")) {
        inner = symbol.substr(0, dot);
    }
    std::string name = without_parameters(demangled(inner));
    // GCC's mark of functions whose result changed with C++11's strings.
    if (constexpr std::string_view mark = "[abi:cxx11]"; name.ends_with(mark)) name.resize(name.size() - mark.size());
    return name;
}

const symbol_table::file& symbol_table::file_at(const std::string& path) {
    const auto [known, is_new] = files_.try_emplace(path);
    file& of = known->second;
    if (!is_new) return of;
    std::ifstream stream(path, std::ios::binary);
    of.content.assign(std::istreambuf_iterator<char>(stream), {});
    const std::string_view bytes = of.content;
    const auto header = at<Elf64_Ehdr>(bytes, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64)
        return of;
    const auto section = [&](std::uint64_t index) {
        return at<Elf64_Shdr>(bytes, header->e_shoff + index * sizeof(Elf64_Shdr));
    };
    // The full table if the file has one, else that of the functions which it offers to others.
    for (const std::uint32_t kind : {std::uint32_t{SHT_SYMTAB}, std::uint32_t{SHT_DYNSYM}}) {
        for (std::uint64_t i = 0; i < header->e_shnum && of.symbols.empty(); ++i) {
            const auto table = section(i);
            if (!table || table->sh_type != kind) continue;
            const auto names = section(table->sh_link);
            if (!names) continue;
            of.names = part(bytes, names->sh_offset, names->sh_size);
            const std::string_view rows = part(bytes, table->sh_offset, table->sh_size);
            for (std::uint64_t row = 0; const auto one = at<Elf64_Sym>(rows, row); row += sizeof(Elf64_Sym)) {
                if (ELF64_ST_TYPE(one->st_info) == STT_FUNC && one->st_value != 0)
                    of.symbols.push_back({one->st_value, one->st_size, one->st_name});
            }
        }
    }
    std::ranges::sort(of.symbols, {}, &symbol::from);
    return of;
}

std::string symbol_table::symbol_at(const void* address) {
    place where{.address = reinterpret_cast<std::uintptr_t>(address), .path = {}};
    dl_iterate_phdr(&look_for, &where);
    if (!where.found) return "nowhere";
    const std::uint64_t offset = where.address - where.base;
    const file& of = file_at(where.path);
    auto after = std::ranges::upper_bound(of.symbols, offset, {}, &symbol::from);
    if (after != of.symbols.begin()) {
        const symbol& before = *std::prev(after);
        if (offset < before.from + std::max<std::uint64_t>(before.bytes, 1) && before.name < of.names.size()) {
            const std::string_view name = of.names.substr(before.name);
            return std::string(name.substr(0, name.find('\0')));
        }
    }
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (std::uint64_t rest = offset; text.empty() || rest != 0; rest /= 16)
        text.insert(text.begin(), digits[rest % 16]);
    return where.path + "+0x" + text;
}

}  // namespace corro::io
