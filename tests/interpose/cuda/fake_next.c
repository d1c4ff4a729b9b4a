// Comes after cuda_caller.c in the search order of that library.
int caller_answer(void);
int caller_answer(void) { return 2; }
