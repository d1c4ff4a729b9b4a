// A library that imports the allocator, as libtorch_cuda.so does: by such a slot the hook finds it.
extern char _ZN3c104cuda20CUDACachingAllocator9allocatorE[];
void* fake_torch_cuda(void);
void* fake_torch_cuda(void) { return _ZN3c104cuda20CUDACachingAllocator9allocatorE; }
