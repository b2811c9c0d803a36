// SPDX-License-Identifier: Apache-2.0
#include "recorded/recorded_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <fstream>
#include <random>
#include <string>

#include "base/test_seed.hpp"
#include "recorded/errors.hpp"
#include "recorded/formats/dbn.hpp"
#include "recorded/recorded_reader.hpp"
#include "wire/errors.hpp"

namespace corro::recorded {
namespace {

using recorded::read_error;

/// A file that is removed at the end of the test.
class temporary_file {
 public:
    explicit temporary_file(const std::string& content)
        : path_(std::filesystem::temp_directory_path() /
                ("corro_recorded_file_test_" + std::to_string(getpid()) + "_" + std::to_string(++count))) {
        std::ofstream out(path_, std::ios::binary);
        out << content;
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { std::filesystem::remove(path_); }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
    static inline int count = 0;
    std::filesystem::path path_;
};

std::string gzip(const std::string& content) {
    z_stream stream{};
    EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    std::string in = content;
    std::string out(deflateBound(&stream, static_cast<uLong>(in.size())) + 64, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(out.size() - stream.avail_out);
    deflateEnd(&stream);
    return out;
}

std::string zstd(const std::string& content) {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    std::string out(ZSTD_compressBound(content.size()), '\0');
    const std::size_t size = ZSTD_compress2(context, out.data(), out.size(), content.data(), content.size());
    EXPECT_FALSE(ZSTD_isError(size));
    ZSTD_freeCCtx(context);
    out.resize(size);
    return out;
}

struct outcome {
    std::string content;
    std::error_code error;
    std::uint64_t error_offset = 0;
};

outcome read_all(const std::filesystem::path& path, recorded_file_options options = {}) {
    outcome result;
    auto file = recorded_file::open(path, options);
    if (!file) return {.content = {}, .error = file.error()};
    for (;;) {
        const auto piece = file->read();
        if (!piece) {
            result.error = piece.error().code;
            result.error_offset = piece.error().offset;
            return result;
        }
        if (piece->empty()) return result;
        EXPECT_LE(piece->size(), options.piece_bytes);
        result.content.append(reinterpret_cast<const char*>(piece->data()), piece->size());
    }
}

/// Text that can be compressed, but not very much.
std::string sample_content(std::size_t size) {
    std::mt19937_64 random{base::test_seed()};
    std::string content;
    while (content.size() < size) content += std::to_string(random() % 1'000'000) + ",1,-1\r\n";
    content.resize(size);
    return content;
}

struct form {
    const char* name;
    recorded::packing packing;
    std::string (*pack)(const std::string&);
};

constexpr auto form_name = [](const auto& instance) { return std::string{instance.param.name}; };
const form plain_form{"plain", packing::plain, [](const std::string& s) { return s; }};
const form gzip_form{"gzip", packing::gzip, gzip};
const form zstd_form{"zstd", packing::zstd, zstd};

class every_form : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(recorded_file, every_form, testing::Values(plain_form, gzip_form, zstd_form), form_name);

class every_packing : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(recorded_file, every_packing, testing::Values(gzip_form, zstd_form), form_name);

TEST_P(every_form, gives_back_what_was_packed_at_any_size_of_piece) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{1'000}, std::size_t{300'000}}) {
        const std::string content = sample_content(size);
        const temporary_file file{GetParam().pack(content)};
        for (const std::size_t piece : {std::size_t{16}, std::size_t{1'000}, recorded_file_options{}.piece_bytes}) {
            const outcome result = read_all(file.path(), {.piece_bytes = piece});
            EXPECT_FALSE(result.error) << result.error.message();
            EXPECT_EQ(result.content, content) << size << " bytes in pieces of " << piece;
        }
        const auto opened = recorded_file::open(file.path());
        ASSERT_TRUE(opened);
        EXPECT_EQ(opened->packing(), GetParam().packing);
    }
}

TEST_P(every_form, reads_members_one_behind_the_other) {
    const std::string content = sample_content(5'000);
    const temporary_file file{GetParam().pack(content) + GetParam().pack(content)};
    for (const std::size_t piece : {std::size_t{16}, std::size_t{4'096}}) {
        const outcome result = read_all(file.path(), {.piece_bytes = piece});
        EXPECT_FALSE(result.error);
        EXPECT_EQ(result.content, content + content);
    }
}

TEST_P(every_packing, says_when_packed_data_ends_too_early) {
    const std::string packed = GetParam().pack(sample_content(2'000));
    for (std::size_t size = 4; size < packed.size(); ++size) {
        const temporary_file file{packed.substr(0, size)};
        const outcome result = read_all(file.path(), {.piece_bytes = 64});
        EXPECT_EQ(result.error, archive_errc::truncated_archive) << size;
        EXPECT_EQ(result.error_offset, size);
    }
}

TEST_P(every_packing, never_gives_out_damaged_data_as_sound) {
    const std::string content = sample_content(1'000);
    const std::string packed = GetParam().pack(content);
    std::size_t refused_count = 0;
    for (std::size_t at = 4; at < packed.size(); ++at) {
        std::string damaged = packed;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
        const temporary_file file{damaged};
        const outcome result = read_all(file.path());
        if (result.error) {
            ++refused_count;
        } else {
            EXPECT_EQ(result.content, content) << "a flip at " << at << " may only change what is not content";
        }
    }
    EXPECT_GT(refused_count, packed.size() / 2);
}

TEST_P(every_packing, refuses_what_follows_the_packed_data) {
    const temporary_file file{GetParam().pack("content") + "something else entirely"};
    EXPECT_EQ(read_all(file.path()).error, archive_errc::damaged_archive);
}

TEST_P(every_packing, stops_at_the_limit) {
    const temporary_file file{GetParam().pack(std::string(1'000'000, 'x'))};
    const outcome within = read_all(file.path(), {.unpacked_bytes_max = 1'000'000});
    EXPECT_FALSE(within.error);
    const outcome beyond = read_all(file.path(), {.unpacked_bytes_max = 999'999, .piece_bytes = 4'096});
    EXPECT_EQ(beyond.error, archive_errc::unpacked_too_large);
    EXPECT_LT(beyond.content.size(), 1'000'000u);
}

TEST(recorded_file, says_why_a_file_cannot_be_read) {
    const auto missing = recorded_file::open("/no/such/file.dbn");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error(), std::errc::no_such_file_or_directory);
    const auto folder = recorded_file::open(std::filesystem::temp_directory_path());
    ASSERT_FALSE(folder);
    EXPECT_EQ(folder.error(), std::errc::is_a_directory);
}

TEST(recorded_file, reads_skippable_frames_of_zstd) {
    const std::string skippable = std::string("\x5A\x2A\x4D\x18\x04\0\0\0meta", 12);
    const temporary_file file{skippable + zstd("content")};
    EXPECT_EQ(read_all(file.path()).content, "content");
}

TEST(recorded_reader, explains_where_a_file_is_wrong) {
    const temporary_file file{gzip("DBX and so on, which no DBN file begins with")};
    auto reader = recorded_reader<recorded::dbn::decoder>::open(file.path());
    ASSERT_TRUE(reader);
    const auto record = reader->next();
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, wire::wire_errc::foreign_format);
    EXPECT_EQ(reader->explain(record.error()), file.path().string() + ": byte 0: not in this format");
    EXPECT_EQ(reader->next().error(), record.error());
}

TEST(recorded_reader, reports_a_damaged_file_once_and_for_all) {
    const temporary_file file{zstd(sample_content(10'000)).substr(0, 500)};
    auto reader = recorded_reader<recorded::dbn::decoder>::open(file.path());
    ASSERT_TRUE(reader);
    const auto record = reader->next();
    ASSERT_FALSE(record);
    EXPECT_EQ(record.error().code, archive_errc::truncated_archive);
    EXPECT_EQ(reader->next().error(), record.error());
}

TEST(archive_errors, each_code_says_what_is_wrong) {
    EXPECT_STREQ(archive_category().name(), "archive");
    for (int code = 1; code <= static_cast<int>(archive_errc::unpacked_too_large); ++code) {
        EXPECT_NE(archive_category().message(code), "unknown archive error") << code;
    }
    EXPECT_EQ(archive_category().message(0), "unknown archive error");
}

}  // namespace
}  // namespace corro::recorded
