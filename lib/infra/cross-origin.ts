/**
 * Pages of other origins before the gateway. Their preflights carry no signature, and are answered by the
 * gateway itself: no function runs for a caller who is not known. What is signed a function answers, with the
 * headers of lib/api/origins.ts.
 *
 * CO1 Without named origins there is no preflight and no header.
 */
import { Duration } from "aws-cdk-lib";
import { CfnMethod, type RestApi } from "aws-cdk-lib/aws-apigateway";
import { ANSWER_HEADERS, PREFLIGHT_KEPT_S, REQUEST_HEADERS } from "../api/origins.ts";
import { httpRoutes } from "./http-routes.ts";

/** What a page that signs sends beside what every page may. */
const SIGNED_HEADERS = ["Authorization", "X-Amz-Content-Sha256", "X-Amz-Date", "X-Amz-Security-Token"];

export function addPreflights(api: RestApi, allowedOrigins: readonly string[]): void {
  if (allowedOrigins.length === 0) return;
  for (const path of new Set(httpRoutes.map((one) => one.path))) {
    const methods = httpRoutes.filter((one) => one.path === path).map(({ method }) => method);
    const preflight = api.root.resourceForPath(path).addCorsPreflight({
      allowOrigins: [...allowedOrigins],
      allowMethods: [...methods, "OPTIONS"],
      allowHeaders: [...REQUEST_HEADERS.split(", "), ...SIGNED_HEADERS],
      exposeHeaders: ANSWER_HEADERS.split(", "),
      maxAge: Duration.seconds(PREFLIGHT_KEPT_S),
    });
    const { defaultChild } = preflight.node;
    // Every body is binary to this gateway (HA1), and a mocked answer is made from text alone.
    if (defaultChild instanceof CfnMethod) {
      defaultChild.addPropertyOverride("Integration.ContentHandling", "CONVERT_TO_TEXT");
    }
  }
}

/**
 * Of the gateway's own answers, in its notation. It can compare nothing there: with several origins each page
 * may read them, which say nothing of any log.
 */
export function corsHeaders(allowedOrigins: readonly string[]): Readonly<Record<string, string>> {
  const [only, ...more] = allowedOrigins;
  if (only === undefined) return {};
  return {
    "Access-Control-Allow-Origin": more.length === 0 ? `'${only}'` : "method.request.header.Origin",
    "Access-Control-Expose-Headers": `'${ANSWER_HEADERS}'`,
    Vary: "'Origin'",
  };
}
