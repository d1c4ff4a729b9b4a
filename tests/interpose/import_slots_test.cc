// Import slots of small libraries: bound lazily or at once, sealed after loading, loaded RTLD_LOCAL, or later.
#include "interpose/imports/import_slots.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace memoir {
namespace {

using Function = int (*)();
constexpr const char* kName = "slots_answer";
Function original = nullptr;

int Replacement() { return original() + 100; }
int Another() { return -1; }

// Loaded so that no other library can see it, as Python does with torch's.
void* Load(const std::string& name) {
  void* library =
      dlopen((std::string(MEMOIR_SLOTS_FOLDER) + "/libslots_" + name + ".so").c_str(), RTLD_LAZY | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  return library;
}

class ImportSlots : public ::testing::Test {
 protected:
  void TearDown() override {
    RestoreImports(kName, reinterpret_cast<const void*>(original), reinterpret_cast<const void*>(&Replacement));
    for (void* library : libraries_) dlclose(library);
  }
  Function Get(const std::string& library, const char* function) {
    libraries_.push_back(Load(library));
    return reinterpret_cast<Function>(dlsym(libraries_.back(), function));
  }
  static bool FindOriginal() {
    original = reinterpret_cast<Function>(const_cast<void*>(FindImported(kName)));
    return original != nullptr;
  }
  static std::size_t Redirect(std::size_t* refused = nullptr) {
    return RedirectImports(kName, reinterpret_cast<const void*>(original), reinterpret_cast<void*>(&Replacement),
                           refused);
  }
  std::vector<void*> libraries_;
};

TEST_F(ImportSlots, BoundAtOnceAndSealed) {
  const Function ask = Get("caller_now", "slots_ask"), by_address = Get("caller_now", "slots_ask_by_address");
  ASSERT_TRUE(FindOriginal());
  std::size_t refused = 9;
  EXPECT_GE(Redirect(&refused), 1u);
  EXPECT_EQ(refused, 0u);
  EXPECT_EQ(ask(), 101);
  EXPECT_EQ(by_address(), 101);
}

TEST_F(ImportSlots, LazyAndNotYetBound) {
  const Function ask = Get("caller_lazy", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  EXPECT_GE(Redirect(), 1u);
  EXPECT_EQ(ask(), 101);
  EXPECT_EQ(ask(), 101) << "the loader has bound it over the hook";
}

TEST_F(ImportSlots, LazyAndBoundBefore) {
  const Function ask = Get("caller_lazy", "slots_ask");
  EXPECT_EQ(ask(), 1);
  ASSERT_TRUE(FindOriginal());
  EXPECT_GE(Redirect(), 1u);
  EXPECT_EQ(ask(), 101);
}

TEST_F(ImportSlots, LoadedLater) {
  Get("caller_now", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  Redirect();
  const std::uint64_t before = ObjectsLoadedSoFar();
  EXPECT_EQ(ObjectsLoadedSoFar(), before);
  const Function late = Get("caller_late", "slots_ask");
  EXPECT_GT(ObjectsLoadedSoFar(), before);
  EXPECT_EQ(late(), 1);
  EXPECT_GE(Redirect(), 1u);
  EXPECT_EQ(late(), 101);
  EXPECT_EQ(Redirect(), 0u) << "what is redirected already is not touched again";
}

TEST_F(ImportSlots, TakenBack) {
  const Function now = Get("caller_now", "slots_ask"), lazy = Get("caller_lazy", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  const std::size_t changed = Redirect();
  EXPECT_EQ(RestoreImports(kName, reinterpret_cast<const void*>(original), reinterpret_cast<const void*>(&Replacement)),
            changed);
  EXPECT_EQ(now(), 1);
  EXPECT_EQ(lazy(), 1);
}

TEST_F(ImportSlots, WhatAnotherHasPutThereStays) {
  const Function ask = Get("caller_now", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  const void* real = reinterpret_cast<const void*>(original);
  RedirectImports(kName, real, reinterpret_cast<void*>(&Another));
  EXPECT_EQ(Redirect(), 0u);
  EXPECT_EQ(ask(), -1);
  EXPECT_EQ(RestoreImports(kName, real, reinterpret_cast<const void*>(&Replacement)), 0u);
  EXPECT_EQ(ask(), -1);
  RestoreImports(kName, real, reinterpret_cast<const void*>(&Another));
  EXPECT_EQ(ask(), 1);
}

TEST_F(ImportSlots, AnObjectWithoutTheImportIsLeftAlone) {
  const Function nothing = Get("bystander", "slots_nothing");
  EXPECT_EQ(FindImported(kName), nullptr) << "a hook whose original nobody has must not exist";
  EXPECT_EQ(RedirectImports(kName, nullptr, reinterpret_cast<void*>(&Another)), 0u);
  EXPECT_EQ(nothing(), 7);
}

struct Sealed {
  void* begin;
  std::size_t bytes;
};

int FindSealedOfCaller(dl_phdr_info* info, std::size_t, void* context) {
  if (std::strstr(info->dlpi_name, "slots_caller_now") == nullptr) return 0;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_GNU_RELRO) continue;
    const std::uintptr_t begin = (info->dlpi_addr + segment.p_vaddr) & ~(page - 1);
    const std::uintptr_t end = (info->dlpi_addr + segment.p_vaddr + segment.p_memsz) & ~(page - 1);
    *static_cast<Sealed*>(context) = {reinterpret_cast<void*>(begin), end - begin};
  }
  return 1;
}

TEST_F(ImportSlots, AnObjectThatIsBeingLoadedIsLeftAloneUntilItIs) {
  const Function ask = Get("caller_now", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  Sealed sealed{};
  dl_iterate_phdr(&FindSealedOfCaller, &sealed);
  ASSERT_GT(sealed.bytes, 0u);
  ASSERT_EQ(mprotect(sealed.begin, sealed.bytes, PROT_READ | PROT_WRITE), 0);  // as the loader has it until it is done
  const void* real = reinterpret_cast<const void*>(original);
  void* replacement = reinterpret_cast<void*>(&Replacement);
  std::size_t loading = 0;
  EXPECT_EQ(RedirectImports(kName, real, replacement, nullptr, &loading), 0u);
  EXPECT_GE(loading, 1u);
  EXPECT_EQ(ask(), 1);
  ASSERT_EQ(mprotect(sealed.begin, sealed.bytes, PROT_READ), 0);
  EXPECT_GE(RedirectImports(kName, real, replacement, nullptr, &loading), 1u);
  EXPECT_EQ(loading, 0u);
  EXPECT_EQ(ask(), 101);
}

struct Answering {
  virtual int Answer() const { return 1; }
  virtual ~Answering() = default;
};
struct Derived : Answering {  // so that the compiler cannot know which one is called
  int Answer() const override { return 3; }
};
int AnswerInstead(const Answering*) { return 2; }

// A class's table of virtual functions is sealed as import slots are.
TEST(RedirectSlot, StoresInATableOfVirtualFunctions) {
  static Answering object;
  static Derived derived;
  Answering* const both[] = {&object, &derived};
  volatile int which = 0;
  Answering* const unknown = both[which];
  void** slot = *reinterpret_cast<void***>(&object);
  void* const before = *slot;
  ASSERT_TRUE(RedirectSlot(slot, before, reinterpret_cast<void*>(&AnswerInstead)));
  EXPECT_EQ(unknown->Answer(), 2);
  EXPECT_FALSE(RedirectSlot(slot, before, reinterpret_cast<void*>(&AnswerInstead))) << "it holds something else";
  ASSERT_TRUE(RedirectSlot(slot, reinterpret_cast<void*>(&AnswerInstead), before));
  EXPECT_EQ(unknown->Answer(), 1);
  std::vector<void*> heap(1, before);
  EXPECT_FALSE(RedirectSlot(heap.data(), before, reinterpret_cast<void*>(&AnswerInstead))) << "of no loaded object";
}

// mprotect is forbidden, as a hardened container may do. In a child, which then only exits.
bool ForbidMprotect() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog filter{4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST_F(ImportSlots, WithoutPermissionNothingChanges) {
  const Function ask = Get("caller_now", "slots_ask");
  ASSERT_TRUE(FindOriginal());
  const pid_t child = fork();
  if (child == 0) {
    if (!ForbidMprotect()) _exit(77);
    std::size_t refused = 0;
    const std::size_t changed = Redirect(&refused);
    _exit(changed == 0 && refused >= 1 && ask() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no seccomp filters here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memoir
