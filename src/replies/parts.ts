/** The parts of a reply, and the files that they are read from. A part without templates is always the same; any other is rendered for each request. */

import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { Path } from '../check/check.js'
import { templateFailed } from '../core/errors.js'
import type { MatchInput, ReplyOwner, Texts } from './dialect.js'
import { withFaker } from './fake.js'
import { type CommonFacts, type CompiledTemplate, hasTemplate, shownHeaders, TemplateError } from './templates.js'

/** A part of a reply that may depend on the request. */
export type ReplyPart<T> =
  | { readonly fixed: T }
  | { readonly needsFaker: boolean; readonly compute: (facts: CommonFacts) => T }

/** What the templates of a dialect know about a request. */
interface TemplateContext {
  readonly owner: ReplyOwner
  /** The values that templates can use. */
  facts(input: MatchInput, count: number): CommonFacts
  /** A number that is the same for the same request. */
  seed(input: MatchInput): number
}

/** The values that the templates of every dialect can use, computed when one is used. */
export class RequestFacts<I extends MatchInput> implements CommonFacts {
  readonly now: string
  readonly timestamp: number
  faker: CommonFacts['faker']

  constructor(
    protected readonly input: I,
    readonly count: number,
    private readonly owner: ReplyOwner,
  ) {
    const now = new Date()
    this.now = now.toISOString()
    this.timestamp = Math.floor(now.getTime() / 1000)
  }
  get caller() {
    return this.input.caller
  }
  get match() {
    return this.owner.groups(this.input) ?? []
  }
  get headers() {
    return shownHeaders(this.input.headers)
  }
}

/** Makes a reply out of a part. */
export function generatedFrom<T>(part: ReplyPart<T>, { owner, facts, seed }: TemplateContext) {
  if ('fixed' in part) return { always: part.fixed, generate: () => part.fixed }
  const { compute: computePart, needsFaker } = part
  function compute(facts: CommonFacts): T {
    try {
      return computePart(facts)
    } catch (error) {
      throw error instanceof TemplateError ? templateFailed(owner.title, error.message) : error
    }
  }
  return {
    always: undefined,
    generate(input: MatchInput, count: number): T | Promise<T> {
      const values = facts(input, count)
      if (!needsFaker) return compute(values)
      // The number of answers must not change the generated values.
      return withFaker(seed(input) ^ numberOf(owner.seedText), faker => {
        values.faker = faker
        return compute(values)
      })
    },
  }
}

const numberOf = (text: string) => Number.parseInt(hash('sha256', text, 'hex').slice(0, 7), 16)

/** The content of a file, which is a template if its name ends in .liquid. */
export function filePart(file: string, path: Path, texts: Texts): ReplyPart<string | Buffer | undefined> {
  const text = texts.file(file)
  if (typeof text !== 'string' || !isTemplateFile(file)) return { fixed: text }
  const complain: Texts['complain'] = (at, sentence) => texts.complain(at, `${file}: ${sentence}`)
  return textPart(text, [...path, 'file'], { ...texts, complain })
}

/** A text. Its template always gives text. */
export const textPart = (text: string, path: Path, texts: Texts): ReplyPart<string> =>
  compilePart(text, path, texts, ({ renderText }, facts) => renderText(facts))

/** A value. A text that consists of a single expression has the type of its result. */
export const valuePart = (value: unknown, path: Path, texts: Texts): ReplyPart<unknown> =>
  compilePart(value, path, texts, ({ renderValue }, facts) => renderValue(facts))

/** Compiles the templates in a value. Returns the value itself if there are none. */
function compilePart<T>(
  value: T,
  path: Path,
  { templates, names, complain }: Texts,
  render: (compiled: CompiledTemplate, facts: CommonFacts) => T,
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
  return isUtf8(bytes) ? textIn(bytes) : bytes
}

/** Whether a file that a rule names contains a template. */
export const isTemplateFile = (name: string) => name.endsWith('.liquid')

/** Reads the text of a file, without a byte order mark. Rejects if it cannot be read. */
export const readTextFile = async (file: string): Promise<string> => textIn(await readBytes(file))

const textIn = (bytes: Buffer) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

async function readBytes(file: string): Promise<Buffer> {
  const stats = await stat(file)
  // A pipe or a device may never end. For a folder, readFile reports the error.
  if (!stats.isFile() && !stats.isDirectory()) throw new Error('it is not a file')
  return readFile(file)
}
