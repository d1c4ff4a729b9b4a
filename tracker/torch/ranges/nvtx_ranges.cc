#include "tracker/torch/ranges/nvtx_ranges.h"

#include <cstddef>
#include <cstdint>

#include "interpose/imports/nvtx_injection.h"
#include "tracker/torch/ranges/range_record.h"

namespace memoir {
namespace {

// Contains one even address for each depth of nesting, which identifies the range while it is open. Ranges that are
// kMostNested levels apart share an address; EndRange ends the innermost of them.
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
