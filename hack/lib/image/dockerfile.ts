// What the Dockerfile says of the images that it builds.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";

/** Stages of the Dockerfile that are published. */
export const targets = ["controller", "agent-minimal", "agent"] as const;
export type Target = (typeof targets)[number];

/** The name of an image, without a registry: what the manifests call it, too. */
export function nameOf(target: Target): string {
  return `node-volume-operator-${target}`;
}

/** Bytes that an image may have, unpacked. docs/release.md names them, and what the images have. */
export const budgets: { readonly [T in Target]: number } = {
  controller: 150e6,
  "agent-minimal": 440e6,
  agent: 500e6,
};

/** The text of the Dockerfile of a checkout. @throws Error if it has none */
export function readDockerfile(folder = root): string {
  return readFileSync(join(folder, "Dockerfile"), "utf8");
}

/** PURE. The image of Node that all stages begin with, by its tag. @throws Error if there is none */
export function baseOf(dockerfile: string): string {
  const [, base] = /^ARG BASE=(node:\S+)$/m.exec(dockerfile) ?? [];
  if (base === undefined) throw new Error("the Dockerfile has no ARG BASE=node:…");
  return base;
}

/** PURE. Debian's release in the tag of the base. @throws Error if it names none */
export function debianReleaseOf(base: string): string {
  const [, release] = /-([a-z]+)-slim$/.exec(base) ?? [];
  if (release === undefined) throw new Error(`${base} does not say which Debian it is of`);
  return release;
}

/** PURE. The bundles in an image, as main and controller. @throws Error if it has none */
export function bundlesIn(dockerfile: string, target: Target): string[] {
  const [stage] = stagesOf(dockerfile, target);
  const [, folder] = /^COPY --from=build (\/app\/\S+) \/app$/m.exec(stage?.text ?? "") ?? [];
  const [, files] = new RegExp(`&& cp (.*) ${folder}/ `).exec(dockerfile) ?? [];
  if (files === undefined) throw new Error(`the Dockerfile has no bundles for ${target}`);
  return files.split(" ").map((file) => /^dist\/(.+)\.cjs$/.exec(file)?.[1] ?? file);
}

/** `[ "$(dpkg --print-architecture)" = arm64 ] || apt-get install …`, or without the condition. */
const installs = /(?:= (\w+) \] \|\| )?apt-get install ((?:.*\\\n)*.*)/g;

/**
 * PURE. What apt-get installs for an image, by name; the package lists of the day say which versions.
 * @param architecture Debian's name of one: without what is left out there
 */
export function debianPackagesIn(dockerfile: string, target: Target, architecture?: string): string[] {
  const lists = stagesOf(dockerfile, target)
    .flatMap(({ text }) => [...text.matchAll(installs)])
    .flatMap(([, lacking, list = ""]) => (lacking !== undefined && lacking === architecture ? [] : list));
  const words = lists.flatMap((list) => list.split("&&")[0]?.replaceAll("\\\n", " ").split(/\s+/) ?? []);
  return [...new Set(words.filter((word) => word !== "" && !word.startsWith("-")))].sort();
}

/** PURE. Whether an image has all files of its base, and not only Node and its libraries. */
export function hasWholeBase(dockerfile: string, target: Target): boolean {
  return stagesOf(dockerfile, target).some(({ text }) => /^COPY --from=\S+ \/ \/$/m.test(text));
}

interface Stage {
  readonly name: string;
  readonly from: string;
  readonly text: string;
}

/** The stage of that name, those that it begins with, and those whose files it copies. */
function stagesOf(dockerfile: string, target: string): Stage[] {
  const [, ...texts] = dockerfile.split(/^FROM /m);
  const stages = texts.map((text): Stage => {
    const [, from = "", name = ""] = /^(\S+) AS (\S+)/.exec(text) ?? [];
    return { name, from, text };
  });
  const found: Stage[] = [];
  const visit = (wanted: string) => {
    const stage = stages.find(({ name }) => name === wanted);
    if (stage === undefined || found.includes(stage)) return;
    found.push(stage);
    visit(stage.from);
    for (const [, name = ""] of stage.text.matchAll(/^COPY --from=(\S+) /gm)) visit(name);
  };
  visit(target);
  return found;
}
