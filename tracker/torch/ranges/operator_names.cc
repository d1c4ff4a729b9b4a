#include "tracker/torch/ranges/operator_names.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/spin_lock.h"
#include "tracker/torch/torch_versions.h"

namespace memoir {
namespace {

// Number of entries in the table. torch has about 3,500 operators. If the table is three quarters full, no more are
// added.
constexpr std::size_t kTableSize = 1u << 14;
constexpr std::size_t kTableLimit = kTableSize / 4 * 3;

struct Entry {
  std::atomic<const char*> key;  // result of SchemaKey; written after the other fields
  std::atomic<const char*> name;
  std::atomic<std::uint32_t> id;
};

constinit std::array<Entry, kTableSize> table{};
constinit std::size_t table_entries = 0;
constinit std::atomic<bool> table_lock{false};
constexpr std::uint32_t kNoId = UINT32_MAX;  // the operator has no id, so its name is recorded as text

std::size_t Slot(const char* key) {
  const auto bits = reinterpret_cast<std::uintptr_t>(key) >> 3;
  return (bits * 0x9e3779b97f4a7c15u) >> 50;  // 14 bits
}

Entry& Probe(const char* key) {
  for (std::size_t i = Slot(key);; i = (i + 1) % kTableSize) {
    const char* found = table[i].key.load(std::memory_order_acquire);
    if (found == key || found == nullptr) return table[i];
  }
}

// The name, the key and the schema of an operator. range_hook.cc provides them as a RecordFunction,
// dispatch_fallback.cc as a schema. Schema() copies the schema, so it is called only at the operator's first use.
class OperatorSource {
 public:
  explicit OperatorSource(const at::RecordFunction& range) : range_(&range) {}
  explicit OperatorSource(const c10::FunctionSchema& schema) : schema_(&schema) {}

  const char* name() const { return schema_ != nullptr ? schema_->name().c_str() : range_->name(); }
  const char* key() const { return schema_ != nullptr ? SchemaKey(*schema_) : SchemaKey(*range_); }
  std::optional<c10::FunctionSchema> Schema() const {
    return schema_ != nullptr ? std::optional(*schema_) : range_->operator_schema();
  }

 private:
  const at::RecordFunction* range_ = nullptr;
  const c10::FunctionSchema* schema_ = nullptr;
};

std::string FullName(const c10::FunctionSchema& schema) {
  std::string name = schema.name();
  if (!schema.overload_name().empty()) name.append(".").append(schema.overload_name());
  return name;
}

// Maps an operator's name and schemas to its id in the ring's table, from which no name is ever removed. So an operator
// gets the same id again if torch removes it and a library defines it again. Used under table_lock. Each recording
// begins with an empty map.
constinit std::unordered_map<std::string, std::uint32_t>* defined = nullptr;

// Returns text with one schema in each line: first the operator's schema, then the schemas of all operators with this
// name, in the order in which torch.profiler searches them.
std::string SchemasOf(const c10::FunctionSchema& schema) {
  std::ostringstream text;
  text << schema;
  for (const auto& overload : torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(schema.name())))
    text << '\n' << overload->schema();
  return text.str();
}

std::uint32_t Define(const c10::FunctionSchema& schema, const std::string& text) {
  std::vector<std::uint8_t> written;
  for (const c10::Argument& argument : schema.arguments()) {
    const c10::AliasInfo* alias = argument.alias_info();
    written.push_back(alias != nullptr && alias->isWrite() ? 1 : 0);
  }
  const std::string name = FullName(schema);
  const auto [entry, fresh] = defined->try_emplace(name + '\0' + text, 0);
  if (fresh) entry->second = RingDefineOperator(name.c_str(), text.c_str(), written.data(), written.size());
  return entry->second == 0 ? kNoId : entry->second;
}

// Clears the ids of all operators. At its next use, an operator gets an id again. The keys stay in the table: other
// threads search it without a lock, and a removed key could end their search too early. Call it under table_lock.
void ForgetIds() {
  for (Entry& entry : table) entry.id.store(0, std::memory_order_release);
}

// Clears the ids when torch removes an operator, because another operator may then get the address of its schema.
class Forgetter final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    // Without a ring there is nothing to do, because the start of a recording clears all ids. A forked child has no
    // ring yet, and must not wait for the lock: if a thread of the parent held it at the fork, it stays locked in the
    // child.
    if (RingPath()[0] == '\0') return;
    const SpinLock lock(table_lock);
    ForgetIds();
  }
};

