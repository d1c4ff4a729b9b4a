// Imports nothing.
int slots_nothing(void);
int slots_nothing(void) { return 7; }
