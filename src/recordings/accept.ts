/** Adopts the prompts of a run: recordings that answered changed requests get these requests and their keys, and keep their answers. */
import type { Tokenizer } from '../chat/tokens/index.js'
import type { Difference } from '../check/finding.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { mapInParallel } from '../core/work.js'
import type { Ignore } from './canonical.js'
import { type NotedDrift, readDriftNotes, replaceDriftNotes } from './drift-note.js'
import { questionIn, recordingIn, withRequest } from './file-text.js'
import { displayPath, type Folder } from './folder.js'
import { comparedForm, requestKey } from './key.js'
import { type RecordingFile, renamedFile } from './names.js'
import { toolsCalledIn } from './play.js'
import { promptDifferences, shownChange, toolsOf, withChanges } from './prompt-change.js'

interface AcceptParts {
  readonly folder: Folder
  readonly ignore: Ignore
  readonly tokenizer: Tokenizer
  /** Whether nothing is changed. */
  readonly isDry: boolean
}

/** A recording that got another request. */
export interface AcceptedChange {
  readonly from: string
  readonly to: string
  /** Whether the old file stays, since its own request is still sent. */
  readonly isCopy: boolean
  readonly differences: readonly Difference[]
}

/** A change, and the text that the new file gets. */
interface PlannedChange extends AcceptedChange {
  readonly key: string
  readonly text: string
}

/** The changes to the recordings of one request. */
interface Plan {
  readonly drift: NotedDrift
  readonly key: string
  readonly changes: readonly PlannedChange[]
}

/** Changes what can be changed, and says why the rest was left. */
export async function acceptDrift(parts: AcceptParts) {
  const { folder, isDry } = parts
  const { drifts, problems } = readDriftNotes(folder.dir)
  const present = await folder.list()
  const { plans, skipped } = await plansFor(drifts, present, parts)
  const clashes = clashesIn(plans, present)
  const { accepted, failure } = apply(
    plans.filter(plan => !clashes.has(plan)),
    folder,
    isDry,
  )
  if (!isDry && drifts.length + problems.length > 0 && !failure)
    replaceDriftNotes(
      folder.dir,
      [...clashes.keys()].map(({ drift }) => drift),
    )
  return { accepted, problems: [...problems, ...skipped, ...clashes.values(), ...(failure ? [failure] : [])] }
}

/** Plans the changes; what cannot be changed is `skipped`. */
async function plansFor(drifts: readonly NotedDrift[], present: readonly RecordingFile[], parts: AcceptParts) {
  const plans: Plan[] = []
  const skipped: Problem[] = []
  for (const drift of drifts) {
    const [first] = drift.files
    const earlier = plans.filter(plan => plan.drift.files[0] === first)
    const isCopy = drift.isShared || earlier.length > 0
    const all = await mapInParallel(drift.files, file => plannedChange(file, drift, isCopy, present, parts))
    const changes = all.filter(one => 'to' in one)
    const [{ key } = { key: '' }] = changes
    // Requests that differ only in what is ignored.
    if (earlier.some(plan => plan.key === key)) continue
    skipped.push(...all.filter(one => 'sentence' in one))
    if (changes.length > 0) plans.push({ drift, key, changes })
  }
  return { plans, skipped }
}

const RECORD_IT = 'Record it: standin exec --mode replay --on-miss record --prune -- npm test.'

/** The change to one file, or why it is left as it is. */
async function plannedChange(
  from: string,
  { key: keyBefore, request: asked }: NotedDrift,
  isCopy: boolean,
  present: readonly RecordingFile[],
  { folder, ignore, tokenizer }: AcceptParts,
): Promise<PlannedChange | Problem> {
  const isLeft = (sentence: string): Problem => ({ origin: from, sentence })
  // Only what is in the folder, whatever a note says.
  const entry = present.find(({ file }) => file === from)
  if (!entry) return isLeft('is gone since the run.')
  try {
    const text = await folder.text(from)
    const { request: before } = questionIn(text, from)
    if (requestKey(before, ignore) !== keyBefore)
      return isLeft('was left as it is: its request has changed since the run.')
    const request = withChanges(before, asked, ignore)
    const key = requestKey(request, ignore)
    const isGone = (tool: string) => toolsOf(before).includes(tool) && !toolsOf(request).includes(tool)
    const gone = toolsCalledIn(recordingIn(text, from).response).find(isGone)
    if (gone !== undefined) return isLeft(`was left as it is: its answer calls ${gone}, which is gone. ${RECORD_IT}`)
    const changed = withRequest(text, before, request, key)
    if (changed === undefined) return isLeft('was left as it is: it has no line "request:".')
    const differences = promptDifferences(comparedForm(before, ignore), comparedForm(request, ignore)) ?? []
    const shown = differences.map(one => shownChange(one, tokenizer))
    return { from, to: renamedFile(entry, before, request, key), isCopy, differences: shown, key, text: changed }
  } catch (error) {
    if (error instanceof ProblemsError) return isLeft(`was left as it is: ${error.problems[0]?.sentence}`)
    throw error
  }
}

/** Plans that would give two recordings the same request, each with a problem that names both. */
function clashesIn(plans: readonly Plan[], present: readonly RecordingFile[]): ReadonlyMap<Plan, Problem> {
  const clashes = new Map<Plan, Problem>()
  for (const plan of plans) {
    const [origin = ''] = plan.drift.files
    const others = [
      ...plans.filter(other => other !== plan && other.key === plan.key).map(({ drift }) => drift.files[0]),
      ...present.filter(({ key }) => key === plan.key).map(({ file }) => file),
    ]
    if (others.length === 0) continue
    const sentence = `would get the same request as ${others.join(' and ')}. Remove the one whose answer you do not need, then accept again.`
    clashes.set(plan, { origin, sentence })
  }
  return clashes
}

/** Makes the changes. Each new file is written before the old one is removed. */
function apply(plans: readonly Plan[], folder: Folder, isDry: boolean) {
  const accepted: AcceptedChange[] = []
  for (const { changes } of plans) {
    try {
      if (!isDry) {
        for (const { to, text } of changes) folder.writeText(to, text)
        for (const { from, isCopy } of changes) if (!isCopy) folder.remove(from)
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const sentence = `cannot be written (${code ?? message}). Accept again when it can.`
      return { accepted, failure: { origin: displayPath(folder.dir), sentence } }
    }
    for (const { from, to, isCopy, differences } of changes) accepted.push({ from, to, isCopy, differences })
  }
  return { accepted }
}
