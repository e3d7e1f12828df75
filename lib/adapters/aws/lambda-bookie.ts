/**
 * A bookie reached by calling its Lambda function. What it answers is passed on as it is; everything else,
 * throttles and dead functions too, rejects and is unknown (rule 21).
 */
import { absentBookie } from "../../protocol/bookie/stored-bookie.ts";
import { unavailable } from "../../protocol/errors.ts";
import type { BookieId, EntryId, LedgerId } from "../../protocol/ids.ts";
import type {
  AddAnswer,
  Bookie,
  Bookies,
  ReadAnswer,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealAnswer,
  SealedEntry,
  SlotAnswers,
  TailAnswer,
} from "../../protocol/ports.ts";
import type { CallSignal } from "../../protocol/waiting.ts";
import { type BookieAnswer, type BookieCall, decodeBookieAnswer, encodeBookieCall } from "./bookie-call.ts";
import { decodeReply } from "./call-envelope.ts";
import { callFunction, type LambdaFunction } from "./lambda-call.ts";

export class LambdaBookie implements Bookie {
  constructor(
    readonly id: BookieId,
    private readonly target: LambdaFunction,
  ) {}

  async add(entry: SealedEntry): Promise<AddAnswer> {
    return expected(await this.#call({ operation: "add", entry }), ["ok", "fenced"]);
  }

  async read(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<ReadAnswer> {
    const answer = await this.#call({ operation: "read", ledgerId, entryId }, signal);
    return expected(answer, ["entry", "tombstone", "nothing"]);
  }

  async readSeveral(
    ledgerId: LedgerId,
    entryIds: readonly EntryId[],
    signal?: CallSignal,
  ): Promise<SlotAnswers> {
    const answer = await this.#call({ operation: "read-several", ledgerId, entryIds }, signal);
    const { slots } = expected(answer, ["slots"]);
    if (slots.length === entryIds.length) return slots;
    throw unavailable(`${this.id}: ${slots.length} answers to ${entryIds.length} slots`);
  }

  async tail(ledgerId: LedgerId, signal?: CallSignal): Promise<TailAnswer> {
    return expected(await this.#call({ operation: "tail", ledgerId }, signal), ["tail"]).tail;
  }

  async fence(ledgerId: LedgerId): Promise<TailAnswer> {
    return expected(await this.#call({ operation: "fence", ledgerId }), ["tail"]).tail;
  }

  async recoveryRead(ledgerId: LedgerId, entryId: EntryId, signal?: CallSignal): Promise<RecoveryReadAnswer> {
    const answer = await this.#call({ operation: "recovery-read", ledgerId, entryId }, signal);
    return expected(answer, ["entry", "tombstone"]);
  }

  async recoveryAdd(entry: SealedEntry): Promise<RecoveryAddAnswer> {
    return expected(await this.#call({ operation: "recovery-add", entry }), ["ok", "conflict"]);
  }

  async seal(ledgerId: LedgerId, entryId: EntryId): Promise<SealAnswer> {
    return expected(await this.#call({ operation: "seal", ledgerId, entryId }), ["sealed", "occupied"]);
  }

  async deleteEntries(ledgerId: LedgerId, through: EntryId): Promise<void> {
    expected(await this.#call({ operation: "delete-entries", ledgerId, entryId: through }), ["done"]);
  }

  async forget(ledgerId: LedgerId): Promise<void> {
    expected(await this.#call({ operation: "forget", ledgerId }), ["done"]);
  }

  async #call(call: BookieCall, signal?: CallSignal): Promise<BookieAnswer> {
    const payload = encodeBookieCall(this.id, call);
    const reply = decodeReply(
      await callFunction(this.target, `${this.id} ${call.operation}`, payload, { signal }),
      decodeBookieAnswer,
    );
    if (reply.kind === "failure") throw reply.error;
    return reply.answer;
  }
}

/** All bookies of a deployment, as one process reaches them: one client for each, kept. */
export class LambdaBookies implements Bookies {
  readonly #reached = new Map<BookieId, Bookie>();

  /** `find`: a bookie's function; undefined if the deployment has no such bookie. */
  constructor(private readonly find: (id: BookieId) => LambdaFunction | undefined) {}

  bookie(id: BookieId): Bookie {
    const known = this.#reached.get(id);
    if (known !== undefined) return known;
    const target = this.find(id);
    if (target === undefined) return absentBookie(id, "this deployment");
    const bookie = new LambdaBookie(id, target);
    this.#reached.set(id, bookie);
    return bookie;
  }
}

/** An answer to another question is none. */
function expected<const K extends BookieAnswer["kind"]>(
  answer: BookieAnswer,
  kinds: readonly K[],
): Extract<BookieAnswer, { readonly kind: K }> {
  if (kinds.some((kind) => kind === answer.kind)) return answer as Extract<BookieAnswer, { kind: K }>;
  throw unavailable(`the bookie answered ${answer.kind}, expected ${kinds.join(" or ")}`);
}
