#include "tracker/stacks/code_table.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>

#include "interpose/ring/ring.h"
#include "interpose/system/spin_lock.h"
#include "tracker/stacks/code_text.h"
#include "tracker/stacks/line_table.h"
#include "tracker/stacks/python_object.h"

namespace memoir {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr std::size_t kTypeDealloc = 48;                 // offset of tp_dealloc in a type; equal in Python 3.10 to 3.14
constexpr std::size_t kBytesSize = 16, kBytesText = 32;  // offsets in a bytes object: of its length, of its content

std::uint64_t Mix(std::uint64_t key) {
  key = (key ^ key >> 33) * 0xff51afd7ed558ccdu;
  return key ^ key >> 32;
}

// An open-addressing table from a nonzero key to a value. Entries are added under the table's lock. A reader takes no
// lock. It reads the value and then the key again, because the table may have been cleared in between.
template <std::size_t kSlots>
class Table {
 public:
  std::uint64_t Find(std::uint64_t key) const {
    for (std::size_t at = Mix(key) % kSlots;; at = (at + 1) % kSlots) {
      const std::uint64_t there = slots_[at].key.load(kAcquire);
      if (there == 0) return 0;
      if (there != key) continue;
      const std::uint64_t value = slots_[at].value.load(kAcquire);
      return slots_[at].key.load(kRelaxed) == key ? value : 0;
    }
  }
  // Call it under the lock. False if the table is full.
  bool Put(std::uint64_t key, std::uint64_t value) {
    std::size_t at = Mix(key) % kSlots;
    for (; slots_[at].key.load(kRelaxed) != 0; at = (at + 1) % kSlots) {
      if (slots_[at].key.load(kRelaxed) == key) return slots_[at].value.store(value, kRelease), true;
    }
    if (used_ > kSlots * 3 / 4) return false;
    ++used_;
    slots_[at].value.store(value, kRelease);
    slots_[at].key.store(key, kRelease);
    return true;
  }
  // Removes the value of `key`, without the lock. False if there was no value.
  bool TakeValue(std::uint64_t key) {
    for (std::size_t at = Mix(key) % kSlots; slots_[at].key.load(kAcquire) != 0; at = (at + 1) % kSlots) {
      if (slots_[at].key.load(kRelaxed) == key) return slots_[at].value.exchange(0, std::memory_order_acq_rel) != 0;
    }
    return false;
  }
  // Call it under the lock. Clears each key before its value. So a reader that still finds the key does not get the
  // value of another key.
  void Clear() {
    if (used_ == 0) return;
    for (Slot& slot : slots_) {
      slot.key.store(0, kRelease);
      slot.value.store(0, kRelease);
    }
    used_ = 0;
  }

