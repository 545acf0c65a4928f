/** Regular expressions that users write: `/source/flags`, and whether matching one may take forever. */
import type { Path } from './check.js'

/** What can be read of a part of an expression: its first and last characters, by number, and whether it can match nothing. */
interface Part {
  readonly first: readonly number[]
  readonly last: readonly number[]
  readonly canBeEmpty: boolean
}

/** A group that is being read. */
interface Group {
  /** The number of its first character. */
  readonly start: number
  readonly isLookaround: boolean
  /** The alternatives before the one that is being read. */
  before: Part | undefined
  current: Part
}

const nothing: Part = { first: [], last: [], canBeEmpty: true }

const piece =
  /(?<opening>\((?:\?(?:<?[=!]|<[^>]*>|[a-z-]*:))?)|(?<closing>\))|(?<bar>\|)|(?<anchor>[$^]|\\[bB])|(?<character>\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|k<[^>]*>|u[\da-f]{4}|x[\da-f]{2}|c[a-z]|\d+|.)|\[(?:\\.|[^\]\\])*\]|.)/
const quantifier = /(?<sign>[*+?])\??|\{(?<least>\d+)(?:(?<comma>,)(?<most>\d*))?\}\??/
const pieces = new RegExp(`(?:${piece.source})(?:${quantifier.source})?`, 'gisu')

/** More repetitions than this count as any number. */
const FEW = 9

/**
 * Whether a repeated part can match the same text in several ways, as in `(a+)+`, `(a|a)*` or `(.*,)*`: their number doubles
 * with each repetition. `(\w+-)*` is harmless, since each dash ends exactly one repetition.
 */
export function mayTakeForever({ source, flags }: RegExp): boolean {
  const steps = createSteps(source, flags)
  const outermost = newGroup(0, '')
  const groups = [outermost]
  for (const [, ...found] of source.matchAll(pieces)) {
    const [opening, closing, bar, anchor, character, ...times] = found
    const group = groups.at(-1) ?? outermost
    if (opening !== undefined) {
      groups.push(newGroup(steps.count(), opening))
    } else if (bar !== undefined) {
      Object.assign(group, { before: either(group), current: nothing })
    } else if (anchor === undefined) {
      const start = closing === undefined ? steps.count() : group.start
      const part = closing === undefined ? steps.add(character ?? '') : whole(groups.pop() ?? outermost)
      const [from, to] = repetitions(times)
      if (to > from && to > 1) steps.connect(part.last, part.first)
      if (to > Math.max(from, FEW) && steps.areAmbiguous(start)) return true
      const around = groups.at(-1) ?? outermost
      around.current = joinedParts(around.current, from === 0 ? { ...part, canBeEmpty: true } : part, steps)
    }
  }
  return false
}

const newGroup = (start: number, opening: string): Group => ({
  start,
  isLookaround: /[=!]$/.test(opening),
  before: undefined,
  current: nothing,
})

/** The least and the greatest number of repetitions, from what a quantifier says. */
function repetitions([sign, least, comma, most]: readonly (string | undefined)[]): readonly [number, number] {
  if (sign !== undefined) return [sign === '+' ? 1 : 0, sign === '?' ? 1 : Number.POSITIVE_INFINITY]
  const from = Number(least ?? 1)
  return [from, comma === undefined ? from : Number(most || Number.POSITIVE_INFINITY)]
}

/** What is matched by a lookaround is matched again by what follows. */
const whole = (group: Group): Part => (group.isLookaround ? nothing : either(group))

const either = ({ before, current }: Group): Part =>
  before === undefined
    ? current
    : {
        first: [...before.first, ...current.first],
        last: [...before.last, ...current.last],
        canBeEmpty: before.canBeEmpty || current.canBeEmpty,
      }

function joinedParts(one: Part, next: Part, steps: Steps): Part {
  steps.connect(one.last, next.first)
  return {
    first: one.canBeEmpty ? [...one.first, ...next.first] : one.first,
    last: next.canBeEmpty ? [...one.last, ...next.last] : next.last,
    canBeEmpty: one.canBeEmpty && next.canBeEmpty,
  }
}

