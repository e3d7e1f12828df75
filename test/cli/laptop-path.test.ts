/** A command on a laptop loads nothing of AWS: no module that it imports from the start needs the SDK or CDK. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a file imports when it is loaded; types are erased, and `import()` waits until it is called. */
function loadedBy(path: string): readonly string[] {
  const text = readFileSync(join(root, path), "utf8");
  const statements = text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from "([^"]+)"|^import "([^"]+)"/gm);
  return [...statements].map(([, from, bare]) => from ?? bare ?? "");
}

test("bin/fenceline.ts loads neither the SDK nor CDK", () => {
  const seen = new Set<string>(["bin/fenceline.ts"]);
  const packages = new Set<string>();
  for (const path of seen) {
    for (const specifier of loadedBy(path)) {
      if (specifier.startsWith(".")) seen.add(join(dirname(path), specifier));
      else packages.add(specifier);
    }
  }
  expect([...packages].filter((name) => /^(@aws-|@smithy\/|aws-cdk|constructs|cdk-nag)/.test(name))).toEqual(
    [],
  );
  expect([...seen].filter((path) => path.startsWith("lib/client/aws/"))).toEqual([]);
  // The walk went somewhere, and the code for AWS is behind a door that it passed by.
  expect(seen).toContain("lib/local/embedded-cloud.ts");
  expect(loadedBy("lib/cli/deployed-client.ts")).toContain("../client/aws/signed-send.ts");
});
