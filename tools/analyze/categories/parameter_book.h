// The parameters and buffers of a process, with the names under which modules hold them. Tied parameters count as one.
#ifndef TOOLS_ANALYZE_CATEGORIES_PARAMETER_BOOK_H_
#define TOOLS_ANALYZE_CATEGORIES_PARAMETER_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/categories/evidence.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event_base.h"

namespace memoir {

// The purpose of a block that belongs to a parameter: the parameter itself, its gradient, or its optimizer state.
enum class ParameterPart : std::uint8_t { kItself, kGradient, kState };
inline constexpr std::size_t kParameterParts = 3;

struct ParameterName {
  ModuleId module;
  NameId name;  // invalid: not recorded
};

struct Parameter {
  ProcessId process;
  std::vector<ParameterName> names;  // more than one: tied
  std::uint32_t of_module = 0;       // index among the module's parameters or buffers; for a leaf: among all leaves
  LayoutId layout;
  bool is_buffer = false;
  // One label for each name, such as "layers.0.fc1.weight". Empty until the process has ended. A leaf that no module
  // holds has the label "leaf 3, float32[4]". Labels in the root module that most recently held the parameter come
  // first.
  std::vector<std::string> labels;
  std::size_t of_root = 0;                    // number of labels in that root module
  std::string root;                           // class of that root module
  std::string label() const;                  // labels in that root module: "lm_head.weight = embed.weight"
  bool IsNamed(std::string_view name) const;  // `name` is label() or one of the labels
};

// The identity of a tensor, by which the book recognizes the tensor later.
struct BookedTensor {
  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
  std::uint64_t impl = 0;
  LayoutId layout;
  std::uint64_t block = kNoBlock;  // Block::ordinal
};

class ParameterBook {
 public:
  // Adds a tensor that a module holds under a name. `position` is its index among the module's parameters or buffers.
  // The tensor replaces an earlier tensor with the same name, or, without names, with the same position.
  ParameterNumber AddNamed(ProcessId process, ModuleId module, NameId name, std::uint32_t position, bool is_buffer,
                           const BookedTensor& tensor);
  // Adds a tensor that an optimizer or autograd reported. Returns the number of its parameter if the tensor is known,
  // otherwise the number of a new leaf.
  ParameterNumber AddLeaf(ProcessId process, const BookedTensor& tensor);
  void EndBlock(std::uint64_t block);
  void EndProcess(const Dictionary& dictionary);

  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<Parameter> Take() { return std::move(parameters_); }

 private:
  struct ParameterEntry {
    ParameterNumber number;
    std::uint64_t block;
    bool block_ended = false;
  };
  std::optional<ParameterNumber> Find(const BookedTensor& tensor) const;
  ParameterNumber Add(ProcessId process, const BookedTensor& tensor);
  void Remember(const BookedTensor& tensor, ParameterNumber number);

  std::vector<Parameter> parameters_;
  absl::flat_hash_map<std::uint64_t, ParameterEntry> by_impl_;  // of the current process
  absl::flat_hash_map<std::uint64_t, std::uint64_t> by_block_;  // TensorImpl of each live block, by Block::ordinal
  // Keys: process, module, name (without a name: position), and whether the tensor is a buffer.
  std::map<std::tuple<ProcessId, ModuleId, std::uint32_t, bool>, ParameterNumber> by_place_;
  std::uint32_t leaves_ = 0;
  std::size_t labelled_ = 0;  // number of entries of parameters_ with labels
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_PARAMETER_BOOK_H_
