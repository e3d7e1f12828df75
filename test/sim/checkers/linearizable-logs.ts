/**
 * Logs are linearizable: appends, strong and local reads and questions for the tail of one log have an order
 * that keeps their order in time and in which each got the right answer. Appends whose outcome is unknown
 * may come anywhere after they began, or never.
 *
 * The log read back at the end says where each append stands, so the state is just how long the log is, and
 * no search is needed: appending as late as the next answer allows is never worse than appending earlier,
 * since a caller that asked before can only be waiting for the state that is there now.
 */
import type { Content, Operation } from "../history.ts";
import type { Checker } from "./checker.ts";

export const linearizableLogs: Checker = {
  name: "linearizable-logs",
  watch(world, report) {
    return {
      finished() {
        for (const [log, final] of world.logs) {
          const operations = world.history.operations.filter(
            ({ request }) => "log" in request && request.log === log,
          );
          const wrong = wrongContents(operations, final) ?? wrongOrder(operations, final);
          if (wrong !== undefined) report(wrong, log);
        }
      },
    };
  },
};

/**
 * Each batch stands in the log whole and once, or not at all; what was acknowledged stands where it was
 * said.
 */
function wrongContents(operations: readonly Operation[], final: readonly Content[]): string | undefined {
  const places = new Map<Content, number>();
  for (const [place, content] of final.entries()) {
    if (places.has(content))
      return `record ${content} is in the log twice: ${places.get(content)} and ${place}`;
    places.set(content, place);
  }
  for (const { request, answer, actor } of operations) {
    if (request.kind !== "append") continue;
    const first = places.get(request.contents[0] ?? -1);
    for (const [index, content] of request.contents.entries()) {
      const place = places.get(content);
      const whole = first === undefined ? place === undefined : place === first + index;
      if (!whole) return `the batch ${request.contents.join(" ")} of ${actor} is not whole in the log`;
      places.delete(content);
    }
    if (answer?.kind === "stored" && first !== answer.at) {
      return `${actor} was told that ${request.contents[0]} stands at ${answer.at}; it stands at ${first ?? "none"}`;
    }
    if ((answer?.kind === "none" || answer?.kind === "mismatch") && first !== undefined) {
      return `${actor} was told that ${request.contents[0]} did nothing; it stands at ${first}`;
    }
  }
  for (const [content, place] of places) return `record ${content} at ${place} was never appended`;
  return undefined;
}

interface Moment {
  readonly at: number;
  readonly operation: Operation;
  readonly isEnd: boolean;
}

function wrongOrder(operations: readonly Operation[], final: readonly Content[]): string | undefined {
  const appendAt = new Map<number, Operation>();
  for (const operation of operations) {
    const place =
      operation.request.kind === "append" ? final.indexOf(operation.request.contents[0] ?? -1) : -1;
    if (place >= 0) appendAt.set(place, operation);
  }
  const order = new Order(appendAt, final);
  for (const { operation, isEnd } of moments(operations)) {
    const wrong = isEnd ? order.end(operation) : order.begin(operation);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function moments(operations: readonly Operation[]): Moment[] {
  const all: Moment[] = operations.flatMap((operation) => [
    { at: operation.startedAt, operation, isEnd: false },
    ...(Number.isFinite(operation.endedAt) ? [{ at: operation.endedAt, operation, isEnd: true }] : []),
  ]);
  return all.sort((one, other) => one.at - other.at);
}

class Order {
  #length = 0;
  readonly #begun = new Set<Operation>();
  /** Begun, not yet placed in the order, and not an append. */
  readonly #asking = new Set<Operation>();

  constructor(
    private readonly appendAt: ReadonlyMap<number, Operation>,
    private readonly final: readonly Content[],
  ) {}

  begin(operation: Operation): undefined {
    this.#begun.add(operation);
    if (operation.request.kind === "append" && operation.answer?.kind !== "mismatch") return;
    if (!this.#holdsNow(operation)) this.#asking.add(operation);
  }

  /** The operation must have its place by now: appends happen, one by one, until it has. */
  end(operation: Operation): string | undefined {
    const { request, answer, actor } = operation;
    if (request.kind === "append" && answer?.kind === "stored") {
      return this.#growTo(answer.at + request.contents.length, operation);
    }
    if (!this.#asking.has(operation)) return undefined;
    const needed = neededLength(operation);
    if (needed > this.#length) {
      const wrong = this.#growTo(needed, operation);
      if (wrong !== undefined) return wrong;
    }
    if (!this.#asking.has(operation)) return undefined;
    return `${actor} asked #${operation.number} and was told ${JSON.stringify(answer)}; the log had ${this.#length} records before it asked`;
  }

  #growTo(length: number, because: Operation): string | undefined {
    while (this.#length < length) {
      const next = this.appendAt.get(this.#length);
      if (next === undefined || !this.#begun.has(next) || next.request.kind !== "append") {
        return `${because.actor} was told of record ${this.#length} before anybody appended it (#${because.number})`;
      }
      this.#length += next.request.contents.length;
      for (const asking of this.#asking) if (this.#holdsNow(asking)) this.#asking.delete(asking);
    }
    return undefined;
  }

  /** Whether its answer is right for the log as it is now. */
  #holdsNow({ request, answer }: Operation): boolean {
    if (request.kind === "append" && answer?.kind === "mismatch") {
      return this.#length === answer.actual && answer.actual !== request.match;
    }
    if (answer?.kind !== "records") return true;
    const { contents, tail, upToDate } = answer;
    const fits = upToDate ? this.#length === tail : this.#length >= tail;
    if (request.kind !== "read-log") return fits;
    const end = request.from + contents.length;
    // Who has come to the tail has been given everything before it.
    if (upToDate && end < tail) return false;
    const isThere = contents.every((content, index) => this.final[request.from + index] === content);
    return fits && isThere && (contents.length === 0 || this.#length >= end);
  }
}

/** The least length of the log at which the answer can be right. */
function neededLength({ request, answer }: Operation): number {
  if (answer?.kind === "mismatch") return answer.actual;
  if (answer?.kind !== "records") return 0;
  const { contents, tail } = answer;
  return request.kind !== "read-log" || contents.length === 0
    ? tail
    : Math.max(tail, request.from + contents.length);
}
