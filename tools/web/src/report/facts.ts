// The documents "facts" and "tables" of a report: keys as in docs/json.md and docs/hacking.md.

export interface Columns {
  allocations: number;
  allocated_bytes: number;
  deallocations: number;
  deallocated_bytes: number;
  net_blocks: number;
  net_bytes: number;
  bytes_at_peak: number;
  blocks_at_peak: number;
  temporaries: number;
  temporary_bytes: number;
  mean_life_ns: number;
  reserved_bytes: number;
}

export interface DeviceColumns extends Columns {
  device: string;
  rank: number|null;
  process: number;
}

export interface Row extends Columns {
  name: string;
  kind: string;
  count?: number;
  outermost_count?: number;
  devices?: DeviceColumns[];
  category?: string;
  detail?: string;
  root?: string;
  path?: string;
  class
  ?: string;
  file?: string|null;  // of a line
  line?: number|null;
  subtree?: Columns;
  is_buffer?: boolean;
  parameter?: Columns;
  gradient?: Columns;
  optimizer_state?: Columns;
}

export interface DeviceSummary {
  device: string;
  product: string;
  rank: number|null;
  process: number;
  peak_allocated_bytes: number|null;
  peak_of_all_bytes?: number;  // live then in all blocks; of a choice of blocks
  peak_in_folded_parts: boolean;
  peak_blocks: number|null;
  peak_time_ns: number|null;
  peak_operator: string;
  peak_range: string;
  peak_step: number|null;
  live_bytes_at_end: number|null;
  allocations: number;
  allocated_bytes: number;
  peak_active_bytes?: number|null;
  peak_reserved_bytes?: number|null;
  peak_reserved_time_ns?: number|null;
  active_bytes_at_peak?: number|null;
  requested_bytes_at_peak?: number|null;
  reserved_bytes_at_peak?: number|null;
  num_alloc_retries?: number;
  num_ooms?: number;
  outside_torch_bytes?: number;
  outside_torch?: {name: string; bytes: number; blocks: number}[];
  least_free_bytes?: number|null;
  total_bytes?: number|null;
  memory_known?: string;
}

export interface Span {
  begin_ns: number;
  end_ns: number;
}

export interface Process {
  rank: number|null;
  pid: number;
  host: string;
  program: string;
  simulated_device: string;
  imported_from: string;
  snapshot: string;
  sources: string[];
  torch_version: string;
  evicted?: Span[];  // times of which --max-size left sums alone
}

export interface Holding {
  name: string;
  bytes: number;
  blocks: number;
}

// `device_limit_bytes`: the most bytes that torch's allocator may reserve.
export interface OutOfMemory {
  device: string;
  process: number;
  time_ns: number;
  operator: string;
  asked_bytes: number;
  cause: string;
  device_free_bytes: number|null;
  device_limit_bytes: number|null;
  device_total_bytes: number|null;
  allocated_bytes: number;
  active_bytes: number;
  reserved_bytes: number;
  outside_torch: Holding[]|null;
  other_processes_bytes: number|null;
  unaccounted_bytes: number;
  free: {largest_hole_bytes: number};
  by_category: Holding[];
  growth: {since: string; same_call: boolean; allocated_bytes: number; by_module: {name: string; bytes: number}[]}|null;
}

export interface Remedy {
  text: string;
  bytes: number|null;  // the most that it frees, or makes usable; null: not known
}

// Words about an out-of-memory error. `place`: the operator and module of the request. `line`: empty if not known.
export interface OutOfMemoryWords {
  place: string;
  line: string;
  cause: string;
  of_host: boolean;
  remedies: Remedy[];
}

export interface Summary {
  capture: string;
  events: number;
  step_count: number;
  step_kind: string|null;
  operator_calls: number;
  dropped_events: number;
  processes: Process[];
  devices: DeviceSummary[];
  mark_count: number;
  marks: {name: string; time_ns: number; process: number}[];  // the first of them
  out_of_memory: OutOfMemory[];
  missing: string;
}

export interface Instant {
  kind: 'peak'|'mark'|'oom'|'regular'|'end';
  name: string;
  time_ns: number;
  bytes: number;
  blocks: number;
}

export interface DeviceFacts {
  device: string;
  process: number;
  rank: number|null;
  caching: boolean;
  begin_ns: number;
  end_ns: number;
  all_blocks: number;
  kept_blocks: number;
  complete: boolean;
  all_segments: boolean;
  all_others: boolean;
  all_marks: number;  // that there were; the first of them are instants
  all_out_of_memory: number;
  instants: Instant[];
}

export interface Iteration {
  fw_start?: number;
  fw_bw_boundary?: number;
  backward_end?: number;
  optimizer_step?: number;
  optimizer_end?: number;
}

export interface ProcessFacts {
  process: number;
  step_kind: string;
  first_step: number;  // its number
  steps_ns: number[];  // of the first of them
  all_steps: number;
  all_iterations: number;
  iterations: Iteration[];
}

export interface GroupingFacts {
  word: string;
  one: string;
  many: string;
  stacked: boolean;
}

export interface Finding {
  check: string;
  answer: 'harmed'|'worth a look'|'fine'|'not known';
  devices: {device: string; process: number}[];  // of the first two: where, the worst first
  headline: string;
  text: string;
  command: string;
}

// The part of the recording that the report covers (tools/view/report/report_part.h).
export interface Part {
  text: string;
  window: string;   // '': all of the recording
  blocks: string;   // '': all
  options: string;  // of the command line
  notes: string[];
}

// The capture that the report compares its own with; null: none. `devices`: which of the report's own it has, too.
export interface Baseline {
  path: string;
  devices: number[];
  notes: string;  // what it lacks, after a space; "": nothing
}

export interface Facts {
  format: number;
  path: string;
  what_ran: string;
  part: Part|null;  // null: the report covers everything
  losses: {
    notes: string; lines: string;  // what went wrong, "! " before each
    is_lossy: boolean;             // events are missing, or may be
  };
  summary: Summary;
  out_of_memory_words: OutOfMemoryWords[];  // of the errors of the summary, in the same order
  groupings: GroupingFacts[];
  categories: Record < string, {
    category: string;
    detail: string
  }
  > ;
  names: string[];
  devices: DeviceFacts[];
  processes: ProcessFacts[];
  findings: Finding[];
  baseline: Baseline|null;
  has_lines: boolean;    // of some blocks the Python line is known
  has_callers: boolean;  // and of some its callers
}

export type Tables = Record<string, Row[]>;
