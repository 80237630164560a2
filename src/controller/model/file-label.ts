import { recordIn, stringIn } from "../../kube/json.ts";

/**
 * What tells the SELinux labels of two pods' files apart: `user:level` of a container's seLinuxOptions, or its pod's;
 * the role and type of files are those of all containers' (behaviour 77). "" if neither is given: then the runtime
 * chooses the level.
 */
export type FileLabel = string;

/** Of one container. Pure. */
export function labelOf(podSpec: unknown, container: unknown): FileLabel {
  const optionsOf = (of: unknown) => recordIn(recordIn(of, "securityContext"), "seLinuxOptions");
  const [own, all] = [optionsOf(container), optionsOf(podSpec)];
  const part = (key: string) => stringIn(own, key) ?? stringIn(all, key) ?? "";
  const [user, level] = [part("user"), part("level")];
  return user === "" && level === "" ? "" : shared(`${user}:${level}`);
}

/** Pods of a namespace often have one and the same: a hundred thousand need not keep one each. */
const texts = new Map<string, string>();
const mostTexts = 10_000;

function shared(text: string): string {
  const found = texts.get(text);
  if (found !== undefined) return found;
  if (texts.size >= mostTexts) texts.clear();
  texts.set(text, text);
  return text;
}
