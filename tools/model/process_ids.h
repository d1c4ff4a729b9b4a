// The numbers of one process's dictionaries to the ids of the capture.
#ifndef TOOLS_MODEL_PROCESS_IDS_H_
#define TOOLS_MODEL_PROCESS_IDS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/dictionary.h"
#include "tools/model/event.h"
#include "tools/model/ids.h"
#include "tools/read/payload.h"
#include "tools/read/symbols.h"

namespace memoir {

// Values by small numbers; what was never set reads as a default value.
template <class Value>
class NumberedValues {
 public:
  static constexpr std::uint32_t kMax = 1u << 23;  // a damaged number must not cost memory

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
  SchemaId schema;  // operator only
  bool is_operator = false;
  ModuleId module;           // module only
  CodeId code;               // code only
  std::uint32_t native = 0;  // code only: 1 + place in the list of native objects; 0: it is Python's
};
struct SignatureEntry {
  SignatureId id;
  std::uint32_t tensors = 0;
  std::uint32_t holds_names = 0;  // where it is what a module holds
};

class ProcessIds {
 public:
  // `symbols`: names of native frames.
  ProcessIds(ProcessId process, Dictionary* dictionary, const Symbols& symbols);

  void Define(const Payload& payload);
  // A part's names, layouts, signatures and stacks end with it: memoir-drain numbers those of its part anew.
  void ForgetPart();

  NameEntry name(std::uint32_t number) const { return names_.Get(number); }
  // Of a number that no chunk defined as a module's: one that stands for all of these. `module`: of 0 none.
  ModuleId called_module(std::uint32_t number);
  ModuleId module(std::uint32_t number) { return number == 0 ? ModuleId() : called_module(number); }
  LayoutId layout(std::uint32_t number) const { return layouts_.Get(number); }
  SignatureEntry signature(std::uint32_t number) const { return signatures_.Get(number); }
  // Invalid: no Python frames, or not known.
  StackId stack(std::uint32_t number) const { return stacks_.Get(number); }
  // Of what runs with this stack: `around`, or, where it is code that a compiler generated, the module that the program
  // has there.
  ModuleId ModuleAt(StackId stack, ModuleId around) { return origins_.empty() ? around : FindModuleAt(stack, around); }
  // Of generated code that an autograd node runs: its part of `stack` under `forward`, where the program called what
  // the node is of. Invalid: `stack` goes through no generated code.
  StackId UnderForward(StackId stack, StackId forward) {
    return origins_.empty() ? StackId() : FindUnderForward(stack, forward);
  }
  // Of a thread with `own` stack that works for one with the stack `around` (itself, else another): its own, and where
  // no Python is in that, what lies inside the other's frames of Python.
  StackId WorkingStack(StackId own, StackId around) {
    if (!own.valid()) return around;
    const bool alone = own == around || !around.valid() || dictionary_->PythonPart(own).valid();
    return alone ? own : NativeUnder(own, around);
  }
  // The native frames of `own` inside the frames of Python of `around`; where one of them has none, `around`.
  StackId NativeUnder(StackId own, StackId around) {
    const bool has_both = dictionary_->PythonPart(own) != own && dictionary_->PythonPart(around).valid();
    return has_both ? JoinNative(own, around) : around;
  }
  // Threads and devices that no chunk defined (that chunk was lost) come into being when they are asked for.
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
  void TakeNote(const CompilerNote& note, NameId name);
  StackId WithOrigins(StackId stack, Frame frame, StackId parent);
  StackId WithOriginsOf(StackId parent, StackId stack);
  StackId AddNativeFrame(StackId parent, const NativeObjectName& object, std::uint32_t offset);
  void DefineThread(const v1::ThreadDef& def);
  void DefineDevice(const v1::DeviceDef& def);

  ProcessId process_;
  Dictionary* dictionary_;
  const Symbols& symbols_;
  std::vector<NativeObjectName> native_;  // of the part
  NumberedValues<NameEntry> names_;
  NumberedValues<LayoutId> layouts_;
  NumberedValues<SignatureEntry> signatures_;
  NumberedValues<StackId> stacks_;
  NumberedValues<ThreadId> threads_;
  NumberedValues<DeviceId> devices_;
  // What generated code is for, by its file, then from a line on to the next one.
  using Origins = const std::vector<CodeOrigin>*;
  absl::flat_hash_map<std::string, std::map<std::uint32_t, Origins>> generated_;
  absl::flat_hash_map<StackId, Origins> origins_;  // of stacks that run for what generated code is for
  absl::flat_hash_map<std::pair<Origins, ModuleId>, ModuleId> modules_at_;
  absl::flat_hash_map<std::pair<StackId, StackId>, StackId> under_forward_;
  absl::flat_hash_map<std::pair<StackId, StackId>, StackId> under_python_;
  ModuleId unknown_module_;
  CodeId unknown_code_;
  ThreadId overflow_thread_;  // stands for numbers beyond reason
  DeviceId overflow_device_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_PROCESS_IDS_H_
