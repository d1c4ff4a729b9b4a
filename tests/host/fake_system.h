// A folder with proc/ and sys/ in it, as a test wants them.
#ifndef TESTS_HOST_FAKE_SYSTEM_H_
#define TESTS_HOST_FAKE_SYSTEM_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace memoir::testing {

class FakeSystem {
 public:
  FakeSystem() {
    std::string name = std::filesystem::temp_directory_path() / "memoir_host_XXXXXX";
    root_ = mkdtemp(name.data());
  }
  ~FakeSystem() { std::filesystem::remove_all(root_); }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;

  const std::string& root() const { return root_; }
  FakeSystem& Put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
    return *this;
  }

 private:
  std::string root_;
};

}  // namespace memoir::testing

#endif  // TESTS_HOST_FAKE_SYSTEM_H_
