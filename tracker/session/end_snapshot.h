// Makes a snapshot at the end of a program: when an exception ends the program, or when the program's exit code is not
// 0.
//
// The exit code is known only inside of exit(), when the interpreter and the last tensors no longer exist. So the
// snapshot is made earlier, and removed in exit() if the code is 0. A program that ends by _exit() or by a signal does
// not stop its recording and has no such snapshot.
#ifndef TRACKER_SESSION_END_SNAPSHOT_H_
#define TRACKER_SESSION_END_SNAPSHOT_H_

#include <memory>
#include <string>

#include "tracker/session/recording_snapshots.h"
#include "tracker/writer/writer.h"

namespace memoir {

// Call before the hooks and the writer are stopped. `exception`: the exception that ends the program, or "".
void SnapshotAtEnd(std::shared_ptr<RecordingSnapshots> snapshots, Writer& writer, EndReason reason,
                   const std::string& exception);

}  // namespace memoir

#endif  // TRACKER_SESSION_END_SNAPSHOT_H_
