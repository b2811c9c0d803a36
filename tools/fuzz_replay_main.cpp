// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over every file of its committed corpus, in builds without libFuzzer. Linked beside the target.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    std::size_t files_count = 0;
    for (int i = 1; i < argc; ++i) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
            if (!entry.is_regular_file()) continue;
            std::ifstream in(entry.path(), std::ios::binary);
            const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
            // A heap copy of the exact size, so that the address sanitizer sees a read past the end.
            const std::vector<std::uint8_t> exact(bytes.begin(), bytes.end());
            LLVMFuzzerTestOneInput(exact.data(), exact.size());
            ++files_count;
        }
    }
    std::printf("replayed %zu corpus files\n", files_count);
    if (files_count == 0) {
        std::fprintf(stderr, "no corpus file found: give the corpus folder as argument\n");
        return 1;
    }
    return 0;
}
