// The program that runs in the VM (test/vm): mocha, with the tests that need its kernel and servers in one bundle,
// because Node takes half a minute under emulation to read them as they are. One line of JSON a test goes to stdout.
import { config } from "chai";
import Mocha from "mocha";
import { noteOf } from "../../../hack/lib/lanes/note.ts";

config.truncateThreshold = 1_000; // what is compared is shown
const mocha = new Mocha({ reporter: Mocha.reporters.Base, timeout: 600_000, forbidOnly: true });
mocha.suite.emit("pre-require", globalThis, "", mocha);
await import("../../contract/plugin-contract.test.ts");
await import("../../vm/guest/scsi.ts");
await import("../../vm/guest/shared-lun.ts");
await import("../../vm/guest/iscsi.ts");
await import("../../vm/guest/multipath.ts");
await import("../../vm/guest/nfs-stopped.ts");
await import("../../vm/guest/project-quota.ts");
await import("../../vm/guest/cifs-rotated.ts");
await import("../../vm/guest/leave-pod.ts");
await import("../../vm/guest/layers.ts");
await import("../../vm/guest/read-errors.ts");
await import("../../vm/guest/served-disks.ts");
await import("../../vm/guest/ceph.ts");
await import("../../vm/guest/cephfs.ts");
await import("../../vm/guest/cephfs-away.ts");
await import("../../vm/guest/rbd-nbd.ts");
mocha.grep(new RegExp(process.env["NODEVOLUME_GUEST_TESTS"] ?? "."));

const runner = mocha.run((failures) => process.exit(failures > 0 ? 1 : 0));
runner.on("pass", (test) =>
  tell({ title: test.fullTitle(), outcome: "passed", ms: test.duration ?? 0, ...noteOf(test) }),
);
runner.on("pending", (test) => tell({ title: test.fullTitle(), outcome: "skipped", ms: 0 }));
runner.on("fail", (test, error: Error) => {
  tell({
    title: test.fullTitle(),
    outcome: "failed",
    ms: test.duration ?? 0,
    reason: error.stack ?? error.message,
    ...noteOf(test),
  });
});

function tell(result: object): void {
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
