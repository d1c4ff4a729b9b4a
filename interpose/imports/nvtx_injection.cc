#include "interpose/imports/nvtx_injection.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <string_view>

#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// Constants and types of nvtxTypes.h, under other names.
constexpr std::uint32_t kCallbacksTable = 1;  // NVTX_ETID_CALLBACKS
constexpr int kCore = 1, kCore2 = 5;          // NVTX_CB_MODULE_*
enum CoreCall : unsigned { kRangePushEx = 8, kRangePushA = 9, kRangePushW = 10, kRangePop = 11 };
enum Core2Call : unsigned {
  kDomainRangePushEx = 4,
  kDomainRangePop = 5,
  kDomainRegisterStringA = 10,
  kDomainCreateA = 12,
  kDomainCreateW = 13
};
struct Callbacks {  // NvtxExportTableCallbacks
  std::size_t bytes;
  // Sets `table` to an array with one element for each function of NVTX: the address of the program's pointer to that
  // function. An element is nullptr if the program's NVTX lacks the function.
  int (*get_functions)(int module, void**** table, unsigned* size);
};
struct Attributes {  // nvtxEventAttributes_t, version 2 and 3
  std::uint16_t version, bytes;
  std::uint32_t category;
  std::int32_t color_type;
  std::uint32_t color;
  std::int32_t payload_type, reserved;
  std::uint64_t payload;
  std::int32_t message_type;
  const void* message;
};
constexpr std::int32_t kAscii = 1, kWide = 2, kRegistered = 3;  // NVTX_MESSAGE_TYPE_*

constexpr char kNoText[] = "(NVTX)";
constexpr std::size_t kMostText = 256;
constexpr std::uint32_t kMostNested = 256;
constexpr int kNotTracked = -2;  // NVTX_NO_PUSH_POP_TRACKING: the result if no tool receives the ranges

constinit std::atomic<const NvtxFollower*> follower{nullptr};
constinit thread_local std::uint32_t depth = 0;

// Copies of the strings that the program has registered. The handle of a string is the address of its copy. If there is
// no room for a string, its handle is kNoText.
constinit char registered[64 * 1024]{};
constinit std::atomic<std::size_t> registered_bytes{0};

const char* Register(const char* text) {
  const std::size_t bytes = strnlen(text, kMostText);
  if (registered_bytes.load(std::memory_order_relaxed) + bytes + 1 > sizeof registered) return kNoText;
  const std::size_t at = registered_bytes.fetch_add(bytes + 1, std::memory_order_relaxed);
  if (at + bytes + 1 > sizeof registered) return kNoText;
  std::memcpy(registered + at, text, bytes);
  return registered + at;
}

bool IsRegistered(const void* handle) {
  const char* const text = static_cast<const char*>(handle);
  return text == kNoText || (text >= registered && text < registered + sizeof registered);
}

// Begins a range, and returns the number of ranges that are open around it on this thread.
int Begin(const char* text) {
  const ErrnoKeeper errno_keeper;
  const NvtxFollower* const follows = follower.load(std::memory_order_acquire);
  const std::uint32_t around = depth++;
  if (follows != nullptr && around < kMostNested) follows->begin(around, text == nullptr ? kNoText : text);
  return static_cast<int>(around);
}

// Returns the depth after the end. kNotTracked if no range is open.
int End() {
  if (depth == 0) return kNotTracked;
  const ErrnoKeeper errno_keeper;
  const NvtxFollower* const follows = follower.load(std::memory_order_acquire);
  --depth;
  if (follows != nullptr && depth < kMostNested) follows->end(depth);
  return static_cast<int>(depth);
}

