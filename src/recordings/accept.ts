/** Adopts the requests of a run: recordings that answered changed requests get these requests, and keep their answers and their names. */
import type { Tokenizer } from '../chat/tokens/index.js'
import type { Difference } from '../check/finding.js'
import { type Problem, ProblemsError } from '../check/problem.js'
import { differencesBetween } from './differences.js'
import { changedText, requestFrom } from './file-text.js'
import { displayPath, type Folder, isProblem } from './folder.js'
import type { Ignore } from './ignore.js'
import { comparedForm, keysOf, type RequestKeys } from './key.js'
import { type Known, Lookup } from './lookup.js'
import { fileOf } from './names.js'
import { latestRun, type NearestAnswer, type Note, readNotes, replaceNearest } from './notes.js'
import { toolsCalledIn } from './play.js'
import { shownChange, toolsOf, withChanges } from './prompt-change.js'
import type { RecordedRequest } from './recording.js'
import { isGone } from './test-name.js'

interface AcceptParts {
  readonly folder: Folder
  readonly ignore: Ignore
  readonly tokenizer: Tokenizer
  /** Whether changed messages are adopted, too. */
  readonly any: boolean
  readonly isDry: boolean
}

export interface AcceptedChange {
  readonly from: string
  readonly to: string
  /** Whether the old file stays, since its own request is still sent. */
  readonly isCopy: boolean
  readonly differences: readonly Difference[]
}

interface Plan extends AcceptedChange, RequestKeys {
  readonly answer: NearestAnswer
  readonly test: string
  readonly place: number
  readonly request: RecordedRequest
}

const RECORD_IT = 'Record it: standin exec --mode replay --on-miss record --prune -- npm test.'

/** Changes what can be changed, and says why the rest was left. */
export async function acceptChanges(parts: AcceptParts) {
  const { folder, isDry, ignore } = parts
  const { notes, problems } = readNotes(folder.dir)
  const run = latestRun(notes, ({ nearest }) => nearest.length > 0)
  const lookup = new Lookup(folder, ignore)
  await lookup.all()
  const left = new Map<NearestAnswer, Problem>()
  const plans: Plan[] = []
  for (const answer of answersOf(run)) {
    const plan = planned(answer, plans, new Set(run.flatMap(({ exact }) => exact)), lookup, parts)
    if (plan && 'sentence' in plan) left.set(answer, plan)
    else if (plan) plans.push(plan)
  }
  const clashes = new Map(plans.flatMap(plan => clashOf(plan, plans, lookup) ?? []))
  const { accepted, failure } = apply(
    plans.filter(({ answer }) => !clashes.has(answer)),
    folder,
    isDry,
  )
  if (!isDry && !failure) replaceNearest(folder.dir, run, new Set([...clashes.keys(), ...messagesLeft(left, parts)]))
  return { accepted, problems: [...problems, ...left.values(), ...clashes.values(), ...(failure ? [failure] : [])] }
}

/** What a later part of a run says about a recording and a test replaces what earlier ones do. */
function answersOf(run: readonly Note[]): readonly NearestAnswer[] {
  const all = run.flatMap(({ nearest, file }) =>
    nearest.map(answer => ({ answer, by: `${answer.test}\n${answer.file}`, note: file })),
  )
  const latest = new Map(all.map(({ by, note }) => [by, note]))
  return all.filter(({ by, note }) => latest.get(by) === note).map(({ answer }) => answer)
}

/** Changed messages may be accepted later. */
const messagesLeft = (left: ReadonlyMap<NearestAnswer, Problem>, { any }: AcceptParts) =>
  any ? [] : [...left.keys()].filter(({ changed }) => changed === 'message')

