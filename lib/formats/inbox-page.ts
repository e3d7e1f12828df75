/** One page of an inbox, filled in the order of the keys until a request does not fit. */
import { assert } from "../protocol/assert.ts";
import { hasCode } from "../protocol/errors.ts";
import type {
  InboxPage,
  InboxQuery,
  InboxRequest,
  PostedAppend,
  Ticket,
} from "../protocol/log/inbox-store.ts";
import { meteredBytes } from "../protocol/log/records/record-set.ts";

export class FilledPage {
  readonly #requests: InboxRequest[] = [];
  readonly #damaged: Ticket[] = [];
  #bytes = 0;

  constructor(private readonly query: InboxQuery) {
    assert(query.requestsMax >= 1, `a page has room for one request, got ${query.requestsMax}`);
  }

  /** Requests that the page has room for, whatever their bytes. */
  get left(): number {
    return this.query.requestsMax - this.#requests.length;
  }

  /** Whether a batch of so many metered bytes has room. */
  hasRoom(bytes: number): boolean {
    if (this.#requests.length === 0) return true;
    return this.left > 0 && this.#bytes + bytes <= this.query.bytesMax;
  }

  /** False if the request does not fit: the page is full. What `read` finds to be damaged takes no room. */
  offer(ticket: Ticket, read: () => PostedAppend): boolean {
    let append: PostedAppend;
    try {
      append = read();
    } catch (error) {
      if (!hasCode(error, "data_corrupt")) throw error;
      this.#damaged.push(ticket);
      return true;
    }
    const bytes = batchBytes(append);
    if (!this.hasRoom(bytes)) return false;
    this.#requests.push({ ticket, append });
    this.#bytes += bytes;
    return true;
  }

  end(isWhole: boolean): InboxPage {
    return { requests: this.#requests, damaged: this.#damaged, isWhole };
  }
}

/** Metered bytes of a batch, which a page is bounded by. */
export function batchBytes({ records }: PostedAppend): number {
  return records.reduce((sum, record) => sum + meteredBytes(record), 0);
}
