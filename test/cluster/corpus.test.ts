import { expect } from "chai";
import fc from "fast-check";
import { parseIntent } from "../../src/api/validate.ts";
import { type TestCluster, testCluster } from "../lib/cluster.ts";
import { badCases, type CorpusCase, corpusFolder, goodCases } from "../lib/corpus.ts";
import { randomIntent } from "../lib/corpus-random.ts";
import { badDifference, goodDifference, refusal, send } from "../lib/corpus-server.ts";

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
  "nodevolumeintent/nfs-option-comma",
];

describe("the corpus on a real API server", () => {
  let cluster: TestCluster;
  before(async function () {
    cluster = await testCluster(this);
  });

  for (const kind of ["NodeVolumeSet", "NodeVolumeIntent", "NodeVolumeState"]) {
    const cases = badCases().filter(({ object }) => object.kind === kind);
    it(`each of ${cases.length} bad objects of kind ${kind} is refused with the field and the remedy`, async () => {
      const differing = await each(cases, async (found) => badDifference(found, await send(cluster.admin, found)));
      expect(differing).to.equal("");
    });
  }

  it(`each of ${goodCases().length} good objects is accepted and has its defaults`, async () => {
    const differing = await each(goodCases(), async (found) => goodDifference(found, await send(cluster.admin, found)));
    expect(differing).to.equal("");
  });

  it("kubectl shows people the same words", async () => {
    const cases = badCases().filter(({ name }) => shown.includes(name));
    expect(cases.length).to.equal(shown.length);
    const differing = await each(cases, async ({ file, expected }) => {
      const { code, stderr } = await cluster.adminKubectl.try(["create", "--dry-run=server", "-f", file]);
      const missing = expected.filter((line) => !stderr.includes(line));
      return code !== 0 && missing.length === 0 ? "" : `expected:\n  ${missing.join("\n  ")}\nkubectl:\n${stderr}`;
    });
    expect(differing).to.equal("");
  });

  it("the code and the API server agree on random intents", async () => {
    const seen = { accepted: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(randomIntent(), async (spec) => {
        const object = {
          apiVersion: "nodevolume.dev/v1alpha1",
          kind: "NodeVolumeIntent",
          metadata: { name: "corpus-random" },
          spec,
        };
        const answer = await send(cluster.admin, { name: "random", file: corpusFolder, object });
        const parsed = parseIntent(object);
        const accepted = answer.status === 201;
        seen[accepted ? "accepted" : "refused"] += 1;
        const words = accepted ? "accepted" : refusal(answer).join("\n");
        expect(parsed.ok, parsed.ok ? words : JSON.stringify(parsed.errors)).to.equal(accepted);
        if (parsed.ok) expect(answer.body["spec"]).to.deep.equal(parsed.value.spec);
      }),
      { numRuns: 600 },
    );
    expect(seen.accepted, JSON.stringify(seen)).to.be.greaterThan(60);
    expect(seen.refused, JSON.stringify(seen)).to.be.greaterThan(60);
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
