import { expect } from "chai";
import type { ChildRequest } from "../../../../../src/host/linux/child/child-protocol.ts";
import { type ChildRunner, takesLong } from "../../../../../src/host/linux/child/child-runner.ts";
import { LinuxPrograms, type NodePlace } from "../../../../../src/host/linux/child/linux-programs.ts";
import type { Mounter, MountTableSource } from "../../../../../src/host/ports/host-ports.ts";
import type { ProgramHow } from "../../../../../src/host/ports/programs.ts";

describe("programs of the node", () => {
  const inContainer = { hostRoot: "/host", nodeProcess: 1 };

  /** What the child is told that is to become the program. */
  async function requestFor(node: NodePlace, how: ProgramHow): Promise<ChildRequest> {
    const asked: ChildRequest[] = [];
    const runner = {
      async run(request: ChildRequest) {
        asked.push(request);
        return { code: 0, stdout: "", stderr: "" };
      },
    } as unknown as ChildRunner;
    const operation = { deadlineMs: 1, formatDeadlineMs: 1, onChild: async () => {} };
    const unused = { table: {} as MountTableSource, mounter: {} as Mounter };
    const programs = new LinuxPrograms({ ...unused, runner, operation, node });
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
});
