#include "tools/model/replay/record_counts.h"

#include <algorithm>
#include <cstdint>

namespace memoir {

void RecordCounts::CountRun(ThreadReplay& thread, RunCursor& cursor) {
  const Run& run = cursor.run;
  const std::uint64_t end = run.first_record + run.record_count;
  if (thread.next_record_known && run.first_record < thread.next_record && run.record_count != 0) {
    context_.report().repeated_records += std::min(end, thread.next_record) - run.first_record;
    cursor.was_shown = end <= thread.next_record;
    if (cursor.was_shown) return;
  }
  // If earlier parts are missing or evicted, records before the first run of a thread do not count as lost, because
  // these parts are reported already.
  const bool from_first = !passed_evicted_ && context_.summary().starts_at_first_chunk;
  // `repeated_before` is the number of records in pattern rows since the previous run. If that run is missing, it is
  // unknown whether records were lost.
  const bool known =
      run.repeated_before == 0 ? thread.next_record_known || from_first : thread.run_end_known || from_first;
  const std::uint64_t expected = std::max(thread.run_end + run.repeated_before, thread.next_record);
  if (known && run.first_record > expected) cursor.lost_records = run.first_record - expected;
  context_.report().lost_records += cursor.lost_records;
  thread.run_end = std::max(thread.run_end, end);
  thread.next_record = std::max(thread.next_record, end);
  thread.next_record_known = thread.run_end_known = true;
}

void RecordCounts::CountPatternRows(const Payload& payload) {
  for (const v1::RepeatedRecords& records : payload.repeated_records) {
    ThreadReplay& thread = threads_.Of(context_.ids().thread(records.thread()));
    thread.next_record = std::max<std::uint64_t>(thread.next_record, records.end_record());
    thread.next_record_known = true;
  }
}

void RecordCounts::PassEvicted() {
  passed_evicted_ = true;
  threads_.ForEach([](ThreadReplay& thread) { thread.next_record_known = thread.run_end_known = false; });
}

}  // namespace memoir
