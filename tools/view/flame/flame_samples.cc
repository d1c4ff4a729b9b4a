#include "tools/view/flame/flame_samples.h"

#include <algorithm>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/view/capture/line_text.h"

namespace memoir {
namespace {

FlameFrame NamedFrame(std::string_view name) { return {std::string(name), "", "", 0}; }

// Returns the tree's frames, then one frame for each kind of blocks without a stack.
std::vector<FlameFrame> FramesOf(const StackTree& tree) {
  std::vector<std::string_view> files;
  for (const SourceLine& line : tree.frames) files.push_back(line.file);
  const ShownFiles shown(files);
  std::vector<FlameFrame> frames;
  for (const SourceLine& line : tree.frames)
    frames.push_back({line.function, line.file, std::string(shown.NameOf(line.file)), line.line});
  frames.push_back(NamedFrame(GroupingFactsOf(GroupBy::kLine).none));
  frames.push_back(NamedFrame(kCompiledLabel));
  frames.push_back(NamedFrame(kBeforeLabel));
  for (FlameFrame& frame : frames) {
    if (frame.function.empty()) frame.function = "(unnamed)";
  }
  return frames;
}

std::uint32_t FrameOf(const StackNode& node, const StackTree& tree) {
  if (node.kind == StackNode::Kind::kFrame) return node.frame;
  const int behind = static_cast<int>(node.kind) - static_cast<int>(StackNode::Kind::kNone);
  return static_cast<std::uint32_t>(tree.frames.size()) + static_cast<std::uint32_t>(behind);
}

FlameSample SampleOf(const StackTree& tree, std::uint32_t node, const StackSums& sums) {
  FlameSample sample;
  sample.sums = sums;
  for (std::uint32_t at = node; at != 0; at = tree.nodes[at].parent)
    sample.frames.push_back(FrameOf(tree.nodes[at], tree));
  std::ranges::reverse(sample.frames);
  return sample;
}

}  // namespace

const FlameMeasure* FindFlameMeasure(std::string_view word) {
  const FlameMeasure* found = std::ranges::find(kFlameMeasures, word, &FlameMeasure::word);
  return found == std::end(kFlameMeasures) ? nullptr : found;
}

FlameSamples SamplesOf(const StackTree& tree) {
  FlameSamples found;
  found.frames = FramesOf(tree);
  std::vector<StackSums> own(tree.nodes.size());
  for (std::size_t i = tree.nodes.size(); i-- > 1;) {  // children come after their parents
    own[i] += tree.nodes[i].own;
    if (tree.nodes[i].depth > FlameSamples::kMostDepth) own[tree.nodes[i].parent] += own[i];
  }
  for (std::uint32_t i = 1; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].depth <= FlameSamples::kMostDepth && own[i] != StackSums())
      found.samples.push_back(SampleOf(tree, i, own[i]));
  }
  return found;
}

}  // namespace memoir
