/** Run as a process: pauses, and leaves a long timer behind; `release` says that the work is done. */
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";
import { pause } from "../../lib/protocol/waiting.ts";

const clock = new SystemClock();
clock.startTimer(30_000, () => process.stdout.write("left behind\n"));
await pause(clock, 50);
process.stdout.write("paused\n");
if (process.argv.includes("release")) clock.release();