// Converts wchar_t to UTF-8, cut to kMostText.
void Narrow(const wchar_t* wide, char (&text)[kMostText]) {
  std::size_t at = 0;
  for (; *wide != 0 && at + 4 < kMostText; ++wide) {
    const auto c = static_cast<std::uint32_t>(*wide);  // NOLINT(bugprone-signed-char-misuse): wchar_t has 32 bits
    const auto put = [&](std::uint32_t byte) { text[at++] = static_cast<char>(byte); };
    if (c < 0x80) {
      put(c);
    } else if (c < 0x800) {
      put(0xc0 | c >> 6);
      put(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
      put(0xe0 | c >> 12);
      put(0x80 | (c >> 6 & 0x3f));
      put(0x80 | (c & 0x3f));
    } else {
      put(0xf0 | (c >> 18 & 7));
      put(0x80 | (c >> 12 & 0x3f));
      put(0x80 | (c >> 6 & 0x3f));
      put(0x80 | (c & 0x3f));
    }
  }
  text[at] = '\0';
}

int PushWide(const wchar_t* text) {
  if (text == nullptr) return Begin(nullptr);
  char narrow[kMostText];
  Narrow(text, narrow);
  return Begin(narrow);
}
int PushAscii(const char* text) { return Begin(text); }
int PushAttributes(const Attributes* attributes) {
  if (attributes == nullptr || attributes->message == nullptr) return Begin(nullptr);
  if (attributes->message_type == kAscii) return Begin(static_cast<const char*>(attributes->message));
  if (attributes->message_type == kWide) return PushWide(static_cast<const wchar_t*>(attributes->message));
  const bool known = attributes->message_type == kRegistered && IsRegistered(attributes->message);
  return Begin(known ? static_cast<const char*>(attributes->message) : nullptr);
}
int Pop() { return End(); }
// Domains of libraries whose ranges are not reported, because they repeat the operator that called the library.
constexpr std::string_view kLibraries[] = {"CCCL", "NCCL"};
constexpr char kOfLibrary = 0, kOfProgram = 0;  // the handle of a domain is the address of kOfLibrary or kOfProgram

const void* CreateDomain(const char* name) {
  const bool library = name != nullptr && std::ranges::find(kLibraries, std::string_view(name)) != std::end(kLibraries);
  return library ? &kOfLibrary : &kOfProgram;
}
const void* CreateWideDomain(const wchar_t* name) {
  if (name == nullptr) return CreateDomain(nullptr);
  char narrow[kMostText];
  Narrow(name, narrow);
  return CreateDomain(narrow);
}
int DomainPush(const void* domain, const Attributes* attributes) {
  return domain == &kOfLibrary ? kNotTracked : PushAttributes(attributes);
}
int DomainPop(const void* domain) { return domain == &kOfLibrary ? kNotTracked : End(); }
const void* RegisterString(void*, const char* text) { return text == nullptr ? kNoText : Register(text); }

// Makes the program's pointer to NVTX's function number `call` point to `function`.
template <class Function>
void Put(void*** table, unsigned size, unsigned call, Function function) {
  if (call < size && table[call] != nullptr) *table[call] = reinterpret_cast<void*>(function);
}

bool InstallCallbacks(const Callbacks& callbacks) {
  void*** table = nullptr;
  unsigned size = 0;
  if (callbacks.get_functions(kCore, &table, &size) == 0 || table == nullptr) return false;
  Put(table, size, kRangePushEx, &PushAttributes);
  Put(table, size, kRangePushA, &PushAscii);
  Put(table, size, kRangePushW, &PushWide);
  Put(table, size, kRangePop, &Pop);
  if (callbacks.get_functions(kCore2, &table, &size) == 0 || table == nullptr) return true;
  Put(table, size, kDomainRangePushEx, &DomainPush);
  Put(table, size, kDomainRangePop, &DomainPop);
  Put(table, size, kDomainRegisterStringA, &RegisterString);
  Put(table, size, kDomainCreateA, &CreateDomain);
  Put(table, size, kDomainCreateW, &CreateWideDomain);
  return true;
}

}  // namespace

void FollowNvtx(const NvtxFollower* follows) { follower.store(follows, std::memory_order_release); }

}  // namespace memoir

int InitializeInjectionNvtx2(const void* (*get_table)(std::uint32_t id)) {
  if (get_table == nullptr) return 0;
  const auto* const callbacks = static_cast<const memoir::Callbacks*>(get_table(memoir::kCallbacksTable));
  if (callbacks == nullptr || callbacks->bytes < sizeof(memoir::Callbacks)) return 0;
  return memoir::InstallCallbacks(*callbacks) ? 1 : 0;
}
