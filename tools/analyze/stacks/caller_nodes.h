// Python stacks as a tree of callers, built while blocks are allocated, with the node of each block.
//
// Library frames are not nodes, unless requested: their allocations belong to the frame that called them. An object
// serves one replay, because the dictionary must stay the same.
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
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

struct CallerNode {
  // kTop: the root. Its children include nodes for blocks without a line: kNone (no Python stack), kCompiled (a
  // compiled region), kBefore (from before the window).
  enum class Kind : std::uint8_t { kTop, kFrame, kNone, kCompiled, kBefore };
  Kind kind = Kind::kTop;
  std::uint32_t frame = 0;  // index in CallerNodes::frames(); kFrame only
  std::uint32_t parent = 0;
  std::uint32_t depth = 0;  // 0: kTop
};

class CallerNodes {
 public:
  struct Options {
    std::string_view own = "";  // value of --own
    bool all_frames = false;
    // Largest number of nodes. If the limit is reached, a block counts for the innermost of its frames that has a node.
    std::size_t most_nodes = std::numeric_limits<std::uint32_t>::max();
  };
  explicit CallerNodes(const Options& options)
      : all_frames_(options.all_frames), most_nodes_(options.most_nodes), lines_(options.own) {
    nodes_.emplace_back();
  }

  std::uint32_t NodeOf(const Block& block, const Dictionary& dictionary);
  std::uint32_t NodeOf(CallerNode::Kind kind) { return Child(0, kind, 0); }

  const std::vector<CallerNode>& nodes() const { return nodes_; }  // a parent comes before its children; [0] is the top
  const std::vector<SourceLine>& frames() const { return frames_; }
  // Describes in one line which information about lines is missing. Usually empty. Call it after the last NodeOf.
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
  // By StackId: the node of the innermost frame that has a node; 0: no frame has one. The parent of a stack has a
  // smaller id.
  std::vector<std::uint32_t> node_of_;
  absl::flat_hash_map<std::tuple<std::uint32_t, CallerNode::Kind, std::uint32_t>, std::uint32_t> children_;
  absl::flat_hash_map<std::pair<CodeId, std::uint32_t>, std::uint32_t> frame_numbers_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_STACKS_CALLER_NODES_H_
