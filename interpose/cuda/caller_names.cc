#include "interpose/cuda/caller_names.h"

#include <errno.h>
#include <link.h>

#include <atomic>
#include <cstddef>
#include <cstring>

#include "interpose/imports/loaded_object.h"
#include "interpose/imports/loader_list_guard.h"

namespace memoir {
namespace {

constexpr std::size_t kSlots = 1024;  // programs call the driver from a few hundred places
constexpr std::size_t kTries = 8;
constexpr std::size_t kWords = kMaxLibraryName / sizeof(std::uint64_t);

// A cached result: a return address, and the bytes of the library's name.
struct Slot {
  std::atomic<std::uintptr_t> code;  // 0: the slot is empty
  std::atomic<std::uint64_t> words[kWords];
};

// Written only while holding a LoaderListGuard. A thread that fills a slot first clears `code`, and then stores each
// word with release order. So a reader that sees a new word also sees that `code` changed.
constinit Slot slots[kSlots]{};
constinit std::uint64_t unloaded = 0;  // count of unloaded objects at the last ForgetCallersOfUnloaded

std::size_t SlotOf(std::uintptr_t code, std::size_t attempt) {
  return (static_cast<std::size_t>((code * 0x9E3779B97F4A7C15u) >> 40) + attempt) % kSlots;
}

bool FindKnown(std::uintptr_t code, LibraryName* name) {
  for (std::size_t i = 0; i < kTries; ++i) {
    Slot& slot = slots[SlotOf(code, i)];
    if (slot.code.load(std::memory_order_acquire) != code) continue;
    std::uint64_t words[kWords];
    for (std::size_t word = 0; word < kWords; ++word) words[word] = slot.words[word].load(std::memory_order_acquire);
    if (slot.code.load(std::memory_order_relaxed) != code) continue;  // the slot was reused meanwhile
    std::memcpy(name->text, words, sizeof words);
    return true;
  }
  return false;
}

void Keep(std::uintptr_t code, const LibraryName& name) {
  Slot* slot = &slots[SlotOf(code, 0)];
  for (std::size_t i = 0; i < kTries; ++i) {
    if (slots[SlotOf(code, i)].code.load(std::memory_order_relaxed) != 0) continue;
    slot = &slots[SlotOf(code, i)];
    break;
  }
  slot->code.store(0, std::memory_order_relaxed);
  std::uint64_t words[kWords];
  std::memcpy(words, name.text, sizeof words);
  for (std::size_t word = 0; word < kWords; ++word) slot->words[word].store(words[word], std::memory_order_release);
  slot->code.store(code, std::memory_order_release);
}

struct Search {
  const void* code;
  LibraryName name;
};

// In the loader's list the name of the program itself is empty.
int NameIfItIsThere(dl_phdr_info* info, std::size_t, void* context) {
  Search& search = *static_cast<Search*>(context);
  if (!LoadedObject(*info).Contains(search.code)) return 0;
  const bool program = info->dlpi_name == nullptr || info->dlpi_name[0] == '\0';
  search.name = LibraryNamed(program ? program_invocation_name : info->dlpi_name);
  return 1;
}

}  // namespace

LibraryName LibraryNamed(const char* path) {
  const char* slash = std::strrchr(path, '/');
  LibraryName name{};
  const char* from = slash == nullptr ? path : slash + 1;
  for (std::size_t i = 0; i < sizeof name.text && from[i] != '\0'; ++i) name.text[i] = from[i];
  return name;
}

LibraryName LibraryAt(const void* code) {
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  LibraryName known;
  if (FindKnown(address, &known)) return known;
  const LoaderListGuard turn(LoaderListGuard::Patience::kGivesUp);
  Search search{code, {}};
  if (!turn.has_turn()) return search.name;
  if (dl_iterate_phdr(&NameIfItIsThere, &search) != 0) Keep(address, search.name);
  return search.name;
}

void ForgetCallersOfUnloaded(std::uint64_t unloaded_so_far) {
  if (unloaded == unloaded_so_far) return;
  unloaded = unloaded_so_far;
  for (Slot& slot : slots) slot.code.store(0, std::memory_order_relaxed);
}

}  // namespace memoir
