import { expect } from "chai";
import { podEntry } from "../../../src/cli/explain/our-chain.ts";
import { intentFindings } from "../../../src/explain/intent-chain.ts";
import { ago, facts, intent, listedPod, podState, raw } from "../../lib/builders/cli-objects.ts";

const requester = { kind: "NodeVolumeSet", name: "data", uid: "u" } as const;
const mounts = [
  { name: "data.first", requester, path: "/mnt/nodevolume/first", readOnly: false },
  { name: "data.second", requester, path: "/mnt/nodevolume/second", readOnly: false },
];

describe("next steps of an intent with two mounts", () => {
  it("unmount the path that each reason is about, and not the first one, which may be in use", () => {
    const stuck = intent(
      "worker-1.data",
      { mounts },
      {
        waiting: { reason: "ServerUnreachable", message: "no answer", since: ago(5) },
        mounts: [
          { name: "data.first", path: "/mnt/nodevolume/first", state: "Mounted" },
          { name: "data.second", path: "/mnt/nodevolume/second", state: "Blocked", reason: "ForeignMountBeneath" },
        ],
      },
    );
    const todo = intentFindings(facts({ intents: [stuck] }), stuck).find(({ code }) => code === "ForeignMountBeneath");
    expect(todo?.todo).to.include("umount /mnt/nodevolume/second, twice");
  });

  it("name no path of the host for what is wrong in a pod's directory", () => {
    const place = "/var/lib/kubelet/pods/uid-web/volumes/kubernetes.io~csi/data/mount";
    const of = (on?: { readonly kind: string; readonly name: string }) => {
      const waiting = { reason: "ForeignMountOnTarget", message: "m", since: ago(5), ...(on && { on }) };
      const pods = [{ ...podState("web", "Blocked"), reason: "ForeignMountOnTarget", message: "m" }];
      const one = intent("worker-1.data", { mounts, pods: [listedPod("web")] }, { waiting, pods });
      return podEntry(one, "uid-web", listedPod("web").volume)[0]?.todo;
    };
    expect(of()).to.match(/umount PATH$/);
    expect(of({ kind: "Mount", name: place })).to.include(`umount '${place}'`);
    expect(of({ kind: "Mount", name: "/mnt/nodevolume/first" })).to.match(/umount PATH$/);
  });
});

describe("findings of a volume whose mounts are not as they were left", () => {
  const drift = { class: "Missing", since: ago(30), message: "nothing is mounted on /mnt/nodevolume/first any more" };
  const of = (status: object, spec: object = {}) => {
    const one = intent("worker-1.data", { mounts, ...spec }, { observedGeneration: 1, drift, ...status });
    return intentFindings(facts({ intents: [one] }), one).slice(1);
  };
  const short = (status: object, spec: object = {}) =>
    of(status, spec).map(({ state, code, todo }) => [state, code, todo?.split(" ", 3).join(" ")]);
  const ready = { type: "Ready", status: "False", reason: "Suspended", message: "m", lastTransitionTime: ago(20) };

  it("say that it is repaired, where nothing keeps the agent from it", () => {
    expect(short({})).to.deep.equal([["waiting", "Drifted", "Nothing to do"]]);
  });

  it("lead to the suspension, with one thing to do, and no tick", () => {
    expect(short({ conditions: [ready] }, { suspend: true })).to.deep.equal([
      ["waiting", "Drifted", undefined],
      ["waiting", "Suspended", "To continue: kubectl"],
    ]);
    expect(of({ conditions: [ready] }, { suspend: true }).at(-1)?.since).to.equal(ago(20));
  });

  it("say how it goes on by the set, or by the Node, as far as the Node's labels are known", () => {
    const one = intent("worker-1.data", { mounts, suspend: true }, {}, { labels: { "nodevolume.dev/set": "data" } });
    const of = (labels?: { readonly [key: string]: string }) => {
      const nodes = [raw("worker-1", undefined, {}, labels && { labels })];
      const { text, todo } = intentFindings(facts({ intents: [one], nodes }), one).at(-1) ?? {};
      return [text, todo];
    };
    expect(of({ a: "b" })).to.deep.equal([
      "set-up and repair are suspended by the set",
      `To continue: kubectl patch nvs data --type merge -p '{"spec":{"suspend":false}}'`,
    ]);
    expect(of({ "nodevolume.dev/suspend": "" })).to.deep.equal([
      "set-up and repair are suspended by the label nodevolume.dev/suspend of the Node",
      "To continue: kubectl label node worker-1 nodevolume.dev/suspend-",
    ]);
    expect(of()[0]).to.equal("set-up and repair are suspended by the set or the Node's label");
  });

  it("lead to what keeps the agent from the repair, which is said once where both say the same", () => {
    const waiting = { reason: "SourceDiffers", message: "another directory is there", since: ago(10) };
    const cause = ["blocked", "SourceDiffers", "Restore the former"];
    expect(short({ waiting })).to.deep.equal([["waiting", "Drifted", undefined], cause]);
    expect(short({ waiting: { ...waiting, message: drift.message } })).to.deep.equal([cause]);
    expect(short({ waiting, drift: { ...drift, class: "Stacked" } })).to.deep.equal([cause]);
  });
});

describe("findings of a volume that is only observed", () => {
  it("have no tick while it is not as the spec says", () => {
    const why = { reason: "WouldChange", message: "m", lastTransitionTime: ago(5) };
    const ready = { type: "Ready", status: "False" as const, ...why };
    const one = intent(
      "worker-1.data",
      { mounts, mode: "Observe" },
      { observedGeneration: 1, state: "Observed", conditions: [ready] },
    );
    const found = intentFindings(facts({ intents: [one] }), one).map(({ state, code }) => [state, code]);
    expect(found).to.deep.equal([
      ["waiting", "Observed"],
      ["waiting", "WouldChange"],
    ]);
  });
});
