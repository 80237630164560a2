import { expect } from "chai";
import { type ChildRequest, refusedCode } from "../../../../../src/host/linux/child/child-protocol.ts";
import { type ChildResult, type ChildRunner, takesLong } from "../../../../../src/host/linux/child/child-runner.ts";
import { LinuxPrograms, type NodePlace } from "../../../../../src/host/linux/child/linux-programs.ts";
import type { Mounter, MountTableSource } from "../../../../../src/host/ports/host-ports.ts";
import type { ProgramHow } from "../../../../../src/host/ports/programs.ts";

describe("programs of the node", () => {
  const inContainer = { hostRoot: "/host", nodeProcess: 1 };

  function programsOf(node: NodePlace, run: (request: ChildRequest) => Promise<ChildResult>): LinuxPrograms {
    const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
    const unused = { table: {} as MountTableSource, mounter: {} as Mounter };
    return new LinuxPrograms({ ...unused, runner: { run } as unknown as ChildRunner, operation, node });
  }

  /** What the child is told that is to become the program. */
  async function requestFor(node: NodePlace, how: ProgramHow): Promise<ChildRequest> {
    const asked: ChildRequest[] = [];
    const programs = programsOf(node, async (request) => {
      asked.push(request);
      return { code: 0, stdout: "", stderr: "" };
    });
    await programs.run("/usr/sbin/program", [], how);
    const [request] = asked;
    if (request === undefined) throw new Error("not run");
    return request;
  }
  async function outlives(node: NodePlace, heavy: boolean): Promise<unknown> {
    const request = await requestFor(node, heavy ? { heavy } : {});
    return request.kind === "exec" ? request.outlives : "not run";
  }

  it("leave the agent's container if they need much memory, whose end would be the agent's, and else stay", async () => {
    expect(await outlives(inContainer, true)).to.deep.equal({ hostRoot: "/host" });
    expect(await outlives(inContainer, false)).to.equal(undefined);
    expect(await outlives({ hostRoot: "/", nodeProcess: undefined }, true)).to.equal(undefined);
  });

  it("have room of their own if they take long without anything being wrong", async () => {
    const workOf = async (how: ProgramHow) => takesLong(await requestFor(inContainer, how));
    expect(await workOf({ long: "readBack" })).to.equal("readBack");
    expect(await workOf({ heavy: true })).to.equal("derive");
    expect(await workOf({})).to.equal(undefined);
  });

  it("fail with what the child says that did not become one: its reply is not the program's output", async () => {
    const error = { message: "EMFILE: too many open files", code: "EMFILE" };
    const stdout = `${JSON.stringify({ ok: false, error })}\n`;
    const programs = programsOf(inContainer, async () => ({ code: refusedCode, stdout, stderr: "" }));
    const run = programs.run("/usr/sbin/program", []).catch((thrown: unknown) => thrown);
    expect(await run).to.include({ reason: "SetUpFailed", errorClass: "transient", message: error.message });
  });
});
