// Pickles for tests, written instruction by instruction: values as texts of pickle, which nest.
#ifndef TESTS_IMPORT_PICKLES_H_
#define TESTS_IMPORT_PICKLES_H_

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace memoir::testing {

inline std::string Fixed(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
  return text;
}
inline std::string Text(std::string_view text) { return "X" + Fixed(text.size(), 4) + std::string(text); }
inline std::string Int(std::uint64_t value) {  // 9 bytes: never negative
  return std::string("\x8a\x09") + Fixed(value, 8) + std::string(1, '\0');
}
inline std::string List(const std::vector<std::string>& items) {
  std::string text = "](";
  for (const std::string& item : items) text += item;
  return text + "e";
}
using Items = std::vector<std::pair<std::string, std::string>>;
inline std::string Dict(const Items& items) {
  std::string text = "}(";
  for (const auto& [key, value] : items) text += Text(key) + value;
  return text + "u";
}
inline std::string Pair(std::uint64_t a, std::uint64_t b) { return Int(a) + Int(b) + "\x86"; }
inline std::string Pickle(const std::string& value, int protocol = 2) {
  return std::string("\x80") + static_cast<char>(protocol) + value + ".";
}

inline std::string Frame(std::string_view file, std::string_view name, std::uint64_t line) {
  return Dict({{"name", Text(name)}, {"filename", Text(file)}, {"line", Int(line)}});
}
inline std::string Entry(std::string_view action, std::uint64_t address, std::uint64_t bytes, std::uint64_t us,
                         const std::string& frames = List({})) {
  return Dict({{"action", Text(action)},
               {action == "oom" ? "device_free" : "addr", Int(address)},
               {"size", Int(bytes)},
               {"stream", Int(0)},
               {"time_us", Int(us)},
               {"frames", frames}});
}
inline std::string Block(std::uint64_t address, std::uint64_t bytes, std::string_view state,
                         const std::string& frames = List({})) {
  return Dict({{"address", Int(address)},
               {"size", Int(bytes)},
               {"requested_size", Int(bytes)},
               {"state", Text(state)},
               {"frames", frames}});
}
inline std::string Segment(std::uint64_t address, std::uint64_t bytes, const std::vector<std::string>& blocks,
                           std::uint64_t device = 0) {
  return Dict({{"device", Int(device)},
               {"address", Int(address)},
               {"total_size", Int(bytes)},
               {"stream", Int(0)},
               {"segment_pool_id", Pair(0, 0)},
               {"is_expandable", "\x89"},
               {"blocks", List(blocks)}});
}
inline std::string Snapshot(const std::vector<std::string>& segments,
                            const std::vector<std::vector<std::string>>& traces, const Items& more = {}) {
  std::vector<std::string> lists;
  for (const auto& trace : traces) lists.push_back(List(trace));
  Items items = {{"segments", List(segments)}, {"device_traces", List(lists)}};
  items.insert(items.end(), more.begin(), more.end());
  return Pickle(Dict(items));
}

// A file that is removed with it.
class PickleFile {
 public:
  explicit PickleFile(std::string_view bytes, const std::string& name = "snapshot.pickle") {
    std::string pattern = (std::filesystem::temp_directory_path() / "memoir-import-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/" + name;
    Write(bytes);
  }
  ~PickleFile() { std::filesystem::remove_all(folder_); }
  PickleFile(const PickleFile&) = delete;
  PickleFile& operator=(const PickleFile&) = delete;
  void Write(std::string_view bytes) const {
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  const std::string& path() const { return path_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_, path_;
};

}  // namespace memoir::testing

#endif  // TESTS_IMPORT_PICKLES_H_
