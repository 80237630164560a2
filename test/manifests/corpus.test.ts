import { expect } from "chai";
import fc from "fast-check";
import { parseIntent, parseSet } from "../../src/api/validate.ts";
import { randomIntent, setOf } from "../lib/builders/corpus-random.ts";
import { type TestCluster, testCluster } from "../lib/cluster/cluster.ts";
import { type BadCase, badCases, type CorpusCase, corpusFolder, goodCases } from "../lib/corpus/corpus.ts";
import { isOfCode, lineOf } from "../lib/corpus/corpus-rules.ts";
import { badDifference, goodDifference, refusal, send } from "../lib/corpus/corpus-server.ts";

/** Cases whose words people see: one of each kind of answer. */
const shown = [
  "nodevolumeset/source-member-null",
  "nodevolumeset/host-path-dotdot",
  "nodevolumeset/host-path-escape",
  "nodevolumeset/mount-option-read-only",
  "nodevolumeset/mount-name-twice",
  "nodevolumeset/mounts-too-many",
  "nodevolumeset/name-too-long",
  "nodevolumeset/unknown-in-spec",
  "nodevolumeset/old-release-on-drain",
  "nodevolumeset/volume-missing",
  "nodevolumeset/fs-type-unknown",
  "nodevolumeset/node-selector-value-space",
  "nodevolumeset/nfs-option-comma",
];

/** A case with what the API server says of it: what code alone checks, `test/unit/api/corpus.test.ts` tries. */
function byServer(found: BadCase): BadCase {
  return { ...found, expected: found.expected.filter((line) => !isOfCode(found.object.kind, line)) };
}

describe("the corpus on a real API server", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });

  for (const kind of ["NodeVolumeSet", "NodeVolumeIntent", "NodeVolumeState"]) {
    const ofKind = badCases().filter(({ object }) => object.kind === kind);
    const cases = ofKind.map(byServer).filter(({ expected }) => expected.length > 0);
    it(`each of ${cases.length} bad objects of kind ${kind} is refused with the field and the remedy`, async () => {
      const differing = await each(cases, async (found) => badDifference(found, await send(cluster.admin, found)));
      expect(differing).to.equal("");
    });

    const left = ofKind.filter((found) => byServer(found).expected.length === 0);
    it(`each of ${left.length} of kind ${kind} that only controller and agents refuse is accepted`, async () => {
      const differing = await each(left, async (found) => {
        return goodDifference({ ...found, expected: {} }, await send(cluster.admin, found));
      });
      expect(differing).to.equal("");
    });
  }

  it(`each of ${goodCases().length} good objects is accepted and has its defaults`, async () => {
    const differing = await each(goodCases(), async (found) => goodDifference(found, await send(cluster.admin, found)));
    expect(differing).to.equal("");
  });

  it("kubectl shows people the same words", async () => {
    const cases = badCases()
      .filter(({ name }) => shown.includes(name))
      .map(byServer);
    expect(cases.length).to.equal(shown.length);
    const differing = await each(cases, async ({ file, expected }) => {
      const { code, stderr } = await cluster.adminKubectl.try(["create", "--dry-run=server", "-f", file]);
      const missing = expected.filter((line) => !stderr.includes(line));
      return code !== 0 && missing.length === 0 ? "" : `expected:\n  ${missing.join("\n  ")}\nkubectl:\n${stderr}`;
    });
    expect(differing).to.equal("");
  });

  it("the code and the API server agree on random intents, and on their sets", async () => {
    const seen = { accepted: 0, refused: 0, byCodeAlone: 0 };
    await fc.assert(
      fc.asyncProperty(randomIntent(), async (spec) => {
        for (const [kind, of] of [["NodeVolumeIntent", spec] as const, ["NodeVolumeSet", setOf(spec)] as const]) {
          const object = { apiVersion: "nodevolume.dev/v1alpha1", kind, metadata: { name: "corpus-random" }, spec: of };
          const answer = await send(cluster.admin, { name: "random", file: corpusFolder, object });
          const parsed = kind === "NodeVolumeIntent" ? parseIntent(object) : parseSet(object);
          const accepted = answer.status === 201;
          const errors = parsed.ok ? [] : parsed.errors;
          const words = accepted ? "accepted" : refusal(answer).join("\n");
          seen[parsed.ok ? "accepted" : accepted ? "byCodeAlone" : "refused"] += 1;
          if (parsed.ok) expect(answer.body["spec"], words).to.deep.equal(parsed.value.spec);
          // The API server does not look into the source of an intent, but into the same source of a set.
          if (kind === "NodeVolumeIntent" && errors.some(({ path }) => path.startsWith(".spec.source"))) continue;
          const known = errors.filter((error) => !isOfCode(kind, lineOf(error)));
          expect(known.length === 0, `${JSON.stringify(errors)}: ${words}`).to.equal(accepted);
        }
      }),
      { numRuns: 600 },
    );
    for (const count of Object.values(seen)) expect(count, JSON.stringify(seen)).to.be.greaterThan(20);
  });
});

/** Tries the cases, a few at a time, and gives back every difference with the name of its case. */
async function each<T extends CorpusCase>(
  cases: readonly T[],
  attempt: (found: T) => Promise<string>,
): Promise<string> {
  const left = [...cases];
  const differing: string[] = [];
  const worker = async () => {
    for (let found = left.shift(); found !== undefined; found = left.shift()) {
      const difference = await attempt(found);
      if (difference !== "") differing.push(`${found.name}: ${difference}`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  return differing.sort().join("\n");
}
