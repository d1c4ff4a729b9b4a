// Text against the file that holds what it was when somebody last read it: views/NAME.txt or .json.
#ifndef TESTS_GOLDEN_EXPECT_GOLDEN_H_
#define TESTS_GOLDEN_EXPECT_GOLDEN_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace memoir::testing {

// With MEMOIR_UPDATE_GOLDEN in the environment the file becomes `text`.
inline void ExpectGolden(const std::string& file, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(MEMOIR_GOLDEN_DIR) / file;
  if (std::getenv("MEMOIR_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  std::stringstream wanted;
  wanted << stream.rdbuf();
  EXPECT_EQ(text, wanted.str()) << "differs from " << path << "; where that is right: MEMOIR_UPDATE_GOLDEN=1";
}

// The JSON of a view that has a text for many samples is compared for these two. For the others it would repeat the
// figures of the text.
inline bool IsJsonSample(const std::string& sample) { return sample == "training" || sample == "cuda"; }

// `text` with `instead` of a temporary folder, which differs from run to run; a path that was too long for the line
// before it is put back there.
inline std::string WithoutFolder(std::string text, const std::string& folder, const std::string& instead) {
  const std::string broken = "\n  " + folder;
  for (std::size_t at = text.find(broken); at != std::string::npos; at = text.find(broken)) text.replace(at, 3, " ");
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder))
    text.replace(at, folder.size(), instead);
  return text;
}

}  // namespace memoir::testing

#endif  // TESTS_GOLDEN_EXPECT_GOLDEN_H_
