/** One of the things that a rule says: the same object each time where nothing in it is a template, else made from the request. */
import { hash } from 'node:crypto'
import type { Path } from '../check/check.js'
import { templateFailed } from '../core/errors.js'
import type { AnsweredBy } from '../core/exchange.js'
import { stringifyExact } from '../core/json.js'
import type { PaceInput } from '../core/pace.js'
import type { Asked } from './conditions/asked.js'
import { seedOf, withFaker } from './fake.js'
import type { ChoiceForm, ReplyForm } from './reply-form.js'
import type { Choice, Generation, ToolCall } from './said.js'
import {
  type Compiled,
  type Facts,
  hasTemplate,
  shownHeaders,
  TemplateError,
  type Templates,
  toolFact,
} from './templates.js'
import { isTemplateFile } from './text-file.js'

/** What sayings are made with. */
export interface Texts {
  /** The language of templates; only there when some text is one. */
  readonly templates: Templates | undefined
  readonly seed: number
  /** The text of a file that a rule says; `undefined` when it cannot be read, which is then complained of already. */
  file(name: string): string | undefined
  /** Called with what is wrong with a template: where, and a sentence. */
  complain(path: Path, sentence: string): void
}

/** What a saying is called, and what it takes over from its rule. */
interface Own {
  readonly answeredBy: AnsweredBy
  /** The rule's. */
  readonly title: string
  /** What makes it say other things than another rule does to one request. */
  readonly drawnFrom: string
  readonly pace?: PaceInput
  groups(asked: Asked): RegExpExecArray | null
}

export interface Saying {
  /** What it says where that is the same whatever is asked. */
  readonly always: Generation | undefined
  /** Whether it says anything beside calls of tools. */
  readonly speaks: boolean
  /** The tools that it calls. */
  readonly calls: readonly string[]
  /** Whether it is what a model may always do: refuse, or fail. */
  readonly isAlwaysSayable: boolean
  readonly fault: ReplyForm['fault']
  /** `count` is how often the rule has answered with this answer, from 1. */
  said(asked: Asked, count: number): Generation | Promise<Generation>
}

/** A part of a saying that may depend on the request. */
type Part<T> = { readonly fixed: T } | Made<T>

interface Made<T> {
  readonly needsFaker: boolean
  readonly made: (facts: Facts) => T
}

/** Makes a saying ready; `path` is where its form stands in the rule. */
export function sayingOf(form: ReplyForm, path: Path, own: Own, texts: Texts): Saying {
  const { choices: several, usage, fault, ...single } = form
  const parts = several
    ? several.map((choice, i) => choicePart(choice, [...path, 'choices', i], texts))
    : [choicePart(single, path, texts)]
  const more = { ...(usage && { usage }), ...(fault && { fault }), ...(own.pace && { pace: own.pace }) }
  const said = (choices: readonly Choice[]): Generation => ({ choices, answeredBy: own.answeredBy, ...more })
  const all = joined(parts)
  const forms: readonly ChoiceForm[] = several ?? [single]
  const about = {
    fault,
    speaks: forms.some(form => !('toolCalls' in form) || speech.some(key => key in form)),
    calls: forms.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name)),
    isAlwaysSayable:
      Object.keys(form).every(key => key === 'fault') || forms.some(({ refusal }) => refusal !== undefined),
  }
  if ('fixed' in all) {
    const always = said(all.fixed)
    return { ...about, always, said: () => always }
  }
  function made(facts: Facts): Generation {
    try {
      return said((all as Made<readonly Choice[]>).made(facts))
    } catch (error) {
      throw error instanceof TemplateError ? templateFailed(own.title, error.message) : error
    }
  }
  return {
    ...about,
    always: undefined,
    said(asked, count) {
      const facts = factsOf(asked, count, own)
      if (!all.needsFaker) return made(facts)
      // How often it has answered must not.
      return withFaker(seedOf(asked.request, texts.seed) ^ numberOf(own.drawnFrom), faker =>
        made(Object.defineProperty(facts, 'faker', { value: faker })),
      )
    },
  }
}

const speech = ['text', 'file', 'json', 'refusal']

const numberOf = (text: string) => Number.parseInt(hash('sha256', text, 'hex').slice(0, 7), 16)

function choicePart(form: ChoiceForm, path: Path, texts: Texts): Part<Choice> {
  const { file, json: value, toolCalls = [], finishReason } = form
  const written = (key: 'text' | 'refusal' | 'reasoning'): Part<string | undefined> =>
    form[key] === undefined ? { fixed: undefined } : textPart(form[key], [...path, key], texts)
  const spoken: Part<string | undefined> =
    'json' in form
      ? mapped(valuePart(value, [...path, 'json'], texts), json)
      : file === undefined
        ? written('text')
        : filePart(file, path, texts)
  const all = joined<unknown>([spoken, written('refusal'), written('reasoning'), callsPart(toolCalls, path, texts)])
  return mapped(all, ([text, refusal, reasoning, toolCalls]) => {
    const silent = (toolCalls as readonly ToolCall[]).length > 0 || refusal !== undefined
    return {
      text: (text as string | undefined) ?? (silent ? null : ''),
      ...((toolCalls as readonly ToolCall[]).length > 0 && { toolCalls: toolCalls as readonly ToolCall[] }),
      ...(refusal !== undefined && { refusal: refusal as string }),
      ...(reasoning !== undefined && { reasoning: reasoning as string }),
      ...(finishReason && { finishReason }),
    }
  })
}

