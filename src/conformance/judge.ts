/** Says what an answer has against the contract. */
import {
  completionAnswer,
  errorAnswer,
  healthAnswer,
  indexAnswer,
  modelsAnswer,
  notFoundAnswer,
} from '../core/answers.js'
import { CHAT } from '../core/read-chat.js'
import type { Violation } from '../core/violation.js'
import type { Answered } from './answered.js'
import { decided, documented, type Found, type Schema, wrongIn } from './found.js'
import { judgeStream } from './stream.js'

/** Nothing where all is well. Whatever the answer says, it does not throw. */
export function judge(answered: Answered): readonly Violation[] {
  const { status, method, endpoint } = answered
  const isHead = method === 'HEAD'
  if (status >= 400) return isHead ? [] : judgeError(answered)
  // What a client has already is not sent again, where it asks so.
  if (status === 304) return []
  if (status >= 300) return [decided('', `The status ${status} is not one that the platform is known to answer with.`)]
  if (endpoint === undefined || isHead) return []
  if (status !== 200) return [decided('', `The status must be 200, not ${status}.`)]
  const form = forms[endpoint]
  if (form) return judgeJson(answered, form)
  return endpoint === `POST ${CHAT}` ? judgeChat(answered) : []
}

/** What the answer of an endpoint is to be. */
interface Form {
  readonly schema: Schema
  /** Where platform-api.md says that it is JSON. */
  readonly section: string
  /** Who says what is in it. */
  readonly found: Found
}

const forms: Readonly<Record<string, Form>> = {
  'GET /health': ofDocument('Health response (JSON)', healthAnswer),
  'GET /api/v1': ofDocument('API index response (JSON)', indexAnswer),
  'GET /v1/models': { schema: modelsAnswer, section: 'Endpoints', found: decided },
}

function ofDocument(section: string, schema: Schema): Form {
  return { schema, section, found: documented(section) }
}

function judgeError({ status, body, contentType, path, isWhole }: Answered): readonly Violation[] {
  const found = documented('Errors')
  const type = isJson(contentType) ? [] : [found('', `An error must be JSON, and its content type is not.`)]
  if (!isWhole) return type
  const value = parsed(body)
  if (value === undefined) return [...type, found('', 'An error must be a JSON object with the field error.')]
  const wrong = wrongIn(status === 404 ? notFoundAnswer : errorAnswer, value, found)
  if (status !== 404 || wrong.length > 0) return [...type, ...wrong]
  const { path: named = '' } = value as { readonly path?: string }
  // The live platform may be below a path of its own.
  if ([path, decoded(path)].some(one => named.split('?', 1)[0]?.endsWith(one))) return type
  return [...type, found('path', 'path must be the path that was asked for.')]
}

function judgeJson({ body, contentType, isWhole }: Answered, { schema, section, found }: Form): readonly Violation[] {
  const isDocumented = documented(section)
  const type = isJson(contentType) ? [] : [isDocumented('', 'The answer must be JSON, and its content type is not.')]
  if (!isWhole) return type
  const value = parsed(body)
  if (value === undefined) return [...type, isDocumented('', 'The answer must be JSON, and its body is not.')]
  return [...type, ...wrongIn(schema, value, found)]
}

function judgeChat(answered: Answered): readonly Violation[] {
  const { asked, contentType } = answered
  if (asked?.stream) {
    if (/^text\/event-stream\b/i.test(contentType)) return judgeStream(answered)
    return [decided('', 'With stream the answer must be text/event-stream, and its content type is not.')]
  }
  // What was asked for is not known; it is judged as what it says that it is.
  if (!asked && /^text\/event-stream\b/i.test(contentType)) return []
  return judgeJson(answered, { schema: completionAnswer, section: 'Endpoints', found: decided })
}

const isJson = (contentType: string) => /^application\/([\w.-]+\+)?json\b/i.test(contentType)

/** Frameworks differ in whether they tell a path as it came. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

const utf8 = new TextDecoder()

/** Clients skip a byte order mark, and so does the decoder. */
function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch {
    return undefined
  }
}
