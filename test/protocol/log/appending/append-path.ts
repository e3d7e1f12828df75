/**
 * Run by append-path.test.ts in a process of its own: an embedded cloud takes one warm append through its
 * route, and what ran of lib until the answer came is written to stdout as JSON.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseSync } from "vite";
import { EmbeddedCloud } from "../../../../lib/local/embedded-cloud.ts";
import { type SyntaxNode, visit } from "../../../tidy/parse.ts";

export interface RanFile {
  /** From the repository's root. */
  readonly path: string;
  /** Of which a method or the constructor ran. */
  readonly classes: readonly string[];
}

/** Long enough for what an append leaves to be done behind its answer. */
const QUIET_MS = 300;

const session = new Session();

async function ranSince(): Promise<readonly RanFile[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const files: RanFile[] = [];
  for (const { url, scriptId, functions } of result) {
    const path = /\/(lib\/(?!.*node_modules).*\.ts)$/.exec(url)?.[1];
    // The range of a whole function comes first; the script itself ran when it was loaded.
    const ran = functions.flatMap(({ ranges: [whole] }) =>
      whole !== undefined && whole.count > 0 ? [whole] : [],
    );
    if (path === undefined || ran.length === 0) continue;
    const { scriptSource } = await session.post("Debugger.getScriptSource", { scriptId });
    const classes: string[] = [];
    visit(parseSync("ran.js", scriptSource).program as unknown as SyntaxNode, (node) => {
      if (node.type !== "ClassDeclaration" && node.type !== "ClassExpression") return;
      const isOf = ran.some(
        ({ startOffset, endOffset }) => startOffset >= node.start && endOffset <= node.end,
      );
      const id = node.id as { readonly name: string } | null;
      if (isOf) classes.push(id?.name ?? "a class");
    });
    files.push({ path, classes });
  }
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

async function request(url: string, method: "POST" | "PUT", body: unknown): Promise<void> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  await answer.arrayBuffer();
}

const dataDir = await mkdtemp(join(tmpdir(), "fenceline-path-"));
try {
  await using cloud = await EmbeddedCloud.open({ dataDir, port: 0, regions: "1", write: () => {} });
  const log = `${cloud.regions()[0]?.url}/v1/logs/path`;
  const append = () => request(`${log}/records`, "POST", { records: [{ body: "aGVsbG8=" }] });
  await request(log, "PUT", {});
  for (let warmUp = 0; warmUp < 3; warmUp++) await append();
  await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
  session.connect();
  await session.post("Debugger.enable");
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage"); // counts from zero
  await append();
  const ran = await ranSince();
  session.disconnect();
  process.stdout.write(JSON.stringify(ran));
} finally {
  await rm(dataDir, { recursive: true });
}
