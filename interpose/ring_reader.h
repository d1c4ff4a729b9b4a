// The consuming side of the ring: the writer thread of a living process, and memoir-drain on a dead one's file, read
// committed records through this and hand segments back.
//
// One reader per ring at a time. In a living process it shares memory with the producers and relies on `committed`
// (acquire); on a file it reads the file into private memory and trusts nothing in it: every length is checked, down
// to the records' own, and a damaged segment yields what comes before the damage. There, Scan yields every segment
// that was not free from its first record on: what the capture already has is told by the record index.
//
// One thread at a time; the views stay valid until ReleaseConsumed has returned their segment, texts and pointers
// until the reader goes.
#ifndef INTERPOSE_RING_READER_H_
#define INTERPOSE_RING_READER_H_

#include <cstddef>
#include <cstdint>

#include "interpose/export.h"
#include "interpose/ring.h"

namespace memoir {

// Committed, not yet consumed records of one segment.
struct SegmentView {
  std::uint32_t segment;
  std::uint32_t thread;
  std::uint64_t first_record;  // index on its thread of the record at `begin`
  const std::uint8_t* begin;
  const std::uint8_t* end;
  bool full;  // its owner has left it: nothing will be added
  // Of a file: how many of the segment's records the dead process's own reader had consumed. They are on file, or were,
  // in a part that is evicted by now.
  std::uint64_t consumed_records;
};

struct ThreadView {
  std::uint32_t thread;
  std::uint64_t os_id;
  std::uint64_t torch_id;
  std::uint32_t works_for;
  char name[16];
  bool retired;
};

struct NameView {
  std::uint32_t id;
  bool is_module;
  bool is_code;
  const char* text;  // not terminated; of a module its path, of code its function
  std::size_t text_bytes;
  const char* schema;  // of a module its class, of code its file
  std::size_t schema_bytes;
  const std::uint8_t* written;  // one byte per argument; of a module the text of its root
  std::size_t arguments;
};

struct RingClock {
  std::uint64_t tick;
  std::uint64_t monotonic_ns;
  std::uint64_t realtime_ns;
};

class MEMOIR_INTERPOSE_API RingReader {
 public:
  struct State;  // ring_reader_state.h

  // The ring of this process; nullptr when none is open.
  static RingReader* OpenLive();
  // A dead process's ring file, by path; nullptr with one line in `error` (not a ring, other version, still in
  // use), and EAGAIN in errno where another process holds its lock.
  static RingReader* OpenFile(const char* path, char* error, std::size_t error_bytes);
  ~RingReader();
  // NOLINTNEXTLINE(misc-new-delete-overloads): readers are made in place, without the C++ library
  static void operator delete(void* reader);

  // Bytes of the record at `at`: what its kind and lengths need, within [at, end); 0: none that can be trusted. Of a
  // living process too, whose wild stores must not take the reader along.
  static std::size_t RecordBytes(const std::uint8_t* at, const std::uint8_t* end);

  // Up to `capacity` segments with unconsumed records, ordered by thread and first_record, the least ones first.
  // Returns how many.
  std::size_t Scan(SegmentView* views, std::size_t capacity);
  // Remembers that records before `consumed` (inside the segment's view) will not be asked for again. Does not free.
  void Consume(const SegmentView& view, const std::uint8_t* consumed, std::uint64_t records);
  // Returns every fully consumed, full segment and every retired, fully consumed slot to the pool. Call after the
  // chunk is on disk.
  void ReleaseConsumed();

  bool FindThread(std::uint32_t thread, ThreadView* view) const;
  bool FindName(std::uint32_t id, NameView* view) const;
  RingCounters Counters() const;
  void CountPart() const;  // a part of the capture begins: RingCounters::parts

  // What memoir-drain needs of the dead process.
  const char* capture_folder() const;
  const char* file_stem() const;
  const void* process_info(std::size_t* size) const;
  RingClock last_clock() const;
  void set_last_clock(const RingClock& clock);  // living process: the writer notes it at every pass

  // Living process: makes sure that the ring is locked, whatever descriptors the program has closed.
  void HoldLock();
  // Sleeps until the pool runs low, Wake is called, or the time is over.
  void WaitForWork(std::uint64_t max_ns);
  void Wake();

 private:
  static RingReader* Make(State* state);  // takes the state; nullptr without memory
  explicit RingReader(State* state);
  RingReader(const RingReader&) = delete;
  RingReader& operator=(const RingReader&) = delete;
  State* state_;
};

}  // namespace memoir

#endif  // INTERPOSE_RING_READER_H_
