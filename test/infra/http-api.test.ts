/** The REST API as the template has it: octets, what it answers by itself, pages of other origins. */
import type { Template } from "aws-cdk-lib/assertions";
import { ResponseType } from "aws-cdk-lib/aws-apigateway";
import { describe, expect, test } from "vitest";
import { readRegionSettings } from "../../lib/environment.ts";
import { httpRoutes } from "../../lib/infra/http-routes.ts";
import { home, regionTemplate, templatesOf, topologyOf, variablesOf } from "./topologies.ts";

describe("the gateway", { timeout: 180_000 }, () => {
  const origins = ["https://app.example", "http://localhost:5173"];
  const templateOf = (allowedOrigins: string[] = []) =>
    regionTemplate(templatesOf({ ...topologyOf(1, home), allowedOrigins }), "us-east-1");
  const propertiesOf = (template: Template, type: string) =>
    Object.values(template.findResources(type)).map(({ Properties }) => Properties);

  test("takes every body as octets, so that none is mended into text", () => {
    templateOf().hasResourceProperties("AWS::ApiGateway::RestApi", { BinaryMediaTypes: ["*/*"] });
  });

  test("answers for its functions with problem documents, of every kind that AWS has", () => {
    const responses = propertiesOf(templateOf(), "AWS::ApiGateway::GatewayResponse");
    const kinds = Object.values(ResponseType as unknown as Record<string, unknown>)
      .filter((one) => one instanceof ResponseType)
      .map(({ responseType }) => responseType);
    expect(responses.map(({ ResponseType: kind }) => kind).sort()).toEqual(kinds.sort());
    for (const { ResponseType: kind, StatusCode: status, ...response } of responses) {
      const { "application/json": text, ...others } = response.ResponseTemplates;
      expect(others).toEqual({});
      const problem = JSON.parse(text);
      const mayHaveRun = status === undefined ? kind === "DEFAULT_5XX" : Number(status) >= 500;
      expect(problem).toMatchObject({
        type: `urn:fenceline:problem:${problem.code}`,
        title: expect.any(String),
        detail: expect.stringMatching(/\.$/),
        instance: "urn:uuid:$context.requestId",
        region: "us-east-1",
        side_effects: mayHaveRun ? "possible" : "none",
        retryable: mayHaveRun || status === "429",
      });
      // A status of the defaults would become that of every kind which is not named.
      expect(problem.status).toBe(kind.startsWith("DEFAULT") ? undefined : Number(status));
      const parameters = response.ResponseParameters;
      expect(parameters["gatewayresponse.header.Content-Type"]).toBe("'application/problem+json'");
      expect(Object.keys(parameters).join()).not.toContain("Access-Control");
    }
    const tooLarge = responses.find((one) => one.ResponseType === "REQUEST_TOO_LARGE");
    const { detail, code } = JSON.parse(tooLarge?.ResponseTemplates["application/json"]);
    expect(code).toBe("body_too_large");
    expect(detail).toMatch(/10 MB.* 6 MB .*4,500,000 bytes.* Send fewer/);
  });

  test("knows no other origin unless one is named", () => {
    const template = templateOf();
    expect(propertiesOf(template, "AWS::ApiGateway::Method").map((one) => one.HttpMethod)).not.toContain(
      "OPTIONS",
    );
    expect(JSON.stringify(template.toJSON())).not.toMatch(/Access-Control|ALLOWED_ORIGINS/);
  });

  test("answers preflights of named origins by itself, unsigned, on each path with its methods", () => {
    const template = templateOf(origins);
    const preflights = propertiesOf(template, "AWS::ApiGateway::Method").filter(
      ({ HttpMethod }) => HttpMethod === "OPTIONS",
    );
    expect(preflights).toHaveLength(new Set(httpRoutes.map(({ path }) => path)).size);
    for (const { AuthorizationType, Integration } of preflights) {
      expect(AuthorizationType).toBe("NONE");
      // As octets, a mocked integration would fail on the body that a preflight has not.
      expect(Integration).toMatchObject({ Type: "MOCK", ContentHandling: "CONVERT_TO_TEXT" });
      const [{ ResponseParameters: headers, ResponseTemplates: text }] = Integration.IntegrationResponses;
      expect(headers["method.response.header.Access-Control-Allow-Origin"]).toBe(`'${origins[0]}'`);
      expect(JSON.stringify(text)).toContain(origins[1]);
      const allowed = headers["method.response.header.Access-Control-Allow-Headers"];
      for (const name of ["Authorization", "X-Amz-Date", "X-Amz-Security-Token", "Idempotency-Key"]) {
        expect(allowed).toContain(name);
      }
      expect(headers["method.response.header.Access-Control-Expose-Headers"]).toContain("Request-Id");
    }
    const methods = preflights.map(
      (one) =>
        one.Integration.IntegrationResponses[0].ResponseParameters[
          "method.response.header.Access-Control-Allow-Methods"
        ],
    );
    expect(methods).toContain("'GET,PUT,PATCH,DELETE,OPTIONS'");
    for (const role of ["append", "read"]) {
      expect(readRegionSettings(variablesOf(template, `glog-${role}`)).allowedOrigins).toEqual(origins);
    }
  });

  test.each([
    [[origins[0] ?? ""], "'https://app.example'"],
    [origins, "method.request.header.Origin"],
  ])("lets pages of %j read its own answers", (allowedOrigins, value) => {
    for (const one of propertiesOf(templateOf(allowedOrigins), "AWS::ApiGateway::GatewayResponse")) {
      expect(one.ResponseParameters["gatewayresponse.header.Access-Control-Allow-Origin"]).toBe(value);
      expect(one.ResponseParameters["gatewayresponse.header.Vary"]).toBe("'Origin'");
    }
  });
});
