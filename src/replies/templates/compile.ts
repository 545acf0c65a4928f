/** Compiles the templates in a reply. With the files next to it, the only entry point to `liquidjs`. */
import {
  Context,
  type Liquid,
  LiquidError,
  Output,
  RenderError,
  type Template,
  type Token,
  TypeGuards,
  toValue,
  toValueSync,
} from 'liquidjs'
import { didYouMean } from '../../check/suggest.js'
import { type Faker, hasTemplate, membersOf, TemplateError, type TemplateFacts, type Templates } from '../templates.js'
import { createEngine, stopReasons, textOfValue } from './engine.js'
import { type FakerFunction, fakerFact, fakerFunction } from './faker-names.js'
import { namesIn, RAW_HINT, TemplateMistake, type TemplateValue } from './names.js'

type Path = readonly (string | number)[]
type Scope = Readonly<Record<string, unknown>>

/** One rendering of a value with all of its texts. */
interface Rendering {
  readonly scope: Scope
  /** How many more items its lists may get. */
  readonly items: { left: number }
}

/** `undefined` means no value: its key, or its item in a list, is left out. */
type Render = (rendering: Rendering) => unknown

/** At most this many items of lists are generated in one rendering. */
const MOST_ITEMS = 1000

/** Creates the compiler. Without `faker`, templates cannot use it. */
export function createTemplates(faker: Faker | undefined): Templates {
  const engines = { text: createEngine({ keepTypes: false }), value: createEngine({ keepTypes: true }) }

  return {
    compile(value, names) {
      const used: UsedNames = { roots: new Set(), functions: [], names }
      const render = createCompiler(engines, used, faker).part(value, [], new Set())
      const renderValue = (facts: TemplateFacts) => render({ scope: scopeOf(facts, used), items: { left: MOST_ITEMS } })
      return {
        needsFaker: used.roots.has('faker'),
        renderText: facts => textOfValue(renderValue(facts)),
        renderValue,
      }
    },
  }
}

/** The names that a value uses in all of its texts. */
interface UsedNames {
  readonly roots: Set<string>
  /** The names that it can use. */
  readonly names: readonly string[]
  readonly functions: FakerFunction[]
}

/** The names that `as` gives to items. */
type ItemNames = ReadonlySet<string>

type Compiler = ReturnType<typeof createCompiler>

/** Compiles the parts of one value: texts here, lists and maps in the functions below. */
function createCompiler(engines: { text: Liquid; value: Liquid }, used: UsedNames, faker: Faker | undefined) {
  const compiler = {
    isFact: (name: string) => used.names.includes(name),
    part(part: unknown, path: Path, itemNames: ItemNames): Render {
      if (!hasTemplate(part)) return () => part
      if (typeof part === 'string') return compiler.text(part, path, itemNames).render
      return Array.isArray(part)
        ? compiledList(part, path, itemNames, compiler)
        : compiledMap(part as object, path, itemNames, compiler)
    },
    /** `isWhole` says whether the text is a single expression, which keeps its type. */
    text: (text: string, path: Path, itemNames: ItemNames): { readonly isWhole: boolean; readonly render: Render } =>
      withPosition(engines.value, path, () => {
        const whole = engines.value.parse(text)
        const isWhole = whole.length === 1 && whole[0] instanceof Output
        const templates = isWhole ? whole : engines.text.parse(text)
        for (const name of namesIn(templates)) if (!itemNames.has(name.root)) noteUse(name, used, faker)
        const render = isWhole ? toOwnType(whole[0] as Output, engines.value) : toText(templates, engines.text)
        return {
          isWhole,
          render: ({ scope }: Rendering) => withPosition(engines.value, path, () => render(scope), 'rendered'),
        }
      }),
  }
  return compiler
}

/** Notes a name that a text uses. Throws a TemplateMistake if it cannot be used. */
function noteUse(name: TemplateValue, used: UsedNames, faker: Faker | undefined): void {
  const isFaker = name.root === 'faker'
  if (!used.names.includes(name.root)) throw new TemplateMistake(unknownName(name.root, used.names), name.token)
  checkMember(name, used.names)
  used.roots.add(name.root)
  if (!isFaker) return
  if (!faker) throw new Error('Templates that were loaded without faker cannot use it.')
  used.functions.push(fakerFunction(name, faker))
}

function compiledList(list: readonly unknown[], path: Path, itemNames: ItemNames, compiler: Compiler): Render {
  const items = list.map((item, i) => {
    const here = [...path, i]
    if (isForEach(item)) return compiledForEach(item, here, itemNames, compiler)
    const render = compiler.part(item, here, itemNames)
    return (rendering: Rendering) => [render(rendering)]
  })
  return rendering => items.flatMap(render => render(rendering)).filter(item => item !== undefined)
}

function compiledForEach(
  { forEach, as = 'item', item, ...others }: ForEach,
  path: Path,
  itemNames: ItemNames,
  compiler: Compiler,
) {
  const refuse = (sentence: string) => new TemplateError(sentence, 1, 1, path)
  const [other] = Object.keys(others)
  if (other !== undefined) throw refuse(`${other} is not allowed next to forEach, only as and item are.`)
  if (item === undefined) throw refuse('forEach needs item, the value to repeat for each item of the list.')
  if (typeof as !== 'string' || !/^[A-Za-z_]\w*$/.test(as)) throw refuse('as must be a name, such as city.')
  if (compiler.isFact(as) || as === 'forloop')
    throw refuse(`as cannot be ${as}, which means something else in templates.`)
  const list = compiler.text(forEach, [...path, 'forEach'], itemNames)
  if (!list.isWhole) throw refuse('forEach must be one expression, such as {{request.metadata.cities}}.')
  const renderItem = compiler.part(item, [...path, 'item'], new Set([...itemNames, as]))
  return (rendering: Rendering) => {
    const values = list.render(rendering) ?? []
    if (!Array.isArray(values)) throw refuse(`forEach needs a list, and ${forEach} is not one.`)
    rendering.items.left -= values.length
    if (rendering.items.left < 0) throw refuse(`forEach would make more than ${MOST_ITEMS} items.`)
    const { length } = values
    return values.map((value: unknown, i) => {
      const forloop = { index: i + 1, index0: i, first: i === 0, last: i === length - 1, length }
      return renderItem({
        ...rendering,
        scope: Object.assign(Object.create(null), rendering.scope, { [as]: value, forloop }),
      })
    })
  }
}

