#include "tools/model/event/dictionary_ids.h"

#include <iterator>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

Schema ToSchema(const v1::NameDef& def) {
  return {def.schema(),
          {def.argument_is_written().begin(), def.argument_is_written().end()},
          {def.overloads().begin(), def.overloads().end()}};
}

Layout ToLayout(const v1::LayoutDef& def) {
  Layout layout;
  layout.dtype = def.dtype();
  layout.dtype_name = def.dtype_name();
  layout.sizes.assign(def.sizes().begin(), def.sizes().end());
  layout.strides.assign(def.strides().begin(), def.strides().end());
  layout.has_storage = def.has_storage();
  layout.shape_unknown = def.shape_unknown();
  return layout;
}

}  // namespace

DictionaryIds::DictionaryIds(ProcessId process, Dictionary* dictionary, const Symbols& symbols)
    : process_(process), dictionary_(dictionary), symbols_(symbols) {
  v1::DeviceDef cpu;  // device 0 is the CPU, even if no chunk defines it
  cpu.set_type("cpu");
  DefineDevice(cpu);
}

void DictionaryIds::DefineName(const v1::NameDef& def) {
  NameEntry entry;
  if (def.kind() == v1::NameDef::MODULE) {
    entry.module = dictionary_->AddModule({ToUtf8(def.module_root()), ToUtf8(def.text()), ToUtf8(def.module_class())});
  } else if (def.kind() == v1::NameDef::CODE && IsNativeObject(def.text())) {
    native_.push_back(NativeObjectOf(ToUtf8(def.code_file()), ToUtf8(def.text())));
    entry.native = static_cast<std::uint32_t>(native_.size());
  } else if (def.kind() == v1::NameDef::CODE) {
    entry.code = dictionary_->AddCode({ToUtf8(def.code_file()), ToUtf8(def.text()), ""});
  } else {
    entry.is_operator = def.kind() == v1::NameDef::OPERATOR;
    std::string text = ToUtf8(def.text());
    const auto note = entry.is_operator ? std::nullopt : ParseCompilerNote(text);
    if (note && note->generated) text = kGeneratedCodeName;
    if (note && note->compilation) text = "torch.compile: " + ToString(*note->compilation);
    entry.id = dictionary_->AddName({std::move(text), entry.is_operator});
    if (note) ApplyNote(*note, entry.id);
    if (entry.is_operator) entry.schema = dictionary_->AddSchema(ToSchema(def));
  }
  names_.Set(def.id(), entry);
}

void DictionaryIds::ApplyNote(const CompilerNote& note, NameId name) {
  if (note.compilation) dictionary_->SetCompilation(name, *note.compilation);
  if (!note.generated) return;
  auto& lines = generated_[note.generated->file];
  for (const auto& [line, origins] : note.generated->origins) lines[line] = dictionary_->AddOrigins(origins);
}

// Sets the origins of `stack`: the program's operations from which torch.compile generated its code. Returns the stack.
// If its innermost frame, `frame`, is a line of generated code with known origins, first appends the program's frames
// that led to the first origin. Otherwise the stack gets the origins of `parent`, because a function that is called by
// generated code executes the operations of this code.
StackId DictionaryIds::WithOrigins(StackId stack, Frame frame, StackId parent) {
  Origins origins = nullptr;
  if (const auto of_parent = origins_.find(parent); of_parent != origins_.end()) origins = of_parent->second;
  if (const auto file = generated_.find(dictionary_->code(frame.code).file); file != generated_.end()) {
    dictionary_->SetGenerated(frame.code);
    const auto next = file->second.upper_bound(frame.line);
    const Origins of_line = next == file->second.begin() ? nullptr : std::prev(next)->second;
    if (of_line != nullptr && !of_line->empty()) {
      origins = of_line;
      for (const CodeOrigin::SourceFrame& place : origins->front().frames)
        stack = dictionary_->AddStack(stack, {dictionary_->AddCode({place.file, place.function, ""}), place.line});
    }
  }
  if (origins == nullptr || !stack.valid()) return stack;
  dictionary_->SetOrigins(stack, origins);
  origins_[stack] = origins;
  return stack;
}

