// Words that this project alone uses, and that no reader would search for; each with what the field says instead.

/** Found in the text of a page without its code, whatever the case. */
interface PrivateWord {
  readonly pattern: RegExp;
  /** What to write instead. */
  readonly instead: string;
}

/** Verbs of people. A machine does none of these. */
const verbs: readonly PrivateWord[] = [
  word("say|says|said|saying", "shows, reports, states, is named, or the fact itself"),
  word("tell|tells|told|telling", "reports, notifies, shows, distinguishes"),
  word("hear|hears|heard|hearing|unheard|deaf|deafness", "watches, receives, is notified; cannot watch"),
  word("listens? to|listened to|listening to", "watches"),
  word("looked at|looks at|looked into|only looks?|is looked|are looked", "checks, inspects, is checked"),
  word("pardon|pardons|pardoned", "resets the backoff"),
  word("(let|lets|letting)( (it|them|a|the|its)( \\w+)?)? go", "releases"),
  word("(give|gives|given|gave|giving)( (it|them|the volume|a volume))? back", "releases, detaches, returns"),
  word("(is|was|are|were) given up", "is abandoned"),
  word("(take|takes|taken|took) from (it|them|a pod)", "reassigned, unmounted, detached"),
  word("(have|has) the node(?!'s)", "holds the lock of the node"),
  word("may not have it", "access is denied"),
  word("brought on|brings on", "advanced"),
  word("ask|asks|asked|asking", "requests, queries, requires, contacts"),
  word("wants|wanted", "requires, specifies, desired"),
  word("(go|goes|went|going) on", "continues"),
  word("(take|takes|taken|took|taking) (it |them )?in", "adopts, starts to manage"),
  word("mend|mends|mended|mending", "repair, fix"),
  word("reap|reaps|reaped|reaping", "clean up, remove"),
];

/** What stands where the field has a noun. */
const nouns: readonly PrivateWord[] = [
  word("to be had", "available, unavailable, unreachable"),
  word("(tried|try|tries|trying) again", "retried, retries"),
  word("silent|silence", "unresponsive, does not renew its Lease, reports nothing"),
  word("(word|words) of (a|an|the|its|their|his)( own)?", "confirmation, report, message"),
  word("on (the|a|its) \\S+ word", "after the node confirms"),
  word("(is|was|are|were|be) so(?=[.,:;)]|$)", "name the condition"),
  word("as wanted", "as specified, in sync"),
  word("all else", "everything else"),
  word("(stand|stands|stood) (in|there|beside)(?!-)", "is in, is listed in, contains"),
  word("made (of|from) (it|them)", "built on it"),
  word("beside", "alongside, next to, at the same time as"),
  word("(nothing|anything|something|much|more|whatever) of (the|a|an|its|it|them)", "name the part"),
  word("one too many", "exceeds the limit of"),
  word("most that", "the maximum"),
  word("(with|to|for|from|by|of) whom", "name the person or the object"),
  word("likeness|standing of|rung|rungs|poem", "mount match, state, unmount mode"),
  word("no news|is news", "no change"),
  word("in its own right", "separately, by itself"),
  word("nobody in charge", "unmanaged"),
  word("(comes|come|came) of it", "the result"),
];

/** How a sentence must not begin, unless it is a question. */
const beginnings: readonly PrivateWord[] = [
  word("(what|whatever|who|whoever|whom|whose)", "the subject first: name the thing"),
  word("of (a|an|the|another|each|every|which|what|two|three|these|those|its)", "the subject first, not its genitive"),
  word("(most that|as what|that which)", "the subject first: name the thing"),
];

/** PURE. Each private word in text without code, with what to write instead. */
export function privateWordsIn(text: string): string[] {
  return [...verbs, ...nouns].flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(([found]) => `"${found}": ${instead}`),
  );
}

/** PURE. How a sentence begins, if that hides its subject. Headings and cells may: they are no sentences. */
export function hiddenSubjectOf(sentence: string): string[] {
  if (sentence.endsWith("?")) return [];
  return beginnings.flatMap(({ pattern, instead }) => {
    const [first] = sentence.matchAll(pattern);
    return first?.index === 0 ? [`begins with "${first[0]}": ${instead}`] : [];
  });
}

function word(alternatives: string, instead: string): PrivateWord {
  return { pattern: new RegExp(`(?<![\\w-])(?:${alternatives})(?![\\w-])`, "giu"), instead };
}
