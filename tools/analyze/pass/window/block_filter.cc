#include "tools/analyze/pass/window/block_filter.h"

#include <fnmatch.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/model/figure_text.h"

namespace memoir {
namespace {

constexpr std::size_t kNamesInMessage = 8;

// Returns true if the pattern matches the module `name`, or a module that contains this module.
bool Matches(const std::string& pattern, const std::string& name) {
  return !name.empty() && (fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0 ||
                           fnmatch((pattern + ".*").c_str(), name.c_str(), FNM_NOESCAPE) == 0);
}

}  // namespace

bool IsOfModules(const Module& module, const std::string& pattern) {
  return Matches(pattern, module.path) || Matches(pattern, module.full_path());
}

bool BlockFilter::IsOfModules(ModuleId module, const Dictionary& dictionary) {
  if (!module.valid()) return false;
  if (module.value >= modules_.size()) modules_.resize(module.value + std::size_t{1}, -1);
  std::int8_t& known = modules_[module.value];
  if (known < 0) {
    const Module& named = dictionary.module(module);
    known = memoir::IsOfModules(named, module_);
    if (outermost_.size() <= kNamesInMessage)
      outermost_.insert(named.display_path().substr(0, named.display_path().find('.')));
  }
  return known == 1;
}

bool BlockFilter::Selects(const Block& block, const Dictionary& dictionary) {
  if (!module_.empty() && !IsOfModules(block.module, dictionary)) return false;
  any_of_module_ = true;
  largest_ = std::max(largest_, block.bytes);
  if (block.bytes < min_bytes_) return false;
  any_ = true;
  return true;
}

absl::Status BlockFilter::CheckFound(const std::string& path) const {
  if (selects_all() || any_) return absl::OkStatus();
  if (!any_of_module_) {
    const bool all = outermost_.size() <= kNamesInMessage;
    return absl::NotFoundError(absl::StrCat(path, ": nothing was allocated in a module '", module_, "'; ",
                                            outermost_.empty() ? "the recording has no modules" : "there are: ",
                                            absl::StrJoin(outermost_, ", "), all ? "" : ", ..."));
  }
  return absl::NotFoundError(absl::StrCat(path, ": no block ", module_.empty() ? "" : "of these modules ", "has ",
                                          FormatBytes(min_bytes_), " or more; the largest has ",
                                          FormatBytes(largest_)));
}

}  // namespace memoir
