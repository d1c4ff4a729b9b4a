// A CPU allocator that keeps the books itself: one log line in memory per allocation and deallocation, in the order in
// which they happened, with the live bytes after it. It knows nothing of Memoir, which wraps it like any other.
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace {

struct Line {
  bool allocate;
  std::uint64_t address;
  std::uint64_t bytes;
  std::uint64_t live;
};

struct Books {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::uint64_t> size;
  std::vector<Line> lines;
  std::uint64_t live = 0;
  bool open = false;
};
Books& books = *new Books;

void Enter(void* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const std::lock_guard lock(books.mutex);
  if (!books.open) return;
  books.size[address] = bytes;
  books.live += bytes;
  books.lines.push_back({true, address, bytes, books.live});
}

void Leave(void* data) {
  const auto address = reinterpret_cast<std::uint64_t>(data);
  const std::lock_guard lock(books.mutex);
  const auto found = books.size.find(address);
  if (!books.open || found == books.size.end()) return;
  books.live -= found->second;
  books.lines.push_back({false, address, found->second, books.live});
  books.size.erase(found);
}

void Delete(void* data) {
  Leave(data);
  std::free(data);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* data = bytes == 0 ? nullptr : std::aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (data != nullptr) Enter(data, bytes);
    return {data, data, &Delete, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &Delete; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override { std::memcpy(to, from, bytes); }
};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void counting_install() {
  static CountingAllocator allocator;
  c10::SetCPUAllocator(&allocator, 50);
}
// Between these two the books are kept.
__attribute__((visibility("default"))) void counting_open() {
  const std::lock_guard lock(books.mutex);
  books.open = true;
}
__attribute__((visibility("default"))) int counting_close(const char* path) {
  const std::lock_guard lock(books.mutex);
  books.open = false;
  std::FILE* file = std::fopen(path, "w");
  if (file == nullptr) return -1;
  for (const Line& line : books.lines) {
    std::fprintf(file, "%c %llu %llu %llu\n", line.allocate ? 'a' : 'd', static_cast<unsigned long long>(line.address),
                 static_cast<unsigned long long>(line.bytes), static_cast<unsigned long long>(line.live));
  }
  return std::fclose(file);
}
}
