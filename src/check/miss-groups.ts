/** Misses by what differs: one difference once, with how many requests met it and in which tests. */
import {
  ABSENT,
  type ClosestRecording,
  changedParts,
  type Difference,
  ignoreAdvice,
  type Missed,
  missInTest,
  type Paint,
  unpainted,
} from './finding.js'

/** Misses that differ from their recordings in the same way. */
export interface MissGroup {
  readonly first: Missed
  /** The same for all misses of the group. */
  readonly key: string
  count: number
  /** The tests or scopes that sent them. */
  readonly met: Set<string>
}

/** A difference, and the requests that have it. */
export interface Cause extends Omit<MissGroup, 'first' | 'key'> {
  readonly difference: Difference
  readonly ignore: ClosestRecording['ignore']
}

export type MissGroups = ReturnType<typeof createMissGroups>

/** Groups misses as they come. */
export function createMissGroups() {
  const groups = new Map<string, MissGroup>()
  const causes = new Map<string, Cause>()
  return {
    /** Returns whether it is the first of its group. */
    add(first: Missed): boolean {
      const { method, path, reason, nearest, scope, test = scope } = first
      const differences = nearest?.differences ?? []
      const key = JSON.stringify([method, path, differences.length > 0 ? differences : reason])
      const isNew = countIn(groups, key, { first, key }, test)
      for (const difference of differences)
        countIn(causes, JSON.stringify(difference), { difference, ignore: nearest?.ignore }, test)
      return isNew
    },
    groups: (): readonly MissGroup[] => [...groups.values()],
    causes: (): readonly Cause[] => [...causes.values()].sort((a, b) => b.count - a.count),
  }
}

function countIn<T extends object>(
  all: Map<string, T & Pick<MissGroup, 'count' | 'met'>>,
  key: string,
  one: T,
  test: string,
): boolean {
  const known = all.get(key)
  const entry = known ?? { ...one, count: 0, met: new Set<string>() }
  entry.count++
  if (test !== '') entry.met.add(test)
  all.set(key, entry)
  return !known
}

const MOST_TESTS = 5

function testsText({ met }: Pick<MissGroup, 'met'>, { faint, harmless }: Paint): string {
  if (met.size === 0) return ''
  const more = met.size > MOST_TESTS ? ` and ${met.size - MOST_TESTS} more` : ''
  return `\n${faint(`  in ${harmless([...met].slice(0, MOST_TESTS).join(', '))}${more}`)}`
}

/** The first miss of a group in full, and how many others there are, in the message of a failed test. */
export function missGroupText(group: MissGroup): string {
  const others = group.count - 1
  if (others === 0) return missInTest(group.first)
  const more = `  ${others} more ${others === 1 ? 'request' : 'requests'} missed in the same way`
  return `${missInTest(group.first)}\n${more}${testsText(group, unpainted)}`
}

/** How many requests differed like one that was shown before. */
export function repeatText(group: MissGroup, paint = unpainted): string {
  const { method, path, nearest } = group.first
  const [change] = nearest?.differences ?? []
  const what = change ? `: ${changeInWords(change)}` : '.'
  const requests = group.count === 1 ? '1 request' : `${group.count} requests`
  return `${requests} missed in the same way, ${paint.harmless(`${method} ${path}${what}`)}${testsText(group, paint)}`
}

/** The width of one side of a change in a sentence. */
const SHOWN_WIDTH = 80

/** `messages[0].content: …Answer briefly." → …Answer in one sentence." (+3 tokens)`. */
export function changeInWords({ field, recorded = ABSENT, asked = ABSENT, tokens = 0 }: Difference): string {
  const unit = Math.abs(tokens) === 1 ? 'token' : 'tokens'
  const cost = tokens === 0 ? '' : ` (${tokens > 0 ? '+' : '−'}${Math.abs(tokens)} ${unit})`
  return `${field}: ${changedParts(recorded, asked, SHOWN_WIDTH).join(' → ')}${cost}`
}

/** `15 requests differ in messages[0].content: …`, and the tests that sent them. */
export function causeText(cause: Cause, paint = unpainted): string {
  const requests = cause.count === 1 ? '1 request differs' : `${cause.count} requests differ`
  return `${requests} in ${paint.harmless(changeInWords(cause.difference))}${testsText(cause, paint)}`
}

/** What has changed in requests that the nearest recordings answered, and what to do about it: a value that is another one tomorrow should not be accepted, but ignored. */
export function changesText(groups: MissGroups, paint: Paint, acceptCommand = 'standin recordings accept'): string {
  const causes = groups.causes()
  const advice = new Set(
    causes.map(({ ignore }) => (ignore ? ignoreAdvice(ignore) : `Accept the change, offline: ${acceptCommand}`)),
  )
  return [
    paint.title('The nearest recordings answered changed requests:'),
    ...causes.map(cause => causeText(cause, paint)),
    ...[...advice].map(one => paint.advice(`→ ${paint.harmless(one)}`)),
  ].join('\n')
}
