#include "tools/model/event/dictionary.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {
namespace {

// Adds `value` unless `key` exists already. Returns the id of `key`.
template <class Value, class IdType>
IdType Intern(std::deque<Value>& values, absl::flat_hash_map<std::string, IdType>& ids, std::string&& key,
              Value value) {
  auto [it, added] = ids.try_emplace(std::move(key), IdType{static_cast<std::uint32_t>(values.size())});
  if (added) values.push_back(std::move(value));
  return it->second;
}

// Returns the length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7). 0 if there is no such sequence.
std::size_t SequenceLength(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < bytes.size() ? static_cast<std::uint8_t>(bytes[at + i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xbf; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool allowed = !(first == 0xe0 && byte(1) < 0xa0) && !(first == 0xed && byte(1) > 0x9f);
    return allowed && follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool allowed = !(first == 0xf0 && byte(1) < 0x90) && !(first == 0xf4 && byte(1) > 0x8f);
    return allowed && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string ToUtf8(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = SequenceLength(bytes, at);
    text += length == 0 ? std::string_view("\xef\xbf\xbd") : bytes.substr(at, length);
    at += length == 0 ? 1 : length;
  }
  return text;
}

std::string ToString(const Layout& layout) {
  if (layout.shape_unknown) return absl::StrCat(layout.dtype_name, "[?]");
  std::string text = absl::StrCat(layout.dtype_name, "[", absl::StrJoin(layout.sizes, ", "), "]");
  if (!layout.strides.empty()) absl::StrAppend(&text, " strides [", absl::StrJoin(layout.strides, ", "), "]");
  if (!layout.has_storage) absl::StrAppend(&text, " without storage");
  return text;
}

std::string ToString(const DeviceInfo& device) {
  const bool only_one = device.type == "cpu" || device.type == "pinned";
  return only_one ? device.type : absl::StrCat(device.type, ":", device.index);
}

NameId Dictionary::AddName(Name name) {
  std::string key = absl::StrCat(name.is_operator ? "o" : "t", name.text);
  return Intern(names_, name_ids_, std::move(key), std::move(name));
}

SchemaId Dictionary::AddSchema(Schema schema) {
  // The text implies which arguments the operator writes to. The key contains them nevertheless, because a damaged
  // capture may contradict the text.
  std::string key = schema.text;
  for (const bool written : schema.argument_is_written) key += written ? '1' : '0';
  for (const std::string& overload : schema.overloads) key.append(1, '\n').append(overload);
  return Intern(schemas_, schema_ids_, std::move(key), std::move(schema));
}

ModuleId Dictionary::AddModule(Module module) {
  std::string key =
      absl::StrCat(module.root.size(), ";", module.path.size(), ";", module.root, module.path, module.class_name);
  return Intern(modules_, module_ids_, std::move(key), std::move(module));
}

LayoutId Dictionary::AddLayout(Layout layout) {
  std::string key = absl::StrCat(layout.dtype, ";", ToString(layout));
  return Intern(layouts_, layout_ids_, std::move(key), std::move(layout));
}

SignatureId Dictionary::AddSignature(Signature signature) {
  std::string key = absl::StrCat(signature.kinds, ";", absl::StrJoin(signature.list_lengths, ","));
  return Intern(signatures_, signature_ids_, std::move(key), std::move(signature));
}

CodeId Dictionary::AddCode(Code code) {
  std::string key = absl::StrCat(code.file.size(), ";", code.object.size(), ";", code.file, code.object, code.function);
  return Intern(codes_, code_ids_, std::move(key), std::move(code));
}

StackId Dictionary::AddStack(StackId parent, Frame frame) {
  const std::uint32_t depth = parent.valid() ? stack(parent).depth + 1 : 1;
  if (depth > kMostFrames) return StackId();
  const auto [it, added] = stack_ids_.try_emplace(std::tuple(parent, frame.code, frame.line),
                                                  StackId{static_cast<std::uint32_t>(stacks_.size())});
  if (added)
    stacks_.push_back({parent, frame, depth, code(frame.code).object.empty() ? it->second : PythonPart(parent)});
  return it->second;
}

void Dictionary::SetOrigins(StackId stack, const std::vector<CodeOrigin>* origins) {
  if (!stack.valid()) return;
  if (stack.value >= stack_origins_.size()) stack_origins_.resize(stack.value + 1);
  if (stack_origins_[stack.value] == nullptr) stack_origins_[stack.value] = origins;
}

void Dictionary::SetGenerated(CodeId code) {
  if (code.value >= generated_.size()) generated_.resize(code.value + 1);
  generated_[code.value] = true;
}

std::vector<Frame> Dictionary::Frames(StackId id) const {
  std::vector<Frame> frames;
  for (; id.valid(); id = stack(id).parent) frames.push_back(stack(id).frame);
  return frames;
}

ThreadId Dictionary::AddThread(ThreadInfo thread) {
  const ThreadId id{static_cast<std::uint32_t>(threads_.size())};
  threads_.emplace_back();
  UpdateThread(id, std::move(thread));
  return id;
}

DeviceId Dictionary::AddDevice(DeviceInfo device) {
  devices_.push_back(std::move(device));
  return DeviceId{static_cast<std::uint32_t>(devices_.size() - 1)};
}

}  // namespace memoir