function compiledMap(map: object, path: Path, itemNames: ItemNames, compiler: Compiler): Render {
  const entries = Object.entries(map).map(([key, item]) => {
    const here = [...path, key]
    return { key: compiler.part(key, here, itemNames), item: compiler.part(item, here, itemNames) }
  })
  const hasKeys = hasTemplate(Object.keys(map))
  return rendering => {
    const pairs = entries.flatMap(({ key, item }) => {
      const [name, value] = [key(rendering), item(rendering)]
      return name === undefined || value === undefined ? [] : [[textOfValue(name), value] as const]
    })
    const rendered = Object.fromEntries(pairs)
    if (hasKeys && Object.keys(rendered).length < pairs.length) throw new TemplateError(twoKeys(pairs), 1, 1, path)
    return rendered
  }
}

const twoKeys = (pairs: readonly (readonly [string, unknown])[]) => {
  const keys = pairs.map(([key]) => key)
  return `Two keys are the same when rendered: ${JSON.stringify(keys.find((key, i) => keys.indexOf(key) !== i))}.`
}

/** An item that is repeated for each item of another list. */
interface ForEach {
  readonly forEach: string
  readonly as?: unknown
  readonly item?: unknown
}

const isForEach = (item: unknown): item is ForEach => {
  const { forEach } = (item ?? {}) as { readonly forEach?: unknown }
  return typeof forEach === 'string' && hasTemplate(forEach)
}

/** The scope of a rendering: exactly the names that the template uses. */
function scopeOf(facts: TemplateFacts, { roots, functions }: UsedNames): Scope {
  const scope: Record<string, unknown> = Object.create(null)
  for (const root of roots) scope[root] = facts(root)
  if (!roots.has('faker')) return scope
  const faker = scope.faker as Faker | undefined
  if (!faker) throw new Error('A template that uses faker must be rendered with one.')
  // Generated dates are relative to it, and are the same for the same facts.
  faker.setDefaultRefDate(String(facts('now')))
  scope.faker = fakerFact(faker, functions)
  return scope
}

const toText = (templates: Template[], engine: Liquid) => (scope: Scope) => engine.renderSync(templates, scope)

const toOwnType =
  (output: Output, engine: Liquid) =>
  (scope: Scope): unknown => {
    const context = new Context(scope, engine.options, { sync: true }, { liquid: engine })
    try {
      return toValue(toValueSync(output.value.value(context)))
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, output)
    }
  }

function unknownName(name: string, names: readonly string[]): string {
  const near = didYouMean(name, names) || ` There are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`
  return `${name || 'An empty name'} is not known in templates.${near} ${RAW_HINT}`
}

function checkMember({ root, steps: [member], token }: TemplateValue, names: readonly string[]) {
  const members = membersOf(root, names)
  if (members === undefined || typeof member !== 'string' || members.includes(member)) return
  throw new TemplateMistake(
    `${root}.${member} is not known in templates.${didYouMean(member, members)} ${RAW_HINT}`,
    token,
  )
}

/** Runs some work on a template; throws a TemplateError if that fails. */
function withPosition<T>(engine: Liquid, path: Path, work: () => T, doing: 'read' | 'rendered' = 'read'): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof TemplateMistake) throw errorAt(error.token, error.message, path)
    // Only Liquid's own errors about a template have a token.
    if (!LiquidError.is(error)) throw error
    const sentence = doing === 'read' ? `${unreadable(error, engine)} ${RAW_HINT}` : unrendered(error)
    throw errorAt(error.token, sentence, path)
  }
}

function errorAt(token: Token, sentence: string, path: Path): TemplateError {
  const [line, column] = token.getPosition() as [number, number]
  return new TemplateError(sentence, line, column, path)
}

/** Liquid appends the position to its message. */
const messageOf = (error: Error | LiquidError) =>
  (('originalError' in error && error.originalError) || error).message.replace(/, line:\d+, col:\d+$/, '')

const unrendered = (error: LiquidError) => {
  const words = messageOf(error)
  return `The template cannot be rendered: ${(stopReasons[words] ?? words).replace(/\.$/, '')}.`
}

function unreadable(error: LiquidError, engine: Liquid): string {
  const words = messageOf(error)
  const [, filter] = /^undefined filter: (.*)$/s.exec(words) ?? []
  if (filter !== undefined) {
    return `The filter ${filter} is not known in templates.${didYouMean(filter, Object.keys(engine.filters))}`
  }
  if (/^tag ".*" not found$/s.test(words) && TypeGuards.isTagToken(error.token)) {
    return unknownTag(error.token.name, Object.keys(engine.tags))
  }
  return `The template cannot be read: ${words}.`
}

function unknownTag(name: string, known: readonly string[]): string {
  const opener = known.find(tag => name === `end${tag}`)
  if (opener) return `The tag ${name} has no matching ${opener}.`
  return `The tag ${name} is not known in templates.${didYouMean(name, known)}`
}