// Returns the id of an operator in the table, or kNoId. 0 if the table does not contain the operator, or its id was
// cleared.
std::uint32_t KnownId(const char* name, const char* key) {
  const Entry& entry = Probe(key);
  const bool same =
      entry.key.load(std::memory_order_acquire) == key && entry.name.load(std::memory_order_relaxed) == name;
  return same ? entry.id.load(std::memory_order_acquire) : 0;
}

// Adds an operator to the table and returns its id, or kNoId. Called at the operator's first use. Takes table_lock. A
// range without a schema is not added, because its key is invalid after the range; the result is kNoId.
std::uint32_t AddOperator(const OperatorSource& source) {
  const ErrnoKeeper errno_keeper;
  const std::optional<c10::FunctionSchema> schema = source.Schema();
  if (!schema.has_value()) return kNoId;
  const char* key = source.key();
  const std::string text = SchemasOf(*schema);
  const SpinLock lock(table_lock);
  if (const std::uint32_t id = KnownId(source.name(), key); id != 0) return id;  // another thread has added it
  const std::uint32_t id = Define(*schema, text);
  if (table_entries >= kTableLimit) return id;
  Entry& home = Probe(key);
  if (home.key.load(std::memory_order_relaxed) == nullptr) ++table_entries;
  home.name.store(source.name(), std::memory_order_relaxed);
  home.id.store(id, std::memory_order_release);
  home.key.store(key, std::memory_order_release);
  return id;
}

// Calls AddOperator. Returns kNoId if there is no memory.
std::uint32_t AddOperatorOrNoId(const OperatorSource& source) {
  try {
    return AddOperator(source);
  } catch (...) {
    return kNoId;
  }
}

// Clears the ids of all operators for a new recording. A hook of the previous recording may call AddOperator at the
// same time. If it takes table_lock first, its id is cleared here with the other ids. Otherwise its id belongs to the
// new ring.
void ForgetEarlierRecording() {
  static pid_t owner = 0;
  const bool forked = owner != 0 && owner != getpid();
  owner = getpid();
  // If a thread of the parent held the lock at the fork, no thread of this process unlocks it.
  if (forked) table_lock.store(false, std::memory_order_release);
  const SpinLock lock(table_lock);
  if (!forked) delete defined;  // the parent's map may be half changed, so a child does not free it
  defined = new std::unordered_map<std::string, std::uint32_t>;
  ForgetIds();
}

}  // namespace

void PrepareOperatorNames() {
  FindKeyOfPlainRanges();
  ForgetEarlierRecording();
  // Never freed, because operators may be removed until the process ends.
  static c10::RegistrationHandleRAII* handle = nullptr;
  if (handle == nullptr) {
    handle = new c10::RegistrationHandleRAII(
        c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Forgetter>()));
  }
}

std::uint32_t FindOperatorName(const at::RecordFunction& range) {
  const char* key = SchemaKey(range);
  if (key == nullptr) return 0;
  std::uint32_t id = KnownId(range.name(), key);
  if (id == 0) [[unlikely]]
    id = AddOperatorOrNoId(OperatorSource(range));
  return id == kNoId ? 0 : id;
}

std::uint32_t FindOperatorName(const c10::FunctionSchema& schema) {
  std::uint32_t id = KnownId(schema.name().c_str(), SchemaKey(schema));
  if (id == 0) [[unlikely]]
    id = AddOperatorOrNoId(OperatorSource(schema));
  return id == kNoId ? 0 : id;
}

}  // namespace memoir
