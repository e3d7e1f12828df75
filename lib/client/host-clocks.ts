/** The clocks of the machine that a client runs on; either may stand still, or jump, while it sleeps. */
export const HOST_CLOCKS = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
