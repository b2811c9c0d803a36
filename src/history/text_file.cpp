// SPDX-License-Identifier: Apache-2.0
#include "history/text_file.hpp"

#include <cerrno>
#include <system_error>

namespace corro::history {

text_file::text_file(const std::filesystem::path& path) : path_(path), file_(std::fopen(path.c_str(), "wb")) {
    if (file_ == nullptr) fail();
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);
    buffer_.reserve(buffer_bytes + 1'024);
}

void text_file::fail() const {
    throw std::system_error(errno, std::generic_category(), path_.string());
}

void text_file::flush() {
    if (std::fwrite(buffer_.data(), 1, buffer_.size(), file_.get()) != buffer_.size()) fail();
    buffer_.clear();
}

void text_file::close() {
    flush();
    if (std::fclose(file_.release()) != 0) fail();
}

}  // namespace corro::history
