#include "tools/model/dictionary.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {
namespace {

// Adds `value` under `key` unless it is there already.
template <class Value, class IdType>
IdType Intern(std::deque<Value>& values, absl::flat_hash_map<std::string, IdType>& ids, std::string key, Value value) {
  auto [it, added] = ids.try_emplace(std::move(key), IdType{static_cast<std::uint32_t>(values.size())});
  if (added) values.push_back(std::move(value));
  return it->second;
}

}  // namespace

std::string ToString(const Layout& layout) {
  if (layout.shape_unknown) return absl::StrCat(layout.dtype_name, "[?]");
  std::string text = absl::StrCat(layout.dtype_name, "[", absl::StrJoin(layout.sizes, ", "), "]");
  if (!layout.strides.empty()) absl::StrAppend(&text, " strides [", absl::StrJoin(layout.strides, ", "), "]");
  if (!layout.has_storage) absl::StrAppend(&text, " without storage");
  return text;
}

std::string ToString(const DeviceInfo& device) {
  return device.type == "cpu" ? device.type : absl::StrCat(device.type, ":", device.index);
}

NameId Dictionary::AddName(Name name) {
  std::string key = absl::StrCat(name.is_operator ? "o" : "t", name.text);
  return Intern(names_, name_ids_, std::move(key), std::move(name));
}

LayoutId Dictionary::AddLayout(Layout layout) {
  std::string key = absl::StrCat(layout.dtype, ";", ToString(layout));
  return Intern(layouts_, layout_ids_, std::move(key), std::move(layout));
}

SignatureId Dictionary::AddSignature(Signature signature) {
  std::string key = absl::StrCat(signature.kinds, ";", absl::StrJoin(signature.list_lengths, ","));
  return Intern(signatures_, signature_ids_, std::move(key), std::move(signature));
}

ThreadId Dictionary::AddThread(ThreadInfo thread) {
  threads_.push_back(std::move(thread));
  return ThreadId{static_cast<std::uint32_t>(threads_.size() - 1)};
}

DeviceId Dictionary::AddDevice(DeviceInfo device) {
  devices_.push_back(std::move(device));
  return DeviceId{static_cast<std::uint32_t>(devices_.size() - 1)};
}

}  // namespace memoir
