#include "tools/view/torch_profiler/profiler_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// PRUNE_FUNCTIONS of test_profiler_tree.py: events that depend on the version or the device, and how much of them is
// removed.
enum class Prune : std::uint8_t { kNothing, kAll, kKeepEllipses, kKeepName };
constexpr std::pair<std::string_view, Prune> kPruned[] = {
    {"torch/utils/_pytree.py(...): tree_map", Prune::kKeepName},
    {"torch/profiler/profiler.py(...): start", Prune::kKeepEllipses},
    {"torch/profiler/profiler.py(...): stop_trace", Prune::kKeepEllipses},
    {"torch/profiler/profiler.py(...): _transit_action", Prune::kKeepEllipses},
    {"<built-in method __exit__ of torch._C.DisableTorchFunctionSubclass object at 0xXXXXXXXXXXXX>", Prune::kAll},
    {"cudaStreamIsCapturing", Prune::kAll},
    {"cudaGetDeviceCount", Prune::kAll},
    {"cudaGetDeviceProperties_v2", Prune::kAll},
};

constexpr std::string_view kKernels[] = {
    "void at::native::elementwise_kernel",
    "void at::native::reduce_kernel",
    "void at::native::vectorized_elementwise_kernel",
    "void at::native::unrolled_elementwise_kernel",
};

std::string_view Stripped(std::string_view text, bool front) {
  constexpr std::string_view kSpace = " \t\n\r\f\v";
  const std::size_t end = text.find_last_not_of(kSpace);
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  if (front) text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text;
}

