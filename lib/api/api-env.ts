/** What a request brings along on the surface, beside itself. */
import type { Context } from "hono";

export interface ApiEnv {
  Bindings: {
    /**
     * The target as it stood on the request line, or its path. Without it the URL's path is checked, already
     * folded.
     */
    readonly rawPath?: string;
  };
  Variables: { requestId: string };
}

export type ApiContext = Context<ApiEnv>;
