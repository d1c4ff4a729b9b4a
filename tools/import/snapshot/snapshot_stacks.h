// Converts the frames of a torch snapshot into stacks, operators and autograd nodes, while the snapshot is read.
//
// If a stack has Python frames, only the Python frames are kept. If it has an autograd node but no Python frames, only
// the node is kept, because a backward pass has no line of the program. Otherwise the relevant C++ frames are kept
// (native_function_names.h).
#ifndef TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_STACKS_H_
#define TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_STACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/snapshot/pickle_heap.h"
#include "tools/import/snapshot/snapshot_words.h"
#include "tools/import/snapshot/torch_snapshot.h"

namespace memoir {

class SnapshotStacks {
 public:
  using Index = TorchSnapshot::Index;
  using Value = PickleValue;

  // `heap` and `snapshot` must outlive this object.
  SnapshotStacks(PickleHeap& heap, TorchSnapshot& snapshot);

  Index TextOf(Value value);  // 0 if `value` is not a text
  Index AddFrame(const snapshot::Fields& fields);
  // Returns the origin of a list of frames, innermost first. 0 if the list is empty. A list that occurs in many places
  // is examined once.
  Index OriginOf(Value frames);

 private:
  struct FrameFacts {
    bool python = false;
    bool plumbing = false;
    Index operator_name = 0, node = 0;
  };
  Index AddText(std::string_view text);
  Index FrameNumber(const TorchSnapshot::Frame& frame);
  Index StackBelow(Index parent, Index frame);
  Index AddOrigin(const TorchSnapshot::Origin& origin);
  TorchSnapshot::Origin OriginFromFrames(const std::vector<Index>& frames);

  PickleHeap& heap_;
  TorchSnapshot& snapshot_;
  std::vector<FrameFacts> facts_;                       // by frame
  std::vector<Index> text_numbers_;                     // by number in the pickle; 0: not converted yet
  absl::flat_hash_map<std::string, Index> made_texts_;  // texts that the pickle lacks
  absl::flat_hash_map<TorchSnapshot::Frame, Index> frame_numbers_;
  absl::flat_hash_map<std::uint64_t, Index> stack_numbers_;  // by parent and frame
  absl::flat_hash_map<TorchSnapshot::Origin, Index> origin_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_SNAPSHOT_STACKS_H_
