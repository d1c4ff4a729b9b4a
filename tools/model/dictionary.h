// What ids stand for: names, layouts, signatures, threads, devices, Python stacks. Filled while a replay reads
// dictionaries, because a part defines an id only where it is first used; what an event refers to is always there when
// the event is shown.
//
// Not thread-safe; belongs to one replay.
#ifndef TOOLS_MODEL_DICTIONARY_H_
#define TOOLS_MODEL_DICTIONARY_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/compiler_notes.h"
#include "tools/model/ids.h"

namespace memoir {

struct Name {
  std::string text;
  bool is_operator = false;
};

// A torch.nn.Module, or what a program calls one.
struct Module {
  std::string root;  // class of the outermost module around it, "#2" behind it when it was not the first of that class
  std::string path;  // from there: "layers.3.mlp.fc1"; "" for the root itself
  std::string class_name;
  bool operator==(const Module&) const = default;
  const std::string& place() const { return path.empty() ? root : path; }  // as rows show it
  std::string whole() const { return path.empty() ? root : root + "." + path; }
};

// One definition of an operator. A library that is loaded anew may define an operator of the same name otherwise.
struct Schema {
  std::string text;
  std::vector<bool> argument_is_written;
  std::vector<std::string> overloads;  // schemas of all operators of its name, in torch's order; empty: not known
};

struct Layout {
  std::uint32_t dtype = 0;
  std::string dtype_name;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // empty: contiguous
  bool has_storage = true;
  bool shape_unknown = false;
};
// "float32[32, 128]", with strides only where they say something
std::string ToString(const Layout& layout);

// Argument kinds of a range (capture_format.md, "Argument kinds").
struct Signature {
  std::string kinds;
  std::vector<std::uint32_t> list_lengths;
  std::uint64_t tensors = 0;  // entries it takes from the tensor column
};

// Python code: a function, a class body, a module's statements. Or a native function.
struct Code {
  std::string file;      // as the interpreter has it: a path, "<string>", "<ipython-input-3-...>"
  std::string function;  // qualified name: "Block.forward", "<module>"; native without a name: "+0x1f2a"
  std::string object;    // native: the library or program that it is in; "": it is Python's
  std::string_view file_name() const { return std::string_view(file).substr(file.rfind('/') + 1); }
  bool operator==(const Code&) const = default;
};

struct Frame {
  CodeId code;             // always valid
  std::uint32_t line = 0;  // 0: not known
};

// A stack of frames, of Python and native ones: its innermost one, and the stack around that.
struct Stack {
  StackId parent;  // invalid: the frame is the outermost
  Frame frame;
  std::uint32_t depth = 1;  // frames
  StackId python;  // it without the native frames inside the innermost frame of Python; invalid: all are native
};

struct ThreadInfo {
  ProcessId process;
  std::uint32_t number = 0;  // in its process, from 1
  std::uint64_t os_id = 0;
  std::uint64_t torch_id = 0;
  std::string name;    // as recorded; may be empty
  ThreadId works_for;  // in whose parallel regions it works; invalid: in none
};

struct DeviceInfo {
  ProcessId process;
  std::string type;  // "cpu", "cuda", "pinned"
  std::uint32_t index = 0;
  std::string product;
};
// "cpu", "pinned", "cuda:0"
std::string ToString(const DeviceInfo& device);

// What a program called something, as UTF-8: bytes that are none become U+FFFD.
std::string ToUtf8(std::string_view bytes);

class Dictionary {
 public:
  const Name& name(NameId id) const { return names_[id.value]; }
  const Schema& schema(SchemaId id) const { return schemas_[id.value]; }
  const Module& module(ModuleId id) const { return modules_[id.value]; }
  const Layout& layout(LayoutId id) const { return layouts_[id.value]; }
  const Signature& signature(SignatureId id) const { return signatures_[id.value]; }
  const Code& code(CodeId id) const { return codes_[id.value]; }
  const Stack& stack(StackId id) const { return stacks_[id.value]; }
  // Stack::python; invalid of an invalid id.
  StackId PythonPart(StackId id) const { return id.valid() ? stack(id).python : StackId(); }
  // Innermost first; none of an invalid id.
  std::vector<Frame> Frames(StackId id) const;
  // Of a stack through generated code, what the line of that is for, all of it. Empty: it is through none, or that is
  // not known.
  const std::vector<CodeOrigin>& origins(StackId id) const {
    return id.value < stack_origins_.size() && stack_origins_[id.value] != nullptr ? *stack_origins_[id.value]
                                                                                   : no_origins_;
  }
  // Whether a compiler made it, and said so.
  bool IsGenerated(CodeId id) const { return id.value < generated_.size() && generated_[id.value]; }
  // Whether it names a range without length that says what a compiler did.
  bool IsNote(NameId id) const { return compilation(id) != nullptr || text(id) == kGeneratedCodeNote; }
  // What was compiled, of a range without length that says so; nullptr: it does not.
  const Compilation* compilation(NameId id) const {
    const auto found = compilations_.find(id);
    return found == compilations_.end() ? nullptr : &found->second;
  }
  const ThreadInfo& thread(ThreadId id) const { return threads_[id.value]; }
  const DeviceInfo& device(DeviceId id) const { return devices_[id.value]; }

