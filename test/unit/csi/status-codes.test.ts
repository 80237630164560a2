import { expect } from "chai";
import { isChanging } from "../../../src/csi/client/error-classes.ts";
import { codes, deadlineMs, type RPC } from "../../../src/csi/client/rpc.ts";
import { calling, connected, errorOf } from "./clients.ts";
import { FakeDriver } from "./fake-driver.ts";

const rpcs = Object.keys(deadlineMs) as RPC[];

/**
 * What each status must mean, written down apart from the code: F final, U uncertain, and why. Calls that only ask
 * change nothing, so theirs is transient (t) for the same reason.
 */
const table = `
  code                 stage          unstage        publish        unpublish      expand
  OK                   done           done           done           done           done
  CANCELLED            U:Unavailable  U:Unavailable  U:Unavailable  U:Unavailable  U:Unavailable
  UNKNOWN              F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
  INVALID_ARGUMENT     F:Failed       F:Failed       F:Failed       F:Failed       F:Infeasible
  DEADLINE_EXCEEDED    U:TimedOut     U:TimedOut     U:TimedOut     U:TimedOut     U:TimedOut
  NOT_FOUND            F:Failed       done           F:Failed       done           F:Infeasible
  ALREADY_EXISTS       U:Failed       F:Failed       U:Failed       F:Failed       F:Failed
  PERMISSION_DENIED    F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
  RESOURCE_EXHAUSTED   U:Busy         U:Busy         U:Busy         U:Busy         U:Busy
  FAILED_PRECONDITION  F:Failed       F:Failed       F:Failed       F:Failed       F:InUse
  ABORTED              U:Busy         U:Busy         U:Busy         U:Busy         U:Busy
  OUT_OF_RANGE         F:Failed       F:Failed       F:Failed       F:Failed       F:Infeasible
  UNIMPLEMENTED        F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
  INTERNAL             F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
  UNAVAILABLE          U:Unavailable  U:Unavailable  U:Unavailable  U:Unavailable  U:Unavailable
  DATA_LOSS            F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
  UNAUTHENTICATED      F:Failed       F:Failed       F:Failed       F:Failed       F:Failed
`;

const reasons: { readonly [short: string]: string } = {
  Unavailable: "DriverUnavailable",
  Failed: "DriverFailed",
  TimedOut: "TimedOut",
  Busy: "DriverBusy",
  Infeasible: "ExpansionInfeasible",
  InUse: "VolumeInUse",
};
const classes: { readonly [short: string]: string } = { F: "final", U: "uncertain", t: "transient" };

const [head, ...rows] = table
  .trim()
  .split("\n")
  .map((line) => line.trim().split(/\s+/));
const columns: readonly RPC[] = [
  "NodeStageVolume",
  "NodeUnstageVolume",
  "NodePublishVolume",
  "NodeUnpublishVolume",
  "NodeExpandVolume",
];

/** A question that failed has the reason of the same failure of stage, which has no deviation but one. */
function expected(row: readonly string[], rpc: RPC): string {
  const column = columns.indexOf(rpc);
  if (column >= 0) return row[column + 1] ?? "";
  const [, reason] = (row[1] ?? "").split(":");
  return reason === undefined ? "done" : `t:${reason}`;
}

describe("every status × every call × {before, after} the driver did the work", () => {
  let driver: FakeDriver;
  before(async () => {
    driver = await new FakeDriver().start();
  });
  after(() => driver.end());

  it("is in the table: all of gRPC's codes, all changing calls", () => {
    expect(rows.map(([code]) => code)).to.deep.equal([...codes]);
    expect(codes).to.have.length(17);
    expect(rpcs.filter(isChanging).toSorted()).to.deep.equal(columns.toSorted());
    expect(head).to.have.length(columns.length + 1);
    for (const row of rows) expect(row).to.have.length(columns.length + 1);
  });

  /** Whether the driver has done what this call asks for, beginning from the opposite. */
  const worlds: { readonly [rpc in (typeof columns)[number]]?: { undone(): void; done(): boolean } } = {
    NodeStageVolume: { undone: () => driver.staged.clear(), done: () => driver.staged.has("/staging") },
    NodeUnstageVolume: { undone: () => driver.staged.add("/staging"), done: () => !driver.staged.has("/staging") },
    NodePublishVolume: { undone: () => driver.published.clear(), done: () => driver.published.has("/target") },
    NodeUnpublishVolume: {
      undone: () => driver.published.add("/target"),
      done: () => !driver.published.has("/target"),
    },
    NodeExpandVolume: {
      undone: () => {
        driver.capacity = "0";
      },
      done: () => driver.capacity === "2048",
    },
  };

  for (const rpc of rpcs) {
    for (const [number, row] of rows.entries()) {
      const means = expected(row, rpc);
      for (const work of ["before", "after"] as const) {
        it(`${rpc} ${row[0]} ${work}: ${means}`, async () => {
          const { node, client, close } = connected(driver);
          try {
            driver.answers.clear();
            driver.answers.set(rpc, { work, code: number, text: "the driver's words" });
            worlds[rpc]?.undone();
            const call = calling(node, client)[rpc]();
            if (means === "done") await call;
            else await expectFailure(call, rpc, row[0] ?? "", means);
            expect(worlds[rpc]?.done() ?? work === "after").to.equal(work === "after");
            await recovers(rpc, node);
          } finally {
            close();
          }
        });
      }
    }
  }

  async function expectFailure(call: Promise<unknown>, rpc: RPC, code: string, means: string): Promise<void> {
    const { errorClass, reason, message, on, cause } = await errorOf(call);
    const [kind = "", why = ""] = means.split(":");
    expect({ errorClass, reason }).to.deep.equal({ errorClass: classes[kind], reason: reasons[why] });
    expect(message).to.equal(`driver ${driver.name}: ${rpc}: ${code}: the driver's words`);
    expect(on).to.deep.equal({ kind: "CSIDriver", name: driver.name });
    expect(cause).to.equal(undefined);
  }

  /** Whatever came of it, the opposite call leaves nothing behind. */
  async function recovers(rpc: RPC, node: ReturnType<typeof connected>["node"]): Promise<void> {
    driver.answers.clear();
    if (rpc === "NodeStageVolume") {
      await node.unstage({ volumeID: "volume-1", stagingPath: "/staging" });
      expect(driver.staged.size).to.equal(0);
    }
    if (rpc === "NodePublishVolume") {
      await node.unpublish({ volumeID: "volume-1", targetPath: "/target" });
      expect(driver.published.size).to.equal(0);
    }
  }
});
