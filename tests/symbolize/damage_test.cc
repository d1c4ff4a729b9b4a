// Debug information in which bytes were changed: what names its functions may find nothing, and goes on.
// MEMOIR_TEST_LONG=1: five times as many.
#include <elf.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/symbolize/debug_info.h"

namespace memoir {
namespace {

constexpr int kVariants = 40, kLongVariants = 200;
constexpr unsigned kSeconds = 120;
constexpr rlim_t kMostMemory = rlim_t{2} << 30;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Sections {
  std::vector<Elf64_Shdr> debug;
  Elf64_Shdr code{};
};

Sections SectionsOf(const std::string& library) {
  Elf64_Ehdr header;
  std::memcpy(&header, library.data(), sizeof header);
  std::vector<Elf64_Shdr> all(header.e_shnum);
  std::memcpy(all.data(), library.data() + header.e_shoff, all.size() * sizeof all[0]);
  Sections sections;
  for (const Elf64_Shdr& section : all) {
    const std::string name = library.data() + all[header.e_shstrndx].sh_offset + section.sh_name;
    if (name.starts_with(".debug_")) sections.debug.push_back(section);
    if (name == ".text") sections.code = section;
  }
  return sections;
}

// Runs in a separate process; returns its wait status.
int NameAll(const std::string& path, const Elf64_Shdr& code, std::size_t* named) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    alarm(kSeconds);
    const rlimit memory{kMostMemory, kMostMemory};
    setrlimit(RLIMIT_DATA, &memory);
    const NativeObjectName object{path, ""};
    const DebugInfo info(object, FindObjectFile(object, {}));
    std::size_t count = 0;
    for (std::uint64_t at = code.sh_addr; at < code.sh_addr + code.sh_size; at += 11)
      count += info.FunctionsAt(static_cast<std::uint32_t>(at)).empty() ? 0 : 1;
    _exit(write(ends[1], &count, sizeof count) == sizeof count ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], named, sizeof *named) != sizeof *named) *named = 0;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(DamageTest, ChangedDebugInformation) {
  const std::string whole = Contents(DAMAGED_LIBRARY);
  const Sections sections = SectionsOf(whole);
  ASSERT_GE(sections.debug.size(), 4u);
  const std::string path = testing::TempDir() + "/damaged-" + std::to_string(getpid()) + ".so";
  std::size_t named = 0;
  ASSERT_EQ(NameAll(DAMAGED_LIBRARY, sections.code, &named), 0);
  ASSERT_GT(named, 30u);
  int fewer = 0;
  const int variants = std::getenv("MEMOIR_TEST_LONG") == nullptr ? kVariants : kLongVariants;
  for (int variant = 0; variant < variants; ++variant) {
    std::mt19937 random(static_cast<unsigned>(variant));
    std::string damaged = whole;
    const int changes = 1 << (variant % 8);
    for (int i = 0; i < changes; ++i) {
      const Elf64_Shdr& section = sections.debug[random() % sections.debug.size()];
      damaged[section.sh_offset + random() % section.sh_size] = static_cast<char>(random());
    }
    std::ofstream(path, std::ios::binary) << damaged;
    std::size_t now = 0;
    EXPECT_EQ(NameAll(path, sections.code, &now), 0) << "variant " << variant;
    fewer += now < named ? 1 : 0;
  }
  std::filesystem::remove(path);
  RecordProperty("variants_with_fewer_names", fewer);
}

// Headers, tables of symbols, or whatever else lies there, of a library that its path alone tells from others.
TEST(DamageTest, ChangedAnywhere) {
  const std::string whole = Contents(DAMAGED_LIBRARY);
  const Sections sections = SectionsOf(whole);
  const std::string path = testing::TempDir() + "/changed-" + std::to_string(getpid()) + ".so";
  const std::size_t ends[][2] = {{4, 64}, {4, 1024}, {whole.size() - 4096, whole.size()}, {4, whole.size()}};
  const int variants = std::getenv("MEMOIR_TEST_LONG") == nullptr ? kVariants : kLongVariants;
  for (int variant = 0; variant < variants; ++variant) {
    std::mt19937 random(static_cast<unsigned>(variant));
    std::string damaged = whole;
    const auto [begin, end] = ends[variant % 4];
    for (int i = 0; i < 1 << (variant / 4 % 6); ++i)
      damaged[begin + random() % (end - begin)] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << damaged;
    std::size_t now = 0;
    EXPECT_EQ(NameAll(path, sections.code, &now), 0) << "variant " << variant;
  }
  std::filesystem::remove(path);
}

TEST(DamageTest, CutFiles) {
  const std::string whole = Contents(DAMAGED_LIBRARY);
  const Sections sections = SectionsOf(whole);
  const std::string path = testing::TempDir() + "/cut-" + std::to_string(getpid()) + ".so";
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 30 + 1) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, size);
    std::size_t now = 0;
    EXPECT_EQ(NameAll(path, sections.code, &now), 0) << size << " bytes";
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace memoir
