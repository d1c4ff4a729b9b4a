// The frames of a torch snapshot that is being read, and which stack, operator and autograd node a list of them is.
//
// Of a stack that has frames of Python, those are kept; of another one, those of C++ that say something
// (native_frames.h), or the autograd node alone where there is one: no line of the program stands for a backward pass.
#ifndef TOOLS_IMPORT_SNAPSHOT_STACKS_H_
#define TOOLS_IMPORT_SNAPSHOT_STACKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/pickle_heap.h"
#include "tools/import/snapshot_words.h"
#include "tools/import/torch_snapshot.h"

namespace memoir {

class SnapshotStacks {
 public:
  using Number = TorchSnapshot::Number;
  using Value = PickleValue;

  // Both must outlive it.
  SnapshotStacks(PickleHeap& heap, TorchSnapshot& snapshot);

  Number TextOf(Value value);  // 0 of what is no text
  Number AddFrame(const snapshot::Fields& fields);
  // Of a list of frames, the innermost first. The list is in many places and looked at once. 0: of none.
  Number OriginOf(Value frames);

 private:
  struct FrameFacts {
    bool python = false;
    bool plumbing = false;
    Number operator_name = 0, node = 0;
  };
  Number AddText(std::string_view text);
  Number FrameNumber(const TorchSnapshot::Frame& frame);
  Number Below(Number parent, Number frame);
  Number AddOrigin(const TorchSnapshot::Origin& origin);
  TorchSnapshot::Origin Made(const std::vector<Number>& frames);

  PickleHeap& heap_;
  TorchSnapshot& snapshot_;
  std::vector<FrameFacts> facts_;                        // by frame
  std::vector<Number> text_numbers_;                     // by number in the pickle; 0: not yet
  absl::flat_hash_map<std::string, Number> made_texts_;  // which the pickle does not have
  absl::flat_hash_map<TorchSnapshot::Frame, Number> frame_numbers_;
  absl::flat_hash_map<std::uint64_t, Number> stack_numbers_;  // by parent and frame
  absl::flat_hash_map<TorchSnapshot::Origin, Number> origin_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_STACKS_H_
