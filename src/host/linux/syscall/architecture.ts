import { byArchitecture } from "./constants.ts";

type Name = keyof typeof byArchitecture;

/** PURE. Why the agent cannot run on an architecture, as process.arch says it; undefined if it can. */
export function whyNotOn(arch: string): string | undefined {
  if (isKnown(arch)) return undefined;
  const known = Object.keys(byArchitecture).join(" and ");
  return `the agent runs on ${known} alone, and this is ${arch}: numbers of that kernel's interface are not known, and by wrong ones it would follow links that it must not; keep it from such nodes by nodeSelector kubernetes.io/arch`;
}

/** What differs from one architecture to the other. @throws Error where that is not known */
export function ownNumbers(arch: string = process.arch): (typeof byArchitecture)[Name] {
  if (isKnown(arch)) return byArchitecture[arch];
  throw new Error(whyNotOn(arch));
}

function isKnown(arch: string): arch is Name {
  return Object.hasOwn(byArchitecture, arch);
}
