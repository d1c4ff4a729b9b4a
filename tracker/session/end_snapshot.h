// The snapshot of what a program ends with: at an exception that ends it, or where it fails.
//
// exit() alone knows the exit code, when the interpreter and the last tensors are gone. So the snapshot of a program
// that fails is made before, and taken away in exit() where the code is 0. A program that ends by _exit() or by a
// signal stops no recording and has none.
#ifndef TRACKER_SESSION_END_SNAPSHOT_H_
#define TRACKER_SESSION_END_SNAPSHOT_H_

#include <memory>
#include <string>

#include "tracker/session/snapshots.h"
#include "tracker/writer/writer.h"

namespace memoir {

// Before anything is taken down. `exception`: what ends the program, or "".
void SnapshotAtEnd(std::shared_ptr<Snapshots> snapshots, Writer& writer, EndReason reason,
                   const std::string& exception);

}  // namespace memoir

#endif  // TRACKER_SESSION_END_SNAPSHOT_H_
