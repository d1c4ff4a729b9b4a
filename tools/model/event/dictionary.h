// A Dictionary contains the names, layouts, signatures, threads, devices and Python stacks that ids represent. A replay
// fills the dictionary while it reads chunks, because a part defines an id only in the chunk that uses the id first.
// Every definition comes before the events that use it. An analysis that passes a result from one replay to the next
// stores texts and not ids in it (BlockShapeTable), because the next replay may not have read the definitions yet.
//
// All look-ups are checked. They return an empty value if the id is invalid or has no definition.
//
// Not thread-safe. A Dictionary belongs to one replay.
#ifndef TOOLS_MODEL_EVENT_DICTIONARY_H_
#define TOOLS_MODEL_EVENT_DICTIONARY_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/compiler_notes.h"
#include "tools/model/event/ids.h"

namespace memoir {

struct Name {
  std::string text;
  bool is_operator = false;
};

// A torch.nn.Module, or an object that the program uses as a module.
struct Module {
  std::string root;  // class of the outermost module around this module; "Net#2": the second module of that class
  std::string path;  // from the root: "layers.3.mlp.fc1"; "" for the root itself
  std::string class_name;
  bool operator==(const Module&) const = default;
  const std::string& display_path() const { return path.empty() ? root : path; }  // as tables print it
  std::string full_path() const { return path.empty() ? root : root + "." + path; }
};

// One definition of an operator. A library that is loaded again may change the definition of an operator.
struct Schema {
  std::string text;
  std::vector<bool> argument_is_written;
  std::vector<std::string> overloads;  // schemas of all overloads of the operator, in torch's order; empty: unknown
};

struct Layout {
  std::uint32_t dtype = 0;
  std::string dtype_name;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // empty: contiguous
  bool has_storage = true;
  bool shape_unknown = false;
};
// Returns "float32[32, 128]". The text contains strides only if the layout is not contiguous.
std::string ToString(const Layout& layout);

// The argument kinds of a range (docs/capture_format.md, "Argument kinds").
struct Signature {
  std::string kinds;
  std::vector<std::uint32_t> list_lengths;
  std::uint64_t tensors = 0;  // number of entries in the tensor column
};

// A Python function, the body of a Python class, the statements of a Python module, or a native function.
struct Code {
  std::string file;      // for Python, the interpreter's name of the file: a path, "<string>", "<ipython-input-3-...>"
  std::string function;  // qualified name: "Block.forward", "<module>"; "+0x1f2a" if a native function has no name
  std::string object;    // library or program of a native function; "": Python code
  std::string_view file_name() const { return std::string_view(file).substr(file.rfind('/') + 1); }
  bool operator==(const Code&) const = default;
};

struct Frame {
  CodeId code;             // always valid
  std::uint32_t line = 0;  // 0: unknown
};

// A stack of Python and native frames: the innermost frame, and the stack around it.
struct Stack {
  StackId parent;  // invalid: the frame is the outermost
  Frame frame;
  std::uint32_t depth = 1;  // number of frames
  StackId python;  // part of this stack from the innermost Python frame outward; invalid: all frames are native
};

struct ThreadInfo {
  ProcessId process;
  std::uint32_t number = 0;  // number of the thread in the process, from 1
  std::uint64_t os_id = 0;
  std::uint64_t torch_id = 0;
  std::string name;    // as recorded; may be empty
  ThreadId works_for;  // thread in whose parallel regions this thread works; invalid: none
};

struct DeviceInfo {
  ProcessId process;
  std::string type;  // "cpu", "cuda", "pinned"
  std::uint32_t index = 0;
  std::string product;
};
// Returns "cpu", "pinned" or "cuda:0".
std::string ToString(const DeviceInfo& device);

// Returns `bytes`, a name that the program chose, as UTF-8. Invalid bytes become U+FFFD.
std::string ToUtf8(std::string_view bytes);

class Dictionary {
 public:
  const Name& name(NameId id) const { return At(names_, id); }
  const Schema& schema(SchemaId id) const { return At(schemas_, id); }
  const Module& module(ModuleId id) const { return At(modules_, id); }
  const Layout& layout(LayoutId id) const { return At(layouts_, id); }
  const Signature& signature(SignatureId id) const { return At(signatures_, id); }
  const Code& code(CodeId id) const { return At(codes_, id); }
  const Stack& stack(StackId id) const { return At(stacks_, id); }
  // Returns Stack::python. Invalid if `id` is invalid.
  StackId PythonPart(StackId id) const { return id.valid() ? stack(id).python : StackId(); }
  // Returns the frames, innermost first. Empty if `id` is invalid.
  std::vector<Frame> Frames(StackId id) const;
  // Returns the operations of the program that the stack's innermost line of generated code executes. Empty if the
  // stack has no generated code, or if the operations are unknown.
  const std::vector<CodeOrigin>& origins(StackId id) const {
    return id.value < stack_origins_.size() && stack_origins_[id.value] != nullptr ? *stack_origins_[id.value]
                                                                                   : no_origins_;
  }
  // Returns true if a compiler's note (compiler_notes.h) describes the code as generated.
  bool IsGenerated(CodeId id) const { return id.value < generated_.size() && generated_[id.value]; }
  // Returns true if the name belongs to a range without length that describes the work of a compiler.
  bool IsNote(NameId id) const { return compilation(id) != nullptr || text(id) == kGeneratedCodeName; }
  // Returns the compilation that a range with this name describes. nullptr if the name describes no compilation.
  const Compilation* compilation(NameId id) const {
    const auto found = compilations_.find(id);
    return found == compilations_.end() ? nullptr : &found->second;
  }
  const ThreadInfo& thread(ThreadId id) const { return At(threads_, id); }
  const DeviceInfo& device(DeviceId id) const { return At(devices_, id); }

