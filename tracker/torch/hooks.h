// The one door from the session into the room that knows torch: no torch header is needed to include this.
#ifndef TRACKER_TORCH_HOOKS_H_
#define TRACKER_TORCH_HOOKS_H_

namespace memoir {

// Installs every hook of this torch: ranges and the CPU allocator. Call at the start of each recording, from its
// thread, while recording is off. The hooks stay for the life of the process and do nothing while recording is off.
void InstallTorchHooks();

// The running torch's version as its headers state it: "2.11.0".
const char* TorchVersion();

}  // namespace memoir

#endif  // TRACKER_TORCH_HOOKS_H_