  std::size_t names() const { return names_.size(); }
  std::size_t layouts() const { return layouts_.size(); }
  std::size_t signatures() const { return signatures_.size(); }
  std::size_t codes() const { return codes_.size(); }
  std::size_t stacks() const { return stacks_.size(); }
  std::size_t threads() const { return threads_.size(); }
  bool threads_work_for_others() const { return threads_work_for_others_; }  // any of them
  std::size_t devices() const { return devices_.size(); }

  // Equal content gives the same id. `id.valid()` of none is false, and the text of it is "".
  std::string_view text(NameId id) const { return id.valid() ? std::string_view(name(id).text) : std::string_view(); }

  NameId AddName(Name name);
  SchemaId AddSchema(Schema schema);
  ModuleId AddModule(Module module);
  LayoutId AddLayout(Layout layout);
  SignatureId AddSignature(Signature signature);
  CodeId AddCode(Code code);
  // One frame inward. Invalid beyond kMostFrames, which no program has: a capture is damaged there.
  StackId AddStack(StackId parent, Frame frame);
  static constexpr std::uint32_t kMostFrames = 1u << 16;
  const std::vector<CodeOrigin>* AddOrigins(std::vector<CodeOrigin> origins) {
    return &origins_.emplace_back(std::move(origins));
  }
  void SetOrigins(StackId stack, const std::vector<CodeOrigin>* origins);
  void SetGenerated(CodeId code);
  void SetCompilation(NameId name, const Compilation& compilation) { compilations_.try_emplace(name, compilation); }
  ThreadId AddThread(ThreadInfo thread);  // not merged
  DeviceId AddDevice(DeviceInfo device);  // not merged
  // A later definition may know what an earlier one did not (a thread's name).
  void UpdateThread(ThreadId id, ThreadInfo thread) {
    threads_work_for_others_ = threads_work_for_others_ || thread.works_for.valid();
    threads_[id.value] = std::move(thread);
  }
  void UpdateDevice(DeviceId id, DeviceInfo device) { devices_[id.value] = std::move(device); }

 private:
  std::deque<Name> names_;
  std::deque<Schema> schemas_;
  std::deque<Module> modules_;
  std::deque<Layout> layouts_;
  std::deque<Signature> signatures_;
  std::deque<Code> codes_;
  std::deque<Stack> stacks_;
  std::deque<std::vector<CodeOrigin>> origins_;
  std::vector<const std::vector<CodeOrigin>*> stack_origins_;  // by StackId
  const std::vector<CodeOrigin> no_origins_;
  std::vector<bool> generated_;  // by CodeId
  absl::flat_hash_map<NameId, Compilation> compilations_;
  std::deque<ThreadInfo> threads_;
  std::deque<DeviceInfo> devices_;
  absl::flat_hash_map<std::string, NameId> name_ids_;
  absl::flat_hash_map<std::string, SchemaId> schema_ids_;
  absl::flat_hash_map<std::string, ModuleId> module_ids_;
  absl::flat_hash_map<std::string, LayoutId> layout_ids_;
  absl::flat_hash_map<std::string, SignatureId> signature_ids_;
  absl::flat_hash_map<std::string, CodeId> code_ids_;
  absl::flat_hash_map<std::tuple<StackId, CodeId, std::uint32_t>, StackId> stack_ids_;
  bool threads_work_for_others_ = false;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_DICTIONARY_H_
