/**
 * Who may import whom. Composition roots reach for the surface and the adapters, those for the formats, all
 * of them for the protocol, and the protocol for nothing. A folder without a row may import nothing at all.
 * The architecture shows the same table to its readers.
 */
import { importsOf, resolve } from "./parse.ts";
import { isCode, isWithin, type SourceFile } from "./repository.ts";

interface Row {
  /** Folders or files, from the repository's root; its own folder goes without saying. */
  readonly files?: readonly string[];
  /** As `files`, but for `import type` alone. */
  readonly types?: readonly string[];
  /** Packages, or scopes with their slash. */
  readonly packages?: readonly string[];
  /** Whether Node's own modules are there. */
  readonly node?: boolean;
  /** A composition root: anything, save what lies in these. */
  readonly anythingBut?: readonly string[];
}

const protocol = "lib/protocol";
const formats = "lib/formats";

/** The first row whose folder holds the file counts; `*` is one path element. */
const table: readonly (readonly [folder: string, row: Row])[] = [
  ["lib/protocol", {}],
  ["lib/given-variables.ts", {}],
  ["lib/environment.ts", { files: ["lib/given-variables.ts"] }],
  ["lib/formats", { files: [protocol] }],
  ["lib/adapters/memory", { files: [protocol, formats] }],
  ["lib/adapters/level", { files: [protocol, formats], packages: ["classic-level"], node: true }],
  ["lib/adapters/node", { files: [protocol, formats], node: true }],
  ["lib/adapters/aws", { files: [protocol, formats], packages: ["@aws-sdk/", "@smithy/"], node: true }],
  ["lib/api", { files: [protocol], packages: ["hono", "zod"] }],
  [
    "lib/client/aws",
    { files: [protocol, "lib/client"], packages: ["@aws-sdk/client-lambda", "@smithy/"], node: true },
  ],
  ["lib/client", { files: [protocol], types: ["lib/api"] }],
  [
    "lib/infra",
    {
      files: [
        "lib/environment.ts",
        "lib/bundles",
        "lib/protocol/limits.ts",
        "lib/protocol/assert.ts",
        "lib/protocol/placement",
        "lib/api/log-config.ts",
        "lib/api/origins.ts",
        "lib/api/problem.ts",
      ],
      packages: ["aws-cdk-lib", "constructs", "cdk-nag", "zod"],
      node: true,
    },
  ],
  [
    "lib/local",
    {
      files: [protocol, formats, "lib/adapters", "lib/api"],
      packages: ["hono", "@hono/node-server"],
      node: true,
    },
  ],
  [
    "lib/cli",
    {
      // Placement is tried on topologies that need not exist, so there is no server to ask.
      files: ["lib/api", "lib/client", "lib/local", "lib/protocol/placement", "lib/protocol/log-config.ts"],
      packages: ["commander"],
      node: true,
    },
  ],
  [
    "lib/lambda",
    {
      files: [protocol, formats, "lib/api", "lib/environment.ts", "lib/adapters/aws", "lib/adapters/node"],
      packages: ["hono", "@aws-lambda-powertools/", "aws-lambda"],
      node: true,
    },
  ],
  ["lib/bundles", { packages: ["esbuild"], node: true }],
  ["functions/*", { files: ["lib/lambda", "lib/environment.ts"], packages: ["aws-lambda"], node: true }],
  ["bin", { anythingBut: ["test"] }],
  ["test", { anythingBut: [] }],
];

export function importDirections(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => isCode(file.path) && /^(lib|bin|functions|test)\//.test(file.path))
    .flatMap((file) => {
      const placed = rowOf(file.path);
      if (placed === undefined) return [`${file.path}: its folder has no row in the table of imports`];
      return importsOf(file)
        .filter(({ specifier, typesOnly }) => !isAllowed(file.path, specifier, typesOnly, placed))
        .map(({ specifier, line }) => `${file.path}:${line}: ${placed.folder} may not import ${specifier}`);
    });
}

const HEADING = "## Folders and who may import whom";

/** The architecture's table of folders has the rows of this one, in order, and each allows the same. */
export function documentedDirections(files: readonly SourceFile[]): string[] {
  const document = files.find((file) => file.path === "docs/ARCHITECTURE.md")?.text ?? "";
  const [, section] = document.split(`${HEADING}\n`);
  if (section === undefined) return [`docs/ARCHITECTURE.md: has no heading "${HEADING}"`];
  const lines = (section.split(/^## /m)[0] ?? "").split("\n").filter((line) => line.startsWith("| `"));
  const shown = lines.map((line) => {
    const [, folder = "", , allowed = ""] = line.split("|").map((cell) => cell.trim());
    return `${folder} may import ${allowed}`;
  });
  const enforced = table.map(([folder, row]) => `\`${folder}\` may import ${allowedText(row)}`);
  return Array.from({ length: Math.max(shown.length, enforced.length) }, (_, index) => index)
    .filter((index) => shown[index] !== enforced[index])
    .map((index) => `docs/ARCHITECTURE.md: says "${shown[index]}", enforced is "${enforced[index]}"`);
}

function allowedText({ files = [], types = [], packages = [], node, anythingBut }: Row): string {
  const inCode = (name: string) => `\`${name}\``;
  if (anythingBut !== undefined) return ["anything", ...anythingBut.map(inCode)].join(" but ");
  const all = [
    ...files.map(inCode),
    ...types.map((name) => `types of ${inCode(name)}`),
    ...packages.map(inCode),
    ...(node === true ? ["Node"] : []),
  ];
  return all.length === 0 ? "nothing" : all.join(", ");
}

interface Placed {
  readonly folder: string;
  readonly row: Row;
}

function rowOf(path: string): Placed | undefined {
  for (const [pattern, row] of table) {
    const folder = pattern.replace("*", path.split("/")[pattern.split("/").indexOf("*")] ?? "");
    if (isWithin(path, folder)) return { folder, row };
  }
  return undefined;
}

function isAllowed(path: string, specifier: string, typesOnly: boolean, { folder, row }: Placed): boolean {
  if (specifier.startsWith(".")) {
    const target = resolve(path, specifier);
    if (row.anythingBut !== undefined) return !row.anythingBut.some((banned) => isWithin(target, banned));
    const targets = [folder, ...(row.files ?? []), ...(typesOnly ? (row.types ?? []) : [])];
    return targets.some((allowed) => isWithin(target, allowed));
  }
  if (row.anythingBut !== undefined) return true;
  if (specifier.startsWith("node:")) return row.node === true;
  return (row.packages ?? []).some((name) =>
    name.endsWith("/") ? specifier.startsWith(name) : isWithin(specifier, name),
  );
}
