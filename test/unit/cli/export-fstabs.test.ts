import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { load } from "js-yaml";
import { exported } from "../../../src/cli/export/export.ts";
import { ofMount, ofType } from "../../../src/cli/export/option-table.ts";
import { parseMounts } from "../../../src/cli/export/parse-mounts.ts";
import { need } from "../../lib/asserts/requirements.ts";
import { gist } from "./fstab-gist.ts";

const fstabs = load(readFileSync(new URL("fstabs.yaml", import.meta.url), "utf8")) as readonly {
  readonly title: string;
  readonly fstab: readonly string[];
  readonly says: readonly string[];
}[];
const textOf = (lines: readonly string[]) => lines.join("\n");

describe("export of forty fstabs", () => {
  for (const { title, fstab, says } of fstabs)
    it(`has ${title}`, () => expect(gist(textOf(fstab))).to.deep.equal(says));

  it("has forty at least, and no title twice", () => {
    expect(new Set(fstabs.map(({ title }) => title)).size)
      .to.equal(fstabs.length)
      .and.to.be.at.least(40);
  });

  it("reads bytes that are no UTF-8 without taking them for others", () => {
    const raw = Buffer.concat([Buffer.from("UUID=1 /mnt/a"), Buffer.from([0xff]), Buffer.from(" ext4\n")]);
    expect(parseMounts(raw).lines[0]?.unfit).to.equal("its name is not UTF-8");
    const utf8 = Buffer.from("UUID=1 /mnt/é\u00a0 ext4\n");
    expect(parseMounts(utf8).lines[0]?.target).to.equal("/mnt/é\u00a0");
  });
});

describe("export of forty fstabs, beside findmnt(8)", () => {
  let directory = "";
  before(function () {
    need(this, "findmnt");
    directory = mkdtempSync(join(tmpdir(), "fstabs-"));
  });
  after(() => {
    if (directory !== "") rmSync(directory, { recursive: true });
  });

  for (const { title, fstab } of fstabs)
    it(`reads ${title} as it does`, () => {
      const file = join(directory, "fstab");
      writeFileSync(file, textOf(fstab));
      const { lines, unread } = parseMounts(textOf(fstab));
      const seen = findmnt(file);
      expect(lines.map(({ source, target, type }) => [tidied(source), target, type])).to.deep.equal(
        seen.lines.map(({ source, target, fstype }) => [tidied(source), tidied(target), fstype]),
      );
      // With an open quote, libmount stops where it likes.
      const options = lines.map(({ options, unfit }) => (unfit?.includes("quote") ? undefined : options.join()));
      expect(options).to.deep.equal(
        seen.lines.map((one, at) => (options[at] === undefined ? undefined : withoutEmpty(one.options))),
      );
      expect(unread).to.deep.equal(seen.ignored);
    });
});

interface Seen {
  readonly source: string;
  readonly target: string;
  readonly fstype: string;
  readonly options: string | null;
}

function findmnt(file: string): { readonly lines: readonly Seen[]; readonly ignored: readonly number[] } {
  const columns = "SOURCE,TARGET,FSTYPE,OPTIONS";
  const { stdout, stderr } = spawnSync("findmnt", ["--fstab", "--tab-file", file, "--list", "--json", "-o", columns], {
    encoding: "utf8",
  });
  const lines = stdout.trim() === "" ? [] : (JSON.parse(stdout) as { filesystems: readonly Seen[] }).filesystems;
  return { lines, ignored: [...stderr.matchAll(/parse error at line (\d+)/g)].map(([, line]) => Number(line)) };
}

function tidied(path: string): string {
  return path.startsWith("/") ? path.replace(/\/{2,}/g, "/").replace(/(.)\/$/, "$1") : path;
}

function withoutEmpty(options: string | null): string {
  return (options ?? "").split(",").filter(Boolean).join();
}

describe("export of secrets", () => {
  const secret = "hunter2";
  const types = ["nfs4", "cifs", "ceph", "glusterfs", "ext4", "xfs", "btrfs", "tmpfs", "none", "auto", "davfs"];
  // What a set names beside options: no secret, and in the set.
  const named = ["name", "fs", "mds_namespace", "mon_addr"];
  const namesOf = (type: string) =>
    [...ofMount, ...(ofType.get(type) ?? [])]
      .flatMap(([, options]) => options.split(" "))
      .map((option) => option.split("=", 1)[0] ?? "")
      .filter((name) => !named.includes(name) && !name.startsWith("backup"));
  const sources = ["//srv/share", "nas:/x", "UUID=1", "10.0.0.1:/", "tmpfs", "/srv/a", `u:${secret}@host:/x`];
  const others = [
    ...["passwd", "pass", "PASSWORD", "Secret", "apikey", "x-mine", "frob"].map((name) => `${name}=${secret}`),
    ...[secret, `bind,${secret}`, `username=u%${secret}`, `"${secret}"`, `context="${secret},a"`, `a "${secret}`],
    ...["pass", "password", "secret", "credentials", "frob_key"].map(
      (name) => `${name}=a,hunter,b=${secret},${secret}`,
    ),
  ];

  for (const type of types)
    it(`shows none of ${type}`, () => {
      const written = [...namesOf(type).map((name) => `${name}=${secret}`), ...others];
      const lines = sources.flatMap((source, of) =>
        written.map((options, at) => `${source} /mnt/${of}-${at} ${type} ${options.replaceAll(" ", "\\040")}`),
      );
      expect(parseMounts(textOf(lines)).lines).to.have.length(lines.length);
      expect(exported(parseMounts(textOf(lines)), undefined)).not.to.match(/hunter/);
    });

  for (const line of [
    `https://u:${secret}@dav/x /mnt/a davfs rw`,
    `https://dav/x?sig=${secret} /mnt/a davfs rw`,
    `sshfs#u:${secret}@host: /mnt/a fuse rw`,
    `//u:${secret}@srv/share /mnt/a cifs rw`,
    `u:${secret} /mnt/a ext4 rw`,
    `//srv/share username=u,password=${secret} cifs`,
    `//srv/share /mnt/a username=u,password=${secret}`,
    `//srv/share /mnt/a cifs credentials=/a,${secret}`,
  ])
    it(`shows none of ${line}`, () => expect(exported(parseMounts(line), undefined)).not.to.include(secret));
});
