/**
 * A bookie's functions: the calls of its port over its own bucket. There are two, of the same code. One
 * writes, and marks the bucket once; the other was deployed for reading, has no right to do more, and refuses
 * the rest by itself.
 */
import { S3_WAITS, s3Client } from "../adapters/aws/aws-clients.ts";
import { S3EntryStore } from "../adapters/aws/s3-entry-store.ts";
import { SystemClock } from "../adapters/node/system-clock.ts";
import { SystemRandom } from "../adapters/node/system-random.ts";
import { type BookieAccess, type BookieSettings, storageOf } from "../environment.ts";
import { StoredBookie, setUpStorage } from "../protocol/bookie/stored-bookie.ts";
import { bookieId } from "../protocol/ids.ts";
import { answerBookieCall } from "./answer-bookie-call.ts";
import { isCustomResource, takeDeploymentStep } from "./custom-resource.ts";
import { FunctionTrace } from "./function-trace.ts";

export class BookieFunction {
  readonly #storage: string;
  readonly #store: S3EntryStore;
  readonly #bookie: StoredBookie;
  readonly #trace: FunctionTrace;
  readonly #access: BookieAccess;
  readonly #clock = new SystemClock();

  /** `pathStyle`: for emulators that have no names for buckets. */
  constructor(settings: BookieSettings, region: string, pathStyle: boolean) {
    const { bookieId: id, bucket, access, storageClass } = settings;
    const client = s3Client(region, S3_WAITS, pathStyle);
    this.#access = access;
    this.#trace = new FunctionTrace(settings, access === "read" ? "reader" : "bookie", region);
    this.#storage = storageOf(id);
    const chance = { clock: this.#clock, random: new SystemRandom() };
    this.#store = new S3EntryStore({ client, bucket, storageClass, ...chance });
    this.#bookie = new StoredBookie({
      id: bookieId(id),
      storage: this.#storage,
      store: this.#store,
      clock: this.#clock,
    });
  }

  /** A call of the bookie, or the step of a deployment that made its bucket. */
  async serve(event: unknown): Promise<unknown> {
    if (this.#access === "write" && isCustomResource(event)) {
      const step = () => setUpStorage(this.#store, this.#storage);
      return await takeDeploymentStep(event, this.#bookie.id, step);
    }
    const startedMs = this.#clock.monotonicMs();
    const reply = await answerBookieCall(this.#bookie, event, this.#access);
    const { failure } = reply;
    if (failure !== undefined) {
      this.#trace.count("bookieUnknowns");
      this.#trace.logger.warn("no answer", { failure });
    }
    this.#trace.took("duration", this.#clock.monotonicMs() - startedMs);
    this.#trace.flush();
    return reply;
  }
}
