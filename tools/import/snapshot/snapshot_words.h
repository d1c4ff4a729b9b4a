// The keys and words of a torch snapshot that SnapshotReader uses, and the numbers with which it replaces dictionaries.
#ifndef TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_WORDS_H_
#define TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_WORDS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tools/import/snapshot/pickle_heap.h"
#include "tools/import/snapshot/pickle_value.h"

namespace memoir::snapshot {

// clang-format off
#define MEMOIR_SNAPSHOT_WORDS(W)                                                                                 \
  W(action) W(addr) W(size) W(stream) W(time_us) W(compile_context) W(user_metadata) W(pool_id) W(frames)        \
  W(device_free) W(address) W(requested_size) W(state) W(history) W(real_size) W(total_size) W(blocks) W(device) \
  W(segment_pool_id) W(is_expandable) W(filename) W(line) W(name) W(stage) W(segments) W(device_traces)          \
  W(allocator_settings) W(external_annotations) W(max_split_size) W(roundup_power2_divisions)                    \
  W(expandable_segments) W(alloc) W(free_requested) W(free_completed) W(segment_alloc) W(segment_free)           \
  W(segment_map) W(segment_unmap) W(oom) W(snapshot) W(active_allocated) W(START)
// clang-format on

// The words. The reader adds them to the heap first, so the value of each word is the number of its text in the heap.
enum Word : std::uint32_t {
#define MEMOIR_WORD(name) k_##name,
  MEMOIR_SNAPSHOT_WORDS(MEMOIR_WORD)
#undef MEMOIR_WORD
      kWords
};
inline constexpr std::string_view kTexts[] = {
#define MEMOIR_WORD(name) #name,
    MEMOIR_SNAPSHOT_WORDS(MEMOIR_WORD)
#undef MEMOIR_WORD
};
static_assert(kWords <= 64);

// The items of a dictionary whose keys are words of this file.
class Fields {
 public:
  explicit Fields(std::span<const PickleValue> items) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (!items[i].is(PickleValue::Kind::kText) || items[i].data() >= kWords) continue;
      values_[items[i].data()] = items[i + 1];
      there_ |= std::uint64_t{1} << items[i].data();
    }
  }
  bool has(Word word) const { return (there_ >> word & 1) != 0; }
  PickleValue operator[](Word word) const { return has(word) ? values_[word] : PickleValue(); }

 private:
  std::array<PickleValue, kWords> values_;  // NOLINT(cppcoreguidelines-pro-type-member-init): there_ marks those set
  std::uint64_t there_ = 0;
};

// The kind of the object that replaces a container. PackObject adds the number of the object.
enum class ObjectKind : std::uint8_t { kEntry, kBlock, kSegment, kFrame, kAnnotation, kOrigin, kSettings };

inline std::uint64_t PackObject(ObjectKind shape, std::size_t number) {
  return (static_cast<std::uint64_t>(number) << 3) | static_cast<std::uint64_t>(shape);
}

inline std::optional<std::size_t> ObjectNumber(const PickleHeap& heap, PickleValue value, ObjectKind shape) {
  const std::optional<std::uint64_t> number = heap.VisitorNumber(value);
  if (!number || (*number & 7) != static_cast<std::uint64_t>(shape)) return std::nullopt;
  return static_cast<std::size_t>(*number >> 3);
}

}  // namespace memoir::snapshot

#endif  // TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_WORDS_H_