/** The change to one file, or why it is left as it is; nothing if it is planned already. */
function planned(
  answer: NearestAnswer,
  plans: readonly Plan[],
  exact: ReadonlySet<string>,
  lookup: Lookup,
  { folder, ignore, tokenizer, any }: AcceptParts,
): Plan | Problem | undefined {
  const { file, changed } = answer
  const isLeft = (sentence: string): Problem => ({ origin: file, sentence })
  // Only what is in the folder, whatever a note says.
  if (!folder.files().has(file)) return isLeft('is gone since the run.')
  if (changed === 'message' && !any)
    return isLeft('answered a request with another message. Look at what it says, and accept it with --any.')
  const recording = folder.read(file)
  const known = lookup.known(file)
  if (isProblem(recording) || !known)
    return isLeft(`was left as it is: ${isProblem(recording) ? recording.sentence : 'it cannot be read.'}`)
  if (known.key !== answer.key) return isLeft('was left as it is: its request has changed since the run.')
  const before = recording.request
  const request = withChanges(before, requestFrom(answer.request), ignore)
  const keys = keysOf(request, ignore)
  const others = plans.filter(plan => plan.from === file)
  // Requests that differ only in what is ignored, or of tests that share a recording.
  if (others.some(plan => plan.key === keys.key && (plan.test === known.test || plan.test === answer.test)))
    return undefined
  const isGoneTool = (tool: string) => toolsOf(before).includes(tool) && !toolsOf(request).includes(tool)
  const gone = toolsCalledIn(recording.response).find(isGoneTool)
  if (gone !== undefined) return isLeft(`was left as it is: its answer calls ${gone}, which is gone. ${RECORD_IT}`)
  const isOfOther = known.test !== answer.test && known.test !== '' && !isGone(known.test, folder.dir)
  const isCopy = isOfOther || exact.has(file) || others.length > 0
  const test = isCopy ? answer.test : known.test
  const keepsName = !isCopy && !known.isEarlier && changed === 'prompt'
  return {
    ...keys,
    from: file,
    to: keepsName ? file : fileOf(request, keys.conversation, test),
    isCopy,
    differences: differencesBetween(comparedForm(before, ignore), comparedForm(request, ignore)).map(one =>
      shownChange(one, tokenizer),
    ),
    answer,
    test,
    place: known.place,
    request,
  }
}

/** A problem if a test would have two recordings for one place of one request. */
function clashOf(
  plan: Plan,
  plans: readonly Plan[],
  lookup: Lookup,
): (readonly [NearestAnswer, Problem])[] | undefined {
  const isSame = (other: Pick<Known, 'test' | 'key' | 'place'>) =>
    other.test === plan.test && other.key === plan.key && other.place === plan.place
  const others = [
    ...plans.filter(other => other !== plan && isSame(other)).map(({ from }) => from),
    ...lookup
      .equal(plan)
      .filter(isSame)
      .map(({ file }) => file),
  ].filter(file => file !== plan.from)
  if (others.length === 0) return undefined
  const sentence = `would get the same request as ${[...new Set(others)].join(' and ')}. Remove the one whose answer you do not need, then accept again.`
  return [[plan.answer, { origin: plan.from, sentence }]]
}

/** Makes the changes. Each new file is written before the old one is removed. */
function apply(plans: readonly Plan[], folder: Folder, isDry: boolean) {
  const accepted: AcceptedChange[] = []
  for (const plan of plans) {
    const { from, isCopy, differences } = plan
    try {
      accepted.push({ from, to: isDry ? plan.to : changeFile(plan, folder), isCopy, differences })
    } catch (error) {
      if (error instanceof ProblemsError) throw error
      const { code, message } = error as NodeJS.ErrnoException
      const sentence = `cannot be written (${code ?? message}). Accept again when it can.`
      return { accepted, failure: { origin: displayPath(folder.dir), sentence } }
    }
  }
  return { accepted }
}

function changeFile(plan: Plan, folder: Folder): string {
  const { from, to, isCopy } = plan
  const text = changedText(folder.text(from), plan, from)
  if (to === from && !isCopy) {
    folder.replace(from, text)
    return from
  }
  const created = folder.create(to, text)
  if (!isCopy) folder.remove([from])
  return created
}
