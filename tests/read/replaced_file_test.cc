// Small files next to a capture's parts: the first is written in place, a later one replaces it atomically.
#include "tools/read/replaced_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/captures/capture_builder.h"

namespace memoir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::WriteFile;

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  return names;
}

struct stat StatusOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status;
}

TEST(ReplacedFileTest, AFirstOneIsWrittenInItsPlaceAndALaterOneTakesItsPlace) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  ASSERT_TRUE(CreateOrReplaceFile(path, "first").ok());
  EXPECT_EQ(BytesOf(path), "first");
  const struct stat first = StatusOf(path);
  EXPECT_EQ(first.st_mode & 0777u, 0600u);
  const int open_before = open(path.c_str(), O_RDONLY);
  ASSERT_TRUE(CreateOrReplaceFile(path, "second").ok());
  EXPECT_EQ(BytesOf(path), "second");
  EXPECT_NE(StatusOf(path).st_ino, first.st_ino);
  char bytes[8] = "";
  EXPECT_EQ(read(open_before, bytes, sizeof bytes), 5) << "who has the old one open reads it to its end";
  close(open_before);
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("a"));
}

TEST(ReplacedFileTest, NothingIsWrittenThroughALink) {
  const TemporaryFolder folder;
  for (const auto write : {CreateOrReplaceFile, ReplaceFile}) {
    WriteFile(folder / "other", "of somebody else");
    for (const char* target : {"other", "missing"}) {
      std::filesystem::remove(folder / "a");
      std::filesystem::create_symlink(target, folder / "a");
      ASSERT_TRUE(write(folder / "a", "own").ok());
      EXPECT_TRUE(S_ISREG(StatusOf(folder / "a").st_mode));
      EXPECT_EQ(BytesOf(folder / "other"), "of somebody else");
      EXPECT_FALSE(std::filesystem::exists(folder / "missing"));
    }
  }
}

TEST(ReplacedFileTest, ErrorsSayWhatToDo) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  WriteFile(folder / "a/inside", "1");
  const absl::Status status = CreateOrReplaceFile(folder / "a", "bytes");
  EXPECT_THAT(std::string(status.message()), HasSubstr("a folder has its place, remove that"));
  EXPECT_FALSE(CreateOrReplaceFile(folder / "missing/a", "bytes").ok());
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("a")) << "no half is left";
}

TEST(ReplacedFileTest, WhatKilledWritersLeftIsRemovedAndWhatIsBeingWrittenStays) {
  const TemporaryFolder folder;
  WriteFile(folder / "a.partial-1", "left");
  WriteFile(folder / "a.partial-2", "being written");
  WriteFile(folder / "b.partial-3", "another's");
  const int file = open((folder / "a.partial-2").c_str(), O_RDONLY);
  ASSERT_EQ(flock(file, LOCK_EX), 0);
  RemovePartial(folder / "a");
  EXPECT_THAT(NamesIn(folder.path()), ::testing::UnorderedElementsAre("a.partial-2", "b.partial-3"));
  close(file);
  RemovePartial(folder / "a");
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("b.partial-3"));
}

}  // namespace
}  // namespace memoir
