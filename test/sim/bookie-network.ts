/**
 * Bookies behind a network. A bookie is several processes over one storage; each request is taken up by any
 * of them that runs. A client reaches a bookie over a link of its own, with its own faults.
 */

import type { StoredBookie } from "../../lib/protocol/bookie/stored-bookie.ts";
import { unavailable } from "../../lib/protocol/errors.ts";
import type { BookieId, EntryId, LedgerId } from "../../lib/protocol/ids.ts";
import type {
  AddAnswer,
  Bookie,
  Bookies,
  ReadAnswer,
  RecoveryAddAnswer,
  RecoveryReadAnswer,
  SealedEntry,
  TailAnswer,
} from "../../lib/protocol/ports.ts";
import type { BookieAddress } from "../../lib/protocol/replication.ts";
import type { BookieStorage } from "./bookie-storage.ts";
import type { MessagePath } from "./message-path.ts";
import type { BookieOperation, ServedCall } from "./observations.ts";
import type { SeededRandom } from "./seeded-random.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface BookieInstance {
  process: SimulatedProcess;
  stored: StoredBookie;
}

export interface SimulatedBookie {
  readonly address: BookieAddress;
  /** Identity of the storage that the id names. */
  readonly identity: string;
  readonly storage: BookieStorage;
  readonly instances: BookieInstance[];
  /** Starts one more process of this bookie. */
  readonly startInstance: () => BookieInstance;
}

/** Takes note of a call that an instance took up, and of its answer. */
export interface CallLog {
  arrived(bookie: BookieId, operation: BookieOperation, ledgerId: LedgerId, entryId?: EntryId): ServedCall;
  answered(call: ServedCall, answer: unknown): void;
}

export class BookieLink implements Bookie {
  readonly id: BookieId;

  constructor(
    private readonly path: MessagePath,
    private readonly bookie: SimulatedBookie,
    private readonly random: SeededRandom,
    private readonly log: CallLog,
  ) {
    this.id = bookie.address.id;
  }

  add(entry: SealedEntry): Promise<AddAnswer> {
    return this.#call("add", entry.header.ledgerId, entry.header.entryId, (bookie) => bookie.add(entry));
  }
  read(ledgerId: LedgerId, entryId: EntryId): Promise<ReadAnswer> {
    return this.#call("read", ledgerId, entryId, (bookie) => bookie.read(ledgerId, entryId));
  }
  tail(ledgerId: LedgerId): Promise<TailAnswer> {
    return this.#call("tail", ledgerId, undefined, (bookie) => bookie.tail(ledgerId));
  }
  fence(ledgerId: LedgerId): Promise<TailAnswer> {
    return this.#call("fence", ledgerId, undefined, (bookie) => bookie.fence(ledgerId));
  }
  recoveryRead(ledgerId: LedgerId, entryId: EntryId): Promise<RecoveryReadAnswer> {
    return this.#call("recoveryRead", ledgerId, entryId, (bookie) => bookie.recoveryRead(ledgerId, entryId));
  }
  recoveryAdd(entry: SealedEntry): Promise<RecoveryAddAnswer> {
    const { ledgerId, entryId } = entry.header;
    return this.#call("recoveryAdd", ledgerId, entryId, (bookie) => bookie.recoveryAdd(entry));
  }
  seal(ledgerId: LedgerId, entryId: EntryId): Promise<{ kind: "sealed" } | { kind: "occupied" }> {
    return this.#call("seal", ledgerId, entryId, (bookie) => bookie.seal(ledgerId, entryId));
  }
  deleteEntries(ledgerId: LedgerId, through: EntryId): Promise<void> {
    return this.#call("deleteEntries", ledgerId, through, (bookie) =>
      bookie.deleteEntries(ledgerId, through),
    );
  }
  forget(ledgerId: LedgerId): Promise<void> {
    return this.#call("forget", ledgerId, undefined, (bookie) => bookie.forget(ledgerId));
  }

  #call<T>(
    operation: BookieOperation,
    ledgerId: LedgerId,
    entryId: EntryId | undefined,
    act: (bookie: StoredBookie) => Promise<T>,
  ): Promise<T> {
    return this.path.call<T>((_service, reply) => {
      const instance = this.#instance();
      instance.process.enter(() => {
        const call = this.log.arrived(this.id, operation, ledgerId, entryId);
        act(instance.stored).then(
          (answer) => {
            this.log.answered(call, answer);
            reply.answer(answer);
          },
          (error) => reply.fail(error),
        );
      });
    });
  }

  /** An instance that runs; if none does, a new one, as a function would start. */
  #instance(): BookieInstance {
    const running = this.bookie.instances.filter(({ process }) => process.state === "running");
    return running.length > 0 ? this.random.pick(running) : this.bookie.startInstance();
  }
}

/** The bookies that one process can call. */
export class BookieNetwork implements Bookies {
  readonly #links = new Map<BookieId, Bookie>();

  constructor(private readonly connect: (id: BookieId) => Bookie | undefined) {}

  bookie(id: BookieId): Bookie {
    const known = this.#links.get(id);
    if (known !== undefined) return known;
    const link = this.connect(id);
    if (link === undefined) throw unavailable(`no bookie ${id} in this world`, "none");
    this.#links.set(id, link);
    return link;
  }
}
