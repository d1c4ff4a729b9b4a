#include "tracker/stacks/native_frame_reader.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "interpose/records/ring_record.h"
#include "interpose/ring/ring.h"
#include "interpose/system/spin_lock.h"

namespace memoir {
namespace {

constexpr std::size_t kObjects = 2048;  // a process with torch and CUDA loads about 200 objects
using FindObject = int (*)(void*, dl_find_object*);

struct Slot {
  // Addresses in memory. `begin` is 0 if the slot is free; it is written after all other fields.
  std::atomic<std::uintptr_t> begin, end;
  // When a library is unloaded, another library may later get the same addresses, and even a link_map at the same
  // address. `mark` contains bytes of the library's file, and distinguishes the two libraries.
  link_map* map;
  std::size_t mark_at;  // offset from `begin`
  std::uint64_t mark;
  NativeObject object;
};

constinit Slot slots[kObjects]{};
constinit std::atomic<bool> locked{false};
constinit pid_t prepared_in = 0;
constinit FindObject find_object = nullptr;
constinit const void* interpreter = nullptr;  // an address in the interpreter's code
constinit std::uint32_t last_sighting = 0;

std::size_t PlaceOf(std::uintptr_t begin) { return (begin >> 12) * 0x9e3779b97f4a7c15u >> 40; }

// Appends the build id, in hexadecimal digits, to `text`, which contains kNativeMark.
void WriteBuildId(const std::uint8_t* id, std::size_t bytes, char (&text)[kMaxInlineName]) {
  std::size_t at = std::strlen(text);
  for (std::size_t i = 0; i < bytes && at + 3 < sizeof text; ++i, at += 2)
    std::snprintf(text + at, sizeof text - at, "%02x", id[i]);
}

// Appends the build id to `text`, and returns its offset in `notes`; 0 if the notes contain no build id.
std::size_t FindBuildId(const std::uint8_t* notes, std::size_t bytes, char (&text)[kMaxInlineName]) {
  const auto padded = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
  for (std::size_t at = 0; at + sizeof(ElfW(Nhdr)) <= bytes;) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note, id = name + padded(note.n_namesz);
    if (id + note.n_descsz > bytes) return 0;
    const bool is_gnu = note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) {
      WriteBuildId(notes + id, note.n_descsz, text);
      return id;
    }
    at = id + padded(note.n_descsz);
  }
  return 0;
}

// Finds the build id through the program headers, which are at the start of the object's mapping. Appends it to `text`,
// and returns its offset in the mapping; 0 if the object has no build id.
std::size_t AddBuildId(const dl_find_object& found, char (&text)[kMaxInlineName]) {
  const auto* image = static_cast<const std::uint8_t*>(found.dlfo_map_start);
  const auto bytes = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found.dlfo_map_end) - image);
  ElfW(Ehdr) header;
  if (bytes < sizeof header) return 0;
  std::memcpy(&header, image, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return 0;
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    const std::size_t at = header.e_phoff + i * sizeof segment;
    if (at + sizeof segment > bytes) return 0;
    std::memcpy(&segment, image + at, sizeof segment);
    const std::uintptr_t begin = found.dlfo_link_map->l_addr + segment.p_vaddr;
    const auto offset = begin - reinterpret_cast<std::uintptr_t>(image);
    if (segment.p_type != PT_NOTE || offset > bytes || segment.p_memsz > bytes - offset) continue;
    if (const std::size_t id = FindBuildId(image + offset, segment.p_memsz, text); id != 0) return offset + id;
  }
  return 0;
}

std::uint64_t MarkAt(const dl_find_object& found, std::size_t at) {
  std::uint64_t mark = 0;
  std::memcpy(&mark, static_cast<const std::uint8_t*>(found.dlfo_map_start) + at, sizeof mark);
  return mark;
}

// Returns the offset of the object's mark. The mark is the build id if the build id lies in the first page, because all
// bytes of that page are mapped. Otherwise the mark is the header field with the position of the section headers, which
// depends on the size of the file.
std::size_t MarkOffset(std::size_t build_id) {
  constexpr std::size_t kFirstPage = 4096, kShortest = 8;
  return build_id != 0 && build_id + kShortest <= kFirstPage ? build_id : offsetof(ElfW(Ehdr), e_shoff);
}

// Copies the path of an object. In the loader's list the name of the program itself is empty, so its path is read from
// /proc/self/exe.
void CopyPath(const link_map& map, char (&path)[kMaxInlineName]) {
  const char* name = map.l_name == nullptr ? "" : map.l_name;
  const ssize_t copied = *name == '\0' ? readlink("/proc/self/exe", path, sizeof path - 1) : 0;
  if (*name == '\0') {
    path[copied > 0 ? copied : 0] = '\0';
  } else {
    std::snprintf(path, sizeof path, "%s", name);
  }
}

bool IsMemoir(const char* path) {
  const char* file = std::strrchr(path, '/');
  return std::strncmp(file == nullptr ? path : file + 1, "libmemoir_", 10) == 0;
}

// Returns true if the address `code` lies in the object.
bool Holds(const dl_find_object& found, const void* code) {
  return code >= found.dlfo_map_start && code < found.dlfo_map_end;
}

