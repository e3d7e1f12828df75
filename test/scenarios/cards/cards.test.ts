/** docs/cards.md says of every card whether it applies here and where it is played; this keeps it true. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const cards = `
  H01 H02 H03 H05 H05b H06 H07 H09 H10 H11 H13 H14
  H15 H17 H18 H19 H21 H22 H23
  H25 H26 H27 H29 H30 H31 H33 H34 H35
  H37 H38 H39 H41 H42 H43 H45 H46 H47 H49 H50 H51
  H53 H54 H55 H57 H58 H59 H61 H62 H63 H65 H66 H67 H69 H70
  H71 H73 H74 H75 H77 H78 H79`
  .trim()
  .split(/\s+/);

const here = new URL(".", import.meta.url);
const folder = "test/scenarios/cards/";

/** Cards in the titles of each file's tests: `"H07 (rules 2, 3): ..."`. */
const titles = new Map(
  readdirSync(here)
    .filter((name) => name.endsWith(".test.ts") && name !== "cards.test.ts")
    .map((name) => {
      const text = readFileSync(new URL(name, here), "utf8");
      return [name, new Set([...text.matchAll(/["`](H\d\db?) \(rules? \d/g)].map(([, card = ""]) => card))];
    }),
);

interface Row {
  readonly card: string;
  readonly applies: string;
  /** Test files, or the reason why there is none. */
  readonly where: string;
}

const rows: Row[] = readFileSync(new URL("../../../docs/cards.md", here), "utf8")
  .split("\n")
  .flatMap((line) => {
    const [, card = "", applies = "", where = ""] = line.split("|").map((cell) => cell.trim());
    return /^H\d/.test(card) ? [{ card, applies, where }] : [];
  });

describe("docs/cards.md", () => {
  test("has one line for each card, in order", () => {
    expect(rows.map((row) => row.card)).toEqual(cards);
    expect(cards.length).toBe(61);
  });

  test.each(cards)("tells the truth about %s", (card) => {
    const row = rows.find((one) => one.card === card);
    const played = [...titles].flatMap(([file, found]) => (found.has(card) ? [file] : []));
    if (row?.applies === "no") {
      expect(played).toEqual([]);
      expect(row.where.length).toBeGreaterThan(40); // a reason, not a shrug
    } else {
      expect(row?.applies).toBe("yes");
      const named = [...(row?.where ?? "").matchAll(/`([^`]+)`/g)].map(([, path = ""]) => path);
      expect(named.sort()).toEqual(played.map((file) => `${folder}${file}`).sort());
      expect(played.length).toBeGreaterThan(0);
    }
  });

  test("no test plays a card that does not exist", () => {
    const played = new Set([...titles.values()].flatMap((found) => [...found]));
    expect([...played].filter((card) => !cards.includes(card))).toEqual([]);
  });
});
