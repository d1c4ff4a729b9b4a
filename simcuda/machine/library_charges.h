// Charges for memory that NVIDIA's libraries take for their own use. No CUDA call allocates this memory, so each charge
// is reported to an observer.
//
// Any thread. Sizes are bytes.
#ifndef SIMCUDA_MACHINE_LIBRARY_CHARGES_H_
#define SIMCUDA_MACHINE_LIBRARY_CHARGES_H_

#include <cstdint>

#include "simcuda/machine/device.h"

namespace memoir::simcuda {

// Called on the charging thread: from now on the charge `id` is `bytes` of the device; 0 bytes end it. If `id` is 0, a
// charge of `bytes` was refused. `library`: the real library's file name. The observer may query the device's free
// memory.
using LibraryObserver = void (*)(int device, const char* library, unsigned long long id, unsigned long long bytes);

// Sets the observer, once and until the process ends. The observer immediately receives all existing charges.
void ObserveLibraries(LibraryObserver observer);

// The charges of one library object. The destructor refunds them.
class LibraryCharge {
 public:
  explicit LibraryCharge(const char* library) : library_(library) {}
  ~LibraryCharge();
  LibraryCharge(const LibraryCharge&) = delete;
  LibraryCharge& operator=(const LibraryCharge&) = delete;

  // Adds to the charge. False if the device has too little memory left. All calls on one object must use the same
  // device, and must not run on two threads at once.
  bool Add(Device& device, std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  const char* const library_;
  Device* device_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_LIBRARY_CHARGES_H_
