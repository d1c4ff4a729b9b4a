// Which card of the machine a device of this process is, by CUDA_VISIBLE_DEVICES.
//
// The simulated machine hides no card: a process told to see one card sees all that are simulated. But launchers that
// give each process one card let each number it 0, and these are not the same card. Any thread.
#ifndef INTERPOSE_SIMCUDA_VISIBLE_DEVICES_H_
#define INTERPOSE_SIMCUDA_VISIBLE_DEVICES_H_

namespace memoir::simcuda {

// `device` itself where the variable does not name it by number.
int PhysicalDevice(int device);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_VISIBLE_DEVICES_H_
