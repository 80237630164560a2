import { readFileSync } from "node:fs";
import { expect } from "chai";
import { ofMount, ofType, type Row } from "../../../../src/cli/export/option-table.ts";

const rules = readFileSync("crds/rules-in-code.yaml", "utf8");

/** Names of the options that a rule allows: those of the alternatives of its pattern. */
function namesIn(pattern: string): string[] {
  const alternatives = [""];
  let depth = 0;
  for (const character of pattern) {
    if ("([".includes(character)) depth++;
    if (")]".includes(character)) depth--;
    if (character === "|" && depth === 0) alternatives.push("");
    else alternatives.push(`${alternatives.pop()}${character}`);
  }
  return alternatives.flatMap((one) => one.split("=", 1)[0]?.replace(/[()]/g, "").split("|") ?? []);
}

const allowed = [...rules.matchAll(/is allowed for ([\w ]+?)(?: with client Kernel)?:[\s\S]*?- '\^\((.+)\)\$'/g)];
const typesOf: { readonly [words: string]: readonly string[] } = {
  NFS: ["nfs"],
  CIFS: ["cifs"],
  GlusterFS: ["glusterfs"],
  CephFS: ["ceph"],
  "ext3 and ext4": ["ext3", "ext4"],
  xfs: ["xfs"],
  btrfs: ["btrfs"],
};

describe("option table of export", () => {
  const namesByType = new Map(
    allowed.flatMap(([, words = "", pattern = ""]) => (typesOf[words] ?? []).map((type) => [type, namesIn(pattern)])),
  );

  for (const type of Object.values(typesOf).flat()) {
    const meanings = (wanted: readonly string[]) =>
      (ofType.get(type) ?? [])
        .filter(([meaning]) => wanted.includes(meaning))
        .flatMap(([, options]) => options.split(" ").map((option) => option.split("=", 1)[0] ?? ""));
    const ofSet = ["journal_checksum"]; // a rule of its own beside the pattern

    it(`keeps of ${type} what the API takes, and nothing else`, () => {
      const names = [...(namesByType.get(type) ?? []), ...(type.startsWith("ext") ? ofSet : [])];
      expect(names.length, "the rule is found").to.be.greaterThan(8);
      expect(names).to.include.members(meanings(["kept", "needed", "written"]));
      // What is a default beside is left out as harmless.
      expect(meanings(["kept", "needed", "written", "harmless"])).to.include.members(names);
    });
  }

  for (const [type, rows] of [["mount", ofMount] as const, ...ofType] as readonly (readonly [string, readonly Row[]])[])
    it(`says of ${type} no option twice, and why it leaves one out`, () => {
      const options = rows.flatMap(([, names]) => names.split(" "));
      expect(options.filter((option, at) => options.indexOf(option) !== at)).to.deep.equal([]);
      const withoutWhy = rows.filter(
        ([meaning, , why]) => ["told", "refused"].includes(meaning) !== (why !== undefined),
      );
      expect(withoutWhy).to.deep.equal([]);
    });
});
