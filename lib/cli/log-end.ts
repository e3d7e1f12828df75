/** `fenceline trim`, `seal` and `delete`: what ends a log, or records of it. */
import type { Command } from "commander";
import type { DeletedJson } from "../api/log-end-wire.ts";
import { ProblemError, RequestError } from "../client/client-errors.ts";
import type { LogClient } from "../client/log-client.ts";
import { type Patience, retrying, sleep } from "../client/retry.ts";
import {
  type ClientFlags,
  type CommandContext,
  clientCommand,
  clientOf,
  patienceOf,
  RETRY_SECONDS_LONG,
} from "./command-context.ts";
import { interruptionOf } from "./interruption.ts";
import { seqNum } from "./options.ts";
import { writeResult } from "./output.ts";

/** Pause before a deletion that is under way is taken further. */
const NEXT_PASS_MS = 200;

export function addLogEndCommands(program: Command, context: CommandContext): void {
  const { streams } = context;
  clientCommand(program, "trim <log>", "Lets go of the records below a seq_num. There is no way back.")
    .requiredOption("--to <seq_num>", "the first record that is kept, at most the tail", seqNum)
    .action(async (log: string, flags: ClientFlags & { readonly to: number }) => {
      const client = await clientOf(flags, context);
      const trimmed = await retrying(patienceOf(flags, context), client, (bounded) =>
        bounded.trim(log, flags.to),
      );
      await writeResult(streams, flags.output, trimmed, `${log} begins at seq_num ${trimmed.first_seq_num}`);
    });
  clientCommand(
    program,
    "seal <log>",
    "Ends a log for ever; it can still be read. There is no way back.",
    RETRY_SECONDS_LONG,
  ).action(async (log: string, flags: ClientFlags) => {
    const client = await clientOf(flags, context);
    const sealed = await retrying(patienceOf(flags, context), client, (bounded) => bounded.seal(log));
    await writeResult(streams, flags.output, sealed, `${log} is sealed, and ends at seq_num ${sealed.tail}`);
  });
  clientCommand(
    program,
    "delete <log>",
    "Deletes a log and its records. There is no way back.",
    RETRY_SECONDS_LONG,
  ).action(async (log: string, flags: ClientFlags) => {
    const patience = patienceOf(flags, context);
    const deleted = await deleteCommand(await clientOf(flags, context), log, patience);
    const left = "; nobody reads or writes it any more, but part of it is left: run this again";
    const text = deleted.state === "deleted" ? `deleted ${log}` : `deleting ${log}${left}`;
    await writeResult(streams, flags.output, deleted, text);
    if (deleted.state !== "deleted" && context.signal.aborted) throw interruptionOf(context.signal);
  });
}

/**
 * Deletes the life of the name that is there when the command begins, and no other, however often an answer
 * is lost: what is not found any more after a request that may have been served was deleted by it.
 */
async function deleteCommand(client: LogClient, log: string, given: Patience): Promise<DeletedJson> {
  const incarnation = await retrying(given, client, (bounded) => presentLife(bounded, log));
  // Without an incarnation a second request might meet a log that was created since.
  const patience = incarnation === undefined ? { ...given, mayRepeat: false } : given;
  const giveUpAtMs = performance.now() + (patience.mayRepeat === false ? 0 : patience.patienceMs);
  let mayBeDone = false;
  for (;;) {
    const answer = await retrying(patience, client, async (bounded): Promise<DeletedJson> => {
      try {
        return await bounded.deleteLog(log, incarnation);
      } catch (error) {
        if (mayBeDone && isNotFound(error)) return { log, state: "deleted" };
        mayBeDone ||= error instanceof RequestError && error.sideEffects === "possible";
        throw error;
      }
    });
    if (answer.state === "deleted" || performance.now() >= giveUpAtMs) return answer;
    if (patience.signal?.aborted) return answer;
    mayBeDone = true;
    await sleep(NEXT_PASS_MS, patience.signal);
  }
}

/** Undefined: there is no such log, or it is being deleted already; the deletion's answer says which. */
async function presentLife(client: LogClient, log: string): Promise<string | undefined> {
  try {
    return (await client.describeLog(log)).incarnation;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof ProblemError && error.code === "log_not_found";
}
