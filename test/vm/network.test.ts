import { expect } from "chai";
import { skipBecause } from "../../hack/lib/lanes/skip-reason.ts";
import {
  contractDirectory,
  contractImages,
  inContractDirectory,
  secondFileSystem,
} from "../contract/ceph-kernel-cases.ts";
import { nbdImages } from "../contract/rbd-nbd-case.ts";
import { lastLines } from "../lib/asserts/last-lines.ts";
import { full, need } from "../lib/asserts/requirements.ts";
import { CephCluster, cephAddress } from "../lib/servers/ceph.ts";
import { serveControl } from "../lib/servers/ceph-control.ts";
import { type GuestResult, guestPrograms, keepResults, testInVM } from "../lib/vm/vm.ts";
import { asked, cephSuites, type Suite, suites, titlesOf } from "./suites.ts";

/**
 * Minutes for the boot and all tests: several times what they take on a machine with little else to do, as they run
 * beside other lanes.
 */
const minutes = full() ? 75 : 38;

/** Waits for each, also when one fails: a VM that goes on would be left behind. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** What the suites of Ceph find there. They are the last: the VM boots meanwhile, and has others to run. */
async function fill(cluster: CephCluster): Promise<void> {
  cluster.images([...contractImages, ...nbdImages, "shared"]);
  cluster.images(["empty", "cut-off", "beside"], { empty: true });
  cluster.images(["plain"], { unlocked: true });
  cluster.images(["journaled"], { journaled: true });
  cluster.directory(`${contractDirectory}/${inContractDirectory}`, "/one");
  if (full()) await cluster.fileSystem(secondFileSystem);
}

describe("in a VM whose kernel has network file systems, Fibre Channel, device-mapper and RBD", () => {
  let ran: readonly { results: readonly GuestResult[]; output: string }[] = [];
  let cluster: CephCluster | { readonly missing: string };
  let control: AsyncDisposable | undefined;

  before(async function () {
    need(this, "vm");
    this.timeout((minutes + 1) * 60_000);
    cluster = process.env["VM"] ? { missing: "the vm.sh of VM= may know no --net" } : await CephCluster.find();
    const found = cluster instanceof CephCluster ? cluster : undefined;
    control = found && (await serveControl(found));
    const all = asked([...suites, ...(found === undefined ? [] : cephSuites)]);
    const ceph = found && { address: cephAddress, key: found.key() };
    const isSecond = (suite: Suite) => suite.second === true || cephSuites.includes(suite);
    const common = { programs: await guestPrograms(), minutes };
    ran = await allOf([
      testInVM({ ...common, only: titlesOf(all.filter((suite) => !isSecond(suite))) }),
      testInVM({
        ...common,
        only: titlesOf(all.filter(isSecond)),
        ceph,
        whileItBoots: async () => found && fill(found),
      }),
    ]);
    keepResults(ran.flatMap(({ results }) => results));
    for (const { title } of all) console.log(`    ${secondsOf(title)} s in the VM: ${title}`);
    console.log(`    ${secondsOf("")} s in the VM: all tests`);
  });
  after(async () => {
    await using _cluster = cluster instanceof CephCluster ? cluster : undefined; // whatever fails
    await control?.[Symbol.asyncDispose]();
  });

  const resultsOf = (suite: string) =>
    ran.flatMap(({ results }) => results.filter(({ title }) => title.startsWith(suite)));
  const outputOf = (suite: string) =>
    (ran.find(({ results }) => results.some(({ title }) => title.startsWith(suite))) ?? ran[0])?.output ?? "";
  const secondsOf = (suite: string) => Math.round(resultsOf(suite).reduce((sum, { ms }) => sum + ms, 0) / 1000);

  for (const { title, atLeast } of asked([...suites, ...cephSuites])) {
    it(title, function () {
      const ofCeph = cephSuites.some((suite) => suite.title === title);
      if (ofCeph && !(cluster instanceof CephCluster)) skipBecause(this, cluster.missing);
      const results = resultsOf(title);
      const wrong = results.filter(({ outcome }) => outcome !== "passed");
      const text = wrong.map(({ title: of, outcome, reason = "" }) => `${of}: ${outcome} ${reason}`).join("\n");
      if (wrong.length > 0) throw new Error(`${text}\nthe VM said last\n${lastLines(outputOf(title))}`);
      expect(results.length).to.be.at.least(atLeast);
    });
  }
});