 private:
  struct Slot {
    std::atomic<std::uint64_t> key, value;
  };
  std::array<Slot, kSlots> slots_{};
  std::size_t used_ = 0;
};

constinit Table<8 * 1024> codes;  // key: address of the code; value: sighting << 32 | name
// Key: hash of the file and the function; value: the name. So code that is compiled again gets the same name.
constinit Table<8 * 1024> names;
constinit Table<32 * 1024> lines;  // key: sighting << 32 | instruction; value: line + 1
constinit std::uint32_t last_sighting = 0;
constinit std::atomic<std::uint32_t> deaths{0};
constinit std::atomic<bool> locked{false};
constinit pid_t prepared_in = 0;
constinit std::atomic<void (*)(void*)> next_dealloc{nullptr};

std::uint64_t KeyOf(const char* code) { return reinterpret_cast<std::uint64_t>(code); }
CodeEntry AsCodeEntry(std::uint64_t value) {
  return {static_cast<std::uint32_t>(value >> 32), static_cast<std::uint32_t>(value)};
}

void OnCodeDeath(void* code) {
  if (codes.TakeValue(reinterpret_cast<std::uint64_t>(code))) deaths.fetch_add(1, kRelease);
  next_dealloc.load(kAcquire)(code);
}

// Replaces tp_dealloc of code objects. Another thread may free code at the same time; it calls either the old or the
// new function.
void WatchCodeDeaths(const FrameLayout& layout) {
  auto& slot = *reinterpret_cast<std::atomic<void (*)(void*)>*>(layout.code_type + kTypeDealloc);
  void (*const there)(void*) = slot.load(kAcquire);
  void (*const next)(void*) = next_dealloc.load(kRelaxed);
  // If another tool has replaced Memoir's function, the tool's function calls Memoir's.
  if (there == &OnCodeDeath || (next != nullptr && there != next)) return;
  next_dealloc.store(there, kRelease);
  slot.store(&OnCodeDeath, kRelease);
}

std::uint64_t HashTexts(const char* file, std::size_t file_bytes, const char* function, std::size_t function_bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ file_bytes << 32 ^ function_bytes;
  for (std::size_t i = 0; i < file_bytes; ++i)
    hash = Mix(hash ^ static_cast<std::uint8_t>(file[i])) * 0x9e3779b97f4a7c15u;
  for (std::size_t i = 0; i < function_bytes; ++i)
    hash = Mix(hash ^ static_cast<std::uint8_t>(function[i])) * 0x9e3779b97f4a7c15u;
  return hash | 1;
}

std::uint32_t NameOf(const FrameLayout& layout, const char* code) {
  char file[kMaxInlineName], function[kMaxInlineName];
  const std::size_t file_bytes = CopyText(layout, PointerAt(code, layout.file), file, sizeof file);
  const std::size_t function_bytes = CopyText(layout, PointerAt(code, layout.function), function, sizeof function);
  const std::uint64_t hash = HashTexts(file, file_bytes, function, function_bytes);
  if (const std::uint64_t known = names.Find(hash); known != 0) return static_cast<std::uint32_t>(known);
  const std::uint32_t name = RingDefineCode(file, function);
  if (name != 0) names.Put(hash, name);  // if this table is full, the ring's table gets the name again later
  return name;
}

void ForgetCodes() {
  codes.Clear();
  deaths.fetch_add(1, kRelease);
}

CodeEntry AddCode(const FrameLayout& layout, const char* code) {
  const bool is_object = (KeyOf(code) & 7) == 0 && code != nullptr;
  if (!is_object || PointerAt(code, kObjectType) != layout.code_type) return {};
  const SpinLock lock(locked);
  if (const std::uint64_t known = codes.Find(KeyOf(code)); known != 0) return AsCodeEntry(known);
  const CodeEntry seen{++last_sighting, NameOf(layout, code)};
  const std::uint64_t value = std::uint64_t{seen.sighting} << 32 | seen.name;
  if (!codes.Put(KeyOf(code), value)) {
    ForgetCodes();
    codes.Put(KeyOf(code), value);
  }
  return seen;
}

std::uint32_t DecodeLine(const FrameLayout& layout, const char* code, std::uint32_t instruction) {
  const char* table = PointerAt(code, layout.line_table);
  if (table == nullptr) return 0;
  std::int64_t size;
  std::int32_t first;
  std::memcpy(&size, table + kBytesSize, sizeof size);
  std::memcpy(&first, code + layout.first_line, sizeof first);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(table + kBytesText);
  return (layout.lines_in_pairs ? LineInPairs : LineInLocations)(bytes, static_cast<std::size_t>(size), first,
                                                                 instruction);
}

}  // namespace

void PrepareCodes(const FrameLayout& layout) {
  // In a forked child, the lock may be held by a thread that exists only in the parent.
  if (prepared_in != getpid()) locked.store(false, kRelaxed);
  prepared_in = getpid();
  const SpinLock lock(locked);
  names.Clear();
  lines.Clear();
  ForgetCodes();
  WatchCodeDeaths(layout);
}

CodeEntry FindCode(const FrameLayout& layout, const char* code) {
  if (const std::uint64_t known = codes.Find(KeyOf(code)); known != 0) [[likely]]
    return AsCodeEntry(known);
  return AddCode(layout, code);
}

std::uint32_t FindLine(const FrameLayout& layout, const char* code, std::uint32_t sighting, std::uint32_t instruction) {
  const std::uint64_t key = std::uint64_t{sighting} << 32 | instruction;
  if (const std::uint64_t known = lines.Find(key); known != 0) [[likely]]
    return static_cast<std::uint32_t>(known - 1);
  const std::uint32_t line = DecodeLine(layout, code, instruction);
  const SpinLock lock(locked);
  if (!lines.Put(key, std::uint64_t{line} + 1)) {
    lines.Clear();
    lines.Put(key, std::uint64_t{line} + 1);
  }
  return line;
}

std::uint32_t CodeDeaths() { return deaths.load(kAcquire); }

}  // namespace memoir
