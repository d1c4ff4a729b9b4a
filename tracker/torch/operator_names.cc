#include "tracker/torch/operator_names.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "tracker/torch/torch_versions.h"

namespace memoir {
namespace {

constexpr std::size_t kTableSize =
    1u << 14;  // torch has about 3,500 operators; beyond three quarters nothing is cached
constexpr std::size_t kTableLimit = kTableSize / 4 * 3;

struct Entry {
  std::atomic<const char*> key;  // SchemaKey; written last
  std::atomic<const char*> name;
  std::atomic<std::uint32_t> id;
};

constinit std::array<Entry, kTableSize> table{};
constinit std::size_t table_entries = 0;
constinit std::atomic_flag table_lock;
constexpr std::uint32_t kNoId = UINT32_MAX;  // the ring's table was full at its first sight: recorded by its text

class SpinLock {
 public:
  SpinLock() {
    while (table_lock.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~SpinLock() { table_lock.clear(std::memory_order_release); }
};

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

// What shows an operator, as both hooks need it: its name, the key by which it is known again, and its schema, which
// only a first sight asks for.
class Sight {
 public:
  explicit Sight(const at::RecordFunction& range) : range_(&range) {}
  explicit Sight(const c10::FunctionSchema& schema) : schema_(&schema) {}

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

// Ids by name and schema: an operator that comes back, or that two libraries define alike, keeps its entry in the
// ring's append-only table. Under the lock; made anew at each recording.
constinit std::unordered_map<std::string, std::uint32_t>* defined = nullptr;

// The schema, and behind it, a line each, those of all operators of its name, as torch.profiler looks them up.
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

// Under the lock. Keys cannot be taken out of an open-addressing table under lock-free readers, so the ids go and the
// keys stay; the next sight defines anew.
void ForgetIds() {
  for (Entry& entry : table) entry.id.store(0, std::memory_order_release);
}

// An operator that torch forgets may leave its address to another one.
class Forgetter final : public c10::OpRegistrationListener {
 public:
  void onOperatorRegistered(const c10::OperatorHandle&) override {}
  void onOperatorDeregistered(const c10::OperatorHandle&) override {
    // A start forgets everything anyway; and a forked child must not wait for a lock that its parent held.
    if (RingPath()[0] == '\0') return;
    const SpinLock lock;
    ForgetIds();
  }
};

// 0: not in the table.
std::uint32_t KnownId(const char* name, const char* key) {
  const Entry& entry = Probe(key);
  const bool same =
      entry.key.load(std::memory_order_acquire) == key && entry.name.load(std::memory_order_relaxed) == name;
  return same ? entry.id.load(std::memory_order_acquire) : 0;
}

// Cold: once per operator, under the lock. A range without a schema, whose key may pass with it, is not kept.
std::uint32_t Learn(const Sight& sight) {
  const ErrnoKeeper errno_keeper;
  const std::optional<c10::FunctionSchema> schema = sight.Schema();
  if (!schema.has_value()) return kNoId;
  const char* key = sight.key();
  const std::string text = SchemasOf(*schema);
  const SpinLock lock;
  if (const std::uint32_t id = KnownId(sight.name(), key); id != 0) return id;  // another thread was first
  const std::uint32_t id = Define(*schema, text);
  if (table_entries >= kTableLimit) return id;
  Entry& home = Probe(key);
  if (home.key.load(std::memory_order_relaxed) == nullptr) ++table_entries;
  home.name.store(sight.name(), std::memory_order_relaxed);
  home.id.store(id, std::memory_order_release);
  home.key.store(key, std::memory_order_release);
  return id;
}

// Without memory for it an operator is recorded by its text.
std::uint32_t FirstSight(const Sight& sight) {
  try {
    return Learn(sight);
  } catch (...) {
    return kNoId;
  }
}

// Hooks of the recording before may still be in a first sight: what they define is forgotten with the rest, or defined
// in the new ring.
void ForgetEarlierRecording() {
  static pid_t owner = 0;
  const bool forked = owner != 0 && owner != getpid();
  owner = getpid();
  if (forked) table_lock.clear();  // whoever held it is not here
  const SpinLock lock;
  if (!forked) delete defined;  // a parent's may be half changed: left alone
  defined = new std::unordered_map<std::string, std::uint32_t>;
  ForgetIds();
}

}  // namespace

void PrepareOperatorNames() {
  FindKeyOfPlainRanges();
  ForgetEarlierRecording();
  // Leaked on purpose: it must outlive every operator library.
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
    id = FirstSight(Sight(range));
  return id == kNoId ? 0 : id;
}

std::uint32_t FindOperatorName(const c10::FunctionSchema& schema) {
  std::uint32_t id = KnownId(schema.name().c_str(), SchemaKey(schema));
  if (id == 0) [[unlikely]]
    id = FirstSight(Sight(schema));
  return id == kNoId ? 0 : id;
}

}  // namespace memoir
