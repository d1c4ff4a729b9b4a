// A turn at looking at the loader's list of objects. dl_iterate_phdr takes a lock of the loader's, which a child would
// inherit locked if the process forked meanwhile: forks wait for whoever has the turn, and so there is one at a time.
//
// libc only. Any thread, but not in a signal handler.
#ifndef INTERPOSE_LOADER_LOOK_H_
#define INTERPOSE_LOADER_LOOK_H_

namespace memoir {

// Before the first turn; by one thread at a time. Again does nothing.
void LetForksWaitForLooks();

class LoaderLook {
 public:
  // kWaits: until it has the turn. kGivesUp: for some milliseconds at most. For callers that may hold any lock, one of
  // the loader's or of torch's allocator included.
  enum class Patience { kWaits, kGivesUp };
  explicit LoaderLook(Patience patience);
  ~LoaderLook();
  LoaderLook(const LoaderLook&) = delete;
  LoaderLook& operator=(const LoaderLook&) = delete;

  bool has_turn() const { return has_turn_; }

 private:
  bool has_turn_;
};

}  // namespace memoir

#endif  // INTERPOSE_LOADER_LOOK_H_
