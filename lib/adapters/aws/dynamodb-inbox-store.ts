/**
 * One region's inbox in a DynamoDB table of its own, so that it cannot throttle the leases.
 *
 *     pk                              sk              what
 *     in#log#birth#tenure             revision#id     a request
 *     bd#<address of a ticket>        000, 001, ...   a piece of its batch, if that is large
 *     an#<address of a ticket>        answer          its answer
 *
 *     format N 1, expires N           of every row; `expires` is the table's TTL attribute, in seconds
 *     content B, check N              a posted append, a piece or an answer, and the CRC-32 of it
 *     pieces N, check N, bytes N      of a request with pieces: how many, of all of them, metered bytes
 *
 * DI1 Every piece is put before its request, so what finds the request finds the pieces. If one is missing
 *     all the same, it has expired, and the request counts as not there.
 * DI2 Each call is sent once: the caller repeats what it wants repeated. A throttle is a refusal, and so
 *     without effect. A post that fails before its request was sent has none either: pieces alone are
 *     nothing.
 * DI3 A request is deleted in a call of its own, once its answer is known to be put (41). BatchWriteItem is
 *     atomic for each item alone: a put and a delete in one call may take effect one without the other, and a
 *     reply that is lost leaves open which. Rule 37 would allow even that, since only the tenure that took
 *     the request reads it. The order costs no write unit: an answer's put takes one, a request's delete what
 *     its put took (1 to 3), in one call or in two. 25 of either fill a call, so only the last call of a few
 *     answers is one more, and it comes behind the answers.
 * DI4 Pieces are never deleted: a delete costs what its put did, expiry nothing.
 */
import { crc32 } from "node:zlib";
import {
  type AttributeValue,
  BatchWriteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type WriteRequest,
} from "@aws-sdk/client-dynamodb";
import { damaged, unknownFormat } from "../../formats/format-errors.ts";
import {
  behindRevision,
  decodeAnswer,
  decodePosted,
  encodeAnswer,
  encodePosted,
  requestPartition,
  requestSort,
  ticketAddress,
  ticketOf,
} from "../../formats/inbox-format.ts";
import { batchBytes, FilledPage } from "../../formats/inbox-page.ts";
import { FencelineError, withSideEffects } from "../../protocol/errors.ts";
import type { LogIncarnation } from "../../protocol/ids.ts";
import { inboxLimits } from "../../protocol/log/inbox-limits.ts";
import type {
  AnsweredTicket,
  InboxAnswer,
  InboxPage,
  InboxQuery,
  InboxRequest,
  InboxStore,
  PostedAppend,
  Ticket,
} from "../../protocol/log/inbox-store.ts";
import { isThrottled, unansweredCall } from "./call-failure.ts";
import type { Table } from "./table-rows.ts";

type Row = Record<string, AttributeValue>;
type Key = Record<"pk" | "sk", AttributeValue.SMember>;

const ROW_FORMAT = 1;
/** Bytes of a batch up to which it stands in its request: a page of a query has room for hundreds of them. */
const INLINE_BYTES_MAX = 2 * 1024;
/** An item has 400 KB, with its keys. */
const PIECE_BYTES = 350 * 1024;
/** More than the largest batch has. */
const PIECES_MAX = 100;
/** Of one BatchWriteItem. */
const WRITES_MAX = 25;

export class DynamoDbInboxStore implements InboxStore {
  constructor(private readonly table: Pick<Table, "client" | "name" | "region" | "clock">) {}