type Steps = ReturnType<typeof createSteps>

/** How many steps are looked at. A repeated group with more of them counts as one that may take forever. */
const MOST_STEPS = 100_000

/** The steps from one character of an expression to the next. */
function createSteps(source: string, flags: string) {
  const overlap = createOverlap(source, flags)
  const characters: string[] = []
  const next: Set<number>[] = []
  let latestDouble = -1
  let left = MOST_STEPS

  return {
    count: () => characters.length,
    add(character: string): Part {
      const added = [characters.push(character) - 1]
      next.push(new Set())
      return { first: added, last: added, canBeEmpty: false }
    },
    connect(from: readonly number[], to: readonly number[]): void {
      for (const one of from) {
        left -= to.length
        if (left < 0) return
        for (const other of to) {
          if (next[one]?.has(other)) latestDouble = Math.max(latestDouble, one)
          next[one]?.add(other)
        }
      }
    },
    /** Whether two ways through the repeated characters from `start` on part, and meet again after the same text. */
    areAmbiguous(start: number): boolean {
      if (latestDouble >= start) return true
      const seen = new Set<number>()
      const pairs = next.slice(start).map((_, i): readonly [number, number] => [start + i, start + i])
      for (const [a, b] of pairs) {
        for (const one of next[a] ?? []) {
          for (const other of next[b] ?? []) {
            if (left-- < 0 || (one === other && a !== b)) return true
            const key = Math.min(one, other) * characters.length + Math.max(one, other)
            if (one === other || seen.has(key)) continue
            seen.add(key)
            if (overlap(characters[one] ?? '', characters[other] ?? '')) pairs.push([one, other])
          }
        }
      }
      return false
    },
  }
}

/** Characters with which classes are compared, besides those of the expression itself. */
const samples = [...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)), ...'\u00a0éЖ中\u2028😀']

/** Tells whether two characters or classes of an expression can match the same character. */
function createOverlap(source: string, flags: string) {
  const own = [...new Set([...samples, ...source.slice(0, 1000)])]
  const matches = new Map<string, ReadonlySet<string>>()
  function matched(written: string): ReadonlySet<string> {
    const known = matches.get(written)
    if (known) return known
    const found = new Set(own.filter(character => isMatch(written, flags, character)))
    matches.set(written, found)
    return found
  }
  return (one: string, other: string) =>
    one === other || [...matched(one)].some(character => matched(other).has(character))
}

function isMatch(written: string, flags: string, character: string): boolean {
  try {
    return new RegExp(`^(?:${written})$`, flags.replace(/[gy]/g, '')).test(character)
  } catch {
    // A reference to a group can match anything.
    return true
  }
}

/** Parses `/a regular expression/flags`; `undefined` for any other text. Throws a SyntaxError if it is invalid. */
export function expressionIn(written: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([a-z]*)$/is.exec(written) ?? []
  if (source === undefined) return undefined
  // With the flags g or y an expression remembers its position, and would match the same text only every other time.
  return new RegExp(source, flags?.replace(/[gy]/g, ''))
}

/** A warning for each `/expression/` in a valid value whose matching may take forever. `at` is the path to the value. */
export function endlessExpressions(
  value: unknown,
  at: Path,
): readonly { readonly at: Path; readonly sentence: string }[] {
  if (typeof value === 'string') {
    const expression = tryExpression(value)
    return expression && mayTakeForever(expression) ? [{ at, sentence: MAY_TAKE_FOREVER }] : []
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inside]) =>
    endlessExpressions(inside, [...at, Array.isArray(value) ? Number(key) : key]),
  )
}

const MAY_TAKE_FOREVER =
  'Matching may take forever: the expression repeats something that fits the same text in several ways, as (a+)+ does.'

/** Whether a text is a valid `/expression/`. */
export const isExpression = (written: string): boolean => tryExpression(written) !== undefined

/** A text that is meant literally need not be valid. */
function tryExpression(written: string): RegExp | undefined {
  try {
    return expressionIn(written)
  } catch {
    return undefined
  }
}
