/** Compiles the templates in a reply. The one door of the package `liquidjs`, together with the files beside it. */
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
import { alternatives } from '../../core/errors.js'
import { didYouMean } from '../../core/suggest.js'
import { createEngine, stops, textOfValue } from './engine.js'
import { type Facts, type Faker, factMembers, matched } from './facts.js'
import { type FakerFunction, fakerFact, fakerFunction } from './faker-names.js'
import { hasTemplate } from './has-template.js'
import { type Named, namesIn, Refusal } from './names.js'
import { TemplateError } from './template-error.js'

export interface Templates {
  /** Compiles a text, or a JSON value with texts inside of it. Throws a TemplateError. */
  compile(value: unknown): Compiled
}

/** Both throw a TemplateError when it cannot be done within bounds. */
export interface Compiled {
  /** Whether the facts have to have a faker. */
  readonly needsFaker: boolean
  /** As a text, whatever it was made of. */
  renderText(facts: Facts): string
  /** As a value: a text that is nothing but one `{{ … }}` keeps the type of what it says. */
  renderValue(facts: Facts): unknown
}

type Path = readonly (string | number)[]
type Scope = Readonly<Record<string, unknown>>
type Render = (scope: Scope) => unknown

/** Makes templates; without `faker` they cannot name it. */
export function createTemplates(faker: Faker | undefined): Templates {
  const engines = { text: createEngine({ keepTypes: false }), value: createEngine({ keepTypes: true }) }

  return {
    compile(value) {
      const roots = new Set<keyof Facts>()
      const functions: FakerFunction[] = []

      function take(name: Named) {
        if (!isFact(name.root)) throw new Refusal(unknownName(name.root), name.token)
        checkMember(name.root, name)
        roots.add(name.root)
        if (name.root !== 'faker') return
        if (!faker) throw new Error('Templates that were loaded without faker cannot name it.')
        functions.push(fakerFunction(name, faker))
      }

      function compiled(part: unknown, path: Path): Render {
        if (!hasTemplate(part)) return () => part
        if (typeof part === 'string') return compiledText(part, path)
        if (Array.isArray(part)) {
          const items = part.map((item, i) => compiled(item, [...path, i]))
          return scope => items.map(render => render(scope))
        }
        const entries = Object.entries(part as object).map(
          ([key, item]) => [key, compiled(item, [...path, key])] as const,
        )
        return scope => Object.fromEntries(entries.map(([key, render]) => [key, render(scope)]))
      }

      function compiledText(text: string, path: Path): Render {
        return placed(engines.value, path, () => {
          const templates = engines.value.parse(text)
          namesIn(templates).forEach(take)
          const [whole] = templates
          const isWhole = templates.length === 1 && whole instanceof Output
          const render = isWhole ? toOwnType(whole, engines.value) : toText(engines.text.parse(text), engines.text)
          return (scope: Scope) => placed(engines.value, path, () => render(scope), 'rendered')
        })
      }

      const render = compiled(value, [])
      const renderValue = (facts: Facts) => render(scopeOf(facts, roots, functions))
      return {
        needsFaker: roots.has('faker'),
        renderText: facts => textOfValue(renderValue(facts)),
        renderValue,
      }
    },
  }
}

/** The names that stand in the template, and nothing else. */
function scopeOf(facts: Facts, roots: ReadonlySet<keyof Facts>, functions: readonly FakerFunction[]): Scope {
  const scope: Record<string, unknown> = Object.create(null)
  for (const root of roots) {
    if (root !== 'faker' && root !== 'match') scope[root] = facts[root]
  }
  if (roots.has('match')) scope.match = matched(facts.match)
  if (roots.has('faker')) {
    const { faker, now } = facts
    if (!faker) throw new Error('A template that names faker is rendered with one.')
    // Dates are made up around it, and come out the same for the same facts.
    faker.setDefaultRefDate(now)
    scope.faker = fakerFact(faker, functions)
  }
  return scope
}

const toText =
  (templates: Template[], engine: Liquid): Render =>
  scope =>
    engine.renderSync(templates, scope)

const toOwnType =
  (output: Output, engine: Liquid): Render =>
  scope => {
    const context = new Context(scope, engine.options, { sync: true }, { liquid: engine })
    try {
      return toValue(toValueSync(output.value.value(context))) ?? null
    } catch (error) {
      throw LiquidError.is(error) ? error : new RenderError(error as Error, output)
    }
  }

const isFact = (name: string): name is keyof Facts => Object.hasOwn(factMembers, name)

function unknownName(name: string): string {
  const names = Object.keys(factMembers)
  const near = didYouMean(name, names) || ` There are ${names.slice(0, -1).join(', ')} and ${names.at(-1)}.`
  return `${name || 'An empty name'} is not known in templates.${near}`
}

function checkMember(root: keyof Facts, { steps: [member], token }: Named) {
  const members = factMembers[root]
  if (members === undefined || typeof member !== 'string' || members.includes(member)) return
  throw new Refusal(`${root}.${member} is not known in templates.${didYouMean(member, members)}`, token)
}

/** Does something with a template; what goes wrong is told as a TemplateError. */
function placed<T>(engine: Liquid, path: Path, work: () => T, doing: 'read' | 'rendered' = 'read'): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) throw at(error.token, error.message, path)
    // Only what Liquid says of a template has a token.
    if (!LiquidError.is(error)) throw error
    throw at(error.token, doing === 'read' ? unreadable(error, engine) : unrendered(error), path)
  }
}

function at(token: Token, sentence: string, path: Path): TemplateError {
  const [line, column] = token.getPosition() as [number, number]
  return new TemplateError(sentence, line, column, path)
}

/** Liquid writes the place behind its words. */
const wordsOf = (error: LiquidError) => (error.originalError ?? error).message.replace(/, line:\d+, col:\d+$/, '')

const unrendered = (error: LiquidError) => {
  const words = wordsOf(error)
  return `The template cannot be rendered: ${stops[words] ?? words}.`
}

const hint = 'Where braces are only text, put them between {% raw %} and {% endraw %}.'

function unreadable(error: LiquidError, engine: Liquid): string {
  const words = wordsOf(error)
  const [, filter] = /^undefined filter: (.*)$/s.exec(words) ?? []
  if (filter !== undefined) {
    return `The filter ${filter} is not known in templates.${didYouMean(filter, Object.keys(engine.filters))}`
  }
  if (/^tag ".*" not found$/s.test(words) && TypeGuards.isTagToken(error.token)) {
    return unknownTag(error.token.name, Object.keys(engine.tags))
  }
  return `The template cannot be read: ${words}. ${hint}`
}

/** The tags that belong to others. */
const companions: Readonly<Record<string, readonly string[]>> = {
  else: ['if', 'unless', 'case', 'for'],
  elsif: ['if', 'unless'],
  when: ['case'],
}

function unknownTag(name: string, known: readonly string[]): string {
  const openers = companions[name] ?? known.filter(tag => name === `end${tag}`)
  if (openers.length > 0) return `The tag ${name} stands without its ${alternatives(openers)}.`
  return `The tag ${name} is not known in templates.${didYouMean(name, known)} ${hint}`
}
