/** Generates texts from regular expressions. */
import randexp, { type RandRegExp } from 'randexp'
import { UnfitSchema } from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'

const charactersIn = (ranges: readonly (readonly [number, number])[]) =>
  ranges
    .flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, i) => String.fromCodePoint(from + i)))
    .join('')

/** The characters that a class is filled from: those of ASCII if it allows any of them. */
const ascii = charactersIn([[0x20, 0x7e]])
/** Letters first, then signs, emoji and controls. */
const others = charactersIn([
  [0xc0, 0x24f],
  [0x370, 0x64a],
  [0x3041, 0x30fe],
  [0x4e00, 0x4eff],
  [0xac00, 0xacff],
  [0x2010, 0x27bf],
  [0x1f300, 0x1f64f],
  [0, 0x1f],
  [0x7f, 0xbf],
])

/** At most this many characters of a class are drawn from. */
const MOST_CHARACTERS = 70

/** Lookbehinds, groups, references by name, classes, and other escapes. */
const elements = /\(\?<[=!]|\((?:\?<(\w+)>|(?!\?))|\\k<(\w+)>|\\[pPu]\{[^}]*\}|\[(?:\\.|[^\]\\])*\]|\\./gs

/**
 * Rewrites the pattern for randexp, which knows no Unicode classes, no characters beyond ASCII in classes, and no named
 * groups. Lookbehinds become lookaheads, since it ignores both.
 */
export function forRandexp({ source, flags }: RegExp): string {
  const names: (string | undefined)[] = []
  return source.replace(elements, (element, name?: string, reference?: string) => {
    if (element.startsWith('(?<') && name === undefined) return `(?${element.slice(3)}`
    if (element.startsWith('(')) {
      names.push(name)
      return '('
    }
    if (reference !== undefined) return `(?:\\${names.indexOf(reference) + 1})`
    return /^(\[|\\[pPu]\{)/.test(element) ? listed(element, flags) : element
  })
}

/** A class as alternatives, unless randexp knows it. */
function listed(element: string, flags: string): string {
  const inClass = new RegExp(element, `${flags}g`)
  const usual = ascii.match(inClass)
  if (usual && !/\\[pPu]/.test(element)) return element
  const [, code] = /^\\u\{(.*)\}$/.exec(element) ?? []
  const chosen =
    code === undefined ? (usual ?? others.match(inClass)) : [String.fromCodePoint(Number.parseInt(code, 16))]
  const escaped = chosen?.slice(0, MOST_CHARACTERS).map(one => one.replace(/[\\^$.*+?()[\]{}|]/, '\\$&'))
  return escaped ? `(?:${escaped.join('|')})` : element
}

// The package exports the class itself, but its types say otherwise.
const RandExp = randexp as unknown as new (pattern: string) => Pick<RandRegExp, 'max' | 'randInt' | 'gen'>

/** Means "unlimited" when randexp asks for the number of repetitions. */
const ENDLESS = 1_000_003

/** The maximum number of repetitions in total. Patterns that require more are not supported. */
const MOST_REPEATED = 1_000_000

/** More than there are characters to choose from, so only repetitions have such a range. */
const LARGEST_SET = 100

export interface Lengths {
  readonly least: number
  readonly most: number
}

/**
 * Generates a text from `pattern`; `undefined` if it cannot be parsed. The text may not match, because lookaheads and
 * lookbehinds are ignored. `attempt` counts texts that did not match or had the wrong length. Throws an UnfitSchema if it
 * would be far too long.
 */
export function textLike(pattern: string, { least, most }: Lengths, attempt: number, faker: Faker): string | undefined {
  let repeated = 0
  const counting = (count: number) => {
    repeated += count
    if (repeated > MOST_REPEATED)
      throw new UnfitSchema('no value fits the schema: a text would need too many characters')
    return count
  }
  try {
    const maker = new RandExp(pattern)
    maker.max = ENDLESS
    maker.randInt = (from, to) => {
      const range = to - from
      if (range <= LARGEST_SET) return counting(faker.number.int({ min: from, max: Math.max(from, to) }))
      // A few at first; in later attempts as many as needed if this is the only part that repeats.
      const few = { min: from, max: Math.min(to, from + Math.min(8, most)) }
      const enough = { min: Math.max(from, Math.min(to, least)), max: Math.max(from, Math.min(to, most, least + 8)) }
      return counting(faker.number.int(attempt % 3 === 2 && enough.min <= enough.max ? enough : few))
    }
    return maker.gen()
  } catch (error) {
    // The first attempt repeats as little as possible.
    if (error instanceof UnfitSchema && attempt === 0) throw error
    return undefined
  }
}
