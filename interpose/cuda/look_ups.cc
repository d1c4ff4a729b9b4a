#include "interpose/cuda/look_ups.h"

#include <atomic>
#include <cstdint>
#include <cstring>

#include "interpose/cuda/wrapped_calls.h"
#include "interpose/imports/import_slots.h"
#include "interpose/ring/process_ring.h"
#include "interpose/system/errno_keeper.h"

extern "C" {
// These names are used in the assembly code below.
__attribute__((visibility("hidden"))) constinit void* memoir_hidden_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) constinit std::uint32_t memoir_hidden_look_ups_wrapped = 0;
__attribute__((visibility("hidden"))) void memoir_hidden_dlsym();
__attribute__((visibility("hidden"), used)) void* memoir_hidden_look_up(void* handle, const char* name);
}

#if defined(__x86_64__)
// RTLD_DEFAULT is 0 and RTLD_NEXT is -1. The code pushes nothing and changes no argument before it jumps to the real
// dlsym.
asm(R"(
  .text
  .p2align 4
  .type memoir_hidden_dlsym, @function
  .globl memoir_hidden_dlsym
  .hidden memoir_hidden_dlsym
memoir_hidden_dlsym:
  .cfi_startproc
  endbr64
  cmpl $0, memoir_hidden_look_ups_wrapped(%rip)
  je 1f
  leaq 1(%rdi), %rax
  cmpq $1, %rax
  ja memoir_hidden_look_up
1:
  jmp *memoir_hidden_real_dlsym(%rip)
  .cfi_endproc
  .size memoir_hidden_dlsym, .-memoir_hidden_dlsym
)");
#elif defined(__aarch64__)
// The same code for aarch64; `hint #34` is `bti c`. A call through the linker's stubs may change x16 and x17, so this
// code may use these registers.
asm(R"(
  .text
  .p2align 4
  .type memoir_hidden_dlsym, %function
  .globl memoir_hidden_dlsym
  .hidden memoir_hidden_dlsym
memoir_hidden_dlsym:
  .cfi_startproc
  hint #34
  adrp x16, memoir_hidden_look_ups_wrapped
  ldr w16, [x16, #:lo12:memoir_hidden_look_ups_wrapped]
  cbz w16, 1f
  add x17, x0, #1
  cmp x17, #1
  b.ls 1f
  b memoir_hidden_look_up
1:
  adrp x16, memoir_hidden_real_dlsym
  ldr x16, [x16, #:lo12:memoir_hidden_real_dlsym]
  br x16
  .cfi_endproc
  .size memoir_hidden_dlsym, .-memoir_hidden_dlsym
)");
#endif

namespace memoir {
namespace {

using Dlsym = void* (*)(void*, const char*);
constinit std::atomic<void (*)()> after_look_up{nullptr}, watcher{nullptr};
// Bits of memoir_hidden_look_ups_wrapped: WrapLookUps and WatchLookUps are in effect.
constexpr std::uint32_t kWrapped = 1, kWatched = 2;

void Set(std::uint32_t what, bool on) {
  if (on) {
    __atomic_fetch_or(&memoir_hidden_look_ups_wrapped, what, __ATOMIC_ACQ_REL);
  } else {
    __atomic_fetch_and(&memoir_hidden_look_ups_wrapped, ~what, __ATOMIC_ACQ_REL);
  }
}

// A forked child inherits the word memoir_hidden_look_ups_wrapped, but not the ring.
bool AreWrapped() {
  return (__atomic_load_n(&memoir_hidden_look_ups_wrapped, __ATOMIC_ACQUIRE) & kWrapped) != 0 && OpenRing() != nullptr;
}

void CallWatcher() {
  const ErrnoKeeper errno_keeper;
  if (void (*look)() = watcher.load(std::memory_order_acquire); look != nullptr) look();
}

}  // namespace

void WrapLookUps(bool wrapped) { Set(kWrapped, wrapped); }

void WatchLookUps(void (*look)()) {
  watcher.store(look, std::memory_order_release);
  Set(kWatched, look != nullptr);
}

// Called in place of dlsym, except with the handles RTLD_DEFAULT and RTLD_NEXT. Neither `after` nor WrapperFor calls
// dlsym or similar functions, so dlerror still returns the real function's error.
extern "C" void* memoir_hidden_look_up(void* handle, const char* name) {
  void* found = reinterpret_cast<Dlsym>(memoir_hidden_real_dlsym)(handle, name);
  if (found != nullptr) CallWatcher();
  if (!AreWrapped()) return found;
  const ErrnoKeeper errno_keeper;
  if (void (*after)() = after_look_up.load(std::memory_order_acquire); after != nullptr) after();
  return found == nullptr ? nullptr : WrapperFor(name, found);
}

void* RealDlsym() { return memoir_hidden_real_dlsym; }

void* FindRealDlsym() {
  if (memoir_hidden_real_dlsym == nullptr) memoir_hidden_real_dlsym = const_cast<void*>(FindImported("dlsym"));
  return memoir_hidden_real_dlsym;
}

void* DlsymHook(void (*after)()) {
#if defined(__x86_64__) || defined(__aarch64__)
  after_look_up.store(after, std::memory_order_release);
  return FindRealDlsym() == nullptr ? nullptr : reinterpret_cast<void*>(&memoir_hidden_dlsym);
#else
  static_cast<void>(after);
  return nullptr;
#endif
}

namespace {

constexpr int kFirstWithLaterSizes = 3020;  // the first CUDA whose cuMemAlloc and similar functions take 64-bit sizes

// A function whose parameters changed in some version of CUDA. A look-up passes the version whose function it wants.
// All other functions have the same parameters in all versions since kFirstWithLaterSizes
// (tests/interpose/cuda/test_versions.py).
struct VersionedCall {
  const char* name;
  int later;                 // first CUDA version with the later parameters
  const char* earlier_name;  // name of the wrapped call with the earlier parameters; nullptr: not wrapped
  const char* later_name;
};
constexpr VersionedCall kVersionedCalls[] = {
    {"cuGetProcAddress", 12000, "cuGetProcAddress", "cuGetProcAddress_v2"},  // cuGetProcAddress can also look up itself
    {"cuCtxSynchronize", 13000, "cuCtxSynchronize", "cuCtxSynchronize_v2"},
    {"cuStreamBeginCapture", 10010, nullptr, "cuStreamBeginCapture_v2"},
    {"cuCtxCreate", 11040, nullptr, nullptr},  // not wrapped: its parameters changed again in CUDA 12.5
};

const VersionedCall* FindVersionedCall(const char* name) {
  for (const VersionedCall& call : kVersionedCalls) {
    if (std::strcmp(call.name, name) == 0) return &call;
  }
  return nullptr;
}

// Replaces `*function`, which a look-up has found under `name` for the CUDA version `version`, by its wrapper.
void Wrap(const char* name, void** function, int version) {
  if (name == nullptr || function == nullptr || *function == nullptr || version < kFirstWithLaterSizes) return;
  if (!AreWrapped()) return;
  const ErrnoKeeper errno_keeper;
  if (const VersionedCall* const call = FindVersionedCall(name)) {
    const char* const full = version >= call->later ? call->later_name : call->earlier_name;
    if (full != nullptr) *function = WrapperFor(full, *function);
  } else {
    *function = WrapperForShortName(name, *function);
  }
}

template <class... Rest>
int GetProcAddress(const LookUpTag&, int (*original)(const char*, void**, int, unsigned long long, Rest...),
                   const char* name, void** function, int version, unsigned long long flags, Rest... rest) {
  const int result = original(name, function, version, flags, rest...);
  if (result == 0) Wrap(name, function, version);
  return result;
}

// The first CUDA version that has cudaGetDriverEntryPoint. cudaGetDriverEntryPoint returns driver functions for the
// CUDA version with which the runtime was built. Memoir knows only that this version is at least kFirstWithEntryPoints.
// So it does not wrap a function whose parameters changed after kFirstWithEntryPoints.
constexpr int kFirstWithEntryPoints = 11030;

int GetEntryPoint(const LookUpTag&, int (*original)(const char*, void**, unsigned long long, int*), const char* name,
                  void** function, unsigned long long flags, int* status) {
  const int result = original(name, function, flags, status);
  if (result != 0 || name == nullptr) return result;
  const VersionedCall* const call = FindVersionedCall(name);
  if (call == nullptr || call->later <= kFirstWithEntryPoints) Wrap(name, function, kFirstWithEntryPoints);
  return result;
}

int GetEntryPointByVersion(const LookUpTag&, int (*original)(const char*, void**, unsigned, unsigned long long, int*),
                           const char* name, void** function, unsigned version, unsigned long long flags, int* status) {
  const int result = original(name, function, version, flags, status);
  if (result == 0) Wrap(name, function, static_cast<int>(version));
  return result;
}

constexpr WrappedCall kCalls[] = {
    Wrapped<"cuGetProcAddress", &GetProcAddress<>>(),
    Wrapped<"cuGetProcAddress_v2", &GetProcAddress<int*>>(),
    Wrapped<"cudaGetDriverEntryPoint", &GetEntryPoint>(),
    Wrapped<"cudaGetDriverEntryPoint_ptsz", &GetEntryPoint>(),
    Wrapped<"cudaGetDriverEntryPointByVersion", &GetEntryPointByVersion>(),
    Wrapped<"cudaGetDriverEntryPointByVersion_ptsz", &GetEntryPointByVersion>(),
};

}  // namespace

std::span<const WrappedCall> LookUpCalls() { return kCalls; }

}  // namespace memoir