  async post(log: LogIncarnation, { ticket, append }: InboxRequest): Promise<void> {
    const content = encodePosted(append);
    const key = requestKey(log, ticket);
    if (content.length <= INLINE_BYTES_MAX) {
      return await this.#put({ ...key, ...this.#head(), ...contentFields(content) });
    }
    const pieces = piecesOf(content);
    try {
      await Promise.all(
        pieces.map((piece, index) =>
          this.#put({ ...pieceKey(log, ticket, index), ...this.#head(), ...contentFields(piece) }),
        ),
      );
    } catch (error) {
      throw error instanceof FencelineError ? withSideEffects(error, "none") : error; // DI2
    }
    await this.#put({
      ...key,
      ...this.#head(),
      pieces: { N: String(pieces.length) },
      check: { N: String(crc32(content)) },
      bytes: { N: String(batchBytes(append)) },
    });
  }

  async requests(log: LogIncarnation, query: InboxQuery): Promise<InboxPage> {
    const page = new FilledPage(query);
    let after: Row | undefined;
    do {
      const command = new QueryCommand({
        TableName: this.table.name,
        KeyConditionExpression: "pk = :pk AND sk > :above",
        ExpressionAttributeValues: {
          ":pk": { S: partitionKey(log, query) },
          ":above": { S: behindRevision(query.above) },
        },
        ConsistentRead: true,
        // One more says whether anything lies beyond.
        Limit: page.left + 1,
        ...(after === undefined ? {} : { ExclusiveStartKey: after }),
      });
      const found = await this.#sent("query", () => this.table.client.send(command));
      for (const row of found.Items ?? []) {
        if (!(await this.#offer(page, log, query, row))) return page.end(false);
      }
      after = found.LastEvaluatedKey;
    } while (after !== undefined);
    return page.end(true);
  }

  async answer(log: LogIncarnation, answers: readonly AnsweredTicket[]): Promise<readonly Ticket[]> {
    // BatchWriteItem takes no key twice.
    const distinct = [...new Map(answers.map((one) => [ticketAddress(log, one.ticket), one])).values()];
    const written = await this.#writeAll(
      distinct.map(({ ticket, answer }) => ({
        of: ticket,
        write: {
          PutRequest: {
            Item: { ...answerKey(log, ticket), ...this.#head(), ...contentFields(encodeAnswer(answer)) },
          },
        },
      })),
    );
    if (written.done.length === 0 && written.failure !== undefined) throw written.failure;
    // DI3. One that stays is found again, which rule 37 expects, until it expires.
    await this.#writeAll(
      written.done.map((ticket) => ({
        of: ticket,
        write: { DeleteRequest: { Key: requestKey(log, ticket) } },
      })),
    );
    return written.done;
  }

  async readAnswer(
    log: LogIncarnation,
    ticket: Ticket,
    consistency: "consistent" | "stale",
  ): Promise<InboxAnswer | undefined> {
    const row = await this.#get(answerKey(log, ticket), consistency === "consistent");
    return row === undefined ? undefined : decodeAnswer(contentOf(row));
  }

  /** False if the request does not fit. The pieces of one that does not fit are not read. */
  async #offer(page: FilledPage, log: LogIncarnation, query: InboxQuery, row: Row): Promise<boolean> {
    const ticket = ticketOf(query, row.sk?.S ?? "");
    if (ticket === undefined) return true;
    const { pieces } = row;
    if (pieces === undefined) return page.offer(ticket, () => decodePosted(contentOf(row)));
    if (!page.hasRoom(Number(row.bytes?.N) || 0)) return false;
    const read = await this.#pieces(log, ticket, row);
    return read === undefined || page.offer(ticket, read);
  }

  /** Undefined: not all of them are there (DI1). Damage is left for the one that reads. */
  async #pieces(log: LogIncarnation, ticket: Ticket, row: Row): Promise<(() => PostedAppend) | undefined> {
    const count = Number(row.pieces?.N);
    if (!Number.isSafeInteger(count) || count < 1 || count > PIECES_MAX) {
      return () => {
        throw damaged("a request", `it has ${row.pieces?.N} pieces`);
      };
    }
    const keys = Array.from({ length: count }, (_, index) => pieceKey(log, ticket, index));
    const rows = await Promise.all(keys.map((key) => this.#get(key, true)));
    const found = rows.filter((piece) => piece !== undefined);
    if (found.length < count) return undefined;
    return () => {
      checkFormat(row);
      const content = new Uint8Array(Buffer.concat(found.map(contentOf)));
      return decodePosted(checkedContent(content, row.check));
    };
  }

  /** Which of the writes are certainly done; a failure of any call, certain or not. */
  async #writeAll(
    writes: readonly { readonly of: Ticket; readonly write: WriteRequest }[],
  ): Promise<{ readonly done: readonly Ticket[]; readonly failure?: FencelineError }> {
    const chunks = Array.from({ length: Math.ceil(writes.length / WRITES_MAX) }, (_, index) =>
      writes.slice(index * WRITES_MAX, (index + 1) * WRITES_MAX),
    );
    const done: Ticket[] = [];
    const failures: FencelineError[] = [];
    await Promise.all(
      chunks.map(async (chunk) => {
        try {
          const left = await this.#write(chunk.map(({ write }) => write));
          const isLeft = new Set(left.map(nameOf));
          done.push(...chunk.filter(({ write }) => !isLeft.has(nameOf(write))).map(({ of }) => of));
          if (left.length > 0) failures.push(this.#overCapacity("write", `${left.length} were refused`));
        } catch (error) {
          if (!(error instanceof FencelineError)) throw error;
          failures.push(error);
        }
      }),
    );
    // What is less certain says more: only if every call was refused was there no effect.
    const failure = failures.find(({ sideEffects }) => sideEffects === "possible") ?? failures[0];
    return failure === undefined ? { done } : { done, failure };
  }

  /** What the table did not do. */
  async #write(writes: WriteRequest[]): Promise<readonly WriteRequest[]> {
    const { name, client } = this.table;
    const command = new BatchWriteItemCommand({ RequestItems: { [name]: writes } });
    const { UnprocessedItems = {} } = await this.#sent("write", () => client.send(command));
    return Object.values(UnprocessedItems).flat();
  }

  async #put(item: Row): Promise<void> {
    const command = new PutItemCommand({ TableName: this.table.name, Item: item });
    await this.#sent("put", () => this.table.client.send(command));
  }

  async #get(key: Key, consistent: boolean): Promise<Row | undefined> {
    const command = new GetItemCommand({ TableName: this.table.name, Key: key, ConsistentRead: consistent });
    const { Item } = await this.#sent("get", () => this.table.client.send(command));
    return Item;
  }

  /** DI2. Throws `over_capacity` for a throttle, `unavailable` for every other failure. */
  async #sent<T>(what: string, call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (isThrottled(error)) throw this.#overCapacity(what, "too many calls at once", error);
      throw unansweredCall(this.#where(what), error);
    }
  }

  #overCapacity(what: string, why: string, cause?: unknown): FencelineError {
    const message = `${this.#where(what)}: ${why}; try again`;
    return new FencelineError("over_capacity", { message, sideEffects: "none", cause });
  }

  #where(what: string): string {
    return `${this.table.name} in ${this.table.region}: ${what}`;
  }

  #head(): Row {
    const expires = Math.ceil((this.table.clock.nowMs() + inboxLimits.keepMs) / 1_000);
    return { format: { N: String(ROW_FORMAT) }, expires: { N: String(expires) } };
  }
}