ModuleId DictionaryIds::FindModuleAt(StackId stack, ModuleId around) {
  const auto found = origins_.find(stack);
  if (found == origins_.end()) return around;
  const CodeOrigin& origin = found->second->front();
  if (origin.module_class.empty()) return around;
  const auto [known, added] = modules_at_.try_emplace({found->second, around});
  if (!added) return known->second;
  if (!origin.root.empty())
    return known->second = dictionary_->AddModule({origin.root, origin.path, origin.module_class});
  if (!around.valid()) return known->second = around;
  const Module base = dictionary_->module(around);
  const std::string path =
      base.path.empty() || origin.path.empty() ? base.path + origin.path : base.path + "." + origin.path;
  return known->second = dictionary_->AddModule({base.root, path, origin.module_class});
}

StackId DictionaryIds::FindUnderForward(StackId stack, StackId forward) {
  const auto found = origins_.find(stack);
  if (found == origins_.end()) return StackId();
  const auto [known, added] = under_forward_.try_emplace({stack, forward});
  if (!added) return known->second;
  std::vector<Frame> frames = dictionary_->Frames(stack);
  while (!frames.empty() && !dictionary_->IsGenerated(frames.back().code)) frames.pop_back();
  StackId joined = forward;
  for (const Frame& frame : frames | std::views::reverse) joined = dictionary_->AddStack(joined, frame);
  dictionary_->SetOrigins(joined, found->second);
  return known->second = joined;
}

// Ignores a stack whose parent is not defined yet. Therefore no stack contains itself.
void DictionaryIds::DefineStack(const v1::StackDef& def) {
  const StackId parent = stacks_.Get(def.parent());
  if (def.parent() != 0 && !parent.valid()) return;
  const NameEntry name = names_.Get(def.code());
  if (name.native != 0) return stacks_.Set(def.id(), AddNativeFrame(parent, native_[name.native - 1], def.line()));
  CodeId code = name.code;
  if (!code.valid()) {
    if (!unknown_code_.valid()) unknown_code_ = dictionary_->AddCode({"", "(unknown)", ""});
    code = unknown_code_;
  }
  const Frame frame{code, def.line()};
  const StackId stack = dictionary_->AddStack(parent, frame);
  stacks_.Set(def.id(), generated_.empty() || !stack.valid() ? stack : WithOrigins(stack, frame, parent));
}

// Assigns the operations of `parent` to `stack`, for the same reason as WithOrigins, and returns `stack`.
StackId DictionaryIds::WithOriginsOf(StackId parent, StackId stack) {
  if (origins_.empty() || !stack.valid()) return stack;
  if (const auto of_parent = origins_.find(parent); of_parent != origins_.end()) {
    const Origins origins = of_parent->second;
    dictionary_->SetOrigins(stack, origins);
    origins_[stack] = origins;
  }
  return stack;
}

StackId DictionaryIds::JoinNative(StackId own, StackId around) {
  const auto [known, added] = under_python_.try_emplace({own, around});
  if (!added) return known->second;
  std::vector<Frame> native;  // innermost first
  for (StackId at = own; at.valid() && at != dictionary_->PythonPart(own); at = dictionary_->stack(at).parent)
    native.push_back(dictionary_->stack(at).frame);
  StackId joined = dictionary_->PythonPart(around);
  for (const Frame& frame : native | std::views::reverse)
    joined = WithOriginsOf(joined, dictionary_->AddStack(joined, frame));
  return known->second = joined;
}

// Adds a frame for the native function at `offset`, and for each function that was inlined there. Without symbols, adds
// one frame whose name is the offset.
StackId DictionaryIds::AddNativeFrame(StackId parent, const NativeObjectName& object, std::uint32_t offset) {
  const std::vector<v1::SymbolFunction>* functions = symbols_.Find(object, offset);
  if (functions == nullptr) {
    const CodeId code = dictionary_->AddCode({object.path, absl::StrCat("+0x", absl::Hex(offset)), object.path});
    return WithOriginsOf(parent, dictionary_->AddStack(parent, {code, 0}));
  }
  for (auto function = functions->rbegin(); function != functions->rend(); ++function) {
    const std::string file = function->file().empty() ? object.path : ToUtf8(function->file());
    const CodeId code = dictionary_->AddCode({file, ToUtf8(function->name()), object.path});
    parent = WithOriginsOf(parent, dictionary_->AddStack(parent, {code, function->line()}));
  }
  return parent;
}

