#include "tracker/modules/compiler_work.h"

#include "tracker/torch/ranges/range_record.h"

// Implements tracker/modules/compiler_work.h: records the events of torch's compilers as ranges, nested in the ranges
// of the thread.
namespace memoir {
namespace {

constexpr std::uint32_t kMostNested = 256;  // torch's compilers nest about twenty events at most

// Contains one even address for each depth of nesting. The address identifies the range at this depth while the range
// is open. All threads use the same addresses, because each thread has a separate list of open ranges.
alignas(2) constexpr char kPlaces[2 * kMostNested] = {};
[[gnu::tls_model("initial-exec")]] constinit thread_local std::uint32_t open = 0;

const void* Place(std::uint32_t depth) { return &kPlaces[std::size_t{2} * depth]; }

RangeStart Start(const char* text) {
  RangeStart start{};
  start.source = RangeSource::kUser;
  start.text = text;
  start.sequence = -1;
  return start;
}

}  // namespace

void FollowCompiler(std::uint32_t depth, const char* begun) {
  const std::uint32_t around = begun == nullptr ? depth : depth - 1;
  while (open > around) EndRange(Place(--open), {});
  if (begun == nullptr || depth == 0 || depth > kMostNested) return;
  BeginRange(Place(around), Start(begun), {});
  open = depth;  // also counts outer events that began before the recording
}

void NoteCompiled(const char* text) { RecordInstantRange(Start(text), {}); }

bool InCompiler() { return open > 0; }

}  // namespace memoir