function partitionKey(log: LogIncarnation, of: Pick<Ticket, "birth" | "tenure">): string {
  return `in#${requestPartition(log, of)}`;
}

function requestKey(log: LogIncarnation, ticket: Ticket): Key {
  return { pk: { S: partitionKey(log, ticket) }, sk: { S: requestSort(ticket) } };
}

function pieceKey(log: LogIncarnation, ticket: Ticket, index: number): Key {
  return { pk: { S: `bd#${ticketAddress(log, ticket)}` }, sk: { S: String(index).padStart(3, "0") } };
}

function answerKey(log: LogIncarnation, ticket: Ticket): Key {
  return { pk: { S: `an#${ticketAddress(log, ticket)}` }, sk: { S: "answer" } };
}

function contentFields(content: Uint8Array): Row {
  return { content: { B: content }, check: { N: String(crc32(content)) } };
}

/** `data_corrupt` for what `contentFields` never gives. */
function contentOf(row: Row): Uint8Array {
  checkFormat(row);
  const content = row.content?.B;
  if (content === undefined) throw damaged("a row", `it has ${Object.keys(row).join(", ")}`);
  return checkedContent(content, row.check);
}

function checkFormat({ format }: Row): void {
  if (format?.N === undefined) throw damaged("a row", "it has no format");
  if (Number(format.N) !== ROW_FORMAT) throw unknownFormat("a row", format.N, ROW_FORMAT);
}

function checkedContent(content: Uint8Array, check: AttributeValue | undefined): Uint8Array {
  if (check?.N === String(crc32(content))) return content;
  throw damaged("a row", "its content fails its checksum");
}

function piecesOf(content: Uint8Array): readonly Uint8Array[] {
  return Array.from({ length: Math.ceil(content.length / PIECE_BYTES) }, (_, index) =>
    content.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  );
}

function nameOf({ PutRequest, DeleteRequest }: WriteRequest): string {
  const { pk, sk } = PutRequest?.Item ?? DeleteRequest?.Key ?? {};
  return `${pk?.S} ${sk?.S}`;
}