// Sets the mark and the NativeObject of a slot.
void Describe(const dl_find_object& found, Slot& slot) {
  char path[kMaxInlineName], mark[kMaxInlineName];
  CopyPath(*found.dlfo_link_map, path);
  std::snprintf(mark, sizeof mark, "%s", kNativeMark);
  slot.mark_at = MarkOffset(AddBuildId(found, mark));
  slot.mark = MarkAt(found, slot.mark_at);
  NativeObject& object = slot.object;
  object.base = found.dlfo_link_map->l_addr;
  object.name = RingDefineCode(path, mark);
  object.sighting = ++last_sighting;
  object.is_interpreter = interpreter != nullptr && Holds(found, interpreter);
  object.is_memoir = IsMemoir(path);
}

// Returns true if the slot contains the object `found`.
bool IsOf(const Slot& slot, std::uintptr_t begin, const dl_find_object& found) {
  return slot.begin.load(std::memory_order_acquire) == begin && slot.map == found.dlfo_link_map &&
         slot.end.load(std::memory_order_relaxed) == reinterpret_cast<std::uintptr_t>(found.dlfo_map_end) &&
         slot.mark == MarkAt(found, slot.mark_at);
}

// Adds the object to the table. nullptr if the table is full.
const NativeObject* Add(const dl_find_object& found, std::uintptr_t begin) {
  const SpinLock lock(locked);
  const NativeObject* added = nullptr;
  for (std::size_t i = 0; i < kObjects && added == nullptr; ++i) {
    Slot& slot = slots[(PlaceOf(begin) + i) % kObjects];
    if (slot.begin.load(std::memory_order_relaxed) != 0 && !IsOf(slot, begin, found)) continue;
    if (slot.begin.load(std::memory_order_relaxed) == 0) {
      slot.map = found.dlfo_link_map;
      Describe(found, slot);
      slot.end.store(reinterpret_cast<std::uintptr_t>(found.dlfo_map_end), std::memory_order_relaxed);
      slot.begin.store(begin, std::memory_order_release);
    }
    added = &slot.object;
  }
  return added;
}

// Returns the object that contains `address`. nullptr if no object contains it (generated code), or if the table is
// full.
const NativeObject* ObjectOf(const void* address) {
  dl_find_object found;
  if (find_object(const_cast<void*>(address), &found) != 0 || found.dlfo_link_map == nullptr) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(found.dlfo_map_start);
  for (std::size_t i = 0; i < kObjects; ++i) {
    const Slot& slot = slots[(PlaceOf(begin) + i) % kObjects];
    if (IsOf(slot, begin, found)) return &slot.object;
    if (slot.begin.load(std::memory_order_relaxed) == 0) break;
  }
  return Add(found, begin);
}

struct Walk {
  NativeFrame* frames;
  std::size_t count = 0;
  int steps = 0;
};

_Unwind_Reason_Code Step(_Unwind_Context* context, void* argument) {
  constexpr int kMostSteps = 512;  // including Memoir's own frames
  auto& walk = *static_cast<Walk*>(argument);
  int is_before = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &is_before);
  if (address == 0 || ++walk.steps > kMostSteps || walk.count == kMostNativeFrames) return _URC_END_OF_STACK;
  // An address inside of the call instruction, because the return address may belong to another function.
  const std::uintptr_t call = address - (is_before != 0 ? 0 : 1);
  const NativeObject* object = ObjectOf(reinterpret_cast<const void*>(call));
  if (object == nullptr) return _URC_NO_REASON;
  if (object->is_interpreter) return _URC_END_OF_STACK;
  const std::uintptr_t offset = call - object->base;
  if (!object->is_memoir && offset <= 0xffffffffu)
    walk.frames[walk.count++] = {object, static_cast<std::uint32_t>(offset)};
  return _URC_NO_REASON;
}

}  // namespace

bool PrepareNativeFrames(char* problem, std::size_t size) {
  find_object = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
  if (find_object == nullptr) {
    std::snprintf(problem, size, "they need glibc 2.35 or newer");
    return false;
  }
  interpreter = dlsym(RTLD_DEFAULT, "_PyEval_EvalFrameDefault");
  if (interpreter == nullptr) interpreter = dlsym(RTLD_DEFAULT, "PyEval_EvalCode");
  // In a forked child, the lock may be held by a thread that exists only in the parent.
  if (prepared_in != getpid()) locked.store(false, std::memory_order_relaxed);
  prepared_in = getpid();
  const SpinLock lock(locked);
  for (Slot& slot : slots) {
    slot.begin.store(0, std::memory_order_release);
    slot.end.store(0, std::memory_order_relaxed);
  }
  return true;
}

const NativeObject* AsNativeObject(const char* code) {
  const auto at = reinterpret_cast<std::uintptr_t>(code);
  const bool is_one =
      at >= reinterpret_cast<std::uintptr_t>(&slots[0]) && at < reinterpret_cast<std::uintptr_t>(&slots[0] + kObjects);
  return is_one ? reinterpret_cast<const NativeObject*>(code) : nullptr;
}

std::size_t ReadNativeFrames(NativeFrame* frames) {
  Walk walk{.frames = frames};
  _Unwind_Backtrace(&Step, &walk);
  return walk.count;
}

}  // namespace memoir
