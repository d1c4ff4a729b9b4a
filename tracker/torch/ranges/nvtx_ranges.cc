#include "tracker/torch/ranges/nvtx_ranges.h"

#include <cstddef>
#include <cstdint>

#include "interpose/imports/nvtx_injection.h"
#include "tracker/torch/ranges/range_record.h"

namespace memoir {
namespace {

// For each depth of nesting, a byte whose address identifies the range when the range ends.
constexpr std::uint32_t kMostNested = 256;
alignas(2) constexpr char kPlaces[2 * kMostNested] = {};

const void* Place(std::uint32_t depth) { return &kPlaces[std::size_t{2} * (depth % kMostNested)]; }

void Begin(std::uint32_t depth, const char* text) {
  RangeStart start{};
  start.source = RangeSource::kNvtx;
  start.text = text;
  start.sequence = -1;
  BeginRange(Place(depth), start, {});
}

void End(std::uint32_t depth) { EndRange(Place(depth), {}); }

constexpr NvtxFollower kFollower{&Begin, &End};

}  // namespace

void InstallNvtxRanges() { FollowNvtx(&kFollower); }

}  // namespace memoir
