// Converts the numbers that stand for names, stacks, threads and so on in a process's chunks into replay ids (ids.h).
#ifndef TOOLS_MODEL_EVENT_DICTIONARY_IDS_H_
#define TOOLS_MODEL_EVENT_DICTIONARY_IDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"
#include "tools/model/event/ids.h"
#include "tools/read/chunk/payload.h"
#include "tools/read/symbols.h"

namespace memoir {

// Maps small numbers to values. Get returns a default value if the number was not set.
template <class Value>
class NumberedValues {
 public:
  static constexpr std::uint32_t kMax = 1u << 23;  // bounds memory if a number is damaged

  void Set(std::uint32_t number, Value value) {
    if (number >= kMax) return;
    if (number >= values_.size()) values_.resize(number + 1);
    values_[number] = value;
  }
  void Clear() { values_.clear(); }
  Value Get(std::uint32_t number) const { return number < values_.size() ? values_[number] : Value(); }

 private:
  std::vector<Value> values_;
};

struct NameEntry {
  NameId id;
  SchemaId schema;  // set for operators
  bool is_operator = false;
  ModuleId module;           // set for modules
  CodeId code;               // set for Python code
  std::uint32_t native = 0;  // set for native code: index in the list of native objects, plus 1
};
struct SignatureEntry {
  SignatureId id;
  std::uint32_t tensors = 0;
  std::uint32_t holds_names = 0;  // entries in the column holds_name; used by MODULE_HOLDS and HOLDS_MORE only
};

class DictionaryIds {
 public:
  // `symbols` contains the names of native frames.
  DictionaryIds(ProcessId process, Dictionary* dictionary, const Symbols& symbols);

  // Adds the definitions in the dictionaries of a chunk.
  void Define(const Payload& payload);
  // Removes names, layouts, signatures and stacks at the end of a part, because the next part may assign their numbers
  // to other values. For example, memoir-drain begins a new numbering in the part that it writes.
  void ForgetPart();

  NameEntry name(std::uint32_t number) const { return names_.Get(number); }
  // `called_module` returns the module with this number. If no chunk defined the number as a module, it returns one
  // common unknown module. `module` does the same, but returns an invalid id for 0.
  ModuleId called_module(std::uint32_t number);
  ModuleId module(std::uint32_t number) { return number == 0 ? ModuleId() : called_module(number); }
  LayoutId layout(std::uint32_t number) const { return layouts_.Get(number); }
  SignatureEntry signature(std::uint32_t number) const { return signatures_.Get(number); }
  // Returns the stack with this number. Invalid if the stack has no frames, or if it is unknown.
  StackId stack(std::uint32_t number) const { return stacks_.Get(number); }
  // Returns the module to which the work of code with this stack belongs. Code that a compiler generated executes an
  // operation of the program, and its work belongs to the module that calls this operation. Other work belongs to
  // `around`.
  ModuleId ModuleAt(StackId stack, ModuleId around) { return origins_.empty() ? around : FindModuleAt(stack, around); }
  // Returns the stack of generated code that an autograd node runs. This is `forward`, the stack of the node's forward
  // operator, extended by the frames of `stack` from the outermost generated frame inward. Invalid if `stack` contains
  // no generated code.
  StackId StackUnderForward(StackId stack, StackId forward) {
    return origins_.empty() ? StackId() : FindUnderForward(stack, forward);
  }
  // Returns the stack to which the work of a thread belongs. `own` is the thread's own stack, and `around` is the stack
  // of the thread for which it works. If `own` is invalid, returns `around`. If `own` has Python frames, or if `around`
  // is invalid, returns `own`. Otherwise `own` has only native frames, and the result is NativeFramesUnder.
  StackId WorkingStack(StackId own, StackId around) {
    if (!own.valid()) return around;
    const bool alone = own == around || !around.valid() || dictionary_->PythonPart(own).valid();
    return alone ? own : NativeFramesUnder(own, around);
  }
  // Returns a stack of the Python frames of `around`, followed inward by the innermost native frames of `own`. Returns
  // `around` if the innermost frame of `own` is a Python frame, or if `around` has no Python frames.
  StackId NativeFramesUnder(StackId own, StackId around) {
    const bool has_both = dictionary_->PythonPart(own) != own && dictionary_->PythonPart(around).valid();
    return has_both ? JoinNative(own, around) : around;
  }
  // Return the id of a thread or device. If no chunk defines the number (the chunk may be lost), return a new id.
  ThreadId thread(std::uint32_t number);
  DeviceId device(std::uint32_t number) {
    const DeviceId known = devices_.Get(number);
    return known.valid() ? known : AddUndefinedDevice(number);
  }

 private:
  DeviceId AddUndefinedDevice(std::uint32_t number);
  ModuleId FindModuleAt(StackId stack, ModuleId around);
  StackId JoinNative(StackId own, StackId around);
  StackId FindUnderForward(StackId stack, StackId forward);
  void DefineName(const v1::NameDef& def);
  void DefineStack(const v1::StackDef& def);
  void ApplyNote(const CompilerNote& note, NameId name);
  StackId WithOrigins(StackId stack, Frame frame, StackId parent);
  StackId WithOriginsOf(StackId parent, StackId stack);
  StackId AddNativeFrame(StackId parent, const NativeObjectName& object, std::uint32_t offset);
  void DefineThread(const v1::ThreadDef& def);
  void DefineDevice(const v1::DeviceDef& def);

  ProcessId process_;
  Dictionary* dictionary_;
  const Symbols& symbols_;
  std::vector<NativeObjectName> native_;  // native objects of the part
  NumberedValues<NameEntry> names_;
  NumberedValues<LayoutId> layouts_;
  NumberedValues<SignatureEntry> signatures_;
  NumberedValues<StackId> stacks_;
  NumberedValues<ThreadId> threads_;
  NumberedValues<DeviceId> devices_;
  // The operations of generated code, by file and line of the code. An entry also applies to the lines after it, up to
  // the next line with an entry.
  using Origins = const std::vector<CodeOrigin>*;
  absl::flat_hash_map<std::string, std::map<std::uint32_t, Origins>> generated_;
  absl::flat_hash_map<StackId, Origins> origins_;  // operations that stacks with generated code execute
  // Earlier results of FindModuleAt, FindUnderForward and JoinNative, by their arguments.
  absl::flat_hash_map<std::pair<Origins, ModuleId>, ModuleId> modules_at_;
  absl::flat_hash_map<std::pair<StackId, StackId>, StackId> under_forward_;
  absl::flat_hash_map<std::pair<StackId, StackId>, StackId> under_python_;
  ModuleId unknown_module_;
  CodeId unknown_code_;
  ThreadId overflow_thread_;  // stands for all numbers beyond NumberedValues::kMax
  DeviceId overflow_device_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_DICTIONARY_IDS_H_
