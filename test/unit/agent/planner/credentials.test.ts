import { expect } from "chai";
import { digestOf, saltedDigestOf } from "../../../../src/agent/content/salted-digest.ts";
import { asMountPath } from "../../../../src/agent/model/identities.ts";
import type { PlanInput } from "../../../../src/agent/model/plan-input.ts";
import { obstacleOf } from "../../../../src/agent/status/volume-summary.ts";
import type { VolumeSource } from "../../../../src/api/types.gen.ts";
import { VolumeError } from "../../../../src/errors.ts";
import type { ObjectContent } from "../../../../src/plugins/api/content.ts";
import { entry } from "../../../lib/builders/mount-entries.ts";
import {
  mounted,
  planned,
  record,
  staged,
  stageRecord,
  targetRecord,
  volume,
  wanted,
} from "../../../lib/builders/plan-world.ts";
import { FakeAgent, stagingOf } from "../fake-agent.ts";

const secretRef = { namespace: "storage", name: "files" };
const source = { cifs: { server: "nas", share: "a", secretRef } };
const stage = stageRecord({ options: [], contentVersion: "u/1" });
const records = [record({ type: "cifs", stage })];

type Server = "answers" | "times out" | "refuses";

function inputOf(version: string, server: Server, digest?: (salt: string) => string): Partial<PlanInput> {
  const said = server === "refuses" && { said: "Host is down" };
  const problem = { reason: "ServerUnreachable", message: "why", ...said } as const;
  const contents = () => ({ known: true as const, version, ...(digest && { digest }) });
  return { contents, ...(server !== "answers" && { unresponsive: new Map([[volume, problem]]) }) };
}

/** What is planned for a share that is mounted with version 1 of its Secret, in one word. */
function next(version: string, server: Server): string | undefined {
  const input = inputOf(version, server);
  return planned({ intents: [wanted({ source })], records, mounts: [staged, mounted], input }).operation?.kind;
}

const pathOfPod = "/var/lib/kubelet/pods/uid-a/volumes/kubernetes.io~csi/v/mount";
const content = (version: string, password: string): ObjectContent => ({
  version,
  data: new Map([
    ["username", Buffer.from("u")],
    ["password", Buffer.from(password)],
  ]),
});

describe("a volume that is mounted with a Secret", () => {
  it("waits for the Secret before it is mounted", () => {
    const problem = { reason: "SecretNotFound", message: "no files" } as const;
    const input: Partial<PlanInput> = { contents: () => ({ known: false, problem }) };
    const plan = planned({ intents: [wanted({ source })], input });
    expect([plan.operation, plan.problems.volume?.reason]).to.deep.equal([undefined, "SecretNotFound"]);
  });

  it("stays while its session goes on, whatever becomes of the Secret", () => {
    expect(next("u/1", "answers")).to.equal(undefined);
    expect(next("u/2", "answers")).to.equal(undefined);
  });

  it("stays while the server does not answer, if the Secret is the one that it was mounted with", () => {
    expect(next("u/1", "refuses")).to.equal(undefined);
  });

  it("stays while the server says nothing at all, which is no refusal", () => {
    expect(next("u/2", "times out")).to.equal(undefined);
  });

  it("is replaced when the mount answers with an error, and the Secret is another one", () => {
    expect(next("u/2", "refuses")).to.equal("unpublish");
  });

  it("stays if the Secret was written anew with the same, under whatever version", () => {
    const mountedWith = saltedDigestOf([content("u/1", "one")]);
    const known = [record({ type: "cifs", stage: { ...stage, mountedWith } })];
    const kindOf = (password: string) => {
      const input = inputOf("u/9", "refuses", (salt) => digestOf(content("u/9", password).data, salt));
      return planned({ intents: [wanted({ source })], records: known, mounts: [staged, mounted], input }).operation
        ?.kind;
    };
    expect([kindOf("one"), kindOf("two")]).to.deep.equal([undefined, "unpublish"]);
  });

  it("a replacement that has begun goes on, though the server is asked no more", () => {
    const begun = record({ type: "cifs", stage: { ...stage, ready: false }, targets: [] });
    const kindOf = (version: string) => {
      const world = { intents: [wanted({ source })], records: [begun], mounts: [staged] };
      return planned({ ...world, input: inputOf(version, "answers") }).operation?.kind;
    };
    expect([kindOf("u/2"), kindOf("u/1")]).to.deep.equal(["unstage", "stage"]);
  });

  it("is told of by its server while a pod has it, and not as of options", () => {
    const pod = { uid: "uid-a", volume: "v", namespace: "team", name: "pod-a" };
    const path = pathOfPod;
    const world = {
      intents: [wanted({ source })],
      records: [
        record({
          type: "cifs",
          stage,
          targets: [targetRecord(), targetRecord({ path: asMountPath(path), mountID: 30, pod })],
        }),
      ],
      mounts: [staged, mounted, entry({ id: 30, point: path })],
    };
    const plan = planned({ ...world, input: inputOf("u/2", "refuses") });
    expect(plan.operation).to.equal(undefined);
    expect(plan.problems.targets.get(asMountPath(path))?.reason).to.equal("ConsumerStillRunning");
    expect(plan.behind?.message).to.contain("credentials of before").and.not.to.contain("options");
    const { reason, message } = obstacleOf(plan) ?? {};
    expect(reason).to.equal("ServerUnreachable");
    expect(message).to.contain("(Host is down)").and.contain("credentials of before").and.contain("team/pod-a");
  });
});

