import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { readPage } from "../../lib/docs/blocks.ts";

/** A kind of thing that code and pages cite by its number, and where each of them stands. */
interface Cited {
  readonly called: RegExp;
  readonly one: RegExp;
  readonly there: ReadonlySet<string>;
}

const numbersOf = (page: string, heading: RegExp) =>
  new Set([...readPage(page).matchAll(heading)].map(([, n]) => n ?? ""));
const decisions = numbersOf("docs/decisions/README.md", /^\| \[(\d{4})\]/gm);

const kinds: { readonly [kind: string]: Cited } = {
  "safety rule": {
    called: /\bsafety rules? (\d+(?:(?:, | and | to )\d+)*)/g,
    one: /\d+/g,
    there: numbersOf("docs/safety.md", /^### (\d+)\. /gm),
  },
  law: {
    called: /\blaws? (L\d+(?:(?:, | and | to )L\d+)*)/g,
    one: /L\d+/g,
    there: numbersOf("docs/architecture.md", /^\| (L\d+) \|/gm),
  },
  behaviour: {
    called: /\bbehaviours? (\d+(?:(?:, | and | to )\d+)*)/g,
    one: /\d+/g,
    there: numbersOf("docs/conformance.md", /^\| (\d+) \|/gm),
  },
  decision: { called: /\bdecisions? (\d{4}(?:(?:, | and | to )\d{4})*)/g, one: /\d{4}/g, there: decisions },
};

/** What a text cites that is not there, each as `safety rule 99`. PURE. */
function citedInVain(text: string): string[] {
  const plain = text.replace(/\n\s*(?:\*|\/\/|#)?\s*/g, " ");
  return Object.entries(kinds).flatMap(([kind, { called, one, there }]) =>
    [...plain.matchAll(called)].flatMap(([, numbers = ""]) =>
      [...numbers.matchAll(one)].flatMap(([number]) => (there.has(number) ? [] : [`${kind} ${number}`])),
    ),
  );
}

describe("what is cited by its number", () => {
  it("is there: safety rules, laws, behaviours of kubelet, decisions", () => {
    const listed = execFileSync("git", ["ls-files", "src", "test", "hack", "docs", "config", "crds"], { cwd: root });
    const files = listed
      .toString()
      .split("\n")
      .filter((file) => /\.(ts|js|md|yaml|sh|go)$/.test(file) && !/test\/corpus|citations\.test/.test(file));
    expect(files.length).to.be.greaterThan(500);
    const found = files.flatMap((file) =>
      citedInVain(readFileSync(join(root, file), "utf8")).map((what) => `${file}: ${what}`),
    );
    expect(found).to.deep.equal([]);
  });

  it("is found where it is not there, also over the end of a line", () => {
    expect(
      citedInVain("(safety rule 6, laws L1 and L99)\n * kubelet behaviours 1\n * and 900, decision 9999"),
    ).to.deep.equal(["law L99", "behaviour 900", "decision 9999"]);
    expect(Object.values(kinds).map(({ there }) => there.size > 10)).to.deep.equal([true, true, true, true]);
  });
});
