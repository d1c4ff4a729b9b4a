// The parameters of a process and their names, from what modules and optimizers hold. Tied ones are one parameter.
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
#include "tools/model/dictionary.h"
#include "tools/model/event_base.h"

namespace memoir {

// What of a parameter a block is.
enum class ParameterPart : std::uint8_t { kItself, kGradient, kState };
inline constexpr std::size_t kParameterParts = 3;

struct HeldName {
  ModuleId module;
  NameId name;  // invalid: not recorded
};

struct Parameter {
  ProcessId process;
  std::vector<HeldName> names;  // several: tied
  std::uint32_t of_module = 0;  // without names: which of its module's, or of all leaves
  LayoutId layout;
  bool is_buffer = false;
  // Known when its process has ended: "layers.0.fc1.weight", each of several names; of a leaf that no module holds
  // "leaf 3, float32[4]". Those in modules of the root that it was found in last come first.
  std::vector<std::string> labels;
  std::size_t of_root = 0;                    // labels
  std::string root;                           // of the module that was found to hold it last
  std::string label() const;                  // of its root: "lm_head.weight = embed.weight"
  bool IsNamed(std::string_view name) const;  // its label, or one of them
};

// A tensor as the book knows it again.
struct BookedTensor {
  static constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};
  std::uint64_t impl = 0;
  LayoutId layout;
  std::uint64_t block = kNoBlock;  // Block::ordinal
};

class ParameterBook {
 public:
  // The tensor that a module holds under a name, in `position` among its parameters or buffers. Where another tensor
  // was there before, it is in its place.
  ParameterNumber Held(ProcessId process, ModuleId module, NameId name, std::uint32_t position, bool is_buffer,
                       const BookedTensor& tensor);
  // A tensor that an optimizer or autograd knows: whose it is, or a leaf of its own.
  ParameterNumber Leaf(ProcessId process, const BookedTensor& tensor);
  void BlockEnds(std::uint64_t block);
  void EndProcess(const Dictionary& dictionary);

  std::vector<Parameter> Take() { return std::move(parameters_); }

 private:
  struct Known {
    ParameterNumber number;
    std::uint64_t block;
    bool block_ended = false;
  };
  std::optional<ParameterNumber> Find(const BookedTensor& tensor) const;
  ParameterNumber Add(ProcessId process, const BookedTensor& tensor);
  void Know(const BookedTensor& tensor, ParameterNumber number);

  std::vector<Parameter> parameters_;
  absl::flat_hash_map<std::uint64_t, Known> by_impl_;           // of the process in hand
  absl::flat_hash_map<std::uint64_t, std::uint64_t> by_block_;  // of live blocks the TensorImpl
  // By process, module, name or position, and whether it is a buffer.
  std::map<std::tuple<ProcessId, ModuleId, std::uint32_t, bool>, ParameterNumber> by_place_;
  std::uint32_t leaves_ = 0;
  std::size_t labelled_ = 0;  // of parameters_
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_PARAMETER_BOOK_H_
