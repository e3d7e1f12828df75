/** Ledgers, for people who look underneath: show one, or fence and close it. */
import { createRoute, z } from "@hono/zod-openapi";
import { ledgerId } from "../protocol/ids.ts";
import { ledgerAnswer } from "./answers.ts";
import { type ApiApp, type ApiOptions, answer, errorAnswers } from "./routing.ts";
import { ledgerDescription, ledgerIdText } from "./wire.ts";

const ledgerParams = z.object({ id: ledgerIdText });

const showLedger = createRoute({
  method: "get",
  path: "/v1/ledgers/{id}",
  summary: "A ledger's metadata: state, quorums, fragments.",
  request: { params: ledgerParams },
  responses: { 200: answer(ledgerDescription, "The ledger."), ...errorAnswers },
});

const recoverLedger = createRoute({
  method: "post",
  path: "/v1/ledgers/{id}/recover",
  summary: "Fences the ledger, finds its end and closes it. Its writer can acknowledge nothing afterwards.",
  request: { params: ledgerParams },
  responses: { 200: answer(ledgerDescription, "The closed ledger."), ...errorAnswers },
});

export function addLedgerRoutes(app: ApiApp, options: ApiOptions): void {
  app.openapi(showLedger, async (c) => {
    const ledger = await options.read.showLedger(ledgerId(c.req.valid("param").id));
    return c.json(ledgerAnswer(ledger), 200);
  });
  app.openapi(recoverLedger, async (c) => {
    const ledger = await options.append.recoverLedger(ledgerId(c.req.valid("param").id));
    return c.json(ledgerAnswer(ledger), 200);
  });
}
