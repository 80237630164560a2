import { expect } from "chai";
import { lastLines } from "../lib/last-lines.ts";
import { full, need } from "../lib/requirements.ts";
import { type GuestResult, testInVM } from "../lib/vm.ts";

/** Minutes for the boot and all tests: several times what they take on a machine with little else to do, as they run beside other lanes. */
const minutes = full() ? 55 : 26;

/** Points of the contract that differ most from one file system to the other. */
const few = ".* (is mounted on each|comes back|is released|change of options|no Secret|grows)";

/** Suites that run in the VM, without --full some of their tests only, and how many there are at least. */
const suites: readonly { readonly title: string; readonly only?: string; readonly atLeast: number }[] = [
  { title: "plugin contract: nfs", only: few, atLeast: 4 },
  { title: "plugin contract: cifs", only: few, atLeast: 5 },
  { title: "plugin contract: fc", only: few, atLeast: 5 },
  { title: "an NFS server that stops", atLeast: 2 },
  { title: "an emptyDir with a limit on", atLeast: 6 },
  { title: "CIFS shares of two users", atLeast: 3 },
  { title: "a program that is to outlive its container", atLeast: 2 },
  { title: "LUNs of iSCSI targets", atLeast: 8 },
  { title: "plugin contract: iscsi, by CHAP", only: " (grows|is released|no Secret)", atLeast: 3 },
  { title: "LUKS and LVM beneath a local volume", only: " a LUKS", atLeast: 1 }, // the other stories take minutes there
  { title: "a disk of device-mapper's flakey", atLeast: 1 },
  { title: "SCSI disks of a Fibre Channel target", atLeast: 5 },
];

describe("in a VM whose kernel has network file systems, Fibre Channel and device-mapper", () => {
  let ran: { results: readonly GuestResult[]; output: string };

  before(async function () {
    need(this, "vm");
    this.timeout((minutes + 1) * 60_000);
    ran = await testInVM(`^(${suites.map(({ title, only = "" }) => title + (full() ? "" : only)).join("|")})`, minutes);
    for (const { title } of suites) console.log(`    ${secondsOf(title)} s in the VM: ${title}`);
  });

  const resultsOf = (suite: string) => ran.results.filter(({ title }) => title.startsWith(suite));
  const secondsOf = (suite: string) => Math.round(resultsOf(suite).reduce((sum, { ms }) => sum + ms, 0) / 1000);

  for (const { title, atLeast } of suites) {
    it(title, () => {
      const results = resultsOf(title);
      const wrong = results.filter(({ outcome }) => outcome !== "passed");
      const text = wrong.map(({ title: of, outcome, reason = "" }) => `${of}: ${outcome} ${reason}`).join("\n");
      if (wrong.length > 0) throw new Error(`${text}\nthe VM said last\n${lastLines(ran.output)}`);
      expect(results.length).to.be.at.least(atLeast);
    });
  }
});
