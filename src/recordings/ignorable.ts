/** Finds what to add to `recordings.ignore` so that a recording answers a request that differs only in what changes with every run. */
import type { ClosestRecording, Difference } from '../check/finding.js'
import { jsonOf } from '../core/json.js'
import { type Ignore, TOOL_RESULTS } from './ignore.js'
import { type IgnoredName, ignoredNames, withoutNamed } from './ignored-names.js'
import { requestKey } from './key.js'
import type { RecordedRequest } from './recording.js'

type Ignorable = NonNullable<ClosestRecording['ignore']>

/** More differences than this are no accident. */
const MOST_DIFFERENCES = 50
/** Longer texts hold up other requests. */
const MOST_COMPARED = 500_000
/** No value that changes as a whole is longer. */
const LONGEST_VALUE = 200

/** As few entries as possible with which two requests are the same; `undefined` if anything else differs. `differences` must be uncut. */
export function ignorableIn(
  differences: readonly Difference[],
  recorded: RecordedRequest,
  asked: RecordedRequest,
  ignore: Ignore,
): Ignorable | undefined {
  const isEnough = (more: Ignorable) => {
    const further = ignore.and(more)
    return requestKey(recorded, further) === requestKey(asked, further)
  }
  const found = entriesFor(differences)
  if (found && isEnough(found)) return found
  return differences.length > 0 && isEnough([TOOL_RESULTS]) ? [TOOL_RESULTS] : undefined
}

function entriesFor(differences: readonly Difference[]): Ignorable | undefined {
  if (differences.length === 0 || differences.length > MOST_DIFFERENCES) return undefined
  const length = differences.reduce((sum, { recorded = '', asked = '' }) => sum + recorded.length + asked.length, 0)
  if (length > MOST_COMPARED) return undefined
  const all = new Set<string>()
  const parameters = new Set<string>()
  for (const difference of differences) {
    const { field } = difference
    if (isVolatile(difference)) {
      if (field.startsWith('query.')) parameters.add(field.slice('query.'.length))
      else all.add(ignoredNames.some(name => name === field) ? `$.${field}` : field)
      continue
    }
    const names = namesOf(difference)
    if (!names) return undefined
    for (const name of names) all.add(name)
  }
  return [...all, ...[...parameters].map(query => ({ query }))]
}

/** What is said, and what the platform is told to do, is only ignored in parts. */
const isSaid = (field: string) =>
  /^(?:messages|input|prompt|instructions|tools|functions|model|method|path|body)\b/.test(field)

/** Fields that are another one for each request. */
const volatileName =
  /(?:(?:request|trace|span|session|correlation|run|job|idempotency)[-_.]?(?:id|key)|(?:created|sent|started|requested|issued|expires)[-_]?at|nonce|uuid|timestamp|traceparent)$/i

/** Whether all of a value changes with every run: by the name of its field, or because nothing else is in it. */
function isVolatile({ field, recorded, asked }: Difference): boolean {
  if (isSaid(field)) return false
  const [then, now] = [leafOf(recorded), leafOf(asked)]
  if (then === undefined || now === undefined || then.length + now.length > LONGEST_VALUE) return false
  return volatileName.test(field) || [then, now].every(text => isNamed(without(ignoredNames, text)))
}

const isNamed = (rest: string) => /^\[(?:uuid|date|time|id)\](?:[T ]\[time\])?$/.test(rest)

/** The fewest names without which both values are the same. */
function namesOf({ recorded, asked }: Difference): readonly IgnoredName[] | undefined {
  const [then, now] = [leafOf(recorded), leafOf(asked)]
  if (then === undefined || now === undefined) return undefined
  if (without(ignoredNames, then) !== without(ignoredNames, now)) return undefined
  return subsets.find(names => without(names, then) === without(names, now))
}

const without = (names: readonly IgnoredName[], text: string) =>
  ignoredNames.filter(name => names.includes(name)).reduce((rest, name) => withoutNamed[name](rest), text)

/** All choices of names, the smallest first. */
const subsets: readonly (readonly IgnoredName[])[] = Array.from({ length: 2 ** ignoredNames.length }, (_, choice) =>
  ignoredNames.filter((_, i) => (choice & (1 << i)) !== 0),
).toSorted((one, other) => one.length - other.length)

/** The text of a value that is one; numbers are also texts, and paths are not JSON. */
function leafOf(json: string | undefined): string | undefined {
  const value = json === undefined ? undefined : (jsonOf(json) ?? json)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
