/** Port: time. */
export interface Clock {
  /** Wall time in ms since the epoch. It may be skewed by hours and may jump. */
  nowMs(): number;
  /** Time in ms that never falls within this process. For durations only. */
  monotonicMs(): number;
  /** Calls `fire` once after `delayMs` unless cancelled. */
  startTimer(delayMs: number, fire: () => void): Timer;
}

export interface Timer {
  /** Forgets the timer; harmless after it fired. */
  cancel(): void;
}
