// CUDA's capture of streams into graphs, and the calls that such a capture forbids.
//
//   BeginCapture(s) ── work on s; a stream joins if it waits for an event of s ── EndCapture(s): the graph
//
// A graph stores only the number of its nodes, and the ranges of bytes that they write. After a replay these bytes are
// unknown (contents.h), because kernels do nothing. Two things are exact: the state that programs query (whether a
// stream is capturing, and in which capture), and the errors of calls that CUDA forbids during a capture. CUDA's error
// for a stream that joined a capture and was not joined back is not simulated.
//
// Any thread.
#ifndef SIMCUDA_STREAMS_GRAPH_CAPTURE_H_
#define SIMCUDA_STREAMS_GRAPH_CAPTURE_H_

#include <cstdint>
#include <vector>

#include "simcuda/contents/byte_ranges.h"
#include "simcuda/streams/streams.h"

namespace memoir::simcuda {

enum class CaptureMode { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };  // as CUDA numbers them
enum class CaptureState { kNone = 0, kActive = 1, kInvalidated = 2 };

struct Graph {
  std::uint64_t nodes = 0;  // launches, copies, fills, host functions
  ByteRanges writes;
};

// Begins a capture. False if the stream is being captured already, or is a default stream.
bool BeginCapture(Stream& stream, CaptureMode mode);

enum class EndResult { kGraph, kNotCapturing, kNotTheOrigin, kInvalidated };
// Ends the capture that began on `stream`. `*graph` is a new graph, or nullptr on failure.
EndResult EndCapture(Stream& stream, Graph** graph);

CaptureState StateOf(const Stream& stream);
bool IsAnyCapturing();                          // whether any stream is being captured
std::uint64_t CaptureId(const Stream& stream);  // 0: none
Graph* GraphOf(const Stream& stream);           // the graph being captured; nullptr: none

// Called when `stream` waits for `event`. If the event was recorded in a capture that is still in progress, the stream
// joins that capture. False if the stream is in another capture.
bool JoinByEvent(Stream& stream, const Event& event);
void LeaveCapture(Stream& stream);

// Called when work is queued on `stream`. True if the work is captured, and so does not run now.
bool AddNode(Stream& stream);

// Add bytes that the captured work writes at each replay. NoteWrite: to the capture on `stream`, if there is one.
// NoteWriteOfAny: to all captures in progress.
void NoteWrite(Stream& stream, ByteRange range);
void NoteWriteOfAny(ByteRange range);

// Creates an executable graph from the nodes and written bytes of `graph`. The handle is valid until DestroyExecutable.
void* NewExecutable(const Graph& graph);
void DestroyExecutable(void* executable);
// False if `executable` is not an executable graph.
bool UpdateExecutable(void* executable, const Graph& graph);
// Replays the graph on `stream`: queues one piece of work for each node, at least one, and marks as unknown the bytes
// that the graph writes. If the stream is being captured, the replay is one node of that capture, and writes the same
// bytes.
void Replay(void* executable, Stream& stream);

// Whether CUDA would now refuse an unsafe call (cudaMalloc, cudaEventQuery ...) on this thread because of a capture. If
// so, invalidates the captures that forbid it.
bool IsRefusedByCapture();
void Invalidate(Stream& stream);
// Sets the calling thread's mode, and returns the previous mode.
CaptureMode ExchangeThreadMode(CaptureMode mode);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_STREAMS_GRAPH_CAPTURE_H_
