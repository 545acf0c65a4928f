/** The parts of a reply, and the files that they are read from. A part without templates is always the same; any other is rendered for each request. */
import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Path } from '../check/check.js'
import { isText, textIn } from '../check/problem.js'
import { templateFailed } from '../core/errors.js'
import type { MatchInput } from './conditions/value-tests.js'
import type { ReplyOwner, Texts } from './dialect.js'
import { withFaker } from './fake.js'
import {
  type CompiledTemplate,
  hasTemplate,
  matchFact,
  shownHeaders,
  TemplateError,
  type TemplateFacts,
} from './templates.js'

/** A part of a reply that may depend on the request. */
export type ReplyPart<T> =
  | { readonly fixed: T }
  | { readonly needsFaker: boolean; readonly compute: (facts: TemplateFacts) => T }

/** What the parts of a reply are compiled with: also the names that its templates can use. */
export interface NamedTexts extends Texts {
  readonly names: readonly string[]
}

/** A request that templates are rendered for. */
interface TemplateRequest<I> {
  readonly input: I
  /** How often the rule has answered, from 1. */
  readonly count: number
  readonly owner: ReplyOwner
  readonly now: Date
}

/** What the templates of a dialect can use: each name, and its value for a request. To add a name, add a row. */
export type FactTable<I extends MatchInput = never> = Readonly<Record<string, (request: TemplateRequest<I>) => unknown>>

/** What the templates of every dialect can use. */
export const commonFacts = {
  match: ({ input, owner }) => matchFact(owner.groups(input) ?? []),
  caller: ({ input }) => input.caller,
  headers: ({ input }) => shownHeaders(input.headers),
  count: ({ count }) => count,
  now: ({ now }) => now.toISOString(),
  timestamp: ({ now }) => Math.floor(now.getTime() / 1000),
} as const satisfies FactTable<MatchInput>

export const namesOfFacts = (table: FactTable): readonly string[] => [...Object.keys(table), 'faker']

interface TemplateContext {
  readonly owner: ReplyOwner
  readonly facts: FactTable
  /** A number that is the same for the same request. */
  seed(input: MatchInput): number
}

/** Makes a reply out of a part. */
export function generatedFrom<T>(part: ReplyPart<T>, { owner, facts: table, seed }: TemplateContext) {
  if ('fixed' in part) return { always: part.fixed, generate: () => part.fixed }
  const { compute: computePart, needsFaker } = part
  function compute(facts: TemplateFacts): T {
    try {
      return computePart(facts)
    } catch (error) {
      throw error instanceof TemplateError ? templateFailed(owner.title, error.message) : error
    }
  }
  return {
    always: undefined,
    generate(input: MatchInput, count: number): T | Promise<T> {
      const request = { input: input as never, count, owner, now: new Date() }
      const facts = (name: string) => table[name]?.(request)
      if (!needsFaker) return compute(facts)
      // The number of answers must not change the generated values.
      return withFaker(seed(input) ^ numberOf(owner.seedText), faker =>
        compute(name => (name === 'faker' ? faker : facts(name))),
      )
    },
  }
}

const numberOf = (text: string) => Number.parseInt(hash('sha256', text, 'hex').slice(0, 7), 16)

/** The content of a file, which is a template if its name ends in .liquid. */
export function filePart(file: string, path: Path, texts: NamedTexts): ReplyPart<string | Buffer | undefined> {
  const text = texts.file(file)
  if (typeof text !== 'string' || !isTemplateFile(file)) return { fixed: text }
  const complain: Texts['complain'] = (at, sentence) => texts.complain(at, `${file}: ${sentence}`)
  return textPart(text, [...path, 'file'], { ...texts, complain })
}

/** A text. Its template always gives text. */
export const textPart = (text: string, path: Path, texts: NamedTexts): ReplyPart<string> =>
  compilePart(text, path, texts, ({ renderText }, facts) => renderText(facts))

/** A value. A text that consists of a single expression has the type of its result. */
export const valuePart = (value: unknown, path: Path, texts: NamedTexts): ReplyPart<unknown> =>
  compilePart(value, path, texts, ({ renderValue }, facts) => renderValue(facts))

/** Compiles the templates in a value. Returns the value itself if there are none. */
function compilePart<T>(
  value: T,
  path: Path,
  { templates, names, complain }: NamedTexts,
  render: (compiled: CompiledTemplate, facts: TemplateFacts) => T,
): ReplyPart<T> {
  if (!templates || !hasTemplate(value)) return { fixed: value }
  try {
    const template = templates.compile(value, names)
    return { needsFaker: template.needsFaker, compute: facts => render(template, facts) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    // In a text with several lines, the position of its beginning is not enough.
    const line = error.line > 1 ? `In line ${error.line}: ` : ''
    complain([...path, ...error.path], line + error.message)
    return { fixed: value }
  }
}

export function mapped<A, B>(part: ReplyPart<A>, change: (value: A) => B): ReplyPart<B> {
  if ('fixed' in part) return { fixed: change(part.fixed) }
  const { needsFaker, compute } = part
  return { needsFaker, compute: facts => change(compute(facts)) }
}

/** Joins several parts into one. */
export function joined<T>(parts: readonly ReplyPart<T>[]): ReplyPart<readonly T[]> {
  if (parts.every(part => 'fixed' in part)) return { fixed: parts.map(({ fixed }) => fixed) }
  return {
    needsFaker: parts.some(part => 'needsFaker' in part && part.needsFaker),
    compute: facts => parts.map(part => ('fixed' in part ? part.fixed : part.compute(facts))),
  }
}

/** Reads a file that is the body of an answer: as text, or as bytes if it is not text. Rejects if it cannot be read. */
export async function readBodyFile(file: string): Promise<string | Buffer> {
  const bytes = await readBytes(file)
  return isText(bytes) ? textIn(bytes, file) : bytes
}

/** Whether a file that a rule names contains a template. */
export const isTemplateFile = (name: string) => name.endsWith('.liquid')

/** Reads the text of a file, without a byte order mark. Rejects if it cannot be read. */
export const readTextFile = async (file: string): Promise<string> => textIn(await readBytes(file), file)

async function readBytes(file: string): Promise<Buffer> {
  const stats = await stat(file)
  // A pipe or a device may never end. For a folder, readFile reports the error.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is not a file')
  return readFile(file)
}
