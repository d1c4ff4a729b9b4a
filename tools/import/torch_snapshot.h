// What a pickle of torch.cuda.memory._dump_snapshot() holds, compact: the allocator's segments and blocks at its end,
// and the trace of each device, of which the oldest entries may have been overwritten.
//
// torch 2.1 to 2.15 write it; no version is written into it, so all keys but `segments` may be missing
// (docs/imports.md).
#ifndef TOOLS_IMPORT_TORCH_SNAPSHOT_H_
#define TOOLS_IMPORT_TORCH_SNAPSHOT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/import/byte_source.h"

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
  using Number = std::uint32_t;  // of a text, frame, stack, origin; 0: none

  struct Frame {
    Number file = 0, function = 0;
    std::uint32_t line = 0;
    bool operator==(const Frame&) const = default;
    template <typename H>
    friend H AbslHashValue(H hash, const Frame& frame) {
      return H::combine(std::move(hash), frame.file, frame.function, frame.line);
    }
  };
  // As a tree: frame `frame` inside the stack `parent`.
  struct Stack {
    Number parent = 0, frame = 0;
  };
  // Who asked for memory.
  struct Origin {
    Number stack = 0;
    Number operator_name = 0, node = 0;  // of autograd; known by frames of C++
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
  struct Entry {
    std::uint64_t address = 0;  // of kOutOfMemory: bytes that the device had free
    std::uint64_t bytes = 0;    // of blocks: as they were asked for
    std::uint64_t us = 0;       // since 1970; 0: not known
    Number origin = 0;
    Number metadata = 0;         // of the thread, as the program set it
    Number compile_context = 0;  // torch.compile's id
    std::uint16_t stream = 0, pool = 0;
    TraceKind kind = TraceKind::kOther;
  };
  enum class BlockState : std::uint8_t { kInactive, kAllocated, kPendingFree };
  struct Block {
    std::uint64_t address = 0, bytes = 0, requested_bytes = 0;
    Number origin = 0;
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
  struct Annotation {
    std::uint64_t us = 0;
    Number name = 0;
    std::uint32_t device = 0;
    bool begins = false;
  };
  struct Settings {
    std::uint64_t max_split_bytes = ~std::uint64_t{0};
    std::array<std::uint64_t, 16> roundup_divisions = {};  // from sizes of 1 MiB, 2 MiB, ... on
    bool expandable_segments = false;
  };

  std::vector<std::vector<Entry>> traces;  // by device
  std::vector<Segment> segments;
  std::vector<Annotation> annotations;
  Settings settings;

  std::vector<std::string> texts = {""};  // by Number
  std::vector<Frame> frames = {{}};
  std::vector<Stack> stacks = {{}};
  std::vector<Origin> origins = {{}};
  std::vector<std::uint64_t> streams;
  std::vector<Pool> pools;
};

// Executes nothing. InvalidArgument: it is something else, and what. DataLoss: damaged, and where. The messages have no
// path.
absl::StatusOr<TorchSnapshot> ReadTorchSnapshot(ByteSource& source);

}  // namespace memoir

#endif  // TOOLS_IMPORT_TORCH_SNAPSHOT_H_
