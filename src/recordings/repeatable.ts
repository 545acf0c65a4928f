/** Says which recorded requests can be sent again, and why the others cannot. */
import { asksModel } from '../core/asks-model.js'
import type { RecordedRequest, Recording } from './recording.js'

const safeMethods = new Set(['GET', 'HEAD'])

/** A sentence; nothing where the request can be sent. `placeholder` is what stands where a secret was. */
export function reasonNotToRepeat({ request, response }: Recording, placeholder: RegExp): string | undefined {
  const { method, path, body } = request
  if (!safeMethods.has(method) && !asksModel(method, path)) {
    return `${method} ${path} may change something on the live platform.`
  }
  if (body.kind === 'bytes') return 'Its body is no text, and what type it had is not kept.'
  if (!response.complete) return 'The recorded answer broke off.'
  const [found] = placeholder.exec(`${path} ${bodyText(request)}`) ?? inQuery.exec(request.query) ?? []
  return found === undefined ? undefined : `${found} stands where a secret was, which is not kept.`
}

function bodyText({ body }: RecordedRequest): string {
  if (body.kind === 'json') return JSON.stringify(body.value)
  return body.kind === 'text' ? body.text : ''
}

/** There brackets are escaped, but for those of placeholders, which have the names of parameters. */
const inQuery = /\[[a-z][a-z0-9-]*\]/
