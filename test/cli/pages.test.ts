/** The pages that `fenceline local` is asked to serve. */
import { expect, test } from "vitest";
import { run } from "./run-command.ts";

test.each(["app.example", "https://app.example/path", "*", "null", "https://a.example,b", ""])(
  "--cors %s is refused, with what an origin is",
  async (origins) => {
    const { code, err } = await run(["local", "--data", "/nonexistent/here", `--cors=${origins}`]);
    expect(code).toBe(2);
    expect(err).toMatch(/is no origin, which is a scheme, a host and a port: https:\/\/app\.example:8443/);
  },
);
