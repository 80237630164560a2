import { expect } from "chai";
import { ServerWatch } from "../../../../src/agent/health/server-probe.ts";
import { noProblems } from "../../../../src/agent/model/actual-volume.ts";
import { asVolumeName, type VolumeName } from "../../../../src/agent/model/identities.ts";
import type { OperationKind } from "../../../../src/agent/model/operation.ts";
import type { VolumePlan } from "../../../../src/agent/model/volume-plan.ts";
import { obstacleOf, summaryOf } from "../../../../src/agent/status/volume-summary.ts";
import type { FileSystemErrors, RemoteMount, ServerAnswer } from "../../../../src/host/ports/servers.ts";
import { settle, virtualSystem } from "../../kube/virtual-system.ts";

/** A plan of a volume whose file system is staged. */
function planned(name: string, more: Partial<Record<"fsType" | "source" | "phase" | "truth" | "disk", string>> = {}) {
  const { fsType = "nfs4", source = "nas:/a", phase = "setUp", truth = "mounted", disk } = more;
  const mount = { fsType, source, point: `/staging/${name}` };
  const brought = disk === undefined ? {} : { deviceNumber: disk, undo: { iqn: "iqn" } };
  return {
    name,
    phase,
    problems: noProblems,
    pending: [],
    actualState: {
      stage: { truth, mount, record: { kind: "filesystem", path: mount.point, ...brought } },
      targets: [],
    },
  } as unknown as VolumePlan;
}