void DictionaryIds::Define(const Payload& payload) {
  for (const v1::NameDef& def : payload.names) {
    if (def.id() != 0) DefineName(def);
  }
  for (const v1::StackDef& def : payload.stacks) {
    if (def.id() != 0) DefineStack(def);
  }
  for (const v1::LayoutDef& def : payload.layouts) {
    if (def.id() != 0) layouts_.Set(def.id(), dictionary_->AddLayout(ToLayout(def)));
  }
  for (const v1::SignatureDef& def : payload.signatures) {
    Signature signature{def.kinds(), {def.list_lengths().begin(), def.list_lengths().end()}, 0};
    if (def.id() == 0 || !CountTensors(def, &signature.tensors)) continue;
    const auto tensors = static_cast<std::uint32_t>(signature.tensors);
    const auto names = static_cast<std::uint32_t>(CountHoldsNames(def));
    signatures_.Set(def.id(), {dictionary_->AddSignature(std::move(signature)), tensors, names});
  }
  for (const v1::ThreadDef& def : payload.threads) DefineThread(def);
  for (const v1::DeviceDef& def : payload.devices) DefineDevice(def);
}

void DictionaryIds::ForgetPart() {
  names_.Clear();
  layouts_.Clear();
  signatures_.Clear();
  stacks_.Clear();
  native_.clear();
}

void DictionaryIds::DefineThread(const v1::ThreadDef& def) {
  if (def.id() == 0 || def.id() >= NumberedValues<ThreadId>::kMax) return;
  ThreadInfo info{process_, def.id(), def.os_id(), def.torch_id(), ToUtf8(def.name()), {}};
  if (def.works_for() != 0 && def.works_for() != def.id()) info.works_for = thread(def.works_for());
  if (const ThreadId known = threads_.Get(def.id()); known.valid()) {
    dictionary_->UpdateThread(known, std::move(info));
  } else {
    threads_.Set(def.id(), dictionary_->AddThread(std::move(info)));
  }
}

void DictionaryIds::DefineDevice(const v1::DeviceDef& def) {
  if (def.id() >= NumberedValues<DeviceId>::kMax) return;
  DeviceInfo info{process_, def.type(), def.index(), def.product()};
  if (const DeviceId known = devices_.Get(def.id()); known.valid()) {
    dictionary_->UpdateDevice(known, std::move(info));
  } else {
    devices_.Set(def.id(), dictionary_->AddDevice(std::move(info)));
  }
}

ModuleId DictionaryIds::called_module(std::uint32_t number) {
  if (const ModuleId known = names_.Get(number).module; known.valid()) return known;
  if (!unknown_module_.valid()) unknown_module_ = dictionary_->AddModule({"(unknown module)", "", ""});
  return unknown_module_;
}

ThreadId DictionaryIds::thread(std::uint32_t number) {
  if (const ThreadId known = threads_.Get(number); known.valid()) return known;
  if (number >= NumberedValues<ThreadId>::kMax) {
    if (!overflow_thread_.valid()) overflow_thread_ = dictionary_->AddThread({process_, 0, 0, 0, "(unknown)", {}});
    return overflow_thread_;
  }
  const ThreadId added = dictionary_->AddThread({process_, number, 0, 0, "", {}});
  threads_.Set(number, added);
  return added;
}

DeviceId DictionaryIds::AddUndefinedDevice(std::uint32_t number) {
  constexpr std::uint32_t kMaxUndefined = 256;  // more devices than any program has
  if (number >= kMaxUndefined) {
    if (!overflow_device_.valid()) overflow_device_ = dictionary_->AddDevice({process_, "unknown", 0, ""});
    return overflow_device_;
  }
  const DeviceId added = dictionary_->AddDevice({process_, "unknown", number, ""});
  devices_.Set(number, added);
  return added;
}

}  // namespace memoir
