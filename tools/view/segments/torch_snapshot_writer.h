// Writes the pickle of torch.cuda.memory._dump_snapshot, which https://pytorch.org/memory_viz and
// torch.cuda._memory_viz open. docs/exports.md describes its contents.
#ifndef TOOLS_VIEW_SEGMENTS_TORCH_SNAPSHOT_WRITER_H_
#define TOOLS_VIEW_SEGMENTS_TORCH_SNAPSHOT_WRITER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/segments/allocator_trace.h"
#include "tools/view/json/pickle.h"

namespace memoir {

class TorchSnapshotWriter : public AllocatorTraceVisitor {
 public:
  // `start_us`: start of the recording, microseconds since the Unix epoch. `write` receives the bytes in order.
  TorchSnapshotWriter(const BlockCategories& categories, std::uint64_t start_us,
                      std::function<void(std::string_view)> write);

  void BeginDevice(std::uint32_t index) override;
  void See(const TraceEntry& entry, const ReplayState& state) override;
  void EndDevice() override;
  void SeeSegments(std::uint32_t device, const SegmentMap& map, const ReplayState& state) override;
  void Finish();  // after all other calls

 private:
  void Key(std::string_view key);
  void Integer(std::string_view key, std::uint64_t value);
  void Shared(const std::string& text);
  void AddFrame(const std::string& file, std::uint32_t line, const std::string& function);
  void AddFrames(const Block* block, const ReplayState& state);
  void AddMetadata(const Block& block, const ReplayState& state);
  void AddBlocks(const MappedSegment& segment, const ReplayState& state);
  void AddBlock(std::uint64_t address, std::uint64_t bytes, const SegmentBlock* there, const ReplayState& state);

  const BlockCategories& categories_;
  const std::uint64_t start_us_;
  Pickle pickle_;
  absl::flat_hash_map<std::string, std::uint32_t> texts_;     // numbers for Pickle::Recall, by text
  absl::flat_hash_map<std::uint64_t, std::uint32_t> frames_;  // the same for lists of frames, by stack
  absl::flat_hash_map<std::uint64_t, std::uint32_t> places_;  // the same for lists of frames, by module and operator
  std::uint32_t remembered_ = 0;
  bool in_segments_ = false;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_SEGMENTS_TORCH_SNAPSHOT_WRITER_H_
