import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { mergeUsr } from "../../../hack/lib/tools/debian.ts";
import { cacheDirectory } from "../../../hack/lib/tools/tool.ts";
import { locateUnpacked } from "../../../hack/lib/tools/unpacked.ts";

/** A fake apt-get, which notes what it is asked, knows a and b, and has each as NAME=VERSION.deb. */
const aptGet = `#!/bin/sh
echo "$*" >>"$LOG"
[ ! -e "$(dirname "$2")/sources.list" ] || { cat "$2"; echo --; cat "$(dirname "$2")/sources.list"; } >"$(dirname "$LOG")/kept"
while [ "$1" = -c ] || [ "$1" = -o ] || [ "$1" = -q ]; do [ "$1" = -q ] || shift; shift; done
case $1 in
  --simulate) printf 'Inst a (1 Debian:12 [amd64])\\nInst b [2:0] (2:3 Debian:12 [amd64]) []\\nConf a (1 Debian:12 [amd64])\\n' ;;
  indextargets) echo 'Packages http://mirror/debian/' ;;
  download) shift; for name; do : >"$(basename "$name").deb"; echo "Get:1 http://mirror bookworm/main amd64 $name"; done ;;
esac`;
/** A fake dpkg-deb: one file of each package. It fails for what FAILS names. */
const dpkgDeb = `#!/bin/sh
case $2 in *"$FAILS"*) [ -z "$FAILS" ] || { echo "cannot read $2" >&2; exit 2; } ;; esac
mkdir -p "$3/lib" && : >"$3/lib/$(basename "$2")"`;

describe("Debian packages, unpacked and not installed", () => {
  let directory: string;
  let lines: string[];
  const env = (more: NodeJS.ProcessEnv = {}) => ({
    PATH: `${directory}/programs:/usr/bin:/bin`,
    XDG_CACHE_HOME: join(directory, "cache"),
    LOG: join(directory, "log"),
    ...more,
  });
  const locate = (packages: Parameters<typeof locateUnpacked>[0]["packages"], more?: NodeJS.ProcessEnv) =>
    locateUnpacked({ name: "some", packages, has: "lib" }, { env: env(more), report: (line) => void lines.push(line) });
  const cache = () => cacheDirectory(env());
  const calls = () => readFileSync(join(directory, "log"), "utf8").trim().split("\n");
  const whole = { closureOf: ["a"], whole: true } as const;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "nodevolume-debian-"));
    lines = [];
    mkdirSync(join(directory, "programs"));
    writeFileSync(join(directory, "programs/apt-get"), aptGet, { mode: 0o755 });
    writeFileSync(join(directory, "programs/dpkg-deb"), dpkgDeb, { mode: 0o755 });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it("are asked for with lists and archives of the cache, without locks and hooks of the machine", async () => {
    await locate(["a"]);
    const config = join(cache(), "apt/conf");
    for (const call of calls()) expect(call).to.match(new RegExp(`^-c ${config} `));
    const text = readFileSync(config, "utf8");
    for (const key of ["Dir::State", "Dir::Cache"]) expect(text).to.include(`${key} "${cache()}/apt";`);
    for (const part of ["#clear APT::Update::Post-Invoke-Success;", 'Debug::NoLocking "true";'])
      expect(text).to.include(part);
  });

  it("are those that the machine has not got, or all if a root file system is to be made of them; in the versions that apt chose", async () => {
    const found = await locate({ closureOf: ["a"] });
    expect(readdirSync(join(String(found), "lib"))).to.have.members(["a=1.deb", "b=2:3.deb"]);
    expect(calls().find((call) => call.includes("--simulate"))).not.to.include("Status");
    rmSync(String(found), { recursive: true });
    await locate(whole);
    const nothing = join(cache(), "apt/nothing-installed");
    expect(calls().at(-2)).to.include(`-o Dir::State::Status=${nothing} --simulate install a`);
    expect(readFileSync(nothing, "utf8")).to.equal("");
    expect(lines).to.include("some: 2 packages");
  });

  it("may be of another suite and architecture, with lists of their own", async () => {
    const found = await locate({ names: ["a/next", "b:arm64"], suite: "next", architectures: ["amd64", "arm64"] });
    expect(found, JSON.stringify(found)).to.equal(join(cache(), `some-${process.arch}`));
    expect(calls().at(-1)).to.match(/ download a\/next b:arm64$/);
    expect(existsSync(join(cache(), "apt"))).to.equal(false); // those of the machine's own are not mixed with it
    const [config, sources] = readFileSync(join(directory, "kept"), "utf8").split("--\n");
    expect(config).to.include('APT::Architectures:: "amd64";\nAPT::Architectures:: "arm64";\n');
    expect(sources).to.match(/^deb \[signed-by=\S+\] http:\/\/mirror\/debian\/ next main$/m);
  });

  it("come with lists that are at most an hour old", async () => {
    const updates = () => calls().filter((call) => call.endsWith("update")).length;
    const again = async () => {
      rmSync(String(await locate(["a"])), { recursive: true });
      return updates();
    };
    expect(await again()).to.equal(1);
    expect(await again()).to.equal(1);
    const earlier = Date.now() / 1000 - 3700;
    utimesSync(join(cache(), "apt/updated"), earlier, earlier);
    expect(await again()).to.equal(2);
  });

  it("are there whole or not at all, and fetched once for two that ask", async () => {
    expect(await locate(whole, { FAILS: "b=" }))
      .to.have.property("missing")
      .that.matches(/cannot read/);
    expect(readdirSync(cache()).filter((name) => /some/.test(name))).to.deep.equal([]);
    const found = await Promise.all([locate(whole), locate(whole)]);
    expect(found).to.deep.equal([0, 1].map(() => join(cache(), `some-${process.arch}`)));
    expect(calls().filter((call) => call.includes("download"))).to.have.length(2);
  });

  it("have /lib and /sbin where Debian has them: in /usr, with links", () => {
    const out = join(directory, "out");
    for (const folder of ["lib/x", "usr/lib/x", "sbin", "usr/bin"]) mkdirSync(join(out, folder), { recursive: true });
    for (const file of ["lib/x/old", "usr/lib/x/new", "sbin/program"]) writeFileSync(join(out, file), file);
    symlinkSync("x/old", join(out, "lib/link"));
    mergeUsr(out);
    mergeUsr(out); // nothing is left to do
    expect(["bin", "lib", "sbin"].map((name) => readlinkSync(join(out, name)))).to.deep.equal(
      ["bin", "lib", "sbin"].map((name) => `usr/${name}`),
    );
    for (const file of ["x/old", "x/new"]) expect(readFileSync(join(out, "usr/lib", file), "utf8")).to.match(/x/);
    expect(readFileSync(join(out, "usr/lib/link"), "utf8")).to.equal("lib/x/old");
    expect(readFileSync(join(out, "usr/sbin/program"), "utf8")).to.equal("sbin/program");
    expect(existsSync(join(out, "lib64"))).to.equal(false);
  });
});
