// The contents of a pickle of torch.cuda.memory._dump_snapshot() in compact form: the allocator's segments and blocks
// at the end, and the trace of each device, whose oldest entries may be overwritten.
//
// torch 2.1 to 2.15 write such files. The file contains no version, so all keys except `segments` may be missing
// (docs/imports.md).
#ifndef TOOLS_IMPORT_SNAPSHOT_TORCH_SNAPSHOT_H_
#define TOOLS_IMPORT_SNAPSHOT_TORCH_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace memoir {

enum class TraceKind : std::uint8_t {
  kOther,
  kAlloc,
  kFreeRequested,
  kFreeCompleted,
  kSegmentAlloc,
  kSegmentFree,
  kSegmentMap,
  kSegmentUnmap,
  kOutOfMemory,
  kSnapshot,
};

struct TorchSnapshot {
  using Index = std::uint32_t;  // number of a text, frame, stack or origin; 0: no such object

  struct Frame {
    Index file = 0, function = 0;
    std::uint32_t line = 0;
    bool operator==(const Frame&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Frame& frame) {
      return H::combine(std::move(hash), frame.file, frame.function, frame.line);
    }
  };
  // A node in a tree of stacks: the frame `frame` inside of the stack `parent`.
  struct Stack {
    Index parent = 0, frame = 0;
  };
  // The code that allocated a block.
  struct Origin {
    Index stack = 0;
    Index operator_name = 0, node = 0;  // `node`: autograd node; both are known only if the stack has C++ frames
    bool operator==(const Origin&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Origin& origin) {
      return H::combine(std::move(hash), origin.stack, origin.operator_name, origin.node);
    }
  };
  struct Pool {
    std::uint32_t graph = 0, user = 0;
    bool operator==(const Pool&) const = default;
  };
  struct TraceEntry {
    std::uint64_t address = 0;  // kOutOfMemory: the free bytes of the device
    std::uint64_t bytes = 0;    // requested size; for a segment, its size
    std::uint64_t us = 0;       // microseconds since 1970; 0: unknown
    Index origin = 0;
    Index metadata = 0;         // text that the program set for the thread
    Index compile_context = 0;  // torch.compile's id
    std::uint16_t stream = 0, pool = 0;
    TraceKind kind = TraceKind::kOther;
  };
  enum class BlockState : std::uint8_t { kInactive, kAllocated, kPendingFree };
  struct Block {
    std::uint64_t address = 0, bytes = 0, requested_bytes = 0;
    Index origin = 0;
    BlockState state = BlockState::kInactive;
    bool has_address = false;
  };
  struct Segment {
    std::uint64_t address = 0, bytes = 0;
    std::uint32_t device = 0;
    std::uint16_t stream = 0, pool = 0;
    bool expandable = false;
    std::vector<Block> blocks;  // by address
  };
  // The begin or the end of a named range of the program.
  struct Annotation {
    std::uint64_t us = 0;
    Index name = 0;
    std::uint32_t device = 0;
    bool begins = false;
  };
  struct Settings {
    std::uint64_t max_split_bytes = ~std::uint64_t{0};
    std::array<std::uint64_t, 16> roundup_divisions = {};  // for sizes from 1 MiB, 2 MiB, 4 MiB, ... on
    bool expandable_segments = false;
  };

  std::vector<std::vector<TraceEntry>> traces;  // by device
  std::vector<Segment> segments;
  std::vector<Annotation> annotations;
  Settings settings;

  std::vector<std::string> texts = {""};  // by Index
  std::vector<Frame> frames = {{}};
  std::vector<Stack> stacks = {{}};
  std::vector<Origin> origins = {{}};
  std::vector<std::uint64_t> streams;
  std::vector<Pool> pools;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_TORCH_SNAPSHOT_H_
