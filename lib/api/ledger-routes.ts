/** Ledgers, for people who look underneath: show one, or fence and close it. */
import * as z from "zod/mini";
import { ledgerId } from "../protocol/ids.ts";
import { ledgerAnswer } from "./answers.ts";
import { type ApiApp, answer, route } from "./route.ts";
import { problems } from "./route-problems.ts";
import type { ApiOptions } from "./routing.ts";
import { once } from "./schema.ts";
import { ledgerDescription, ledgerIdText } from "./wire.ts";

const ledgerRequest = once(() => ({ params: z.object({ id: ledgerIdText() }) }));

const showLedger = route({
  id: "showLedger",
  method: "get",
  path: "/v1/ledgers/{id}",
  summary: "A ledger's metadata: state, quorums, fragments.",
  request: ledgerRequest,
  problems: problems("metadata", "ledger_not_found"),
  answers: { 200: answer(ledgerDescription, "The ledger.") },
});

const recoverLedger = route({
  id: "recoverLedger",
  method: "post",
  path: "/v1/ledgers/{id}/recover",
  summary: "Fences the ledger, finds its end and closes it. Its writer can acknowledge nothing afterwards.",
  request: ledgerRequest,
  problems: problems("metadata", "writes", "ledger_not_found"),
  answers: { 200: answer(ledgerDescription, "The closed ledger.") },
});

export function addLedgerRoutes(app: ApiApp, options: ApiOptions): void {
  app.serve(showLedger, async (c, { params }) => {
    const ledger = await options.read.showLedger(ledgerId(params.id));
    return c.json(ledgerAnswer(ledger), 200);
  });
  app.serve(recoverLedger, async (c, { params }) => {
    const ledger = await options.append.recoverLedger(ledgerId(params.id));
    return c.json(ledgerAnswer(ledger), 200);
  });
}
