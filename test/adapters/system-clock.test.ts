/** SC1: what the system's timers do to the life of a process. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { SystemClock } from "../../lib/adapters/node/system-clock.ts";

const program = fileURLToPath(new URL("./system-clock-exit.ts", import.meta.url));
let child: ChildProcess | undefined;
afterEach(() => child?.kill("SIGKILL"));

function start(...args: string[]): ChildProcess {
  const stdio: ["ignore", "pipe", "inherit"] = ["ignore", "pipe", "inherit"];
  return spawn(process.execPath, ["--import", "tsx", program, ...args], { stdio });
}

describe("the system clock", () => {
  it("lets a pause end, and a command that is done leave at once, timers pending or not", async () => {
    child = start("release");
    let printed = "";
    child.stdout?.on("data", (data) => {
      printed += data;
    });
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(printed).toBe("paused\n");
  });

  it("keeps a process that may still wait for a timer", async () => {
    child = start();
    const exited = once(child, "exit").then(() => "exited");
    if (child.stdout === null) throw new Error("no stdout");
    await once(child.stdout, "data");
    const later = new Promise((resolve) => setTimeout(() => resolve("alive"), 200));
    expect(await Promise.race([exited, later])).toBe("alive");
  });

  it("fires timers also after its release, while the process lives", async () => {
    const clock = new SystemClock();
    clock.release();
    const fired = new Promise((resolve) => clock.startTimer(5, () => resolve("fired")));
    expect(await fired).toBe("fired");
  });

  it("refuses a delay that is no number", () => {
    const clock = new SystemClock();
    for (const delayMs of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => clock.startTimer(delayMs, () => undefined)).toThrow(/delay/);
    }
  });
});
