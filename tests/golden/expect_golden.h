// Text against the file that holds what it was when somebody last read it: views/NAME.txt or .json.
#ifndef TESTS_GOLDEN_EXPECT_GOLDEN_H_
#define TESTS_GOLDEN_EXPECT_GOLDEN_H_

#include <gtest/gtest.h>

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

}  // namespace memoir::testing

#endif  // TESTS_GOLDEN_EXPECT_GOLDEN_H_