Prune PruneOf(std::string_view name) {
  const auto* found = std::ranges::find(kPruned, Stripped(name, true), &std::pair<std::string_view, Prune>::first);
  return found == std::end(kPruned) ? Prune::kNothing : found->second;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

// Removes the line from "FILE.py(12): FUNCTION"; nullopt for other names.
std::optional<std::string> WithoutLine(std::string_view name) {
  constexpr std::string_view kFile = ".py(";
  for (std::size_t at = name.rfind(kFile); at != std::string_view::npos;
       at = at == 0 ? at : name.rfind(kFile, at - 1)) {
    std::size_t end = at + kFile.size();
    while (end < name.size() && IsDigit(name[end])) ++end;
    if (end > at + kFile.size() && name.substr(end).starts_with("): "))
      return std::string(name.substr(0, at)) + ".py(...): " + std::string(name.substr(end + 3));
    if (at == 0) break;
  }
  return std::nullopt;
}

// Returns the position of the last ">(" that is followed by an argument and, at the end, a ")". npos if it does not
// occur.
std::size_t LastArguments(std::string_view name) {
  return name.size() < 4 || !name.ends_with(')') ? std::string_view::npos : name.rfind(">(", name.size() - 4);
}

// Returns true if the rest of the name from `at` on is "<...>(...)".
bool HasArguments(std::string_view name, std::size_t at, std::size_t last) {
  return at < name.size() && name[at] == '<' && last != std::string_view::npos && last >= at + 2;
}

// Returns the end of the "void WORD_kernel" that begins at `at`; npos if it does not begin there.
std::size_t EndOfKernel(std::string_view name, std::size_t at) {
  constexpr std::string_view kVoid = "void ", kKernel = "_kernel";
  std::size_t end = at + kVoid.size();
  while (end < name.size() && IsWord(name[end])) ++end;
  const bool is_kernel = end > at + kVoid.size() && name.substr(end).starts_with(kKernel);
  return is_kernel ? end + kKernel.size() : std::string_view::npos;
}

std::string WithoutKernelArguments(std::string name) {
  std::size_t last = LastArguments(name);
  for (const std::string_view kernel : kKernels) {
    for (std::size_t at = name.find(kernel); at != std::string::npos; at = name.find(kernel, at + 1)) {
      if (!HasArguments(name, at + kernel.size(), last)) continue;
      name = name.substr(0, at) + std::string(kernel) + "<...>(...)";
      last = LastArguments(name);
      break;
    }
  }
  for (std::size_t at = name.find("void "); at != std::string::npos; at = name.find("void ", at + 1)) {
    const std::size_t end = EndOfKernel(name, at);
    if (end == std::string::npos || !HasArguments(name, end, last)) continue;
    return name.substr(0, at) + "void ..._kernel<...>(...)";
  }
  return name;
}

std::string WithoutAddresses(const std::string& name) {
  constexpr std::string_view kObject = "object at 0x";
  std::string text;
  std::size_t done = 0;
  for (std::size_t at = name.find(kObject); at != std::string::npos; at = name.find(kObject, at + 1)) {
    std::size_t end = at + kObject.size();
    while (end < name.size() && IsHex(name[end])) ++end;
    if (end == at + kObject.size() || end == name.size() || name[end] != '>') continue;
    text.append(name, done, at + kObject.size() - done).append("XXXXXXXXXXXX");
    done = end;
  }
  return text.append(name, done, std::string::npos);
}

struct Line {
  std::size_t depth = 0;
  const std::string* name = nullptr;
};

class Flattener {
 public:
  Flattener(const EventTree& tree, bool memory) : memory_(memory) {
    for (const std::string& name : tree.names) {
      names_.push_back(ProfilerTreeName(name));
      prunes_.push_back(PruneOf(names_.back()));
    }
  }
  std::vector<Line> Flatten(const EventTree& tree) {
    WalkDepthFirst(tree, [&](std::size_t depth, const TreeNode& node) { Add(depth, node); });
    return std::move(lines_);
  }

 private:
  static bool IsMemory(const TreeNode& node) {
    return node.kind == TreeNode::Kind::kAllocate || node.kind == TreeNode::Kind::kFree;
  }
  bool IsShown(const TreeNode& node) const { return memory_ || !IsMemory(node); }
  void Add(std::size_t depth, const TreeNode& node) {
    if (pruned_ != kNone && depth > pruned_) {
      if (!ellipses_due_ || !IsShown(node)) return;
      ellipses_due_ = false;
      return lines_.push_back({pruned_ + 1, &ellipses_});
    }
    pruned_ = kNone;
    ellipses_due_ = false;
    if (IsMemory(node)) {
      if (IsShown(node)) lines_.push_back({depth, &memory_name_});
      return;
    }
    const Prune prune = prunes_[node.name];
    if (prune != Prune::kNothing) pruned_ = depth;
    if (prune == Prune::kNothing || prune == Prune::kKeepName) lines_.push_back({depth, &names_[node.name]});
    if (prune == Prune::kKeepEllipses) lines_.push_back({depth, &ellipses_});
    ellipses_due_ = prune == Prune::kKeepName;
  }

  static constexpr std::size_t kNone = ~std::size_t{0};
  const bool memory_;
  const std::string memory_name_ = "[memory]", ellipses_ = "...";
  std::vector<std::string> names_;  // as in EventTree::names
  std::vector<Prune> prunes_;
  std::vector<Line> lines_;
  std::size_t pruned_ = kNone;  // depth of the event whose children are left out
  bool ellipses_due_ = false;   // true: the first of the left-out children becomes "..."
};

// Removes calls in which torch.profiler waits for the device when it stops.
void DropEndOfProfiler(std::vector<Line>& lines) {
  if (lines.size() >= 2 && *lines[lines.size() - 2].name == "cudaDeviceSynchronize") lines.resize(lines.size() - 2);
  for (const std::string_view name : {"cudaDeviceSynchronize", "hipDeviceSynchronize"}) {
    if (!lines.empty() && *lines.back().name == name) lines.pop_back();
  }
}

}  // namespace

std::string ProfilerTreeName(std::string_view name) {
  if (std::optional<std::string> python = WithoutLine(name)) return *std::move(python);
  return WithoutAddresses(WithoutKernelArguments(std::string(name)));
}

void WriteProfilerTree(const EventTree& tree, bool memory, const std::function<void(std::string_view)>& write) {
  constexpr std::size_t kFlushBytes = 1 << 20;
  Flattener flattener(tree, memory);
  std::vector<Line> lines = flattener.Flatten(tree);
  DropEndOfProfiler(lines);
  std::size_t least = ~std::size_t{0};
  for (const Line& line : lines) {
    if (line.name->find("begin_unit_test_marker") != std::string::npos) least = std::min(least, line.depth + 1);
  }
  if (least == ~std::size_t{0}) least = 0;
  std::string text;
  for (const Line& line : lines) {
    if (line.depth < least) continue;
    text.append(2 * (line.depth - least), ' ').append(Escaped(Stripped(*line.name, false))).append("\n");
    if (text.size() < kFlushBytes) continue;
    write(text);
    text.clear();
  }
  write(text);
}

}  // namespace memoir
