// What NVIDIA's libraries take of a card for themselves, each charge told to whoever observes: no call of CUDA's gets
// it.
//
// Any thread. Sizes are bytes.
#ifndef INTERPOSE_SIMCUDA_LIBRARY_CHARGES_H_
#define INTERPOSE_SIMCUDA_LIBRARY_CHARGES_H_

#include <cstdint>

#include "interpose/simcuda/device.h"

namespace memoir::simcuda {

// From here on `id` holds `bytes` of the device, 0: none. `id` 0: the device had not so much left. `library` is the
// real library's file name. Called on the thread that charges; it may ask what the device has left.
using LibraryObserver = void (*)(int device, const char* library, unsigned long long id, unsigned long long bytes);

// For ever; one observer. What is charged already is told at once.
void ObserveLibraries(LibraryObserver observer);

// One holder's charges, which end with it.
class LibraryCharge {
 public:
  explicit LibraryCharge(const char* library) : library_(library) {}
  ~LibraryCharge();
  LibraryCharge(const LibraryCharge&) = delete;
  LibraryCharge& operator=(const LibraryCharge&) = delete;

  // False: the device has not so much left. Always the same device; not on two threads at once.
  bool Add(Device& device, std::uint64_t bytes);
  std::uint64_t bytes() const { return bytes_; }

 private:
  const char* const library_;
  Device* device_ = nullptr;
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_LIBRARY_CHARGES_H_