  std::size_t names() const { return names_.size(); }
  std::size_t layouts() const { return layouts_.size(); }
  std::size_t signatures() const { return signatures_.size(); }
  std::size_t codes() const { return codes_.size(); }
  std::size_t stacks() const { return stacks_.size(); }
  std::size_t threads() const { return threads_.size(); }
  // Returns true if at least one thread works for another thread.
  bool threads_work_for_others() const { return threads_work_for_others_; }
  std::size_t devices() const { return devices_.size(); }

  // Returns the text of a name. "" if the id is invalid.
  std::string_view text(NameId id) const { return name(id).text; }

  // Add a value and return its id. Equal values have the same id.
  NameId AddName(Name name);
  SchemaId AddSchema(Schema schema);
  ModuleId AddModule(Module module);
  LayoutId AddLayout(Layout layout);
  SignatureId AddSignature(Signature signature);
  CodeId AddCode(Code code);
  // Returns the id of the stack with `frame` as its innermost frame and the stack `parent` around it. Invalid if this
  // stack would have more than kMostFrames frames, which happens only in a damaged capture.
  StackId AddStack(StackId parent, Frame frame);
  static constexpr std::uint32_t kMostFrames = 1u << 16;
  // Stores `origins`. The returned pointer is valid as long as this object.
  const std::vector<CodeOrigin>* AddOrigins(std::vector<CodeOrigin> origins) {
    return &origins_.emplace_back(std::move(origins));
  }
  // Sets origins(`stack`), unless it is already set. `origins` comes from AddOrigins.
  void SetOrigins(StackId stack, const std::vector<CodeOrigin>* origins);
  void SetGenerated(CodeId code);
  void SetCompilation(NameId name, const Compilation& compilation) { compilations_.try_emplace(name, compilation); }
  ThreadId AddThread(ThreadInfo thread);  // always returns a new id
  DeviceId AddDevice(DeviceInfo device);  // always returns a new id
  // Replace a definition. The later definition may contain a value that the earlier definition lacked, such as the name
  // of a thread.
  void UpdateThread(ThreadId id, ThreadInfo thread) {
    threads_work_for_others_ = threads_work_for_others_ || thread.works_for.valid();
    if (id.value < threads_.size()) threads_[id.value] = std::move(thread);
  }
  void UpdateDevice(DeviceId id, DeviceInfo device) {
    if (id.value < devices_.size()) devices_[id.value] = std::move(device);
  }

 private:
  template <class Value, class IdType>
  static const Value& At(const std::deque<Value>& values, IdType id) {
    static const Value kNoValue = {};
    return id.value < values.size() ? values[id.value] : kNoValue;
  }

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

#endif  // TOOLS_MODEL_EVENT_DICTIONARY_H_