function filePart(file: string, path: Path, texts: Texts): Part<string | undefined> {
  const text = texts.file(file)
  if (text === undefined || !isTemplateFile(file)) return { fixed: text }
  const complain: Texts['complain'] = (at, sentence) => texts.complain(at, `${file}: ${sentence}`)
  return textPart(text, [...path, 'file'], { ...texts, complain })
}

type CallForm = NonNullable<ChoiceForm['toolCalls']>[number]

/** All calls as one value: a call with `forEach` stands for as many as its list has items. */
function callsPart(calls: readonly CallForm[], path: Path, texts: Texts): Part<readonly ToolCall[]> {
  const items = calls.map(({ forEach, as, ...call }) =>
    forEach === undefined ? call : { forEach, ...(as !== undefined && { as }), item: call },
  )
  // Authors write a call and its forEach as one map.
  const complain: Texts['complain'] = (at, sentence) =>
    texts.complain(
      at.filter((step, i) => i !== path.length + 2 || step !== 'item'),
      sentence,
    )
  const made = valuePart(items, [...path, 'toolCalls'], { ...texts, complain })
  if ('fixed' in made) return { fixed: calls.map(callOf) }
  return mapped(made, all => (all as readonly Partial<CallForm>[]).map(callOf))
}

function callOf({ id, name, type: kind = 'function', arguments: given }: Partial<CallForm>): ToolCall {
  if (name === undefined || name === '') throw new TemplateError('The name of a tool is nothing.', 1, 1, [])
  const nothing = kind === 'custom' ? '' : '{}'
  const text = typeof given === 'string' ? given : given === undefined ? nothing : json(given)
  return { kind, name: String(name), ...(id !== undefined && { id: String(id) }), arguments: text }
}

const json = (value: unknown) => stringifyExact(value ?? null)

/** A text, which is text whatever its template gives. */
const textPart = (text: string, path: Path, texts: Texts): Part<string> =>
  compiled(text, path, texts, ({ renderText }, facts) => renderText(facts))

/** A value; a text in it that is one expression and nothing else has the type of what that gives. */
const valuePart = (value: unknown, path: Path, texts: Texts): Part<unknown> =>
  compiled(value, path, texts, ({ renderValue }, facts) => renderValue(facts))

/** A value with templates in it, or the value itself where there are none. */
function compiled<T>(
  value: T,
  path: Path,
  { templates, complain }: Texts,
  render: (compiled: Compiled, facts: Facts) => T,
): Part<T> {
  if (!templates || !hasTemplate(value)) return { fixed: value }
  try {
    const ready = templates.compile(value)
    return { needsFaker: ready.needsFaker, made: facts => render(ready, facts) }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    // Of a text with several lines the place of its beginning says too little.
    const line = error.line > 1 ? `In its line ${error.line}: ` : ''
    complain([...path, ...error.path], line + error.message)
    return { fixed: value }
  }
}

function mapped<A, B>(part: Part<A>, change: (value: A) => B): Part<B> {
  if ('fixed' in part) return { fixed: change(part.fixed) }
  const { needsFaker, made } = part
  return { needsFaker, made: facts => change(made(facts)) }
}

/** Several parts as one. */
function joined<T>(parts: readonly Part<T>[]): Part<readonly T[]> {
  if (parts.every(part => 'fixed' in part)) return { fixed: parts.map(({ fixed }) => fixed) }
  return {
    needsFaker: parts.some(part => 'needsFaker' in part && part.needsFaker),
    made: facts => parts.map(part => ('fixed' in part ? part.fixed : part.made(facts))),
  }
}

/** What the templates of a rule can name, worked out when one does. */
function factsOf(asked: Asked, count: number, { groups }: Own): Facts {
  const now = new Date()
  return {
    model: asked.request.model,
    caller: asked.caller,
    count,
    now: now.toISOString(),
    timestamp: Math.floor(now.getTime() / 1000),
    get request() {
      return asked.exact
    },
    get user() {
      return asked.user
    },
    get system() {
      return asked.system
    },
    get assistant() {
      return asked.assistant
    },
    get turn() {
      return asked.turn
    },
    get match() {
      return groups(asked) ?? []
    },
    get tool() {
      const last = asked.toolResults.at(-1)
      return last && toolFact(last.tool, last.text)
    },
    get headers() {
      return shownHeaders(asked.headers)
    },
  }
}
