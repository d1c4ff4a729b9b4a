// Capture of streams into graphs, and what must not be called meanwhile.
//
//   BeginCapture(s) ── work on s; an event recorded on s and waited for by t draws t in ── EndCapture(s): the graph
//
// A graph here is a number of nodes, and the bytes that they write: after a replay those are unknown, because kernels
// do nothing. What is exact is the state that programs ask about (is this stream capturing, which capture) and the
// errors for calls that CUDA forbids while a capture is under way; streams that were drawn in and never joined again
// are not detected.
//
// Any thread.
#ifndef INTERPOSE_SIMCUDA_CAPTURE_H_
#define INTERPOSE_SIMCUDA_CAPTURE_H_

#include <cstdint>
#include <vector>

#include "interpose/simcuda/byte_ranges.h"
#include "interpose/simcuda/streams.h"

namespace memoir::simcuda {

enum class CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };  // as CUDA numbers them
enum class CaptureState { kNone = 0, kActive = 1, kInvalidated = 2 };

struct Graph {
  std::uint64_t nodes = 0;  // launches, copies, fills, host functions
  ByteRanges writes;
};

// False: the stream captures already, or may not (the default stream).
bool BeginCapture(Stream& stream, CaptureMode mode);

enum class EndResult { kGraph, kNotCapturing, kNotTheOrigin, kInvalidated };
// Ends the capture that began on `stream`; `*graph` is a new one, or null.
EndResult EndCapture(Stream& stream, Graph** graph);

CaptureState StateOf(const Stream& stream);
bool AnyCapture();                              // of any stream
std::uint64_t CaptureId(const Stream& stream);  // 0: none
Graph* GraphOf(const Stream& stream);           // being captured; null: none

// `stream` waits for `event`: if that was recorded in a capture which is still under way, the stream joins it. False:
// it is in another one.
bool JoinByEvent(Stream& stream, const Event& event);
void LeaveCapture(Stream& stream);

// Work was queued on `stream`. True: it is captured, and does not run now.
bool AddNode(Stream& stream);

// What captured work writes, at each replay. Of the capture on that stream, if there is one; of all captures.
void NoteWrite(Stream& stream, ByteRange range);
void NoteWriteOfAny(ByteRange range);

// A graph that can be replayed: its nodes, and what they write. A handle of its own, until it is destroyed.
void* NewExecutable(const Graph& graph);
void DestroyExecutable(void* executable);
// False for what is none.
bool UpdateExecutable(void* executable, const Graph& graph);
// Replayed on `stream`: queues as many pieces of work as it has nodes and forgets what it writes; or, where the stream
// is captured, is one node there that writes the same.
void Replay(void* executable, Stream& stream);

// Whether CUDA would refuse a call that is not safe while capturing (cudaMalloc, cudaEventQuery ...), here and now.
// Refused calls invalidate the captures that forbid them.
bool RefusedByCapture();
void Invalidate(Stream& stream);
// Sets the calling thread's mode, and returns the one before.
CaptureMode ExchangeThreadMode(CaptureMode mode);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_CAPTURE_H_
