/** An inbox in a LevelDB directory of its own, whose values can be spoilt. */
import { openLevelDatabase } from "../../lib/adapters/level/level-database.ts";
import { LevelInboxStore } from "../../lib/adapters/level/level-inbox-store.ts";
import type { InboxStore } from "../../lib/protocol/log/inbox-store.ts";
import type { InboxUnderTest } from "../contracts/inbox-store-contract.ts";
import { TestClock } from "../scenarios/test-clock.ts";
import { ScratchDirectory } from "./scratch-directory.ts";

export async function inboxOnDisk() {
  const directory = await ScratchDirectory.make();
  const clock = new TestClock(1);
  const open = () => LevelInboxStore.open(directory.path, clock);
  let current = await open();
  // What is there now, since a database is open once at a time and damage comes from outside.
  const store: InboxStore = {
    post: (...given) => current.post(...given),
    requests: (...given) => current.requests(...given),
    answer: (...given) => current.answer(...given),
    readAnswer: (log, ticket) => current.readAnswer(log, ticket),
    sweep: (...given) => current.sweep(...given),
  };
  const inbox: InboxUnderTest = {
    store,
    async damage(_log, { id }) {
      await current.close();
      const database = await openLevelDatabase(directory.path, "inbox-store");
      for await (const [key, value] of database.iterator({ gte: "request#", lt: "request$" })) {
        if (!key.endsWith(`#${id}`)) continue;
        const spoilt = value.map((byte, index) => (index === value.length - 3 ? byte ^ 1 : byte));
        await database.batch([{ type: "put", key, value: spoilt }], { sync: true });
      }
      await database.close();
      current = await open();
    },
    nowMs: () => clock.nowMs(),
    advance: (ms) => clock.advance(ms),
  };
  const close = async () => {
    await current.close();
    await directory.remove();
  };
  return { inbox, close };
}
