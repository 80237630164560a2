import { expect } from "chai";
import { knownMessages, meaningOf } from "../../../src/explain/why/known-messages.ts";
import { whyTable } from "../../../src/explain/why/why-table.ts";

describe("meaningOf", () => {
  const failed = 'MountVolume.SetUp failed for volume "a" : ';
  const table: readonly (readonly [message: string, code: string | undefined])[] = [
    [`${failed}driver name x.example not found in the list of registered CSI drivers`, "DriverNotRegistered"],
    ['Multi-Attach error for volume "a" Volume is already used by pod(s) b', "MultiAttach"],
    [`${failed}umount: /x: target is busy`, "TargetBusy"],
    [`${failed}mount failed: exit status 32\nmount: /x: Device or resource busy`, "TargetBusy"],
    [`${failed}stat /x: transport endpoint is not connected`, "NotAnswering"],
    [`${failed}stat /x: stale NFS file handle`, "NotAnswering"],
    [`${failed}mount.nfs: Connection timed out`, "ServerUnreachable"],
    [`${failed}mount.nfs: access denied by server while mounting nas:/a`, "CredentialsRefused"],
    [`${failed}open /x: permission denied`, "CredentialsRefused"],
    [`${failed}secret "tls" not found`, "SecretNotFound"],
    [`${failed}configmap "settings" not found`, "ConfigMapNotFound"],
    [`${failed}references non-existent secret key: tls.crt`, "KeyNotFound"],
    [`${failed}rpc error: code = DeadlineExceeded desc = context deadline exceeded`, "TimedOut"],
    // Where the words of the driver are its own, the Event's reason is all that is known.
    [`${failed}rpc error: code = Internal desc = flux capacitor`, undefined],
    ['AttachVolume.Attach failed for volume "a" : rpc error: code = Internal desc = flux capacitor', undefined],
    ["Unable to attach or mount volumes: unmounted volumes=[a], unattached volumes=[]", undefined],
  ];
  for (const [message, code] of table)
    it(`${code}: ${message.replace(failed, "").split("\n").join(" ")}`, () => {
      const meaning = meaningOf(message);
      expect(meaning?.code ?? meaning?.reason).to.equal(code);
      expect(meaning === undefined).to.equal(code === undefined);
    });

  it("the page has the names that the commands need in capitals, and explain fills them in", () => {
    const commands = (all: readonly { readonly check: string; readonly step: string }[]) =>
      all.flatMap(({ check, step }) => [check, step]).join("\n");
    expect(commands(knownMessages)).to.not.match(/\b(NODE|NAMESPACE|POD|CLAIM|SET|PATH|DEVICE|SERVER|PORT)\b/);
    expect(commands(whyTable().messages))
      .to.include("kubectl nvi explain pod/POD -n NAMESPACE")
      .and.not.match(/\{\w+\}/);
  });
});
