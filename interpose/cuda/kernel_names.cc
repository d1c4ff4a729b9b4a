#include "interpose/cuda/kernel_names.h"

#include <atomic>
#include <cstring>

#include "interpose/cuda/driver_queries.h"
#include "interpose/records/ring_record.h"
#include "interpose/ring/ring.h"

namespace memoir {
namespace {

constexpr std::size_t kKernels = 32768;  // kernels whose names are cached; each launch of any other kernel queries CUDA
constexpr std::uint16_t kUnnamed = 0xffff;  // the number that stands for a kernel without a name
static_assert(kMostKernelNames < kUnnamed);

// Maps a key of 48 bits (an address or a hash) to the number of a name, an index of `ring_ids`. Key and number share
// one word, so no reader sees half of an entry.
template <std::size_t kPlaces>
class Table {
 public:
  // Returns the number. 0 if the key is not in the table.
  std::uint16_t Find(std::uint64_t key) const {
    for (std::size_t i = 0; i < kProbes; ++i) {
      const std::uint64_t word = words_[At(key, i)].load(std::memory_order_acquire);
      if (word >> 16 == (key & kKeyBits)) return static_cast<std::uint16_t>(word);
      if (word == 0) return 0;
    }
    return 0;
  }
  // Adds a key. Does nothing if all places for it are taken.
  void Add(std::uint64_t key, std::uint16_t number) {
    for (std::size_t i = 0; i < kProbes; ++i) {
      std::uint64_t word = 0;
      if (words_[At(key, i)].compare_exchange_strong(word, key << 16 | number, std::memory_order_acq_rel)) return;
      if (word >> 16 == (key & kKeyBits)) return;
    }
  }
  void Clear() {
    for (std::atomic<std::uint64_t>& word : words_) {
      // Does not write to unused words, so that unused pages stay unallocated.
      if (word.load(std::memory_order_relaxed) != 0) word.store(0, std::memory_order_release);
    }
  }

 private:
  static constexpr std::size_t kProbes = 16;
  static constexpr std::uint64_t kKeyBits = (std::uint64_t{1} << 48) - 1;
  static std::size_t At(std::uint64_t key, std::size_t probe) {
    return (static_cast<std::size_t>(((key & kKeyBits) * 0x9e3779b97f4a7c15u) >> 32) + probe) % kPlaces;
  }

  std::atomic<std::uint64_t> words_[kPlaces];
};

constinit Table<kKernels> kernels{};                                    // key: handle of the kernel
constinit Table<std::size_t{4} * kMostKernelNames> texts{};             // key: hash of the name
constinit std::atomic<std::uint32_t> ring_ids[kMostKernelNames + 1]{};  // index: number of a name; numbers begin at 1
constinit std::atomic<std::uint32_t> names{0};                          // number of names
constinit std::atomic<std::uint32_t> name_bytes{0};                     // bytes of all names together
constinit std::atomic<std::uint64_t> unnamed{0};                        // launches whose kernel has no name

std::uint64_t HashOf(const char* text, std::size_t bytes) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  return hash ^ hash >> 48;
}

// Adds a name to the ring's name table and returns its number. kUnnamed if a limit is reached.
std::uint16_t Define(const char* text, std::size_t bytes) {
  if (names.load(std::memory_order_relaxed) >= kMostKernelNames ||
      name_bytes.load(std::memory_order_relaxed) + bytes > kMostKernelNameBytes)
    return kUnnamed;
  char cut[kMaxInlineName + 1];
  std::memcpy(cut, text, bytes);
  cut[bytes] = '\0';
  const std::uint32_t id = RingDefineOperator(cut, nullptr, nullptr, 0);
  const std::uint32_t number = names.fetch_add(1, std::memory_order_relaxed) + 1;
  name_bytes.fetch_add(static_cast<std::uint32_t>(bytes), std::memory_order_relaxed);
  if (id == 0 || number > kMostKernelNames) return kUnnamed;
  ring_ids[number].store(id, std::memory_order_release);
  return static_cast<std::uint16_t>(number);
}

// Returns the number of the name `text`. Equal names have equal numbers.
std::uint16_t NumberOf(const char* text) {
  const std::size_t bytes = strnlen(text, kMaxInlineName);
  if (bytes == 0) return kUnnamed;
  const std::uint64_t hash = HashOf(text, bytes);
  std::uint16_t number = texts.Find(hash);
  if (number != 0) return number;
  number = Define(text, bytes);
  texts.Add(hash, number);
  return number;
}

std::uint16_t QueryNumber(KernelHandle handle, const void* kernel) {
  const char* text = nullptr;
  const bool read = handle == KernelHandle::kHostFunction ? ReadHostFunctionName(kernel, &text)
                    : handle == KernelHandle::kKernel     ? ReadKernelName(kernel, &text)
                                                          : ReadFunctionName(kernel, &text);
  return read && text != nullptr ? NumberOf(text) : kUnnamed;
}

}  // namespace

std::uint32_t NameOfKernel(KernelHandle handle, const void* kernel) {
  const auto address = reinterpret_cast<std::uintptr_t>(kernel);
  std::uint16_t number = kernels.Find(address);
  if (number == 0) [[unlikely]] {
    number = address == 0 ? kUnnamed : QueryNumber(handle, kernel);
    kernels.Add(address, number);
  }
  if (number != kUnnamed) [[likely]]
    return ring_ids[number].load(std::memory_order_acquire);
  unnamed.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

std::uint32_t KernelNameId(const char* symbol) {
  const std::uint16_t number = symbol == nullptr ? kUnnamed : NumberOf(symbol);
  return number == kUnnamed ? 0 : ring_ids[number].load(std::memory_order_acquire);
}

void ForgetKernelNames() {
  kernels.Clear();
  texts.Clear();
  names.store(0, std::memory_order_relaxed);
  name_bytes.store(0, std::memory_order_relaxed);
  unnamed.store(0, std::memory_order_relaxed);
}

void ForgetKernels() { kernels.Clear(); }

std::uint64_t CountUnnamedLaunches() { return unnamed.load(std::memory_order_relaxed); }

}  // namespace memoir
