// Python stacks as a tree of callers, made as they are met: which node a block belongs to.
//
// Frames of libraries are no nodes, unless they are asked for: what they made is the own of the frame that called them.
// Of one replay, whose dictionary is always the same.
#ifndef TOOLS_ANALYZE_STACKS_CALLER_NODES_H_
#define TOOLS_ANALYZE_STACKS_CALLER_NODES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

struct CallerNode {
  // kTop: around everything. Below it what has no line: of no Python, of a compiled region, from before the window.
  enum class Kind : std::uint8_t { kTop, kFrame, kNone, kCompiled, kBefore };
  Kind kind = Kind::kTop;
  std::uint32_t frame = 0;  // in CallerNodes::frames; kFrame only
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;  // 0: the top
};

class CallerNodes {
 public:
  struct Options {
    std::string_view own = "";  // of --own
    bool all_frames = false;
    // What comes on top counts for the caller that is there.
    std::size_t most_nodes = std::numeric_limits<std::uint32_t>::max();
  };
  explicit CallerNodes(const Options& options)
      : all_frames_(options.all_frames), most_nodes_(options.most_nodes), lines_(options.own) {
    nodes_.emplace_back();
  }

  std::uint32_t NodeOf(const Block& block, const Dictionary& dictionary);
  std::uint32_t NodeOf(CallerNode::Kind kind) { return Child(0, kind, 0); }

  const std::vector<CallerNode>& nodes() const { return nodes_; }  // parents before their children; [0] is the top
  const std::vector<SourceLine>& frames() const { return frames_; }
  // What is not known of lines, in one line; mostly empty. After the last stack.
  std::string Missing(const Dictionary& dictionary) const { return lines_.Missing(dictionary); }

 private:
  std::uint32_t Child(std::uint32_t parent, CallerNode::Kind kind, std::uint32_t frame);
  std::uint32_t FrameNode(std::uint32_t parent, const Frame& frame, const Dictionary& dictionary);
  void LookAtNext(const Dictionary& dictionary);

  bool all_frames_;
  std::size_t most_nodes_;
  SourceLines lines_;
  std::vector<CallerNode> nodes_;
  std::vector<SourceLine> frames_;
  // By StackId: the node of the innermost frame that is one; 0: none is. A stack's parent has the smaller number.
  std::vector<std::uint32_t> node_of_;
  absl::flat_hash_map<std::tuple<std::uint32_t, CallerNode::Kind, std::uint32_t>, std::uint32_t> children_;
  absl::flat_hash_map<std::pair<CodeId, std::uint32_t>, std::uint32_t> frame_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_STACKS_CALLER_NODES_H_
