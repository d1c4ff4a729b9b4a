#include "interpose/ring/name_table.h"

#include <ctime>

#include <cstring>

#include "interpose/system/signal_blocker.h"

namespace memoir {
namespace {

// kOther is the kind of operators and kernels.
enum class NameKind : std::uint32_t { kOther = 0, kModule = 1, kCode = 2 };

struct Entry {
  std::uint32_t text_bytes;
  std::uint32_t schema_bytes;
  std::uint32_t arguments;
  NameKind kind;
};

// A lock that is held while one entry is copied. A waiting thread sleeps instead of spinning, because the thread that
// holds the lock may have lost its processor.
class NameLock {
 public:
  explicit NameLock(RingHeader* header) : word_(header->name_lock) {
    while (word_.exchange(1, std::memory_order_acquire) != 0) {
      const timespec pause{0, 20'000};
      nanosleep(&pause, nullptr);
    }
  }
  ~NameLock() { word_.store(0, std::memory_order_release); }
  NameLock(const NameLock&) = delete;
  NameLock& operator=(const NameLock&) = delete;

 private:
  const SignalBlocker held_;
  std::atomic<std::uint32_t>& word_;
};

std::uint8_t* Append(std::uint8_t* at, const void* bytes, std::size_t size) {
  if (size != 0) std::memcpy(at, bytes, size);
  return at + size;
}

// The three byte strings of an entry.
struct Parts {
  const void* text;
  const void* schema;
  const void* written;
};

std::uint32_t CutLength(const char* text) { return static_cast<std::uint32_t>(strnlen(text, kMaxInlineName)); }

std::uint32_t Define(const RingMap& ring, const Entry& entry, const Parts& parts) {
  RingHeader& header = *ring.header;
  const std::size_t bytes = std::size_t{entry.text_bytes} + entry.schema_bytes + entry.arguments;
  const std::size_t needed = (sizeof(Entry) + bytes + 3) & ~std::size_t{3};
  NameLock lock(&header);
  const std::uint32_t count = header.name_count.load(std::memory_order_relaxed);
  if (count == kMaxNames || kNameArenaBytes - header.name_bytes < needed) return 0;
  std::uint8_t* at = ring.names + header.name_bytes;
  at = Append(at, &entry, sizeof entry);
  at = Append(at, parts.text, entry.text_bytes);
  at = Append(at, parts.schema, entry.schema_bytes);
  Append(at, parts.written, entry.arguments);
  // The count is stored last, so that the table never contains a half-written entry, even if the process is killed
  // here.
  header.name_offsets[count] = header.name_bytes;
  header.name_bytes += static_cast<std::uint32_t>(needed);
  header.name_count.store(count + 1, std::memory_order_release);
  return count + 1;
}

}  // namespace

std::uint32_t DefineName(const RingMap& ring, const char* name, const char* schema, const std::uint8_t* written,
                         std::size_t arguments) {
  const std::size_t text_bytes = std::strlen(name);
  const std::size_t schema_bytes = schema == nullptr ? 0 : std::strlen(schema);
  if (text_bytes > kNameArenaBytes || schema_bytes > kNameArenaBytes || arguments > kNameArenaBytes) return 0;
  const Entry entry{static_cast<std::uint32_t>(text_bytes), static_cast<std::uint32_t>(schema_bytes),
                    static_cast<std::uint32_t>(arguments), NameKind::kOther};
  return Define(ring, entry, {name, schema, written});
}

std::uint32_t DefineModule(const RingMap& ring, const char* root, const char* path, const char* class_name) {
  const Entry entry{CutLength(path), CutLength(class_name), CutLength(root), NameKind::kModule};
  return Define(ring, entry, {path, class_name, root});
}

std::uint32_t DefineCode(const RingMap& ring, const char* file, const char* function) {
  const Entry entry{CutLength(function), CutLength(file), 0, NameKind::kCode};
  return Define(ring, entry, {function, file, nullptr});
}

bool LookUpName(const RingMap& ring, std::uint32_t id, NameView* view) {
  const std::uint32_t count = ring.header->name_count.load(std::memory_order_acquire);
  if (id == 0 || id > count || id > kMaxNames) return false;
  const std::uint32_t offset = ring.header->name_offsets[id - 1];
  if (offset > kNameArenaBytes - sizeof(Entry)) return false;
  Entry entry;
  std::memcpy(&entry, ring.names + offset, sizeof entry);
  const std::uint64_t needed = std::uint64_t{entry.text_bytes} + entry.schema_bytes + entry.arguments;
  if (needed > kNameArenaBytes - sizeof(Entry) - offset) return false;
  const std::uint8_t* text = ring.names + offset + sizeof entry;
  view->id = id;
  view->is_module = entry.kind == NameKind::kModule;
  view->is_code = entry.kind == NameKind::kCode;
  view->text = reinterpret_cast<const char*>(text);
  view->text_bytes = entry.text_bytes;
  view->schema = view->text + entry.text_bytes;
  view->schema_bytes = entry.schema_bytes;
  view->written = text + entry.text_bytes + entry.schema_bytes;
  view->arguments = entry.arguments;
  return true;
}

}  // namespace memoir
