/** The templates that wrap rows in answers. */
import type { Caller } from '../core/caller.js'
import { templateFailed } from '../core/errors.js'
import type { Json } from '../core/state.js'
import { type CommonFacts, hasTemplate, loadTemplates, TemplateError } from '../replies/index.js'

/** The values that templates for lists can use. */
interface ListFacts {
  readonly rows: readonly Json[]
  readonly total: number
  readonly page: number
  readonly pages: number
  readonly limit: number
  readonly params: Readonly<Record<string, string>>
  readonly caller: Caller
}

/** The values that templates for single rows can use. */
interface RowFacts extends Pick<ListFacts, 'params' | 'caller'> {
  readonly row: Json
}

export type WrapTemplates = Awaited<ReturnType<typeof loadWraps>>

const listNames = ['params', 'caller', 'rows', 'total', 'page', 'pages', 'limit']
const rowNames = ['params', 'caller', 'row']

/** Compiles the templates. Without a template, the rows are the whole answer. `report` is called with the path and a sentence for each mistake. */
export async function loadWraps(
  { list, one }: { readonly list?: unknown; readonly one?: unknown },
  path: string,
  report: (at: readonly string[], sentence: string) => void,
) {
  const forList = await compile(list, listNames, sentence => report(['list'], sentence))
  const forOne = await compile(one, rowNames, sentence => report(['one'], sentence))
  const title = `wrap of the resource ${path}`
  return {
    list: (facts: ListFacts): unknown => (list === undefined ? facts.rows : forList(facts, title)),
    one: (facts: RowFacts): unknown => (one === undefined ? facts.row : forOne(facts, title)),
  }
}

type Render = (facts: Pick<ListFacts, 'caller'>, title: string) => unknown

async function compile(value: unknown, names: readonly string[], report: (sentence: string) => void): Promise<Render> {
  if (!hasTemplate(value)) return () => value
  const templates = await loadTemplates(value)
  try {
    const { renderValue } = templates.compile(value, names)
    return (facts, title) => render(() => renderValue({ ...unavailableFacts, ...facts }), title)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    report(error.message)
    return () => undefined
  }
}

/** Values that other templates have, and these do not. */
const unavailableFacts: Omit<CommonFacts, 'caller'> = { match: [], headers: {}, count: 1, now: '', timestamp: 0 }

function render(work: () => unknown, title: string): unknown {
  try {
    return work()
  } catch (error) {
    throw error instanceof TemplateError ? templateFailed(title, error.message) : error
  }
}