describe("ServerWatch", () => {
  let system: ReturnType<typeof virtualSystem>;
  let asked: string[];
  let givenUp: string[];
  let answer: (mount: RemoteMount) => Promise<ServerAnswer>;
  let changes: number;
  let diskAnswer: (deviceNumber: string) => ServerAnswer;
  let errors: FileSystemErrors | undefined;
  let running: Map<VolumeName, OperationKind>;
  let watch: ServerWatch;
  const volumes = new Map<VolumeName, VolumePlan>();

  beforeEach(() => {
    system = virtualSystem();
    [asked, givenUp, changes] = [[], [], 0];
    volumes.clear();
    running = new Map();
    answer = async () => ({ answers: true });
    diskAnswer = () => ({ answers: true });
    errors = undefined;
    const servers = {
      ask(mount: RemoteMount) {
        asked.push(mount.point);
        return answer(mount);
      },
      disk: (deviceNumber: string) => diskAnswer(deviceNumber),
      errors: () => errors,
      giveUp: (point: string) => void givenUp.push(point),
    };
    watch = new ServerWatch({ system, servers, runs: (name) => running.get(name), onChange: () => (changes += 1) });
  });
  afterEach(() => watch.stop());

  function show(...plans: readonly VolumePlan[]): void {
    const changed = new Map([...volumes.keys(), ...plans.map(({ name }) => name)].map((name) => [name, undefined]));
    volumes.clear();
    for (const plan of plans) volumes.set(plan.name, plan);
    watch.planned({ changed, volumes });
  }

  it("asks about four times a minute, of what is mounted from a server only", async () => {
    show(planned("nfs"), planned("disk", { fsType: "ext4" }), planned("lost", { truth: "uncertain" }));
    await system.advance(600_000);
    expect(new Set(asked)).to.deep.equal(new Set(["/staging/nfs"]));
    expect(asked.length).to.be.within(32, 54);
    expect(changes).to.equal(0);
  });

  it("tells of errors that the kernel has met in an ext4, as what they are, and asks nobody", async () => {
    const plan = planned("v", { fsType: "ext4", disk: "8:16" });
    show(plan);
    await system.advance(60_000);
    expect([watch.unresponsive.size, changes, asked.length]).to.deep.equal([0, 0, 0]);
    errors = { count: 1, code: "EIO", where: "ext4_find_entry" };
    await system.advance(20_000);
    const problem = watch.unresponsive.get(asVolumeName("v"));
    expect(problem?.reason).to.equal("ReadError");
    expect(problem?.message).to.match(
      /^the kernel has met 1 error in .*, the last one EIO in ext4_find_entry: .*replace it/,
    );
    expect(summaryOf({ ...plan, ...(problem && { unresponsive: problem }) }).drift, "it is what was mounted").to.equal(
      undefined,
    );
    errors = { count: 2, code: "EFSCORRUPTED", where: "ext4_iget" };
    await system.advance(20_000);
    expect(watch.unresponsive.get(asVolumeName("v"))?.reason).to.equal("FilesystemDamaged");
    errors = undefined;
    await system.advance(20_000);
    expect([watch.unresponsive.size, changes]).to.deep.equal([0, 3]);
  });

  it("tells of one that does not answer, once, and when it does again", async () => {
    answer = async () => ({ answers: false });
    show(planned("v"));
    await system.advance(60_000);
    const problem = watch.unresponsive.get(asVolumeName("v"));
    expect(problem?.reason).to.equal("ServerUnreachable");
    expect(problem?.message).to.match(/^the server of nfs4 \(nas:\/a\) at \/staging\/v has not answered within 10 s/);
    await system.advance(60_000);
    expect(watch.unresponsive.get(asVolumeName("v")), "the same object").to.equal(problem);
    expect(changes).to.equal(1);
    answer = async () => ({ answers: true });
    await system.advance(10_000);
    expect([...watch.unresponsive.keys(), changes]).to.deep.equal([2]);
  });

  it("says what the kernel says of one that is gone", async () => {
    answer = async () => ({ answers: false, said: "Stale file handle" });
    show(planned("v"));
    await system.advance(60_000);
    expect(watch.unresponsive.get(asVolumeName("v"))?.message).to.contain("is unreachable: Stale file handle.");
    expect(watch.unresponsive.get(asVolumeName("v"))?.said).to.equal("Stale file handle");
    answer = async () => ({ answers: false });
    await system.advance(60_000);
    expect(watch.unresponsive.get(asVolumeName("v")), "a plain time-out is no refusal").to.not.have.property("said");
  });

  it("gives up what it asked, and asks no more, while the volume is being unmounted to be mounted anew", async () => {
    answer = () => new Promise(() => {});
    show(planned("v"));
    await system.advance(20_000);
    running = new Map([[asVolumeName("v"), "unstage"]]);
    show(planned("v"));
    expect(givenUp).to.deep.equal(["/staging/v"]);
    await system.advance(600_000);
    expect(asked).to.have.length(1);
    running = new Map();
    show(planned("v"));
    await system.advance(20_000);
    expect(asked).to.have.length(2);
  });

  it("says that it goes on by itself only where it does", async () => {
    const messages: string[] = [];
    for (const said of [undefined, "Stale file handle", "Transport endpoint is not connected", "Host is down"]) {
      answer = async () => ({ answers: false, ...(said && { said }) });
      show(planned("v"));
      await system.advance(60_000);
      messages.push(watch.unresponsive.get(asVolumeName("v"))?.message ?? "");
      show();
    }
    const [hung, stale, disconnected, down] = messages;
    const alone = "Its users wait or fail; it recovers by itself when the server is back";
    expect(hung?.endsWith(alone), hung).to.equal(true);
    expect(down?.endsWith(alone), down).to.equal(true);
    expect(stale)
      .to.match(/even after the server is back: take the node out of the set and back in$/)
      .and.not.match(/by itself/);
    expect(disconnected).to.match(/if the client has ended, the volume is remounted by itself$/);
  });

  it("tells of a disk that was brought to the node and waits for its target, or has failed, without a process that asks", async () => {
    const looked: string[] = [];
    const answers: ServerAnswer[] = [
      { answers: false },
      { answers: false, said: "transport-offline" },
      { answers: true },
    ];
    diskAnswer = (deviceNumber) => {
      looked.push(deviceNumber);
      return answers[0] ?? { answers: true };
    };
    const said: (string | undefined)[] = [];
    show(planned("v", { fsType: "ext4", source: "/dev/sda", disk: "8:0" }), planned("local", { fsType: "xfs" }));
    for (let step = 0; step < 3; step++) {
      await system.advance(30_000);
      said.push(watch.unresponsive.get(asVolumeName("v"))?.message);
      answers.shift();
    }
    expect(said[0]).to.match(/^the disk of ext4 \(\/dev\/sda\) at \/staging\/v waits for its target\./);
    expect(said[1]).to.match(/ does not work: transport-offline\. Its users fail/);
    expect(said[2]).to.equal(undefined);
    expect([new Set(looked), asked]).to.deep.equal([new Set(["8:0"]), []]);
  });

  it("one that waits for an answer holds up no other", async () => {
    answer = ({ point }) => (point === "/staging/hung" ? new Promise(() => {}) : Promise.resolve({ answers: true }));
    show(planned("hung"), planned("v", { source: "other:/a" }));
    await system.advance(600_000);
    expect(asked.filter((point) => point === "/staging/hung")).to.have.length(1);
    expect(asked.filter((point) => point === "/staging/v").length).to.be.above(30);
  });

  it("gives up what it asked when the volume is to go, so that this keeps no mount busy, and forgets what it knew", async () => {
    answer = async () => ({ answers: false });
    show(planned("v"));
    await system.advance(20_000);
    let late: (answer: ServerAnswer) => void = () => {};
    answer = () => new Promise((resolve) => (late = resolve));
    await system.advance(20_000);
    show(planned("v", { phase: "tearDown" }));
    expect(givenUp).to.deep.equal(["/staging/v"]);
    expect([...watch.unresponsive.keys()]).to.deep.equal([]);
    late({ answers: false });
    await settle();
    const before = asked.length;
    await system.advance(600_000);
    expect([...watch.unresponsive.keys(), asked.length - before]).to.deep.equal([0]);
  });

  it("such a volume is not ready, Degraded where it is mounted, and Stale, while it is what the spec says", () => {
    const plan = planned("v");
    expect([summaryOf(plan).ready, summaryOf(plan).drift]).to.deep.equal(["True", undefined]);
    const problem = { reason: "ServerUnreachable", message: "why" } as const;
    const target = { path: "/t", desired: { pod: undefined }, truth: "mounted" };
    const silent = {
      ...plan,
      unresponsive: problem,
      actualState: { ...plan.actualState, targets: [target] },
    } as unknown as VolumePlan;
    const { drift, ...state } = summaryOf(silent);
    expect(state).to.deep.equal({ state: "Degraded", ready: "False", ...problem });
    expect(drift).to.deep.equal({ class: "Stale", message: "why" });
    expect(obstacleOf(silent)?.reason).to.equal("ServerUnreachable");
  });
});
