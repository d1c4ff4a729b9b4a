// The consuming side of the ring. The writer thread of a living process, and memoir-drain on the file of a dead
// process, read committed records with a RingReader and return ring extents to the pool.
//
// One reader per ring at a time. In a living process the reader shares memory with the producers and relies on
// `committed` (acquire order). A file is read into private memory, and nothing in it is trusted: every length is
// checked, including the lengths in records, and a damaged extent yields the records before the damage. For a file,
// Scan yields every extent that was not free, from its first record on; the record index shows which records the
// capture already has.
//
// A reader may be used by one thread at a time; only Wake may be called on any thread. Views stay valid until
// ReleaseConsumed returns their extent; texts and pointers stay valid until the reader is destroyed.
#ifndef INTERPOSE_RING_RING_READER_H_
#define INTERPOSE_RING_RING_READER_H_

#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"
#include "interpose/system/export.h"

namespace memoir {

// The committed, not yet consumed records of one extent.
struct RingExtentView {
  std::uint32_t segment;
  std::uint32_t thread;
  std::uint64_t first_record;  // index, on its thread, of the record at `begin`
  const std::uint8_t* begin;
  const std::uint8_t* end;
  bool full;  // the extent's owner has left it and adds nothing more
  // For a file: how many of the extent's records the dead process's own reader had consumed. They are in the capture,
  // or were in a part that has been evicted since. 0 for a living process.
  std::uint64_t consumed_records;
};

// A copy of a thread slot's fields (ThreadSlot) that describe its thread.
struct ThreadView {
  std::uint32_t thread;
  std::uint64_t os_id;
  std::uint64_t torch_id;
  std::uint32_t works_for;
  char name[16];
  bool retired;  // the thread has ended
};

class MEMOIR_INTERPOSE_API RingReader {
 public:
  struct State;  // ring_reader_state.h

  // Opens the ring of this process. nullptr if no ring is open.
  static RingReader* OpenLive();
  // Opens a dead process's ring file. On failure (not a ring, other version, still in use) returns nullptr, writes one
  // line into `error`, and sets errno to EAGAIN if another process holds the file's lock.
  static RingReader* OpenFile(const char* path, char* error, std::size_t error_bytes);
  ~RingReader();
  // NOLINTNEXTLINE(misc-new-delete-overloads): readers are made in place, without the C++ library
  static void operator delete(void* reader);

  // Returns the bytes of the valid record at `at`, within [at, end). 0 if it is not valid. Records of a living process
  // are checked as well, because wild stores of the program must not harm the reader.
  static std::size_t RecordBytes(const std::uint8_t* at, const std::uint8_t* end);

  // Stores up to `capacity` extents with unconsumed records into `views`, ordered by thread and first_record. Returns
  // how many it stored.
  std::size_t Scan(RingExtentView* views, std::size_t capacity);
  // Marks the view's records at addresses below `consumed` as consumed; `records` is their number. Frees nothing.
  void Consume(const RingExtentView& view, const std::uint8_t* consumed, std::uint64_t records);
  // Returns every fully consumed, full extent to the pool, and frees every retired slot without extents. Call it after
  // the chunk is on disk.
  void ReleaseConsumed();

  // Fill `view`. False if the ring has no such thread or name.
  bool FindThread(std::uint32_t thread, ThreadView* view) const;
  bool FindName(std::uint32_t id, NameView* view) const;
  RingCounters Counters() const;
  void CountPart() const;  // increments RingCounters::parts

  // Properties of the dead process, for memoir-drain.
  const char* capture_folder() const;
  const char* file_stem() const;
  const void* process_info(std::size_t* size) const;
  RingClock last_clock() const;
  // Sets the value that last_clock returns. Called only in a living process, each time the writer reads the ring.
  void set_last_clock(const RingClock& clock);

  // Sleeps until the pool runs low, Wake is called, or `max_ns` nanoseconds are over. Afterwards lets the ring grow
  // (ring_growth.h). Returns at once for a file.
  void WaitForWork(std::uint64_t max_ns);
  // Ends the sleep of WaitForWork. May be called on any thread.
  void Wake();

 private:
  static RingReader* Make(State* state);  // takes ownership of `state`; nullptr without memory
  explicit RingReader(State* state);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;
  State* state_;
};

}  // namespace memoir

#endif  // INTERPOSE_RING_RING_READER_H_
