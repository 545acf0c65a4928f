/** Templates in replies. Liquid is loaded when the first reply contains a template. */
import { withFaker } from './fake.js'
import type { Templates } from './templates/compile.js'
import { textsIn } from './templates/facts.js'

export type { CompiledTemplate, Templates } from './templates/compile.js'
export {
  type CommonFacts,
  commonNames,
  type FactNames,
  hasTemplate,
  holdsCredential,
  shownHeaders,
  TemplateError,
  type TemplateFacts as Facts,
  textsIn,
  toolFact,
} from './templates/facts.js'

/** Loads Liquid, and also faker unless `replies`, which are all that will be compiled, do not use it. */
export async function loadTemplates(replies?: unknown): Promise<Templates> {
  const withoutFaker = replies !== undefined && [...textsIn(replies)].every(text => !text.includes('faker'))
  const { createTemplates } = await import('./templates/compile.js')
  // Its functions are looked up when a template is compiled. Rendering sets a seed first.
  return createTemplates(withoutFaker ? undefined : await withFaker(0, faker => faker))
}
