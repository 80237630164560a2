import { eventsOf, type Facts, type Raw } from "../../explain/facts.ts";
import type { Finding } from "../../explain/finding.ts";
import { withNames } from "../../explain/next-steps.ts";
import type { StepNames } from "../../explain/step-names.ts";
import { meaningOf } from "../../explain/why/known-messages.ts";
import { numberIn, recordIn, stringIn } from "../../kube/json.ts";

const notMounted = "kubelet could not mount it";
/** What people see, by the reason of the Event. */
const symptoms: ReadonlyMap<string | undefined, string> = new Map([
  ["FailedMount", notMounted],
  ["FailedMapVolume", notMounted],
  ["VolumeResizeFailed", notMounted],
  ["FailedAttachVolume", "it could not be attached"],
  ["FailedUnMount", "kubelet could not unmount it"],
]);

/**
 * PURE. The newest word of kubelet, or of the attach/detach controller, on a volume of a pod. Their messages name it:
 * by its PersistentVolume, or by its name in the pod. One that names none ("unable to attach or mount volumes") lists
 * them.
 */
export function failureEvent(facts: Facts, pod: Raw, names: readonly string[]): Finding | undefined {
  const told = eventsOf(facts, pod).filter((event) => symptoms.has(stringIn(event, "reason")));
  const ofVolume = (event: Raw) => {
    const message = stringIn(event, "message") ?? "";
    return names.some(
      (name) => message.includes(`"${name}"`) || message.includes(`[${name}]`) || message.includes(`/${name}/`),
    );
  };
  const exact = told.find(
    (event) => ofVolume(event) && !/^unable to attach or mount/i.test(stringIn(event, "message") ?? ""),
  );
  const event = exact ?? told.find(ofVolume);
  if (event === undefined) return undefined;
  const message = stringIn(event, "message") ?? "";
  const meaning = meaningOf(message);
  const count = numberIn(event, "count") ?? numberIn(recordIn(event, "series"), "count");
  const since = stringIn(event, "firstTimestamp") ?? event.metadata.creationTimestamp;
  const reason = stringIn(event, "reason");
  return {
    state: "waiting",
    code: meaning?.code ?? meaning?.reason ?? reason ?? "FailedMount",
    text: symptoms.get(reason) ?? notMounted,
    quote: message,
    ...(since !== undefined && { since }),
    ...(count !== undefined && { attempts: count }),
    ...(meaning !== undefined && { todo: withNames(meaning.step, namesOf(pod)) }),
  };
}

function namesOf(pod: Raw): StepNames {
  const { name, namespace } = pod.metadata;
  return { pod: name, namespace, node: stringIn(recordIn(pod, "spec"), "nodeName") };
}

/** PURE. Whether a finding is what kubelet says, and so what people see first. */
export function isSymptom({ text }: Finding): boolean {
  return [...symptoms.values()].includes(text);
}
