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

/** The same for rows. */
interface RowFacts extends Pick<ListFacts, 'params' | 'caller'> {
  readonly row: Json
}

export type WrapTemplates = Awaited<ReturnType<typeof wrapsOf>>

const listNames = ['params', 'caller', 'rows', 'total', 'page', 'pages', 'limit']
const rowNames = ['params', 'caller', 'row']

/** Without templates, rows are the whole answer. `complain` is called with the path and a sentence for each mistake. */
export async function wrapsOf(
  { list, one }: { readonly list?: unknown; readonly one?: unknown },
  path: string,
  complain: (at: readonly string[], sentence: string) => void,
) {
  const forList = await compiled(list, listNames, sentence => complain(['list'], sentence))
  const forOne = await compiled(one, rowNames, sentence => complain(['one'], sentence))
  const title = `wrap of the resource ${path}`
  return {
    list: (facts: ListFacts): unknown => (list === undefined ? facts.rows : forList(facts, title)),
    one: (facts: RowFacts): unknown => (one === undefined ? facts.row : forOne(facts, title)),
  }
}

type Render = (facts: Pick<ListFacts, 'caller'>, title: string) => unknown

async function compiled(
  written: unknown,
  names: readonly string[],
  complain: (sentence: string) => void,
): Promise<Render> {
  if (!hasTemplate(written)) return () => written
  const templates = await loadTemplates(written)
  try {
    const { renderValue } = templates.compile(written, names)
    return (facts, title) => rendered(() => renderValue({ ...others, ...facts }), title)
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    complain(error.message)
    return () => undefined
  }
}

/** Facts that these templates cannot use. */
const others: Omit<CommonFacts, 'caller'> = { match: [], headers: {}, count: 1, now: '', timestamp: 0 }

function rendered(work: () => unknown, title: string): unknown {
  try {
    return work()
  } catch (error) {
    throw error instanceof TemplateError ? templateFailed(title, error.message) : error
  }
}
