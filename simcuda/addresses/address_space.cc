#include "simcuda/addresses/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace memoir::simcuda {
namespace {

// The address of the first region: above the address sanitizer's areas, and below programs and libraries. The address
// is only a hint. 0 under the thread sanitizer, which leaves no room there.
#ifdef __SANITIZE_THREAD__
constexpr std::uint64_t kFirstRegion = 0;
#else
constexpr std::uint64_t kFirstRegion = 0x2000'0000'0000;
#endif

constexpr std::uint64_t kPage = 4096;

// The limit of this process's address space in bytes; UINT64_MAX without `ulimit -v`.
std::uint64_t AddressLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

// Maps readable and writable memory: private, and without reserve, so that Linux counts only written pages as
// committed. With vm.overcommit_memory=2 Linux counts such a mapping in full, and refuses it if it is too large. After
// a refusal, maps an unnamed sparse file instead; only its written pages count.
void* Map(std::uint64_t hint, std::uint64_t bytes) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  void* const where = reinterpret_cast<void*>(hint);
  for (const int fixed : {hint == 0 ? 0 : MAP_FIXED_NOREPLACE, 0}) {
    void* const got = mmap(where, bytes, kProtection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (got != MAP_FAILED) return got;
  }
  const int file = memfd_create("memoir-simulated-gpu", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* got = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0)
    got = mmap(where, bytes, kProtection, MAP_SHARED | MAP_NORESERVE, file, 0);
  const int error = errno;
  close(file);
  errno = error;
  return got == MAP_FAILED ? nullptr : got;
}

}  // namespace

bool HasAddressLimit() { return AddressLimit() != UINT64_MAX; }

void AddressSpace::Reserve(int ordinal, std::uint64_t wanted, std::uint64_t least) {
  // Takes at most half of the process's address limit, because the program needs the rest.
  wanted = std::max(std::min(wanted, AddressLimit() / 2), least);
  const std::uint64_t hint = kFirstRegion == 0 ? 0 : kFirstRegion + static_cast<std::uint64_t>(ordinal) * wanted;
  void* region = nullptr;
  for (std::uint64_t bytes = wanted; region == nullptr; bytes = std::max(bytes / 2, least)) {
    region = Map(hint, bytes);
    size_ = region == nullptr ? 0 : bytes;
    if (bytes == least) break;
  }
  if (region == nullptr) return;
  madvise(region, size_, MADV_DONTDUMP);
  madvise(region, size_, MADV_NOHUGEPAGE);  // with huge pages a small copy would occupy 2 MiB
  base_ = reinterpret_cast<std::uint64_t>(region);
  holes_.Give(base_, size_);
}

std::uint64_t AddressSpace::Take(std::uint64_t bytes, std::uint64_t alignment) {
  const auto& holes = holes_.all();
  const auto hole = std::ranges::find_if(holes, [&](const auto& each) { return Suffices(each, bytes, alignment); });
  if (hole == holes.end()) return 0;
  const std::uint64_t address = RoundUp(hole->first, alignment);
  holes_.Cut(hole, address, bytes);
  return address;
}

std::uint64_t AddressSpace::TakeHighest(std::uint64_t bytes, std::uint64_t alignment) {
  const std::uint64_t asked = bytes + alignment - kPage;
  const auto& holes = holes_.all();
  for (auto hole = holes.end(); hole != holes.begin();) {
    --hole;
    const auto [begin, size] = *hole;
    if (size < asked) continue;
    const std::uint64_t address = RoundUp(begin + size - asked, alignment);
    holes_.Cut(hole, address, bytes);
    return address;
  }
  return 0;
}

void AddressSpace::Give(std::uint64_t address, std::uint64_t bytes) { holes_.Give(address, bytes); }

}  // namespace memoir::simcuda