describe("what is told of a mount with a Secret that fails", () => {
  const failed = async (source: VolumeSource, words: string) => {
    const agent = await FakeAgent.start();
    agent.secret = content("u/1", "hunter2");
    agent.host.before = async () => Promise.reject(new VolumeError("ServerUnreachable", "transient", words));
    await agent.want(wanted({ source, mounts: [{ path: "/mnt/a" }] }));
    await agent.loop.stop();
    return agent.failures[0];
  };

  it("has nothing of it, whatever the server has said; but who was not let in", async () => {
    const failure = await failed(source, "u has not hunter2 (aHVudGVyMg==)");
    expect(failure).to.include({ reason: "ServerUnreachable" });
    expect(failure?.message).to.equal("u has not [redacted] ([redacted]==)");
  });

  it("is as it was said where there is none", async () => {
    expect((await failed({ nfs: { server: "nas", path: "/" } }, "no hunter2"))?.message).to.equal("no hunter2");
  });
});

describe("a mount that is replaced for another Secret", () => {
  let agent: FakeAgent;
  let busy: boolean;
  const onRecord = () => agent.journal.records.get(volume)?.stage;

  beforeEach(async () => {
    agent = await FakeAgent.start();
    busy = true;
    agent.secret = content("u/1", "one");
    await agent.want(wanted({ source, mounts: [{ path: "/mnt/a" }] }));
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
    agent.host.before = async (call) => {
      if (busy && call === `unmount ${stagingOf(onRecordKey())}`)
        throw new VolumeError("DeviceBusy", "transient", "busy");
    };
    agent.host.calls.length = 0;
  });
  afterEach(() => agent.loop.stop());

  const onRecordKey = () => agent.journal.records.get(volume)?.key ?? "";

  /** The server refuses the session; it is asked no more once the volume is being taken down. */
  async function refuse(): Promise<void> {
    agent.unresponsive.set(volume, { reason: "ServerUnreachable", message: "why", said: "Host is down" });
    await agent.look();
    agent.unresponsive.clear();
    await agent.look();
  }

  it("is written down with a digest, and never with what is in the Secret", () => {
    expect(onRecord()?.contentVersion).to.equal("u/1");
    const { salt = "", digest } = onRecord()?.mountedWith ?? {};
    expect(digest).to.equal(digestOf(content("", "one").data, salt));
    expect(saltedDigestOf([content("u/1", "one")]).digest, "another salt").to.not.equal(digest);
  });

  it("is not taken over when unmounting it has failed: nobody asks its server meanwhile, and then it is mounted anew", async () => {
    agent.secret = content("u/2", "two");
    await refuse();
    const staging = stagingOf(onRecordKey());
    const tried = agent.host.calls.filter((call) => call.endsWith(staging));
    expect(tried.slice(0, 2)).to.deep.equal([`giveUp ${staging}`, `unmount ${staging}`]);
    expect([onRecord()?.ready, onRecord()?.contentVersion]).to.deep.equal([false, "u/1"]);
    busy = false;
    await agent.system.advance(600_000);
    await agent.look();
    expect(agent.host.calls).to.include(`mountFilesystem ${staging}`);
    expect([onRecord()?.ready, onRecord()?.contentVersion]).to.deep.equal([true, "u/2"]);
    expect(agent.mounted).to.deep.equal(["/mnt/a"]);
  });

  it("keeps what it was mounted with, if it is taken over after all because the Secret is as before", async () => {
    const { mountedWith } = onRecord() ?? {};
    agent.secret = content("u/2", "two");
    await refuse();
    agent.secret = content("u/3", "one");
    await agent.look();
    await agent.system.advance(600_000);
    await agent.look();
    expect(agent.host.calls.filter((call) => call.startsWith("mountFilesystem"))).to.deep.equal([]);
    expect(onRecord()).to.deep.include({ ready: true, contentVersion: "u/1", mountedWith });
  });
});
