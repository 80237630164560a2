import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { root } from "../../../hack/lib/root.ts";
import { eachOnce } from "../../contract/ceph-kernel-cases.ts";
import { asked, cephSuites, suites, titlesOf } from "../../vm/suites.ts";

const listed = [...suites, ...cephSuites];
const guest = `${root}/test/vm/guest`;
const files = readdirSync(guest);
/** A suite of layers has its title by the world that it is asked of. */
const titled = /\bdescribe\(\s*["`]([^"`]+)["`]|\btitle: "([^"]+)"/g;

/** Of the suites of a file, and of tests of other lanes that it has run there: up to what is filled in. */
function titlesIn(file: string): string[] {
  const source = readFileSync(file, "utf8");
  const others = [...source.matchAll(/await import\("([^"]+)"\)/g)].map(([, other = ""]) => join(guest, other));
  const own = [...source.matchAll(titled)].map(([, suite, world]) => (suite ?? world ?? "").split("${")[0] ?? "");
  return [...own, ...others.flatMap(titlesIn)];
}

describe("the lists of suites that run in the VM", () => {
  for (const file of files) {
    it(`have each of test/vm/guest/${file}, which is bundled`, () => {
      const titles = titlesIn(`${guest}/${file}`);
      expect(titles).not.to.deep.equal([]);
      const missing = titles.filter((title) => !listed.some((suite) => title.startsWith(suite.title)));
      expect(missing, "name it in test/vm/suites.ts").to.deep.equal([]);
      expect(readFileSync(`${root}/test/lib/vm/vm-guest.ts`, "utf8")).to.contain(`"../../vm/guest/${file}"`);
    });
  }

  it("have all of them with --full alone, and less without", () => {
    expect(asked(listed).length).to.be.below(listed.length);
    const [full, short] = [titlesOf(listed, true), titlesOf(asked(listed), false)];
    for (const title of [
      "rbd by rbd-nbd goes on",
      "a Ceph cluster that dies under load",
      "swap: LUKS and LVM beneath a local volume a LUKS",
      "CIFS shares of two users a server that stops and is back",
    ]) {
      expect(title).to.match(new RegExp(full));
      expect(title).not.to.match(new RegExp(short));
    }
  });
});

describe("what tests in the VM take", () => {
  it("is had once each; then it is said that there is no more", () => {
    const next = eachOnce(["image-1", "image-2"]);
    expect([next(), next()]).to.deep.equal(["image-1", "image-2"]);
    expect(next).to.throw("all 2 are taken (image-1");
  });
});
