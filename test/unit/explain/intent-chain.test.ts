import { expect } from "chai";
import { podEntry } from "../../../src/cli/explain/our-chain.ts";
import { intentFindings } from "../../../src/explain/intent-chain.ts";
import { ago, facts, intent, listedPod, podState } from "../../lib/cli-objects.ts";

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
